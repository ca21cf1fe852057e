//! Trees from untrusted JSON, independent of its depth and its keys.
//!
//! The reader of `Value` itself would interpret an object with one of `serde_json`'s private keys as the data behind
//! it.

use std::fmt;
use std::sync::OnceLock;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::limit::{DuplicateKeys, Limits, STORED_DEPTH};
use super::verify;
use crate::issue::Issue;

/// Reads text from outside, and returns the tree, if there is one, and all problems of the text.
#[must_use]
pub fn read(text: &[u8], limits: &Limits) -> (Option<Value>, Vec<Issue>) {
    if text.len() > limits.max_bytes {
        return (None, vec![verify::too_long(text.len(), limits.max_bytes)]);
    }
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("not valid JSON: {error}; send one complete JSON value");
            return (None, vec![Issue::new("", "json", message).expected("valid JSON")]);
        }
    };
    match verify::text_faults(text, limits) {
        Ok(faults) => (from_text(text), faults),
        Err(issues) => (None, issues.into_vec()),
    }
}

/// Reads text that this crate stores: of any length, and up to the depth limit of a tree.
pub(crate) fn read_written(text: &str) -> Option<Value> {
    from_text(text)
}

/// Reads a tree from any deserializer. Of equal keys the last one counts.
pub fn tree<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    TreeSeed { levels: STORED_DEPTH, duplicate_keys: DuplicateKeys::LastWins }.deserialize(deserializer)
}

/// Reads a tree from any deserializer, and rejects keys that occur twice in one object.
pub fn unambiguous_tree<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    TreeSeed { levels: STORED_DEPTH, duplicate_keys: DuplicateKeys::Reject }.deserialize(deserializer)
}

fn from_text(text: &str) -> Option<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Depth is counted here.
    deserializer.disable_recursion_limit();
    let seed = TreeSeed { levels: STORED_DEPTH, duplicate_keys: DuplicateKeys::LastWins };
    let tree = seed.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(tree)
}

/// A seed that reads one value into a tree with a limited number of levels.
#[derive(Clone, Copy)]
struct TreeSeed {
    levels: usize,
    duplicate_keys: DuplicateKeys,
}

impl TreeSeed {
    fn inside<E: Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1).ok_or_else(|| E::custom("nests too deeply"))?;
        Ok(Self { levels, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for TreeSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TreeSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let mut next = access.next_key::<String>()?;
        if number_token().is_some() && next.as_deref() == number_token() {
            let text: String = access.next_value()?;
            let number: Option<Number> = serde_json::from_str(&text).ok();
            let number = number.filter(|number| number.as_f64().is_some());
            return number.map(Value::Number).ok_or_else(|| A::Error::custom("number out of range"));
        }
        let inside = self.inside()?;
        while let Some(key) = next {
            if self.duplicate_keys == DuplicateKeys::Reject && map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} occurs twice in one object")));
            }
            let value = access.next_value_seed(inside)?;
            map.insert(key, value);
            next = access.next_key()?;
        }
        Ok(Value::Object(map))
    }
}

/// Returns the key under which `serde_json` passes a number if `arbitrary_precision` is enabled anywhere in the build.
/// It is determined once, by deserializing a number and inspecting what the visitor receives.
pub(super) fn number_token() -> Option<&'static str> {
    struct TreeProbe;
    impl<'de> Visitor<'de> for TreeProbe {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number")
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let key = access.next_key()?;
            access.next_value::<String>()?;
            Ok(key)
        }
    }
    static TOKEN: OnceLock<Option<String>> = OnceLock::new();
    TOKEN
        .get_or_init(|| serde_json::Deserializer::from_str("0.5").deserialize_any(TreeProbe).unwrap_or(None))
        .as_deref()
}
