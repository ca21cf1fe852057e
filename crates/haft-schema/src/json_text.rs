//! JSON that is encoded once and passed on as text.
//!
//! A result is serialized exactly once, when its handler returns. From then on it is passed on as this text, to events,
//! to the history and to the wire, without being parsed or built again.

use std::fmt;
use std::slice;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, DeserializeOwned, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, map};

use crate::schema::{encode_stored, read_written, tree};

/// One valid JSON value, as text. It serializes as the value itself, not as a string.
///
/// ```
/// use haft_schema::JsonText;
///
/// let text = JsonText::encode(&vec![1, 2, 3])?;
/// assert_eq!(text.as_str(), "[1,2,3]");
/// assert_eq!(text.decode::<Vec<u8>>()?, [1, 2, 3]);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct JsonText(String);

impl JsonText {
    /// Returns the JSON `null`.
    #[must_use]
    pub fn null() -> Self {
        Self("null".to_owned())
    }

    /// Encodes any value by its `Serialize` implementation, without a check against a schema. Nesting beyond 512 levels
    /// is an error.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        encode_stored(value)
    }

    /// Wraps text that was just written as one JSON value.
    #[doc(hidden)]
    #[must_use]
    pub fn written(json: String) -> Self {
        Self(json)
    }

    /// Parses text that must be one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let value: &RawValue = serde_json::from_str(text)?;
        Ok(Self(value.get().to_owned()))
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the value as a tree, or `null` if it nests deeper than 512 levels. Integers beyond 64 bits are rounded
    /// to a float; [`decode`](JsonText::decode) reads them into 128-bit integers.
    #[must_use]
    pub fn to_value(&self) -> Value {
        self.tree().unwrap_or_default()
    }

    fn tree(&self) -> Option<Value> {
        read_written(self.as_str())
    }

    /// Deserializes the value into a type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// Reports whether this is the JSON `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Two texts are equal if their values are equal, regardless of the order of keys.
impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() || self.tree().is_some_and(|tree| other.tree() == Some(tree))
    }
}

/// Accepts a tree of any depth: the text is written level by level, without recursion. Later uses of the text may have
/// a limit.
impl From<&Value> for JsonText {
    fn from(value: &Value) -> Self {
        let mut text = String::new();
        let mut open = vec![PendingWrite::Value(value)];
        while let Some(level) = open.pop() {
            match level {
                PendingWrite::Value(Value::Array(items)) => {
                    text.push('[');
                    open.push(PendingWrite::Array(items.iter(), ""));
                }
                PendingWrite::Value(Value::Object(members)) => {
                    text.push('{');
                    open.push(PendingWrite::Object(members.iter(), ""));
                }
                PendingWrite::Value(scalar) => text.push_str(&scalar.to_string()),
                PendingWrite::Array(mut items, separator) => match items.next() {
                    Some(item) => {
                        text.push_str(separator);
                        open.extend([PendingWrite::Array(items, ","), PendingWrite::Value(item)]);
                    }
                    None => text.push(']'),
                },
                PendingWrite::Object(mut members, separator) => match members.next() {
                    Some((key, member)) => {
                        text.push_str(separator);
                        text.push_str(&Value::from(key.as_str()).to_string());
                        text.push(':');
                        open.extend([PendingWrite::Object(members, ","), PendingWrite::Value(member)]);
                    }
                    None => text.push('}'),
                },
            }
        }
        Self(text)
    }
}

/// The rest of a value that is yet to be written, with the separator before it.
enum PendingWrite<'a> {
    Value(&'a Value),
    Array(slice::Iter<'a, Value>, &'static str),
    Object(map::Iter<'a>, &'static str),
}

impl From<Value> for JsonText {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// The name under which this crate's own deserializer passes a value's text on, as bytes.
pub(crate) const JSON_TEXT: &str = "$haft_schema::private::JsonText";

/// Arguments that a [`Schema`](crate::Schema) decodes keep their text, so no number is rounded. Anything else is read
/// by way of a [`Value`], so that it also works inside tagged enums, where a borrowed raw value is not available.
impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(JSON_TEXT, JsonTextVisitor)
    }
}

/// Reads the text of a value as bytes, and all else into a tree.
struct JsonTextVisitor;

macro_rules! visit_by_tree {
    ($($method:ident: $type:ty)*) => {$(
        fn $method<E: de::Error>(self, value: $type) -> Result<JsonText, E> {
            tree(value.into_deserializer()).map(JsonText::from)
        }
    )*};
}

impl<'de> Visitor<'de> for JsonTextVisitor {
    type Value = JsonText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    visit_by_tree! { visit_bool: bool visit_i64: i64 visit_u64: u64 visit_f64: f64 visit_str: &str visit_string: String }

    fn visit_bytes<E: de::Error>(self, text: &[u8]) -> Result<JsonText, E> {
        let value: &RawValue = serde_json::from_slice(text).map_err(E::custom)?;
        Ok(JsonText(value.get().to_owned()))
    }

    fn visit_unit<E>(self) -> Result<JsonText, E> {
        Ok(JsonText::null())
    }

    fn visit_none<E>(self) -> Result<JsonText, E> {
        Ok(JsonText::null())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonText, D::Error> {
        tree(deserializer).map(JsonText::from)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonText, D::Error> {
        tree(deserializer).map(JsonText::from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<JsonText, A::Error> {
        tree(SeqAccessDeserializer::new(access)).map(JsonText::from)
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<JsonText, A::Error> {
        tree(MapAccessDeserializer::new(access)).map(JsonText::from)
    }
}
