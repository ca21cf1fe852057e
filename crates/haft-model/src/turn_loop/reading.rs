//! How events and ends are read back: by hand, through a tree, as serde's own buffer for tagged enums loses numbers when
//! `serde_json` is built to keep every digit, which any crate of a build can switch on.

use serde::de::{DeserializeOwned, Error};
use serde_json::Value;

const TAG: &str = "type";

/// The tag of a tagged value.
pub(super) fn tag<E: Error>(value: &Value) -> Result<&str, E> {
    match value.get(TAG) {
        Some(Value::String(tag)) => Ok(tag),
        Some(_) => Err(E::custom("`type` must be a string")),
        None => Err(E::missing_field(TAG)),
    }
}

/// The rest of a tagged value, read as the type its tag stands for.
pub(super) fn body<T: DeserializeOwned, E: Error>(mut value: Value) -> Result<T, E> {
    if let Value::Object(fields) = &mut value {
        fields.shift_remove(TAG);
    }
    T::deserialize(value).map_err(E::custom)
}
