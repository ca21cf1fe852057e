//! A parameter's `#[serde(…)]` and `#[schemars(…)]` attributes.
//!
//! They are copied to the field unchanged. This module rejects those that compile there and can't work for a tool: the
//! schema allows no additional properties and is all that a model knows, so a name that the schema lacks, or that serde
//! reads differently, is never used.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{Attribute, LitStr, Meta};

use crate::diagnostic::Diagnostics;

const ALIAS: &str = "the schema contains one name, and a call that uses another is rejected: remove the alias, or choose \
                     the name with `#[serde(rename = \"…\")]`";
const BORROW: &str = "a parameter owns its value: remove `borrow`";
const FLATTEN: &str = "the parameters allow no additional keys, so nothing can be flattened into them: mark a struct of your own \
                       `#[params]`";
const RENAME: &str = "a parameter is written and read under one name: write `#[serde(rename = \"…\")]`, which renames \
                      it in the schema too";
const SKIP: &str = "a skipped parameter is in no schema, so no call can fill it in: remove it, or mark it `#[service]` \
                    if the application provides it";
const SKIP_SERIALIZING: &str = "a call made from a value would lose this parameter: remove `skip_serializing`, or \
                                write `skip_serializing_if = \"…\"`";

/// One item in an attribute's list: `default`, `rename = "…"`, `range(…)`.
struct AttributeItem {
    name: Ident,
    rest: Vec<TokenTree>,
}

/// Reports attributes that can't work, and returns the name that serde uses, if one is set.
pub(crate) fn check(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Option<String> {
    let mut rename = None;
    for attribute in attributes {
        let Meta::List(list) = &attribute.meta else { continue };
        if attribute.path().is_ident("cfg_attr") {
            for AttributeItem { name, rest } in items(list.tokens.clone()) {
                if let [TokenTree::Group(group)] = &rest[..] {
                    check_items(&name.to_string(), group.stream(), diagnostics);
                }
            }
        } else if let Some(name) = attribute.path().get_ident() {
            check_items(&name.to_string(), list.tokens.clone(), diagnostics);
            rename = rename.or_else(|| items(list.tokens.clone()).find_map(|item| item.renamed()));
        }
    }
    rename
}

fn check_items(attribute: &str, tokens: TokenStream, diagnostics: &mut Diagnostics) {
    for item in items(tokens) {
        if let Some(message) = item.rejection(attribute) {
            diagnostics.reject(&item.name, message);
        }
    }
}

impl AttributeItem {
    fn rejection(&self, attribute: &str) -> Option<&'static str> {
        match (attribute, self.name.to_string().as_str()) {
            ("serde", "alias") => Some(ALIAS),
            ("serde", "borrow") => Some(BORROW),
            ("serde", "skip_serializing") => Some(SKIP_SERIALIZING),
            ("serde", "rename") if matches!(self.rest[..], [TokenTree::Group(_)]) => Some(RENAME),
            ("schemars", "rename") => Some(RENAME),
            ("serde" | "schemars", "flatten") => Some(FLATTEN),
            ("serde" | "schemars", "skip" | "skip_deserializing") => Some(SKIP),
            _ => None,
        }
    }

    /// Returns the text in `rename = "…"`.
    fn renamed(&self) -> Option<String> {
        match &self.rest[..] {
            [TokenTree::Punct(_), TokenTree::Literal(literal)] if self.name == "rename" => {
                syn::parse_str::<LitStr>(&literal.to_string()).ok().map(|text| text.value())
            }
            _ => None,
        }
    }
}

/// Splits the items at the commas. Other tokens are left to the derives, which know their own grammar.
fn items(tokens: TokenStream) -> impl Iterator<Item = AttributeItem> {
    let mut trees = tokens.into_iter();
    std::iter::from_fn(move || {
        let first = trees.next()?;
        let rest = trees.by_ref().take_while(|tree| !matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ','));
        Some((first, rest.collect()))
    })
    .filter_map(|(first, rest)| match first {
        TokenTree::Ident(name) => Some(AttributeItem { name, rest }),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;
    use crate::diagnostic::messages;

    fn read(attribute: Attribute) -> (Option<String>, Vec<String>) {
        let mut diagnostics = Diagnostics::default();
        let rename = check(&[attribute], &mut diagnostics);
        (rename, diagnostics.finish().map_or_else(|error| messages(&error), |()| Vec::new()))
    }

    #[test]
    fn attributes_that_can_not_work_are_rejected() {
        for (attribute, expected) in [
            (parse_quote!(#[serde(default, alias = "town")]), ALIAS),
            (parse_quote!(#[serde(borrow)]), BORROW),
            (parse_quote!(#[serde(flatten)]), FLATTEN),
            (parse_quote!(#[schemars(flatten)]), FLATTEN),
            (parse_quote!(#[serde(rename(serialize = "a", deserialize = "b"))]), RENAME),
            (parse_quote!(#[schemars(range(min = 1), rename = "a")]), RENAME),
            (parse_quote!(#[serde(skip)]), SKIP),
            (parse_quote!(#[serde(skip_deserializing)]), SKIP),
            (parse_quote!(#[schemars(skip)]), SKIP),
            (parse_quote!(#[serde(skip_serializing)]), SKIP_SERIALIZING),
            (parse_quote!(#[cfg_attr(unix, serde(alias = "town"))]), ALIAS),
        ] {
            assert_eq!(read(attribute).1, [expected]);
        }
    }

    #[test]
    fn everything_else_is_left_to_the_derives() {
        for attribute in [
            parse_quote!(#[serde(default = "alias", skip_serializing_if = "Option::is_none")]),
            parse_quote!(#[serde(with = "skip", bound = "")]),
            parse_quote!(#[schemars(!default, extend("skip" = [1, 2]), example = rename())]),
            parse_quote!(#[cfg_attr(skip, serde(default))]),
            parse_quote!(#[allow(unused, reason = "x")]),
            parse_quote!(#[serde]),
        ] {
            assert_eq!(read(attribute), (None, vec![]));
        }
    }

    #[test]
    fn the_new_name_is_read() {
        assert_eq!(read(parse_quote!(#[serde(default, rename = "a\"b")])).0.as_deref(), Some("a\"b"));
    }
}
