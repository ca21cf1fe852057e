//! Text of a JSON document, borrowed where it has no escapes.
//!
//! `Option<Cow<str>>` always copies when it is read by serde; this type does not. Streams consist of small texts, so
//! this decides how fast they are read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// A text that is read from JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BorrowedText<'de>(pub(crate) Cow<'de, str>);

impl BorrowedText<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for BorrowedText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor).map(Self)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_borrowed_unless_it_has_escapes() {
        let plain: Option<BorrowedText<'_>> = serde_json::from_str(r#""plain""#).unwrap();
        assert!(matches!(plain, Some(BorrowedText(Cow::Borrowed("plain")))));
        let escaped: BorrowedText<'_> = serde_json::from_str(r#""a\nb""#).unwrap();
        assert_eq!((escaped.as_str(), escaped.clone().into_string()), ("a\nb", "a\nb".to_owned()));
        assert_eq!(serde_json::from_str::<Option<BorrowedText<'_>>>("null").unwrap(), None);
        assert!(serde_json::from_str::<BorrowedText<'_>>("1").is_err());
    }
}
