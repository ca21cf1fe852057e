//! The code that is generated for an enum of calls.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Ident, Type};

use super::{CallCase, CallEnum, CaseHandler, ToolCase};
use crate::name::words;

impl CallEnum {
    /// Returns one check for each tool but the first, which rejects a name that an earlier tool has.
    fn name_checks(&self) -> TokenStream {
        let count = self.tools.len();
        let names = self.tools.iter().map(|tool| {
            let (text, name) = (tool.case.name.to_string(), self.tool_name(&tool.case.field));
            quote!((#text, #name))
        });
        let checks = self.tools.iter().enumerate().skip(1).map(|(index, tool)| {
            let place = located(&tool.case.name);
            let krate = self.krate.at(place);
            quote_spanned!(place=> const _: () = #krate::macro_support::check_name(&__HAFT_NAMES, #index);)
        });
        quote! {
            const __HAFT_NAMES: [(&str, &str); #count] = [#(#names),*];
            #(#checks)*
        }
    }

    fn trait_impl(&self) -> TokenStream {
        let Self { krate, name, tools, other, .. } = self;
        let (call, options) = (local("call"), local("options"));
        let variants = tools.iter().map(|ToolCase { case: CallCase { name, field }, .. }| {
            let (place, tool_name) = (located(field), self.tool_name(field));
            let krate = krate.at(place);
            quote_spanned! {place=>
                #krate::macro_support::CallVariant::new(#tool_name, |#call, #options| {
                    <#field as #krate::macro_support::VariantCall>::decode_call(#call, #options).map(Self::#name)
                })
            }
        });
        let tool_arms = tools.iter().map(|ToolCase { case: CallCase { name, field }, .. }| {
            let place = located(field);
            let krate = krate.at(place);
            quote_spanned!(place=> Self::#name(#call) => #krate::macro_support::VariantCall::call(#call),)
        });
        let other_arm = other.iter().map(|CallCase { name, field }| {
            let place = located(field);
            let krate = krate.at(place);
            quote_spanned!(place=> Self::#name(#call) => #krate::macro_support::OtherCall::call(#call),)
        });
        let other_fn = other.as_ref().map(|CallCase { name, field }| {
            let place = located(field);
            let krate = krate.at(place);
            quote_spanned! {place=>
                fn other(
                    #call: #krate::macro_support::ToolCall,
                ) -> ::core::result::Result<Self, #krate::macro_support::ToolCall> {
                    ::core::result::Result::Ok(Self::#name(<#field as #krate::macro_support::OtherCall>::from_call(#call)))
                }
            }
        });
        quote! {
            #[automatically_derived]
            impl #krate::macro_support::ToolCalls for #name {
                const VARIANTS: &'static [#krate::macro_support::CallVariant<Self>] = &[#(#variants),*];

                #other_fn

                fn call(&self) -> &#krate::macro_support::ToolCall {
                    match self { #(#tool_arms)* #(#other_arm)* }
                }
            }
        }
    }

    /// Returns the function that creates the toolkit. It takes one value for each tool with `#[handler]`. Its bounds are on
    /// the state, so that an enum whose tools have no handlers compiles until it is called.
    fn toolkit_fn(&self) -> TokenStream {
        let Self { krate, visibility, name, tools, .. } = self;
        let (state, kit) = (local("State"), local("kit"));
        let (mut values, mut bounds, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for ToolCase { case: CallCase { name, field }, runs } in tools {
            let place = located(field);
            let krate = krate.at(place);
            let tool = quote_spanned!(place=> <#field as #krate::macro_support::VariantCall>::Tool);
            let value = value_name(name);
            let (bound, argument) = match runs {
                CaseHandler::Own => ("OffersTool", None),
                CaseHandler::Value => ("OffersValue", Some(quote!(, #value))),
            };
            let bound = Ident::new(bound, place);
            let bound = quote_spanned!(place=> #krate::macro_support::#bound<#tool>);
            if argument.is_some() {
                values.push(quote!(#value: #tool));
            }
            steps.push(quote_spanned!(place=> let #kit = <#state as #bound>::add(#kit #argument);));
            bounds.push(quote_spanned!(place=> #state: #bound));
        }
        let documentation = format!("Creates the toolkit of all tools of [`{name}`].");
        quote! {
            #[automatically_derived]
            impl #name {
                #[doc = #documentation]
                #[allow(dead_code, clippy::must_use_candidate, reason = "an enum may only be used to read calls")]
                #visibility fn toolkit<#state>(#(#values),*) -> #krate::macro_support::Toolkit<#state>
                where
                    #(#bounds),*
                {
                    let #kit = #krate::macro_support::Toolkit::new();
                    #(#steps)*
                    #kit
                }
            }
        }
    }

    fn tool_name(&self, field: &Type) -> TokenStream {
        let place = located(field);
        let krate = self.krate.at(place);
        quote_spanned! {place=>
            <<#field as #krate::macro_support::VariantCall>::Tool as #krate::macro_support::ToolType>::NAME
        }
    }
}

impl ToTokens for CallEnum {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (name_checks, trait_impl, toolkit_fn) = (self.name_checks(), self.trait_impl(), self.toolkit_fn());
        tokens.extend(quote! {
            const _: () = {
                #name_checks
                #trait_impl
                #toolkit_fn
            };
        });
    }
}

/// Returns the span of user code, for generated code.
fn located(tokens: &impl Spanned) -> Span {
    Span::mixed_site().located_at(tokens.span())
}

/// Returns the name of the parameter for a variant's value: `find_all` for `FindAll`.
fn value_name(variant: &Ident) -> Ident {
    let name = words(&variant.unraw().to_string()).replace(' ', "_");
    let name = if syn::parse_str::<Ident>(&name).is_ok() { name } else { format!("{name}_tool") };
    Ident::new(&name, Span::mixed_site())
}

/// Returns a name that can't collide with one in user code.
fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use crate::tool_calls::expand;

    fn expanded(item: proc_macro2::TokenStream) -> String {
        let text = expand(item).to_string();
        assert!(syn::parse_str::<syn::File>(&text).is_ok(), "{text}");
        assert!(!text.contains("compile_error"), "{text}");
        text
    }

    #[test]
    fn every_tool_but_the_first_is_checked_against_those_before_it() {
        let text = expanded(quote!(
            enum AppCall {
                A(Typed<A>),
                B(Typed<B>),
                C(Typed<C>),
                #[other]
                Other(ToolCall),
            }
        ));
        assert_eq!(text.matches("check_name").count(), 2, "{text}");
        assert!(text.contains(r#""A""#) && !text.contains(r#""Other""#), "{text}");
    }

    #[test]
    fn the_toolkit_takes_the_values_of_marked_tools() {
        let text = expanded(quote! {
            pub(crate) enum AppCall { A(Typed<A>), #[handler] FindAll(Typed<B>), #[handler] Move(Typed<C>) }
        });
        assert!(text.contains("pub (crate) fn toolkit < State >"), "{text}");
        assert!(text.contains("(find_all : <") && text.contains("move_tool : <"), "{text}");
        assert!(text.contains("OffersTool") && text.contains("OffersValue"), "{text}");
    }

    #[test]
    fn without_a_variant_for_them_other_calls_keep_their_default() {
        assert!(
            !expanded(quote!(
                enum AppCall {
                    A(Typed<A>),
                }
            ))
            .contains("fn other")
        );
        assert!(
            expanded(quote!(
                enum AppCall {
                    A(Typed<A>),
                    #[other]
                    B(ToolCall),
                }
            ))
            .contains("fn other")
        );
    }

    #[test]
    fn the_crate_can_be_elsewhere() {
        let text = expanded(quote!(
            #[tool_calls(crate = haft_core)]
            enum AppCall {
                A(Typed<A>),
            }
        ));
        assert!(!text.contains(":: haft ::"), "{text}");
    }
}
