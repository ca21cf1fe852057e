//! The code that is generated for an enum of calls.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;

use super::{CallEnum, CaseOrigin, ToolCase};
use crate::kit::{NamedTool, name_checks};
use crate::name::words;
use crate::span::{local, place};

impl CallEnum {
    fn names(&self) -> TokenStream {
        let tools = self.tools.iter();
        let tools =
            tools.map(|case| NamedTool { text: case.name.to_string(), ty: &case.tool, place: place(&case.name) });
        let tools: Vec<_> = tools.collect();
        name_checks(&self.krate, &tools)
    }

    fn trait_impl(&self) -> TokenStream {
        let Self { krate, name, tools, other, .. } = self;
        let (call, options) = (local("call"), local("options"));
        let variants = tools.iter().enumerate().map(|(index, ToolCase { name, .. })| {
            quote! {
                #krate::macro_support::CallVariant::new(__HAFT_NAMES[#index].1, |#call, #options| {
                    #krate::macro_support::Typed::decode_known(#call, #options).map(Self::#name)
                })
            }
        });
        let arms = tools.iter().map(|ToolCase { name, .. }| quote!(Self::#name(#call) => &#call.call,));
        let other_arm = other.iter().map(|name| quote!(Self::#name(#call) => #call,));
        let other_const = other.iter().map(|name| {
            quote! {
                const OTHER: ::core::option::Option<fn(#krate::macro_support::ToolCall) -> Self> =
                    ::core::option::Option::Some(Self::#name);
            }
        });
        quote! {
            #[automatically_derived]
            impl #krate::macro_support::ToolCalls for #name {
                const VARIANTS: &'static [#krate::macro_support::CallVariant<Self>] = &[#(#variants),*];

                #(#other_const)*

                fn call(&self) -> &#krate::macro_support::ToolCall {
                    match self { #(#arms)* #(#other_arm)* }
                }
            }
        }
    }

    /// Returns the function that creates the toolkit. It takes one value for each tool with `#[value]`. Its bounds are
    /// on the state, so that an enum whose tools have no handlers compiles until it is called.
    fn toolkit_fn(&self) -> TokenStream {
        let Self { krate, visibility, name, tools, .. } = self;
        let (state, kit) = (local("State"), local("kit"));
        let (mut values, mut bounds, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for ToolCase { name, tool, origin } in tools {
            let place = place(tool);
            let krate = krate.at(place);
            let (bound, value) = match origin {
                CaseOrigin::Type => ("OffersTool", None),
                CaseOrigin::Value => ("OffersValue", Some(value_name(name))),
            };
            let bound = Ident::new(bound, place);
            let bound = quote_spanned!(place=> #krate::macro_support::#bound<#tool>);
            let argument = value.iter();
            steps.push(quote_spanned!(place=> let #kit = <#state as #bound>::add(#kit #(, #argument)*);));
            values.extend(value.map(|value| quote!(#value: #tool)));
            bounds.push(quote_spanned!(place=> #state: #bound));
        }
        let documentation = format!("Creates the toolkit of all tools of [`{name}`].");
        quote! {
            #[automatically_derived]
            impl #name {
                #[doc = #documentation]
                #[allow(dead_code, reason = "an enum may only be used to read calls")]
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
}

impl ToTokens for CallEnum {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (names, trait_impl, toolkit_fn) = (self.names(), self.trait_impl(), self.toolkit_fn());
        tokens.extend(quote! {
            const _: () = {
                #names
                #trait_impl
                #toolkit_fn
            };
        });
    }
}

/// Returns the parameter name for a variant's value: `find_all` for `FindAll`.
fn value_name(variant: &Ident) -> Ident {
    let name = words(&variant.unraw().to_string()).replace(' ', "_");
    let name = if syn::parse_str::<Ident>(&name).is_ok() { name } else { format!("{name}_tool") };
    Ident::new(&name, Span::mixed_site())
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
            pub(crate) enum AppCall { A(Typed<A>), #[value] FindAll(Typed<B>), #[value] Move(Typed<C>) }
        });
        assert!(text.contains("pub (crate) fn toolkit < State >"), "{text}");
        assert!(text.contains("(find_all : B , move_tool : C)"), "{text}");
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
            .contains("const OTHER")
        );
        assert!(
            expanded(quote!(
                enum AppCall {
                    A(Typed<A>),
                    #[other]
                    B(ToolCall),
                }
            ))
            .contains("const OTHER")
        );
    }

    #[test]
    fn the_crate_can_be_elsewhere() {
        let text = expanded(quote!(
            #[tool_calls(crate = haft_executor)]
            enum AppCall {
                A(Typed<A>),
            }
        ));
        assert!(!text.contains(":: haft ::"), "{text}");
    }
}
