//! JSON from outside, read with suspicion.
//!
//! For text that becomes a free-form value: nothing malformed, oversized, too deep or ambiguous gets through, nor the
//! keys by which other languages reach an object's prototype or `serde_json` hands text to itself, however they are
//! escaped.

use serde_json::Value;

use crate::issue::Issues;
use crate::schema::{Limits, read_tree};

/// Reads JSON with the default [`Limits`].
///
/// ```
/// use haft_core::secure_json;
///
/// assert!(secure_json::parse(br#"{"constructor": 1}"#).is_ok());
/// let refused = secure_json::parse(br#"{"a": {"\u005f_proto__": {}}, "b": 1, "b": 2}"#).unwrap_err();
/// let pointers: Vec<&str> = refused.as_slice().iter().map(|issue| issue.pointer.as_str()).collect();
/// assert_eq!(pointers, ["/a/__proto__", "/b"]);
/// ```
pub fn parse(text: impl AsRef<[u8]>) -> Result<Value, Issues> {
    parse_with(text, &Limits::default())
}

/// Reads JSON with limits of your own. The forbidden keys stay forbidden.
pub fn parse_with(text: impl AsRef<[u8]>, limits: &Limits) -> Result<Value, Issues> {
    match read_tree(text.as_ref(), limits) {
        (Some(tree), faults) if faults.is_empty() => Ok(tree),
        (_, faults) => Err(Issues::new(faults)),
    }
}
