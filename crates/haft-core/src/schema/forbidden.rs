//! Keys that no object from outside may have.

use super::tree::number_token;

/// The beginning of the keys by which `serde_json` marks what it hands to itself.
pub(super) const PRIVATE: &str = "$serde_json::private::";

/// Reports whether `serde_json` hands something to itself under this name: raw JSON, or, if they are exact in this build,
/// numbers.
pub(super) fn is_private(name: &str) -> bool {
    name.strip_prefix(PRIVATE) == Some("RawValue") || number_token() == Some(name)
}

/// The key that an object is the value of; only a `constructor` matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Inside {
    Constructor,
    Other,
}

impl Inside {
    /// Returns what the value of `key` is inside of.
    #[inline]
    pub(super) fn key(key: &str) -> Self {
        if key == "constructor" { Self::Constructor } else { Self::Other }
    }

    /// Reports whether `key` reaches for an object's prototype, as programs in other languages may let it, or is one of
    /// those by which `serde_json` hands JSON text to itself, unchecked.
    #[inline]
    pub(super) fn forbids(self, key: &str) -> bool {
        key == "__proto__" || (self == Self::Constructor && key == "prototype") || key.starts_with(PRIVATE)
    }
}
