//! A call that somebody outside answers, possibly much later.
//!
//! The loop ends while interactions are open and keeps them in its state. An answer is checked when the loop is started
//! again, as only then the tool is at hand; until then it can be replaced.

use haft_core::{CallId, Issue, Issues, JsonText, Tool, ToolCall, ToolResult};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::LoopError;
use super::isolation::isolated;
use super::json_string;

/// A call that waits for somebody outside, its arguments checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interaction {
    /// The call, with the arguments that a person put in the place of the model's if one did.
    pub call: ToolCall,
    /// Its arguments, as the tool's schema read them. Written as a string of JSON.
    #[serde(with = "json_string")]
    pub arguments: JsonText,
    /// The arguments that the model wrote, where a person edited them: those of the call in the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<InteractionAnswer>,
}

/// What came from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InteractionAnswer {
    Value(#[serde(with = "json_string")] JsonText),
    Closed(String),
}

impl Interaction {
    /// Creates the interaction of a call that surfaced; `written` are the arguments that the model wrote.
    pub(super) fn new(call: ToolCall, arguments: JsonText, written: String) -> Self {
        let written = Some(written).filter(|written| *written != call.arguments);
        Self { call, arguments, written, answer: None }
    }

    /// Returns whether a call of the history is the one that this interaction is about.
    pub(super) fn is_about(&self, call: &ToolCall) -> bool {
        let written = self.written.as_ref().unwrap_or(&self.call.arguments);
        (&call.call_id, &call.name, &call.arguments) == (&self.call.call_id, &self.call.name, written)
    }

    /// The name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.call.name
    }

    /// The id of the call, which an answer must name.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call.call_id
    }

    /// The arguments as a type of one's own.
    pub fn decode<P: DeserializeOwned>(&self) -> Result<P, serde_json::Error> {
        P::deserialize(self.arguments.to_value())
    }

    /// Whether nobody has answered yet.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answer.is_none()
    }

    pub(super) fn answer(&mut self, value: &Value) {
        self.answer = Some(InteractionAnswer::Value(value.into()));
    }

    pub(super) fn close(&mut self, reason: String) {
        self.answer = Some(InteractionAnswer::Closed(reason));
    }

    /// The one result of the call, if it was answered. A value must fit what the tool promises; a tool that promises
    /// nothing takes anything.
    pub(super) fn result(&self, tool: Option<&Tool>) -> Option<Result<ToolResult, LoopError>> {
        let value = match self.answer.as_ref()? {
            InteractionAnswer::Closed(reason) => return Some(Ok(self.cancelled(reason))),
            InteractionAnswer::Value(value) => value,
        };
        let Some(tool) = tool.filter(|tool| tool.is_interaction()) else {
            let (tool, call_id) = (self.name().to_owned(), self.call_id().clone());
            return Some(Err(LoopError::ToolGone { tool, call_id }));
        };
        let broken = || Issues::from(Issue::new("", "validator", "the answer could not be checked"));
        let checked = isolated(|| tool.check_answer(value)).unwrap_or_else(|_| Err(broken()));
        let refused = |issues| LoopError::Answer { call_id: self.call_id().clone(), issues };
        Some(checked.map(|()| ToolResult::ok(&self.call, value.clone())).map_err(refused))
    }

    /// The result of an interaction that nobody will answer.
    pub(super) fn cancelled(&self, reason: &str) -> ToolResult {
        ToolResult::cancelled(&self.call, reason)
    }
}
