//! `#[tools]`: turns methods into tools.
//!
//! The same code reads methods marked `#[tool]` and functions; the receiver is a service of the type they belong to: of
//! the toolkit or, with `#[tools(run)]`, of each run.
//! All mistakes in the block are reported at once, and the block is kept even then.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl, Meta, Path, Type, Visibility, parse_quote};

use crate::argument::{Argument, ArgumentValue, Arguments, KnownArguments};
use crate::crate_path::CratePath;
use crate::diagnostic::Diagnostics;
use crate::kit::Kit;
use crate::tool::{self, Expansion, Owner, ToolFunction, spelled};

const KNOWN: KnownArguments =
    KnownArguments { attribute: "#[tools]", names: &["crate", "pub", "run"], repeatable: &[] };

/// Expands to the block and its tools, or to the block and all errors.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let kept = item.clone();
    let Ok(mut block) = syn::parse2::<ItemImpl>(item) else {
        let message =
            "`#[tools]` goes on an `impl` block: write `#[tools] impl Desk { #[tool] async fn open(&self) … }`";
        let error = syn::Error::new_spanned(&kept, message).into_compile_error();
        return quote!(#error #kept);
    };
    match read(arguments, &mut block) {
        Ok(items) => quote!(#block #items),
        Err(error) => {
            let error = error.into_compile_error();
            quote!(#error #block)
        }
    }
}

/// Removes the macro's attributes from the block and creates its tools.
fn read(arguments: TokenStream, block: &mut ItemImpl) -> syn::Result<TokenStream> {
    let mut diagnostics = Diagnostics::default();
    let mut arguments = Arguments::read(arguments, KNOWN, &mut diagnostics);
    let krate = arguments.take("crate");
    let krate: Option<Path> = krate.and_then(|argument| diagnostics.keep(argument.assigned("`crate = path`")));
    let exposed = arguments.take("pub").and_then(|argument| diagnostics.keep(exposed(&argument)));
    let is_of_run = arguments.take("run").and_then(|argument| diagnostics.keep(argument.flag())).unwrap_or_default();
    check_block(block, &mut diagnostics);
    let owner_type = (*block.self_ty).clone();
    let conditions: Vec<Attribute> =
        block.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect();
    let exposed = exposed.unwrap_or(Visibility::Inherited);
    let owner = Owner { ty: &owner_type, conditions: &conditions, visibility: &exposed, is_of_run };
    let (mut visibility, mut tools) = (Visibility::Inherited, Vec::<Expansion>::new());
    let mut is_empty = true;
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(arguments) = take_mark(method, krate.as_ref(), &mut diagnostics) else { continue };
        if is_empty || matches!(method.vis, Visibility::Public(_)) {
            visibility = method.vis.clone();
        }
        is_empty = false;
        let arguments = owner.resolve_tokens(arguments);
        tools.extend(diagnostics.keep(tool::read(arguments, &mut ToolFunction::method(method, owner))));
    }
    if is_empty {
        diagnostics.reject(&block.self_ty, "no method of this block is a tool: write `#[tool]` on those that are");
    }
    diagnostics.finish()?;
    let krate = krate.map(CratePath::from).unwrap_or_default();
    Ok(items(&krate, owner, &visibility, &tools))
}

/// Returns a valid block's tools, service and kit.
fn items(krate: &CratePath, owner: Owner<'_>, visibility: &Visibility, tools: &[Expansion]) -> TokenStream {
    let Owner { ty, conditions, visibility: _, is_of_run } = owner;
    let types: Vec<Type> = tools
        .iter()
        .map(|tool| {
            let name = tool.type_name();
            syn::parse_quote!(#name)
        })
        .collect();
    let kit = Kit {
        krate,
        ty: ty.to_token_stream(),
        name: spelled(ty),
        visibility,
        conditions,
        steps: types.iter().map(|ty| quote!(.tool::<#ty>())).collect(),
        tools: types,
    };
    let kit = kit.items();
    // A type that is the state of a toolkit provides itself. One that each run provides is no state.
    let provides_itself = (!is_of_run).then(|| {
        quote! {
            #(#conditions)*
            impl #krate::macro_support::Provide<#ty> for #ty {
                fn provide(&self) -> &#ty {
                    self
                }
            }
        }
    });
    quote! {
        #(#tools)*

        #(#conditions)*
        impl #krate::macro_support::OneToolsBlockPerType for #ty {}

        #provides_itself

        #kit
    }
}

/// Reads the visibility of the tools' types: `pub`, `pub(crate)`.
fn exposed(argument: &Argument) -> syn::Result<Visibility> {
    match &argument.value {
        ArgumentValue::Bare => Ok(parse_quote!(pub)),
        ArgumentValue::List(place) => syn::parse2(quote!(pub(#place))).map_err(|_| argument.form("`pub(crate)`")),
        ArgumentValue::Assigned(_) => Err(argument.form("`pub` or `pub(crate)`")),
    }
}

fn check_block(block: &ItemImpl, diagnostics: &mut Diagnostics) {
    if let Some((path, _)) = &block.trait_ {
        let message =
            "the methods of a trait can't be tools: write them in an `impl` of the type, and call the trait there";
        diagnostics.reject(path, message);
    }
    if !block.generics.params.is_empty() {
        let message = "tools can't be generic, each has one schema: write the concrete type";
        diagnostics.reject(&block.generics, message);
    }
    if !matches!(&*block.self_ty, Type::Path(_)) {
        diagnostics.reject(&block.self_ty, "tools belong to a type with a name: write a struct");
    }
}

/// Removes `#[tool(…)]` from a method and returns its arguments, or `None` if the method is not marked.
fn take_mark(method: &mut ImplItemFn, krate: Option<&Path>, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
    let is_mark = |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "tool");
    let index = method.attrs.iter().position(is_mark)?;
    let mark = method.attrs.remove(index);
    for again in method.attrs.extract_if(.., |attribute| is_mark(attribute)) {
        diagnostics.reject(again, "this method is marked twice: keep one `#[tool]`");
    }
    if let Some(condition) = method.attrs.iter().find(|attribute| attribute.path().is_ident("cfg")) {
        let message = "a tool of a block can't depend on `cfg`, the kit names all of them: make it a free function";
        diagnostics.reject(condition, message);
    }
    let given = match mark.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens,
        Meta::NameValue(value) => {
            diagnostics.reject(value, "write `#[tool]` or `#[tool(…)]`");
            TokenStream::new()
        }
    };
    Some(match krate {
        Some(krate) => quote!(crate = #krate, #given),
        None => given,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::messages;

    fn faults(block: TokenStream) -> Vec<String> {
        let mut block = syn::parse2(block).unwrap();
        read(TokenStream::new(), &mut block).err().map(|error| messages(&error)).unwrap_or_default()
    }

    #[test]
    fn a_marked_method_becomes_a_tool_and_others_stay() {
        let block = quote! {
            impl Desk {
                /// Opens a ticket.
                #[tool(readonly)]
                pub async fn open(&self, title: String, #[service] clock: &Clock, cx: &Cx) -> Result<Self, String> { todo!() }
                fn helper(&self) {}
            }
        };
        let text = expand(quote!(pub(crate)), block).to_string();
        assert!(syn::parse_str::<syn::File>(&text).is_ok() && !text.contains("compile_error"), "{text}");
        assert!(
            text.contains("pub (crate) struct Open { ") && text.contains("pub fn toolkit") && !text.contains("Helper"),
            "{text}"
        );
        assert!(text.contains("< Desk > :: open (cx . service :: < Desk > () ? , params . title"), "{text}");
        assert!(text.contains("type __HaftReturned = Result < Desk , String >"), "{text}");
        assert!(text.contains("Needs < Desk >") && text.contains("Provide < Desk > for Desk"), "{text}");
        assert!(text.contains("pub async fn open (& self , title : String , clock : & Clock"), "{text}");
        assert!(text.contains("fn helper (& self) { }"), "{text}");
    }

    #[test]
    fn a_run_may_provide_the_receiver() {
        let block = quote!(impl Desk { #[tool] fn count(&self) -> usize { 1 } });
        let text = expand(quote!(run), block).to_string();
        assert!(text.contains("PerRun < Desk >") && !text.contains("Provide < Desk > for Desk"), "{text}");
    }

    #[test]
    fn mistakes_of_all_methods_come_together() {
        let faults = faults(quote! {
            impl<T> Store for Desk<T> {
                #[tool]
                fn a(&mut self) {}
                #[tool]
                fn b(self: Arc<Self>) {}
                #[tool]
                fn c<U>(&self, u: U) {}
                #[cfg(unix)]
                #[tool(read_only)]
                fn d(&self, text: &str) {}
            }
        });
        let expected = [
            "methods of a trait",
            "concrete type",
            "behind a lock",
            "write `&self`",
            "generic",
            "`cfg`",
            "no argument `read_only`",
            "write `String`",
        ];
        assert_eq!(faults.len(), expected.len(), "{faults:#?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.contains(expected), "{expected}: {faults:#?}");
        }
    }

    #[test]
    fn a_block_without_tools_and_other_items_are_rejected() {
        assert!(faults(quote!(impl Desk { fn a(&self) {} }))[0].contains("`#[tool]` on those"));
        assert!(faults(quote!(impl Desk { #[tool] fn desk(&self) {} }))[0].contains("type = DeskTool"));
        let text = expand(
            quote!(),
            quote!(
                struct Desk;
            ),
        )
        .to_string();
        assert!(text.contains("`impl` block") && text.contains("struct Desk ;"), "{text}");
    }

    #[test]
    fn the_crate_applies_to_all_tools() {
        let text = expand(quote!(crate = haft_executor), quote!(impl Desk { #[tool] fn a(&self) {} })).to_string();
        assert!(!text.contains(":: haft ::") && text.contains("haft_executor :: macro_support"), "{text}");
    }
}
