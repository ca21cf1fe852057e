//! Schemas: the check of every argument and every result.
//!
//! ```text
//!   Rust type ──┐                 ┌─► arguments: text ─► ╔════════╗ ─► typed value ─► handler
//!               ├─► Schema ──────►┤                      ║ checks ║
//!   JSON Schema ┘                 └─► result:    value ─► ╚════════╝ ─► text ─► ToolResult
//! ```
//!
//! A schema comes from a type ([`Schema::of`]) or is raw JSON Schema ([`Schema::json`], drafts 4, 6, 7, 2019-09 and
//! 2020-12); either is compiled once. Arguments are checked on the way into their type, in one pass over the text, and
//! results on the way out. A rejection lists every [`Issue`] with its JSON Pointer, the rule, what was expected and
//! found, and a sentence that a model can act on.
//!
//! ```
//! use haft::schema::{DecodeOptions, Schema};
//!
//! let days = Schema::json(haft::serde_json::json!({ "type": "integer", "minimum": 1, "maximum": 14 }))?;
//! let issues = days.decode::<u8>("30", &DecodeOptions::default()).unwrap_err();
//! assert_eq!(issues.to_string(), "must be at most 14, and is 30");
//! # Ok::<_, haft::schema::SchemaError>(())
//! ```
//!
//! - Every check has a budget of work and memory that grows with its input only, patterns included, and so has compiling a
//!   schema. Input that would cost more is rejected with a reason.
//! - Numbers are exact: `3.0` is an integer and `4.99999999999999999999` is not 5.
//! - Nothing is ever fetched: references must stay inside their schema.
//! - [`DecodeOptions`] set limits on size, depth and duplicate keys, and opt-in [`Repairs`] of small mistakes.
//! - A [`Dialect`] renders a schema for a provider and reports every [`Loss`].
//! - [`secure_json`] reads JSON from outside with the same limits.

#[doc(inline)]
pub use haft_core::{
    AppliesTo, DecodeOptions, Decoded, Dialect, DuplicateKeys, ISSUES_CAP, Issue, Issues, JsonText, Limits, Loss,
    REASON_CAP, Rendered, Repair, RepairKind, Repairs, Schema, SchemaError, Subschema, Subschemas, Validation,
    Validator, secure_json,
};
