//! JSON that was encoded once and is handed on as text.
//!
//! A result is serialised exactly one time, when its handler returns. From there on it travels as this text: into
//! events, into history and onto the wire, without being parsed or built again.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::schema::{read_written, tree};

/// One valid JSON value, as text. Serialises as the value itself, not as a string.
///
/// ```
/// use haft_core::JsonText;
///
/// let text = JsonText::encode(&vec![1, 2, 3])?;
/// assert_eq!(text.as_str(), "[1,2,3]");
/// assert_eq!(text.decode::<Vec<u8>>()?, [1, 2, 3]);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct JsonText(String);

impl JsonText {
    /// The JSON `null`.
    #[must_use]
    pub fn null() -> Self {
        Self("null".to_owned())
    }

    /// Encodes any value with its own serde form, unchecked by a schema.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self)
    }

    /// Takes text that was just written as one JSON value.
    pub(crate) fn written(json: String) -> Self {
        Self(json)
    }

    /// Takes text that must be one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let value: &RawValue = serde_json::from_str(text)?;
        Ok(Self(value.get().to_owned()))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value as a tree.
    #[must_use]
    pub fn to_value(&self) -> Value {
        read_written(self.as_str()).0.unwrap_or_default()
    }

    /// The value as a type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// Whether this is the JSON `null`.
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

/// Equal when the values are equal, whatever the order of keys.
impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() || self.to_value() == other.to_value()
    }
}

impl From<&Value> for JsonText {
    fn from(value: &Value) -> Self {
        Self::encode(value).unwrap_or_else(|_| Self::null())
    }
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

/// Goes through a [`Value`], so it also works inside tagged enums, where a borrowed raw value can't be had.
impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tree(deserializer).map(Self::from)
    }
}
