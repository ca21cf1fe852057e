//! The form an answer must have, when it must be JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Asks for an answer that is JSON of a schema.
///
/// ```
/// use haft_core::OutputFormat;
/// use serde_json::json;
///
/// let format = OutputFormat::new("verdict", json!({"type": "object"})).strict();
/// assert_eq!(format.strict, Some(true));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputFormat {
    /// What the form is called.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of the answer.
    pub schema: Value,
    /// Whether the provider is to hold the model to the schema; absent when the profile is to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

impl OutputFormat {
    /// A form of this name and schema.
    #[must_use]
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), description: None, schema, strict: None }
    }

    /// The same form, saying what it is for.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The same form, enforced by the provider.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = Some(true);
        self
    }

    /// The same form, as a wish the provider does not enforce.
    #[must_use]
    pub fn not_strict(mut self) -> Self {
        self.strict = Some(false);
        self
    }
}
