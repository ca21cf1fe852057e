//! The code of a kit: a type that creates a toolkit, with the names of its tools as constants.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Type, Visibility};

use crate::crate_path::CratePath;

/// The parts of a kit.
pub(crate) struct Kit<'a> {
    pub(crate) krate: &'a CratePath,
    /// The type that is the kit.
    pub(crate) ty: TokenStream,
    /// The name of the kit in messages.
    pub(crate) name: String,
    pub(crate) visibility: &'a Visibility,
    /// The `cfg` attributes of the type.
    pub(crate) conditions: &'a [Attribute],
    /// The types of its tools.
    pub(crate) tools: Vec<Type>,
    /// The calls that add the tools, in order.
    pub(crate) steps: Vec<TokenStream>,
    /// The checks of the names.
    pub(crate) checks: TokenStream,
}

impl Kit<'_> {
    /// Returns the implementations of the kit's traits, and the function that creates the toolkit.
    pub(crate) fn items(&self) -> TokenStream {
        let Self { krate, ty, name, visibility, conditions, tools, steps, checks } = self;
        let names = tools.iter().map(|tool| {
            let krate = krate.at(place(tool));
            quote_spanned!(place(tool)=> <#tool as #krate::macro_support::ToolType>::NAME)
        });
        let served = tools.iter().map(|tool| {
            let krate = krate.at(place(tool));
            quote_spanned!(place(tool)=> __HaftState: #krate::macro_support::Serves<#tool>)
        });
        quote! {
            #(#conditions)*
            const _: () = {
                #checks

                impl #krate::macro_support::KitType for #ty {
                    const TOOLS: &'static [&'static str] = &[#(#names),*];
                }

                impl<__HaftState> #krate::macro_support::StaticKit<__HaftState> for #ty
                where
                    #(#served,)*
                {
                    fn toolkit() -> #krate::macro_support::Toolkit<__HaftState> {
                        #krate::macro_support::Toolkit::new() #(#steps)* .label(#name)
                    }
                }

                impl #ty {
                    /// Creates a toolkit of its tools.
                    #[allow(dead_code, reason = "the kit may be used by its type only")]
                    #visibility fn toolkit<__HaftState>() -> #krate::macro_support::Toolkit<__HaftState>
                    where
                        Self: #krate::macro_support::StaticKit<__HaftState>,
                    {
                        <Self as #krate::macro_support::StaticKit<__HaftState>>::toolkit()
                    }
                }
            };
        }
    }
}

/// Returns the span of user code, for generated code.
pub(crate) fn place(tokens: &impl Spanned) -> Span {
    Span::mixed_site().located_at(tokens.span())
}
