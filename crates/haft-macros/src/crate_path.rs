//! The path under which generated code finds haft.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{Path, Token, parse_quote};

/// The crate's path: `::haft`, unless the user renamed it or uses the core alone.
#[derive(Debug)]
pub(crate) struct CratePath(Path);

impl CratePath {
    /// Reads `crate = path;` at the start of a macro's content, if it is there.
    pub(crate) fn parse_prefix(input: ParseStream<'_>) -> syn::Result<Self> {
        if !(input.peek(Token![crate]) && input.peek2(Token![=])) {
            return Ok(Self::default());
        }
        input.parse::<Token![crate]>()?;
        input.parse::<Token![=]>()?;
        let path: Path = input.call(Path::parse_mod_style)?;
        input.parse::<Token![;]>()?;
        Ok(path.into())
    }

    /// Returns the same path with another span: the compiler points at the whole path when it rejects it.
    pub(crate) fn at(&self, place: Span) -> Self {
        let located = self.0.to_token_stream().into_iter().map(|mut token| {
            let span = token.span().located_at(place);
            token.set_span(span);
            token
        });
        Self(syn::parse2(located.collect()).unwrap_or_else(|_| self.0.clone()))
    }

    /// Returns the path to an item in `macro_support`, as the text that other derives take.
    pub(crate) fn support_text(&self, item: &str) -> String {
        let path = &self.0;
        format!("{}::macro_support::{item}", quote!(#path)).replace(' ', "")
    }
}

impl Default for CratePath {
    fn default() -> Self {
        Self(parse_quote!(::haft))
    }
}

impl From<Path> for CratePath {
    fn from(path: Path) -> Self {
        Self(path)
    }
}

impl ToTokens for CratePath {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_has_no_spaces() {
        assert_eq!(CratePath::default().support_text("serde"), "::haft::macro_support::serde");
        let renamed = CratePath(parse_quote!(my::tools));
        assert_eq!(renamed.support_text("schemars"), "my::tools::macro_support::schemars");
    }
}
