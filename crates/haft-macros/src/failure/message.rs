//! A message with fields in it: `"there is no city called {name}"`, `"{0} is closed until {1:?}"`.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::{Fields, LitStr, Member};

use crate::nearest::suggestion;

/// A format text whose fields are known to exist. They are renamed, so that numbers and keywords become valid names.
pub(crate) struct Message {
    text: LitStr,
    used: Vec<(usize, Member)>,
}

impl Message {
    /// Reads a text that may refer to these fields.
    pub(crate) fn read(literal: &LitStr, fields: &Fields) -> syn::Result<Self> {
        let source = literal.value();
        let mut text = String::new();
        let mut used: Vec<(usize, Member)> = Vec::new();
        let mut rest = source.as_str();
        while let Some(brace) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(brace);
            text.push_str(before);
            if after.starts_with("{{") || after.starts_with("}}") {
                text.push_str(&after[..2]);
                rest = &after[2..];
                continue;
            }
            let Some(end) = after.find('}').filter(|_| after.starts_with('{')) else {
                let message = "a single brace names no field: write it twice, or close it";
                return Err(syn::Error::new(literal.span(), message));
            };
            let (name, style) = after[1..end].split_once(':').map_or((&after[1..end], None), |(n, s)| (n, Some(s)));
            let (index, member) = find(name.trim(), fields, literal)?;
            text.push('{');
            text.push_str(&Self::argument(index).to_string());
            if let Some(style) = style {
                text.push(':');
                text.push_str(style);
            }
            text.push('}');
            if !used.iter().any(|(other, _)| *other == index) {
                used.push((index, member));
            }
            rest = &after[end + 1..];
        }
        text.push_str(rest);
        Ok(Self { text: LitStr::new(&text, literal.span()), used })
    }

    /// Returns the text, with fields named by [`argument`](Self::argument).
    pub(crate) fn text(&self) -> &LitStr {
        &self.text
    }

    /// Returns the fields that the text refers to, with their positions.
    pub(crate) fn used(&self) -> impl Iterator<Item = (usize, &Member)> {
        self.used.iter().map(|(index, member)| (*index, member))
    }

    /// Returns a field's name in the text.
    pub(crate) fn argument(index: usize) -> Ident {
        Ident::new(&format!("field_{index}"), Span::call_site())
    }
}

fn find(name: &str, fields: &Fields, literal: &LitStr) -> syn::Result<(usize, Member)> {
    let named: Vec<(String, Member)> = fields.members().map(|member| (key(&member), member)).collect();
    if let Some(index) = named.iter().position(|(key, _)| key == name) {
        return Ok((index, named[index].1.clone()));
    }
    let keys: Vec<&str> = named.iter().map(|(key, _)| key.as_str()).collect();
    let message = match (name.is_empty(), keys.is_empty()) {
        (_, true) => format!("there are no fields, so `{{{name}}}` names none: write the braces twice"),
        (true, false) => format!("`{{}}` names no field: {}", suggestion("", &keys)),
        (false, false) => format!("there is no field `{name}`: {}", suggestion(name, &keys)),
    };
    Err(syn::Error::new(literal.span(), message))
}

fn key(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn read(text: &str, item: &syn::ItemStruct) -> Result<(String, Vec<usize>), String> {
        let literal = LitStr::new(text, Span::call_site());
        let message = Message::read(&literal, &item.fields).map_err(|error| error.to_string())?;
        Ok((message.text().value(), message.used().map(|(index, _)| index).collect()))
    }

    #[test]
    fn fields_are_found_by_name_and_number() {
        let named = parse_quote!(
            struct E {
                name: String,
                r#type: u8,
            }
        );
        let text = read("{{no}} {type:>3} in {name} of {type}", &named).unwrap();
        assert_eq!(text, ("{{no}} {field_1:>3} in {field_0} of {field_1}".to_owned(), vec![1, 0]));
        let numbered = parse_quote!(
            struct E(u8, String);
        );
        assert_eq!(read("{1:?}", &numbered).unwrap(), ("{field_1:?}".to_owned(), vec![1]));
        assert_eq!(read("plain", &numbered).unwrap(), ("plain".to_owned(), vec![]));
    }

    #[test]
    fn an_unknown_field_is_rejected() {
        let named = parse_quote!(
            struct E {
                name: String,
            }
        );
        assert_eq!(read("{nam}", &named).unwrap_err(), "there is no field `nam`: did you mean `name`?");
        assert!(read("{}", &named).unwrap_err().contains("write one of `name`"));
        assert!(
            read(
                "{0}",
                &parse_quote!(
                    struct E;
                )
            )
            .unwrap_err()
            .contains("no fields")
        );
        assert!(read("open {name", &named).unwrap_err().contains("brace"));
        assert!(read("close }", &named).unwrap_err().contains("brace"));
    }
}
