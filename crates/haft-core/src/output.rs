//! The output of a successful call.
//!
//! The value for the application and the content for the model may differ: a search tool returns complete records to
//! the application and a short list to the model, or an image is sent to the model as an image. The value is encoded
//! once, by its schema, and never parsed again.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::ContentPart;
use crate::json_text::JsonText;

/// The output of a successful call: the value, and the content for the model if that differs.
///
/// ```
/// use haft_core::{ContentPart, ToolOutput};
/// use serde_json::json;
///
/// let output = ToolOutput::from(json!({"rows": [1, 2, 3]})).for_model(vec![ContentPart::text("3 rows")]);
/// assert_eq!(output.value.as_str(), r#"{"rows":[1,2,3]}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The value for the application.
    pub value: JsonText,
    /// The content for the model, if it differs from the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Vec<ContentPart>>,
}

impl ToolOutput {
    /// Creates an output with the same value for the application and the model.
    #[must_use]
    pub fn new(value: JsonText) -> Self {
        Self { value, model: None }
    }

    /// Sets different content for the model.
    #[must_use]
    pub fn for_model(mut self, parts: Vec<ContentPart>) -> Self {
        self.model = Some(parts);
        self
    }
}

impl From<JsonText> for ToolOutput {
    fn from(value: JsonText) -> Self {
        Self::new(value)
    }
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self::new(value.into())
    }
}

/// Any value: a handler that returns an output decides about its value itself.
impl JsonSchema for ToolOutput {
    fn schema_name() -> Cow<'static, str> {
        "ToolOutput".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}
