//! `compose![…]`: a toolkit made from kits, whose tool names are compared at compile time.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Token, Type};

use crate::crate_path::CratePath;
use crate::diagnostic::Diagnostics;
use crate::span::place;
use crate::tool::spelled;

/// Expands to the toolkit expression, or to all errors.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let composed = syn::parse2::<ComposeInput>(tokens).and_then(|composed| composed.check().map(|()| composed));
    match composed {
        Ok(composed) => composed.into_token_stream(),
        Err(error) => error.into_compile_error(),
    }
}

/// The content of the brackets.
struct ComposeInput {
    krate: CratePath,
    kits: Punctuated<Type, Token![,]>,
}

impl ComposeInput {
    fn check(&self) -> syn::Result<()> {
        let mut diagnostics = Diagnostics::default();
        for kit in self.kits.iter().filter(|kit| !matches!(kit, Type::Path(_))) {
            diagnostics.reject(kit, "a kit is named by its type: write its path, such as `WeatherKit`");
        }
        diagnostics.finish()
    }
}

impl Parse for ComposeInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let krate = CratePath::parse_prefix(input)?;
        Ok(Self { krate, kits: Punctuated::parse_terminated(input)? })
    }
}

impl ToTokens for ComposeInput {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { krate, kits } = self;
        let count = kits.len();
        let names = kits.iter().map(|kit| {
            let (text, krate) = (spelled(kit), krate.at(place(kit)));
            quote_spanned!(place(kit)=> (#text, <#kit as #krate::macro_support::KitType>::TOOLS))
        });
        let checks = kits.iter().enumerate().skip(1).map(|(index, kit)| {
            let krate = krate.at(place(kit));
            quote_spanned!(place(kit)=> const _: () = #krate::macro_support::check_kit(&__HAFT_KITS, #index);)
        });
        let steps = kits.iter().map(|kit| quote_spanned!(place(kit)=> .kit::<#kit>()));
        tokens.extend(quote! {{
            #[allow(dead_code, reason = "one kit alone is compared with none")]
            const __HAFT_KITS: [(&str, &[&str]); #count] = [#(#names),*];
            #(#checks)*
            #krate::macro_support::Toolkit::new() #(#steps)*
        }});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kit_but_the_first_is_checked_against_those_before_it() {
        let text = expand(quote!(A, kits::B, C)).to_string();
        assert_eq!(text.matches("check_kit").count(), 2, "{text}");
        assert!(text.contains(r#""kits::B""#), "{text}");
        assert!(text.contains(&quote!(.kit::<A>().kit::<kits::B>().kit::<C>()).to_string()), "{text}");
    }

    #[test]
    fn the_crate_can_be_elsewhere() {
        let text = expand(quote!(crate = haft_executor; A)).to_string();
        assert!(text.contains("haft_executor :: macro_support") && !text.contains(":: haft ::"), "{text}");
    }

    #[test]
    fn a_value_is_not_a_kit() {
        assert!(expand(quote!((A, B))).to_string().contains("write its path"));
    }
}
