//! Doc comments as text.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments among `attributes`, if there is any. One space after the slashes is not part of it,
/// nor are blank lines around it.
pub(crate) fn text(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Whether the attribute is a doc comment, and not `#[doc(hidden)]` or the like.
pub(crate) fn is_comment(attribute: &Attribute) -> bool {
    matches!(&attribute.meta, Meta::NameValue(meta) if meta.path.is_ident("doc"))
}

fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value else { return None };
    if !meta.path.is_ident("doc") {
        return None;
    }
    let text = text.value();
    let unindented = |line: &str| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned();
    Some(text.split('\n').map(unindented).collect::<Vec<_>>().join("\n"))
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
