//! Reading of optional members in which `null` is a value.

use serde::{Deserialize, Deserializer};

/// Reads an optional field so that a `null` that is present stays distinct from a field that is absent.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
