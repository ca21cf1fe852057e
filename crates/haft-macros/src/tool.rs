//! `#[tool]`: turns a function into a tool, or a struct into a tool without a handler.
//!
//! The function stays as written, without its parameters' attributes; the macro adds a type that is the tool. All
//! mistakes in the arguments, the signature and the parameters are reported at once. The function is kept even then, so
//! that the compiler reports the mistakes and not their consequences.

mod expansion;
mod field_attribute;
mod function;
mod input;
mod kind;
mod limit;
mod option;
mod parameter;
mod signature;
mod structure;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{DeriveInput, Ident, ItemFn};

pub(crate) use self::expansion::Expansion;
pub(crate) use self::function::{Owner, ToolFunction};
use self::input::Inputs;
pub(crate) use self::input::spelled;
use self::kind::{KindOptions, ToolForm};
use self::option::ToolOptions;
use crate::diagnostic::Diagnostics;
use crate::name;

/// Expands to the item and its tool, or to the item and all errors.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if let Ok(item) = syn::parse2::<DeriveInput>(item.clone()) {
        return structure::expand(arguments, item);
    }
    let kept = item.clone();
    let Ok(mut function) = syn::parse2::<ItemFn>(item) else {
        let message = "`#[tool]` goes on a function with a body: write `async fn name(…) -> … { … }`";
        let error = syn::Error::new_spanned(&kept, message).into_compile_error();
        return quote!(#error #kept);
    };
    match read(arguments, &mut (&mut function).into()) {
        Ok(expansion) => quote!(#function #expansion),
        Err(error) => {
            let error = error.into_compile_error();
            quote!(#error #function)
        }
    }
}

/// Removes the attributes from the function's parameters and creates a tool from them and the signature.
pub(crate) fn read(arguments: TokenStream, function: &mut ToolFunction<'_>) -> syn::Result<Expansion> {
    let mut diagnostics = Diagnostics::default();
    let options = ToolOptions::read(arguments, ToolForm::Function, &mut diagnostics);
    signature::check(function, options.blocking, &mut diagnostics);
    let inputs = Inputs::take(function, &mut diagnostics);
    if let Some(refine) = options.refine.as_ref().filter(|_| inputs.fields.is_empty() && inputs.own_type.is_none()) {
        diagnostics.reject(refine, "a tool without parameters has nothing to refine: remove `refine`");
    }
    let type_name = match &options.type_name {
        Some(name) => Some(name.clone()),
        None => diagnostics.keep(name::type_of_function(&function.sig.ident)),
    };
    if let Some(name) = &type_name {
        check_unused(name, function, &mut diagnostics);
        check_kind(&options.kind, name, &inputs, &mut diagnostics);
    }
    diagnostics.finish()?;
    // The name is missing only if there was a mistake, so the fallback is never used.
    let type_name = type_name.unwrap_or_else(|| function.sig.ident.clone());
    Ok(Expansion::new(function, type_name, options, inputs))
}

/// Rejects a type name that the function's signature or its `impl` block already uses: `fn weather() -> Weather`.
fn check_unused(name: &Ident, function: &ToolFunction<'_>, diagnostics: &mut Diagnostics) {
    let mut tokens = function.sig.inputs.to_token_stream();
    tokens.extend(function.sig.output.to_token_stream());
    tokens.extend(function.owner.map(|owner| owner.ty.to_token_stream()));
    if signature::mentions(tokens, &name.to_string()) {
        let message = format!(
            "the tool's type would be called `{name}`, and the signature already uses a type `{name}`: name it with \
             `#[tool(type = {name}Tool)]`"
        );
        diagnostics.reject(&function.sig.ident, message);
    }
}

/// Rejects a kind that has no handler: a function always is one.
fn check_kind(kind: &KindOptions, name: &Ident, inputs: &Inputs, diagnostics: &mut Diagnostics) {
    let argument = match kind {
        KindOptions::Local | KindOptions::Provider(_) => return,
        KindOptions::Signal(argument) | KindOptions::Interaction(argument) => argument,
    };
    let message = format!(
        "{} has no handler, so it is a struct and not a function: write `#[tool({})] {}`",
        kind.spelled(),
        argument.name,
        structure::suggested(name, &inputs.fields)
    );
    diagnostics.reject(&argument.name, message);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::messages;

    fn faults(arguments: TokenStream, mut function: ItemFn) -> Vec<String> {
        read(arguments, &mut (&mut function).into()).map_or_else(|error| messages(&error), |_| Vec::new())
    }

    #[test]
    fn the_function_loses_nothing_but_the_attributes_of_its_parameters() {
        let item = quote! {
            /// Adds.
            #[inline]
            pub async fn add(/** One. */ #[schemars(range(min = 1))] a: u8, #[service] key: &Key) -> u8 { a }
        };
        let text = expand(quote!(name = "plus"), item).to_string();
        let kept = quote!(
            pub async fn add(a: u8, key: &Key) -> u8 {
                a
            }
        )
        .to_string();
        assert!(text.contains(&kept), "{text}");
        assert!(
            text.contains(
                &quote!(
                    const NAME: &'static str = "plus";
                )
                .to_string()
            ),
            "{text}"
        );
        assert!(text.contains(&quote!(#[schemars(range(min = 1))] pub a: u8).to_string()), "{text}");
    }

    #[test]
    fn mistakes_of_every_kind_come_together() {
        let function = syn::parse_quote! {
            async fn f<T>(&self, a: &str, (b, c): (u8, u8), #[service] d: Key, cx: &Cx, other: &Cx) -> u8 { 0 }
        };
        let faults = faults(quote!(read_only, blocking, timeout = "soon"), function);
        let expected = [
            "no argument `read_only`",
            "`soon` is not a duration",
            "`blocking` is for functions that are not `async`",
            "generic",
            "method",
            "write `String`",
            "pattern",
            "a service is borrowed",
            "second context",
        ];
        assert_eq!(faults.len(), expected.len(), "{faults:#?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.contains(expected), "{expected}: {faults:#?}");
        }
    }

    #[test]
    fn a_mistake_leaves_the_function_there() {
        let text = expand(
            quote!(nonsense),
            quote!(
                fn f(#[service] a: &Key) {}
            ),
        )
        .to_string();
        assert!(text.contains("compile_error"), "{text}");
        assert!(
            text.ends_with(
                &quote!(
                    fn f(a: &Key) {}
                )
                .to_string()
            ),
            "{text}"
        );
    }

    #[test]
    fn the_type_must_not_hide_one_of_the_signature() {
        let faults = faults(
            quote!(),
            syn::parse_quote!(
                fn weather(a: u8) -> Result<Weather, String> {
                    todo!()
                }
            ),
        );
        assert!(faults[0].contains("#[tool(type = WeatherTool)]"), "{faults:?}");
        let renamed = syn::parse_quote!(
            fn weather(a: u8) -> Weather {
                todo!()
            }
        );
        assert!(self::faults(quote!(type = Forecast), renamed).is_empty());
    }

    #[test]
    fn an_item_of_the_wrong_form_is_rejected() {
        let text = expand(
            quote!(),
            quote!(
                struct Weather;
            ),
        )
        .to_string();
        assert!(text.contains("goes on a function with a body") && text.contains("struct Weather ;"), "{text}");
        let text = expand(
            quote!(signal),
            quote!(
                fn hand_over(reason: String, urgent: Option<bool>) {}
            ),
        )
        .to_string();
        assert!(
            text.contains("write `#[tool(signal)] struct HandOver { reason: String, urgent: Option<bool> }`"),
            "{text}"
        );
    }
}
