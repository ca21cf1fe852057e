//! The enforcement of a schema, as data.
//!
//! Two tools may show a model the same schema and still accept different values: one enforces it, the other only shows
//! it. A stored schema therefore records how it was enforced, so that it is enforced the same way wherever it is read,
//! and digests cover it.

use serde::{Deserialize, Serialize};

/// The way in which values of a schema are checked.
///
/// ```
/// use haft_schema::{EnforcedRules, Schema};
/// use serde_json::json;
///
/// assert_eq!(Schema::json(json!({"type": "string"}))?.enforcement().rules, EnforcedRules::All);
/// assert_eq!(Schema::of::<u32>()?.enforcement().rules, EnforcedRules::AllAndWidths);
/// # Ok::<_, haft_schema::SchemaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Enforcement {
    /// The rules of the schema that are enforced.
    #[serde(skip_serializing_if = "EnforcedRules::is_all")]
    pub rules: EnforcedRules,
    /// Set if a custom [`Validator`](crate::Validator) checks values too. It is code, so no stored form contains it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub custom_check: bool,
}

/// The rules of a schema that are enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnforcedRules {
    /// All rules, as for raw JSON Schema.
    #[default]
    All,
    /// All rules, and the width of Rust's number types as their `format` states it, as for the schema of a type.
    AllAndWidths,
    /// None: the schema is only shown to the model.
    None,
}

impl Enforcement {
    /// Reports whether this is the enforcement of raw JSON Schema, which is assumed where nothing is recorded.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl EnforcedRules {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
    fn is_all(&self) -> bool {
        *self == Self::All
    }
}
