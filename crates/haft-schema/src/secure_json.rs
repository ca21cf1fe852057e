//! A parser for untrusted JSON.
//!
//! It is for text that becomes a free-form value. It rejects text that is malformed, too long, too deep or ambiguous,
//! and the keys by which other languages access an object's prototype or `serde_json` passes raw text to itself, in any
//! escaped form.

use serde_json::Value;

use crate::issue::Issues;
use crate::schema::{Limits, read_tree};

/// Parses JSON with the default [`Limits`].
///
/// ```
/// use haft_schema::secure_json;
///
/// assert!(secure_json::parse(br#"{"constructor": 1}"#).is_ok());
/// let rejected = secure_json::parse(br#"{"a": {"\u005f_proto__": {}}, "b": 1, "b": 2}"#).unwrap_err();
/// let pointers: Vec<&str> = rejected.as_slice().iter().map(|issue| issue.pointer.as_str()).collect();
/// assert_eq!(pointers, ["/a/__proto__", "/b"]);
/// ```
pub fn parse(text: impl AsRef<[u8]>) -> Result<Value, Issues> {
    parse_with(text, &Limits::default())
}

/// Parses JSON with the given limits. The forbidden keys stay forbidden.
pub fn parse_with(text: impl AsRef<[u8]>, limits: &Limits) -> Result<Value, Issues> {
    match read_tree(text.as_ref(), limits) {
        (Some(tree), faults) if faults.is_empty() => Ok(tree),
        (_, faults) => Err(Issues::new(faults)),
    }
}
