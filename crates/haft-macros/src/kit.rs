//! A kit's code: a type that creates a toolkit, with its tools' names as constants.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, Type, Visibility};

use crate::crate_path::CratePath;
use crate::span::place;
use crate::tool::spelled;

/// A kit's parts.
pub(crate) struct Kit<'a> {
    pub(crate) krate: &'a CratePath,
    /// The type that is the kit.
    pub(crate) ty: TokenStream,
    /// The kit's name in messages.
    pub(crate) name: String,
    pub(crate) visibility: &'a Visibility,
    /// The type's `cfg` attributes.
    pub(crate) conditions: &'a [Attribute],
    /// The types of its tools, whose names are compared.
    pub(crate) tools: Vec<Type>,
    /// The calls that add the tools, in order.
    pub(crate) steps: Vec<TokenStream>,
}

impl Kit<'_> {
    /// Returns the implementations of the kit's traits, and the function that creates the toolkit.
    pub(crate) fn items(&self) -> TokenStream {
        let Self { krate, ty, name, visibility, conditions, tools, steps } = self;
        let checks: Vec<_> = tools.iter().map(NamedTool::of_type).collect();
        let checks = name_checks(krate, &checks);
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

/// A tool whose name is compared with others'.
pub(crate) struct NamedTool<'a> {
    /// The tool as the user wrote it, for the message.
    pub(crate) text: String,
    pub(crate) ty: &'a Type,
    /// The span at which a duplicate is reported.
    pub(crate) place: Span,
}

impl<'a> NamedTool<'a> {
    /// Creates the entry for a tool that is written as its type.
    pub(crate) fn of_type(ty: &'a Type) -> Self {
        Self { text: spelled(ty), ty, place: place(ty) }
    }
}

/// Returns the tools' names as a constant, and one check for each tool but the first, which rejects a name that an
/// earlier tool has. Without tools there is nothing to check.
///
/// The checks are separate constants, each with its tool's span: a constant inside an expression would not be evaluated
/// before code is generated, so `cargo check` would not report it.
pub(crate) fn name_checks(krate: &CratePath, tools: &[NamedTool<'_>]) -> TokenStream {
    if tools.is_empty() {
        return TokenStream::new();
    }
    let count = tools.len();
    let names = tools.iter().map(|NamedTool { text, ty, .. }| {
        let krate = krate.at(place(ty));
        quote_spanned!(place(ty)=> (#text, <#ty as #krate::macro_support::ToolType>::NAME))
    });
    let checks = tools.iter().enumerate().skip(1).map(|(index, tool)| {
        let krate = krate.at(tool.place);
        quote_spanned!(tool.place=> const _: () = #krate::macro_support::check_name(&__HAFT_NAMES, #index);)
    });
    quote! {
        const __HAFT_NAMES: [(&str, &str); #count] = [#(#names),*];
        #(#checks)*
    }
}
