//! The requirements on the signature of a function that becomes a tool.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{FnArg, GenericParam, Receiver, ReturnType, Safety, Signature, Type};

use super::function::ToolFunction;

use crate::diagnostic::Diagnostics;

const METHOD: &str =
    "a method is a tool in a `#[tools] impl` only: put `#[tools]` on the `impl` block, or move it to a free function";

/// Reports everything about the signature, except the parameters, that a tool can't have.
pub(crate) fn check(function: &ToolFunction<'_>, blocking: bool, diagnostics: &mut Diagnostics) {
    let signature = &*function.sig;
    check_qualifiers(signature, blocking, diagnostics);
    check_generics(signature, diagnostics);
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) if function.owner.is_some() => check_receiver(receiver, diagnostics),
        Some(FnArg::Receiver(receiver)) => diagnostics.reject(receiver, METHOD),
        _ if function.owner.is_none() && mentions(signature.to_token_stream(), "Self") => {
            diagnostics.reject(signature, METHOD);
        }
        _ => {}
    }
    if let ReturnType::Type(_, returned) = &signature.output {
        check_returned(returned, diagnostics);
    }
}

/// Returns whether an identifier occurs anywhere in the tokens.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Returns whether the tokens borrow: a reference or a lifetime, except `'static` ones.
pub(crate) fn borrows(tokens: TokenStream) -> bool {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    trees.iter().enumerate().any(|(index, tree)| match tree {
        TokenTree::Group(group) => borrows(group.stream()),
        TokenTree::Punct(punct) => {
            let next = |offset: usize| trees.get(index + offset).map(ToString::to_string);
            match punct.as_char() {
                '&' => next(1).as_deref() != Some("'") || next(2).as_deref() != Some("static"),
                '\'' => next(1).as_deref() != Some("static"),
                _ => false,
            }
        }
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    })
}

fn check_qualifiers(signature: &Signature, blocking: bool, diagnostics: &mut Diagnostics) {
    if let (Some(asyncness), true) = (&signature.asyncness, blocking) {
        let message = "`blocking` is for functions that are not `async`: remove one of the two";
        diagnostics.reject(asyncness, message);
    }
    if let Some(constness) = &signature.constness {
        diagnostics.reject(constness, "a tool is run, not evaluated: remove `const`");
    }
    if let Safety::Unsafe(safety) = &signature.safety {
        let message =
            "a model can't uphold the contract of an `unsafe` function: make a safe function around it the tool";
        diagnostics.reject(safety, message);
    }
    if let Some(abi) = &signature.abi {
        diagnostics.reject(abi, "a tool is a plain Rust function: remove `extern`");
    }
    if let Some(variadic) = &signature.variadic {
        diagnostics.reject(variadic, "a tool's parameters are known: take a `Vec<T>` in place of `...`");
    }
}

/// Rejects a receiver other than `&self`, which is a service.
fn check_receiver(receiver: &Receiver, diagnostics: &mut Diagnostics) {
    let is_plain = receiver.to_token_stream().to_string() == quote::quote!(&self).to_string();
    if is_plain {
        return;
    }
    let message = if mentions(receiver.to_token_stream(), "mut") {
        "the receiver is shared by all calls: write `&self`, and put what changes behind a lock"
    } else {
        "the receiver is borrowed for one call: write `&self`"
    };
    diagnostics.reject(receiver, message);
}

fn check_generics(signature: &Signature, diagnostics: &mut Diagnostics) {
    for parameter in &signature.generics.params {
        let message = match parameter {
            GenericParam::Lifetime(_) => {
                "a tool can't have lifetime parameters: take owned values, and leave out the lifetimes of services"
            }
            GenericParam::Type(_) | GenericParam::Const(_) => {
                "a tool can't be generic, it has one schema: write the concrete type"
            }
        };
        diagnostics.reject(parameter, message);
    }
}

fn check_returned(returned: &Type, diagnostics: &mut Diagnostics) {
    let tokens = returned.to_token_stream();
    let message = if mentions(tokens.clone(), "Future") || mentions(tokens.clone(), "BoxFuture") {
        "a tool that returns a future is an `async fn`: write one, and return the value itself"
    } else if mentions(tokens.clone(), "impl") {
        "a tool's result has a schema, so its type must have a name: write the type, or `Outputs<T>` for a stream"
    } else if borrows(tokens) {
        "a tool's result owns its data: return an owned value, such as a `String`"
    } else if matches!(returned, Type::Never(_)) {
        "a tool returns: write the type of its result"
    } else {
        return;
    };
    diagnostics.reject(returned, message);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::messages;

    fn faults(function: &str) -> Vec<String> {
        let mut diagnostics = Diagnostics::default();
        let mut function: syn::ItemFn = syn::parse_str(function).unwrap();
        check(&(&mut function).into(), false, &mut diagnostics);
        diagnostics.finish().map_or_else(|error| messages(&error), |()| Vec::new())
    }

    #[test]
    fn plain_functions_pass() {
        for function in [
            "async fn f() {}",
            "pub(crate) fn f(a: u8) -> Result<Vec<u8>, Error> { todo!() }",
            "async fn f() -> &'static str { todo!() }",
            "async fn f() -> Cow<'static, str> { todo!() }",
            "fn f() -> Outputs<u8> { todo!() }",
        ] {
            assert!(faults(function).is_empty(), "{function}");
        }
    }

    #[test]
    fn every_mistake_has_its_sentence() {
        for (function, expected) in [
            ("const fn f() {}", "remove `const`"),
            ("unsafe fn f() {}", "safe function"),
            (r#"extern "C" fn f() {}"#, "remove `extern`"),
            ("fn f<T>() {}", "generic"),
            ("fn f<const N: usize>() {}", "generic"),
            ("fn f<'a>() {}", "lifetime"),
            ("fn f(self) {}", "`#[tools]` on the `impl`"),
            ("fn f() -> Self { todo!() }", "free function"),
            ("fn f() -> impl Serialize {}", "must have a name"),
            ("fn f() -> impl Future<Output = u8> { todo!() }", "`async fn`"),
            ("fn f() -> BoxFuture<'static, u8> { todo!() }", "`async fn`"),
            ("fn f(key: &Key) -> &str { todo!() }", "owned value"),
            ("fn f() -> Vec<Cow<'_, str>> { todo!() }", "owned value"),
            ("fn f() -> ! { todo!() }", "a tool returns"),
        ] {
            let faults = faults(function);
            assert_eq!(faults.len(), 1, "{function}: {faults:?}");
            assert!(faults[0].contains(expected), "{function}: {faults:?}");
        }
    }
}
