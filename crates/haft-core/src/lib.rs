//! Values and traits of haft.
#![allow(missing_docs, reason = "being written")]

// what a value may be, and what is wrong with it
mod issue;
mod json_text;
mod schema;

pub use self::issue::{Issue, Issues, REASON_CAP};
pub use self::json_text::JsonText;
pub use self::schema::{
    Decoded, DecodeOptions, DuplicateKeys, Limits, Repair, RepairKind, Repairs, Schema, SchemaError, Validation, Validator,
};
