//! What a successful call gave.
//!
//! The application's value and what the model gets to see may differ: a search tool gives the application whole
//! records and the model a short list, or a picture goes to the model as a picture. The value is encoded once, by its
//! schema, and never parsed on its way.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::ContentPart;
use crate::json_text::JsonText;

/// What a successful call gave: the value, and what the model sees of it when that differs.
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
    /// The value the application gets.
    pub value: JsonText,
    /// What the model gets instead of the value, when that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Vec<ContentPart>>,
}

impl ToolOutput {
    /// The value, for the application and the model alike.
    #[must_use]
    pub fn new(value: JsonText) -> Self {
        Self { value, model: None }
    }

    /// The same value, with something else for the model to see.
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
