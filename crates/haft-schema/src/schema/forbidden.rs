//! Keys that are forbidden in every object from outside.

use super::tree::number_token;

/// The prefix of the keys by which `serde_json` passes data to itself.
pub(super) const PRIVATE: &str = "$serde_json::private::";

/// Reports whether `serde_json` passes data to itself under this name: raw JSON, or numbers if this build keeps them
/// exactly.
pub(super) fn is_private(name: &str) -> bool {
    name.strip_prefix(PRIVATE) == Some("RawValue") || number_token() == Some(name)
}

/// The key whose value an object is; only `constructor` matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Inside {
    Constructor,
    Other,
}

impl Inside {
    /// Returns the context for the value of `key`.
    #[inline]
    pub(super) fn key(key: &str) -> Self {
        if key == "constructor" { Self::Constructor } else { Self::Other }
    }

    /// Reports whether `key` accesses an object's prototype, as programs in other languages may let it, or is one of
    /// those by which `serde_json` passes unchecked JSON text to itself.
    #[inline]
    pub(super) fn forbids(self, key: &str) -> bool {
        key == "__proto__" || (self == Self::Constructor && key == "prototype") || key.starts_with(PRIVATE)
    }
}
