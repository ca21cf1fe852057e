//! Calls that the provider made and executed, such as a web search or a code run.
//!
//! Nothing of them is run here. The provider must receive its own data back unchanged in the next request, so the
//! payload is kept verbatim; the other fields are for display and inspection.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::CallId;

/// A call that the provider made and executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProviderCall {
    /// The provider that made the call. The payload must not be sent to another one.
    pub provider: String,
    /// The name of the tool at the provider.
    pub name: String,
    /// The id of the call, if the provider assigned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// True if the provider reported a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The call and its result, in the provider's format.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub payload: Value,
    /// Opaque data that must be returned to a provider with the call, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl ProviderCall {
    /// Creates a call of `provider`, with the payload in its format.
    #[must_use]
    pub fn new(provider: impl Into<String>, name: impl Into<String>, payload: impl Into<Value>) -> Self {
        Self {
            provider: provider.into(),
            name: name.into(),
            call_id: None,
            is_error: false,
            payload: payload.into(),
            provider_data: Map::new(),
        }
    }

    /// Sets the id.
    #[must_use]
    pub fn call_id(mut self, call_id: impl Into<CallId>) -> Self {
        self.call_id = Some(call_id.into());
        self
    }

    /// Marks the call as failed.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }
}
