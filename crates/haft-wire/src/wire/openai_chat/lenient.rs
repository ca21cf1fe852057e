//! Response members that may deviate from the specification.
//!
//! This API's servers deviate from it and from each other: counts that are `null` or fractions, an index of −1,
//! arguments that are an object, `false` for a missing error. A member with an unknown shape counts as absent, and must
//! never make the rest of the response unreadable.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::wire::response::text::Text;

/// A text, or nothing.
#[derive(Debug, Default)]
pub(super) struct LenientText<'t>(Option<Text<'t>>);

/// A non-negative whole number, or nothing. Fractions are truncated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LenientCount(pub(super) Option<u64>);

/// An object, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct LenientObject<T>(pub(super) Option<T>);

/// A list of objects. Other items are left out, a value that is not a list is empty, and an absent list is `None`.
#[derive(Debug)]
pub(super) struct LenientList<T>(pub(super) Option<Vec<T>>);

/// A call's arguments, or a piece of them: JSON text by the specification, and JSON itself on some servers.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct ReadArguments<'a>(#[serde(borrow)] Option<&'a RawValue>);

impl LenientText<'_> {
    /// Returns the text unless it is empty or absent.
    pub(super) fn get(&self) -> Option<&str> {
        self.0.as_ref().map(Text::as_str).filter(|text| !text.is_empty())
    }

    /// Returns the text unless it is empty or absent.
    pub(super) fn into_string(self) -> Option<String> {
        self.0.map(|text| text.0.into_owned()).filter(|text| !text.is_empty())
    }
}

impl<T> LenientList<T> {
    /// Returns the objects.
    pub(super) fn into_objects(self) -> Vec<T> {
        self.0.unwrap_or_default()
    }
}

impl ReadArguments<'_> {
    /// Returns the arguments' text, or `None` if there are none.
    pub(super) fn into_text(self) -> Option<String> {
        let json = self.0?.get();
        let text = if json.starts_with('"') { serde_json::from_str(json).ok()? } else { json.to_owned() };
        Some(text).filter(|text| !text.is_empty())
    }
}

impl<T> Default for LenientObject<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Default for LenientList<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// Implements the visitor methods for values that count as absent.
macro_rules! absent {
    ($($visit:ident($type:ty)),*) => {
        $(fn $visit<E: Error>(self, _: $type) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        })*

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any value")
        }
    };
}

fn skip_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn skip_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<(), A::Error> {
    while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de: 't, 't> Deserialize<'de> for LenientText<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LenientTextVisitor;

        impl<'de> Visitor<'de> for LenientTextVisitor {
            type Value = LenientText<'de>;

            absent!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(LenientText(Some(Text(text.into()))))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(LenientText(Some(Text(text.to_owned().into()))))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                skip_list(list).map(|()| LenientText::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
                skip_object(object).map(|()| LenientText::default())
            }
        }

        deserializer.deserialize_any(LenientTextVisitor)
    }
}

impl<'de> Deserialize<'de> for LenientCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;

        impl<'de> Visitor<'de> for CountVisitor {
            type Value = LenientCount;

            absent!(visit_bool(bool), visit_str(&str));

            fn visit_u64<E: Error>(self, count: u64) -> Result<Self::Value, E> {
                Ok(LenientCount(Some(count)))
            }

            fn visit_i64<E: Error>(self, count: i64) -> Result<Self::Value, E> {
                Ok(LenientCount(u64::try_from(count).ok()))
            }

            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
            fn visit_f64<E: Error>(self, count: f64) -> Result<Self::Value, E> {
                Ok(LenientCount((count >= 0.0).then_some(count as u64)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                skip_list(list).map(|()| LenientCount::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
                skip_object(object).map(|()| LenientCount::default())
            }
        }

        deserializer.deserialize_any(CountVisitor)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = LenientObject<T>;

            absent!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                skip_list(list).map(|()| LenientObject::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(object)).map(|object| LenientObject(Some(object)))
            }
        }

        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = LenientList<T>;

            absent!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut objects = Vec::new();
                while let Some(LenientObject(object)) = list.next_element()? {
                    objects.extend(object);
                }
                Ok(LenientList(Some(objects)))
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
                skip_object(object).map(|()| LenientList::default())
            }
        }

        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One value of each JSON type.
    const FORMS: [&str; 8] = ["null", "true", "-1", "7", "1.5", r#""a""#, "[[1]]", r#"{"a":{"b":1}}"#];

    #[derive(Debug, Deserialize)]
    struct Inner {
        #[serde(default)]
        a: Option<IgnoredAny>,
    }

    #[test]
    fn a_member_of_another_form_is_absent() {
        let text = |json: &str| serde_json::from_str::<LenientText<'_>>(json).unwrap().into_string();
        assert_eq!(FORMS.map(text).map(|text| text.is_some()), [false, false, false, false, false, true, false, false]);
        let count = |json: &str| serde_json::from_str::<LenientCount>(json).unwrap().0;
        assert_eq!(FORMS.map(count), [None, None, None, Some(7), Some(1), None, None, None]);
        let object = |json: &str| serde_json::from_str::<LenientObject<Inner>>(json).unwrap().0;
        assert_eq!(
            FORMS.map(|json| object(json).is_some_and(|inner| inner.a.is_some())).map(u8::from),
            [0, 0, 0, 0, 0, 0, 0, 1]
        );
        let list = |json: &str| serde_json::from_str::<LenientList<Inner>>(json).unwrap().0.map(|list| list.len());
        assert_eq!(FORMS.map(list), [None, None, None, None, None, None, Some(0), None]);
        assert_eq!(list(r#"[{}, 1, null, {"a": 1}]"#), Some(2));
    }

    #[test]
    fn arguments_are_text_or_json() {
        let read = |json: &str| serde_json::from_str::<ReadArguments<'_>>(json).unwrap().into_text();
        for (json, text) in [
            (r#""{\"a\":1}""#, Some(r#"{"a":1}"#)),
            (r#"{"a": 1.0}"#, Some(r#"{"a": 1.0}"#)),
            ("[1]", Some("[1]")),
            ("null", None),
            (r#""""#, None),
        ] {
            assert_eq!(read(json).as_deref(), text, "{json}");
        }
    }

    #[test]
    fn counts_beyond_the_range_are_the_largest() {
        let count = |json: &str| serde_json::from_str::<LenientCount>(json).unwrap().0;
        assert_eq!((count("1e300"), count("-0.5"), count("0.9")), (Some(u64::MAX), None, Some(0)));
    }
}
