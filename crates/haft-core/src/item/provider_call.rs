//! Calls that the provider made and executed, such as a web search or a code run.
//!
//! Nothing of them is run here. The provider must receive its own data back unchanged in the next request, so the
//! payload is kept verbatim; the other fields are for display and inspection.

use serde::de::{DeserializeOwned, Error as _};
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
    /// A JSON Pointer to the result in the payload. Unset if the payload as a whole is the result; a pointer to nothing
    /// means that the call has none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_at: Option<String>,
    /// A JSON Pointer to the input of the call in the payload. Unset if the payload as a whole is the input; a pointer to
    /// nothing means that the item reports a result only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_at: Option<String>,
    /// The settings by which the tool is told apart from others of the same name, such as an MCP server's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
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
            output_at: None,
            input_at: None,
            settings: Map::new(),
            provider_data: Map::new(),
        }
    }

    /// Sets the id.
    #[must_use]
    pub fn call_id(mut self, call_id: impl Into<CallId>) -> Self {
        self.call_id = Some(call_id.into());
        self
    }

    /// Sets the JSON Pointer to the result in the payload.
    ///
    /// ```
    /// use haft_core::ProviderCall;
    /// use serde_json::json;
    ///
    /// let payload = json!([{"type": "call"}, {"type": "result", "content": [1]}]);
    /// let call = ProviderCall::new("vendor", "search", payload).output_at("/1/content");
    /// assert_eq!(call.output(), Some(&json!([1])));
    /// ```
    #[must_use]
    pub fn output_at(mut self, pointer: impl Into<String>) -> Self {
        self.output_at = Some(pointer.into());
        self
    }

    /// Returns the result, if the call has one.
    #[must_use]
    pub fn output(&self) -> Option<&Value> {
        match &self.output_at {
            Some(pointer) => self.payload.pointer(pointer),
            None => Some(&self.payload),
        }
    }

    /// Sets the JSON Pointer to the input in the payload.
    #[must_use]
    pub fn input_at(mut self, pointer: impl Into<String>) -> Self {
        self.input_at = Some(pointer.into());
        self
    }

    /// Adds a setting by which the tool is told apart from others of the same name.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// Reads what the provider ran: a search's query, the code of an execution, the arguments for an MCP tool. Text that
    /// contains the JSON of a `T` is read as that JSON.
    ///
    /// ```
    /// use haft_core::ProviderCall;
    /// use serde_json::json;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Search {
    ///     query: String,
    /// }
    ///
    /// let payload = json!([{"type": "call", "input": {"query": "haft"}}, {"type": "result"}]);
    /// let call = ProviderCall::new("vendor", "search", payload).input_at("/0/input");
    /// assert_eq!(call.input::<Search>()?.query, "haft");
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the item has no input, as one that reports a result only, or if the input is not a `T`.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let input = match &self.input_at {
            Some(pointer) => self.payload.pointer(pointer),
            None => Some(&self.payload),
        };
        let input = input.ok_or_else(|| {
            serde_json::Error::custom(format!("the item of `{}` has no input: it reports a result only", self.name))
        })?;
        if let Value::String(text) = input
            && let Ok(read) = serde_json::from_str(text)
        {
            return Ok(read);
        }
        T::deserialize(input)
    }

    /// Marks the call as failed.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }
}
