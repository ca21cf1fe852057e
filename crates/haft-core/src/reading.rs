//! How tagged values are read back.
//!
//! Enums told apart by a field are read through a [`Value`] tree by hand, for two reasons. A tag nobody knows yet must
//! be told from a known one with a mistake inside: the first is kept, the second is an error. And serde's own buffer
//! for such enums loses typed numbers when `serde_json` is built to keep every digit, which any crate of a user's
//! build can switch on.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The tag of a tagged value.
pub(crate) fn tag<'v, E: Error>(value: &'v Value, key: &'static str) -> Result<&'v str, E> {
    match value.get(key) {
        Some(Value::String(tag)) => Ok(tag),
        Some(_) => Err(E::custom(format_args!("`{key}` must be a string"))),
        None => Err(E::missing_field(key)),
    }
}

/// The rest of a tagged value, read as the type its tag stands for.
pub(crate) fn body<T: DeserializeOwned, E: Error>(mut value: Value, key: &'static str) -> Result<T, E> {
    if let Value::Object(fields) = &mut value {
        fields.shift_remove(key);
    }
    T::deserialize(value).map_err(E::custom)
}

/// Reads an optional field so that a `null` that is there stays apart from a field that is absent.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
