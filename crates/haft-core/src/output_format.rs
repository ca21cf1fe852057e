//! The format of an answer that must be JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::description::IntoDescription;

/// A request for an answer in JSON with a given schema.
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
    /// The name of the format.
    pub name: String,
    /// The description of the format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of the answer.
    pub schema: Value,
    /// Set if the provider must enforce the schema. If absent, the profile decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

impl OutputFormat {
    /// Creates a format with this name and schema.
    #[must_use]
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), description: None, schema, strict: None }
    }

    /// Sets the description.
    #[must_use]
    pub fn describe<M>(mut self, description: impl IntoDescription<M>) -> Self {
        self.description = description.into_description();
        self
    }

    /// Requests that the provider enforces the schema.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = Some(true);
        self
    }

    /// Requests that the provider does not enforce the schema.
    #[must_use]
    pub fn not_strict(mut self) -> Self {
        self.strict = Some(false);
        self
    }
}
