#![doc = include_str!("../README.md")]

mod canonical;
#[doc(hidden)]
pub mod internal;
pub mod isolation;
mod issue;
mod json_text;
mod nearest;
mod schema;
pub mod secure_json;
/// Property tests that print their seed, shared with the integration tests.
#[cfg(test)]
#[path = "../tests/it/seeded.rs"]
mod seeded;

pub use self::canonical::canonical_text;
pub use self::issue::{ISSUES_CAP, Issue, Issues, REASON_CAP};
pub use self::json_text::JsonText;
pub use self::nearest::nearest;
pub use self::schema::{
    AppliesTo, Codec, CodecError, DecodeOptions, Decoded, DuplicateKeys, EnforcedRules, Enforcement, Limits, Repair,
    RepairKind, Repairs, Reshape, ReshapeCase, ReshapeId, ReshapeKind, ReshapeMember, Schema, SchemaError, Subschema,
    Subschemas, Transcode, Validation, Validator,
};
