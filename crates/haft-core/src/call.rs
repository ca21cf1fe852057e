//! A call as a model requested it.
//!
//! A call is kept exactly as the model sent it. Its arguments stay raw text: the executor checks against the schema
//! whether they are JSON and valid for the tool, and a call with unreadable arguments still gets a result. This module
//! must never parse, trim or repair them.

use haft_schema::Issue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::text_id::text_id;
use crate::version::FormatVersion;

text_id! {
    /// The id of a call, assigned by the provider of the model. Cheap to clone.
    ///
    /// ```
    /// use haft_core::CallId;
    ///
    /// let id = CallId::from("call_1");
    /// assert_eq!(id, "call_1");
    /// assert_eq!(serde_json::to_string(&id)?, r#""call_1""#);
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    CallId
}

/// One call of a tool, as the model requested it.
///
/// ```
/// use haft_core::ToolCall;
/// use serde_json::json;
///
/// let call = ToolCall::new("call_1", "get_weather", r#"{"city":"Paris"}"#)
///     .provider_data("gemini", json!({"thought_signature": "c2ln"}));
/// assert_eq!(call.arguments, r#"{"city":"Paris"}"#);
/// assert!(!call.provider_executed);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The id that the result must name.
    pub call_id: CallId,
    /// The name of the tool, as the model spelled it.
    pub name: String,
    /// The arguments, as the model wrote them: text that may or may not be JSON.
    pub arguments: String,
    /// The reason why the arguments can't be converted from the shape in which the model was asked for them. If the tool
    /// rejects them, as it usually does, the model reads this reason instead of issues about another shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_issue: Option<Box<Issue>>,
    /// Set if the provider executes this call. Such a call must not be run here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub provider_executed: bool,
    /// Metadata of the application. Never sent to a model.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Data that a provider expects back with the call (item ids, thought signatures), by the name of the provider.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl ToolCall {
    /// Creates a call that is executed locally.
    #[must_use]
    pub fn new(call_id: impl Into<CallId>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            v: FormatVersion::default(),
            call_id: call_id.into(),
            name: name.into(),
            arguments: arguments.into(),
            argument_issue: None,
            provider_executed: false,
            metadata: Map::new(),
            provider_data: Map::new(),
        }
    }

    /// Creates a call from arguments that a provider sent as a JSON value.
    #[must_use]
    pub fn json(call_id: impl Into<CallId>, name: impl Into<String>, arguments: &Value) -> Self {
        Self::new(call_id, name, arguments.to_string())
    }

    /// Returns the same call with other arguments.
    #[must_use]
    pub fn with_arguments(&self, arguments: impl Into<String>) -> Self {
        let Self { v, call_id, name, arguments: _, argument_issue: _, provider_executed, metadata, provider_data } =
            self;
        Self {
            v: *v,
            call_id: call_id.clone(),
            name: name.clone(),
            arguments: arguments.into(),
            argument_issue: None,
            provider_executed: *provider_executed,
            metadata: metadata.clone(),
            provider_data: provider_data.clone(),
        }
    }

    /// Marks the call as executed by the provider.
    #[must_use]
    pub fn executed_by_provider(mut self) -> Self {
        self.provider_executed = true;
        self
    }

    /// Adds metadata of the application.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Sets the data that `provider` expects back.
    #[must_use]
    pub fn provider_data(mut self, provider: impl Into<String>, data: impl Into<Value>) -> Self {
        self.provider_data.insert(provider.into(), data.into());
        self
    }
}

impl From<&Self> for ToolCall {
    fn from(call: &Self) -> Self {
        call.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn arguments_that_are_not_json_are_kept_to_the_byte() {
        for arguments in ["", "  ", "{", "{\"a\": 1, \"a\": 2}\n", "\u{0}\u{1F600}"] {
            let call = ToolCall::new("c1", "t", arguments);
            let read: ToolCall = serde_json::from_str(&serde_json::to_string(&call).unwrap()).unwrap();
            assert_eq!(read.arguments, arguments);
        }
    }

    #[test]
    fn an_id_is_found_in_a_map_by_its_text() {
        let map = HashMap::from([(CallId::from("a"), 1)]);
        assert_eq!(map.get("a"), Some(&1));
        assert_eq!(map.get("b"), None);
    }

    #[test]
    fn a_call_without_an_id_is_rejected() {
        let missing = serde_json::from_str::<ToolCall>(r#"{"name":"t","arguments":"{}"}"#).unwrap_err();
        assert!(missing.to_string().contains("call_id"));
    }
}
