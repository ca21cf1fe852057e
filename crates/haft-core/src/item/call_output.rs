//! The output of a call, as the model reads it.
//!
//! This is the form that results have in a history. One function creates it from a result, and there is none for the
//! way back: the model may read less than the application received.

use std::fmt;

use haft_schema::internal::tree;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::call::CallId;
use crate::content::ContentPart;

/// The output of a call, as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCallOutput {
    /// The id of the call.
    pub call_id: CallId,
    /// The name of the tool, for wire formats that pair outputs with calls by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The content that the model reads.
    pub output: CallOutputBody,
    /// True if the call failed, for wire formats that have a flag for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Metadata of the result, for the application. Never sent to a model. On the heap, as most outputs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Box<Map<String, Value>>>,
    /// Opaque data that must be returned to a provider with the output, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// The content that the model reads: one text, written as a string, or parts, written as a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CallOutputBody {
    /// One text.
    Text(String),
    /// Content parts, for content other than text.
    Parts(Vec<ContentPart>),
}

impl ToolCallOutput {
    /// Creates the output of a call that succeeded.
    #[must_use]
    pub fn new(call_id: impl Into<CallId>, output: impl Into<CallOutputBody>) -> Self {
        Self {
            call_id: call_id.into(),
            tool: None,
            output: output.into(),
            is_error: false,
            metadata: None,
            provider_data: Map::new(),
        }
    }

    /// Sets the name of the tool.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        self.tool = Some(name.into());
        self
    }

    /// Marks the call as failed.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// Adds metadata for the application.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// Adds data that must be returned to `provider`.
    #[must_use]
    pub fn provider_data(mut self, provider: impl Into<String>, data: impl Into<Value>) -> Self {
        self.provider_data.insert(provider.into(), data.into());
        self
    }
}

/// Writes the text; of parts, the text parts only, one per line.
impl fmt::Display for CallOutputBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Parts(parts) => {
                for (index, text) in parts.iter().filter_map(ContentPart::as_text).enumerate() {
                    if index > 0 {
                        f.write_str("\n")?;
                    }
                    f.write_str(text)?;
                }
                Ok(())
            }
        }
    }
}

impl From<&str> for CallOutputBody {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for CallOutputBody {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentPart>> for CallOutputBody {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self::Parts(parts)
    }
}

impl<'de> Deserialize<'de> for CallOutputBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match tree(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            parts @ Value::Array(_) => Vec::deserialize(parts).map(Self::Parts).map_err(D::Error::custom),
            _ => Err(D::Error::custom("an output is a string or a list of content parts")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_is_a_string_or_a_list() {
        let text: CallOutputBody = serde_json::from_value(json!("")).unwrap();
        assert_eq!(text, CallOutputBody::Text(String::new()));
        let parts: CallOutputBody = serde_json::from_value(json!([])).unwrap();
        assert_eq!(parts, CallOutputBody::Parts(Vec::new()));
        for wrong in [json!(null), json!(1), json!({"text": "hi"}), json!([{"type": "text"}])] {
            assert!(serde_json::from_value::<CallOutputBody>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn displays_the_text_of_parts() {
        let parts =
            vec![ContentPart::text("one"), ContentPart::resource_link("file:///a", "a"), ContentPart::text("two")];
        assert_eq!(CallOutputBody::from(parts).to_string(), "one\ntwo");
    }
}
