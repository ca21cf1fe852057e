//! Doc comments as text.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

/// Returns the text of the doc comments among `attributes`, if there is any. Strips one space after the slashes, and
/// blank lines around the text.
pub(crate) fn text(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the same text as an expression, which can include `#[doc = include_str!("…")]`.
pub(crate) fn expression(attributes: &[Attribute]) -> Option<TokenStream> {
    let values = attributes.iter().filter(|attribute| is_comment(attribute)).filter_map(value);
    if values.clone().all(|value| literal(value).is_some()) {
        return text(attributes).map(ToTokens::into_token_stream);
    }
    let parts = values.map(|value| match literal(value) {
        Some(text) => unindented(&text.value()).into_token_stream(),
        None => value.to_token_stream(),
    });
    Some(quote!(::core::concat!(#(#parts, "\n"),*).trim()))
}

/// Returns whether the attribute is a doc comment, and not `#[doc(hidden)]` or the like.
pub(crate) fn is_comment(attribute: &Attribute) -> bool {
    matches!(&attribute.meta, Meta::NameValue(meta) if meta.path.is_ident("doc"))
}

fn line(attribute: &Attribute) -> Option<String> {
    let text = literal(value(attribute).filter(|_| is_comment(attribute))?)?;
    Some(unindented(&text.value()))
}

fn value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(meta) => Some(&meta.value),
        Meta::Path(_) | Meta::List(_) => None,
    }
}

fn literal(value: &Expr) -> Option<&LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        _ => None,
    }
}

fn unindented(text: &str) -> String {
    let line = |line: &str| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned();
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn text_of(function: &syn::ItemFn) -> Option<String> {
        text(&function.attrs)
    }

    #[test]
    fn lines_are_joined_and_indentation_is_kept() {
        let function = parse_quote! {
            ///
            /// Current weather.
            #[inline]
            ///   - indented
            ///
            fn f() {}
        };
        assert_eq!(text_of(&function).unwrap(), "Current weather.\n  - indented");
    }

    #[test]
    fn an_included_text_stays_an_expression() {
        let function: syn::ItemFn = parse_quote! {
            /// One.
            #[doc = include_str!("two.md")]
            fn f() {}
        };
        let expected = quote!(::core::concat!("One.", "\n", include_str!("two.md"), "\n").trim());
        assert_eq!(expression(&function.attrs).unwrap().to_string(), expected.to_string());
        assert_eq!(expression(&function.attrs[..1]).unwrap().to_string(), "\"One.\"");
        assert!(expression(&[]).is_none());
    }

    #[test]
    fn hidden_or_blank_documentation_is_none() {
        let function: syn::ItemFn = parse_quote! {
            #[doc(hidden)]
            ///
            fn f() {}
        };
        assert_eq!(text_of(&function), None);
        assert!(!is_comment(&function.attrs[0]) && is_comment(&function.attrs[1]));
    }
}
