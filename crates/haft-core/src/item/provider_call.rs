//! A call the provider made and answered itself: a web search, a code run.
//!
//! Nothing of it is run here. What matters is that the provider gets its own words back unchanged in the next request,
//! so the payload is kept verbatim; the other fields are for people and programs to look at.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::CallId;

/// A call the provider made and answered itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProviderCall {
    /// The provider whose call it is. The payload must not be sent to another.
    pub provider: String,
    /// The name of the tool at the provider.
    pub name: String,
    /// The id of the call, when the provider gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// Whether the provider says the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The call and its result in the provider's own words.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub payload: Value,
    /// What a provider wants back with the call, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl ProviderCall {
    /// A call of `provider`, in its own words.
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

    /// The same call with its id.
    #[must_use]
    pub fn call_id(mut self, call_id: impl Into<CallId>) -> Self {
        self.call_id = Some(call_id.into());
        self
    }

    /// The same call, failed at the provider.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }
}
