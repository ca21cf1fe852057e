//! Interactions: calls that are answered from outside of the loop, possibly much later.
//!
//! The loop ends while interactions are open and keeps them in its state. An answer is validated when the loop is
//! started again, also one that was validated when it was added, as the tools may have changed; until then it can be
//! replaced. An invalid answer must never
//! reach the history, and a model must not read one that can't be checked because the tool is gone: the application
//! finds it in the metadata of the result.

use haft_core::{CallId, ToolCall, ToolResult};
use haft_executor::{ToolType, Toolkit};
use haft_schema::{Issue, Issues, JsonText};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::LoopError;
use super::isolation::isolated;
use super::json_string;

/// The metadata of a result that contains the answer to an interaction that is gone.
const ANSWER: &str = "answer";

/// A call that waits for an answer from outside of the loop. Its arguments are validated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interaction {
    pub(super) call: ToolCall,
    /// The arguments as decoded by the tool's schema, written as a string of JSON.
    #[serde(with = "json_string")]
    pub arguments: JsonText,
    /// The arguments of the call in the history, as the model wrote them, if an approver edited them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<InteractionAnswer>,
}

/// The answer from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InteractionAnswer {
    Value(#[serde(with = "json_string")] JsonText),
    Closed(String),
}

/// The outcome of the check of an answer.
pub(super) enum AnswerCheck {
    Valid,
    Invalid(Issues),
    /// Nothing can be checked: there is no interaction with the name of the tool.
    UnknownTool,
}

impl Interaction {
    /// Creates the interaction of a call that surfaced; `written` are the arguments as the model wrote them.
    pub(super) fn new(call: ToolCall, arguments: JsonText, written: String) -> Self {
        let written = Some(written).filter(|written| *written != call.arguments);
        Self { call, arguments, written, answer: None }
    }

    /// Reports whether a call of the history is the one that this interaction is about.
    pub(super) fn is_about(&self, call: &ToolCall) -> bool {
        let written = self.written.as_ref().unwrap_or(&self.call.arguments);
        (&call.call_id, &call.name, &call.arguments) == (&self.call.call_id, &self.call.name, written)
    }

    /// Returns the call, with the edited arguments if an approver edited them.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.call.name
    }

    /// Returns the id of the call, which an answer must name.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call.call_id
    }

    /// Decodes the arguments.
    pub fn decode<P: DeserializeOwned>(&self) -> Result<P, serde_json::Error> {
        P::deserialize(self.arguments.to_value())
    }

    /// Decodes the arguments as those of the tool type `T`, or returns `None` if the call is of another tool. The name
    /// of the type decides; a tool that was renamed is compared by its [`name`](Self::name).
    #[must_use]
    pub fn decode_as<T: ToolType>(&self) -> Option<Result<T::Params, serde_json::Error>> {
        (self.name() == T::NAME).then(|| self.decode())
    }

    /// Reports whether there is no answer yet.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answer.is_none()
    }

    /// Sets the answer.
    pub(super) fn answer(&mut self, value: JsonText) {
        self.answer = Some(InteractionAnswer::Value(value));
    }

    /// Closes the interaction without an answer.
    pub(super) fn close(&mut self, reason: String) {
        self.answer = Some(InteractionAnswer::Closed(reason));
    }

    /// Returns the result of the call, if it was answered. A value must be valid by the tool's success schema; a tool
    /// without one accepts any value. If the interaction no longer exists, nothing can be checked: the call fails with
    /// `unknown_tool`, and the answer is kept in the metadata of the result.
    pub(super) fn result(&self, kit: &Toolkit) -> Option<Result<ToolResult, LoopError>> {
        let value = match self.answer.as_ref()? {
            InteractionAnswer::Closed(reason) => return Some(Ok(self.cancelled(reason))),
            InteractionAnswer::Value(value) => value,
        };
        Some(match self.check(kit, value) {
            AnswerCheck::Valid => Ok(ToolResult::ok(&self.call, value.clone())),
            AnswerCheck::UnknownTool => {
                Ok(ToolResult::unknown_tool(&self.call, &[]).with_metadata(ANSWER, value.to_value()))
            }
            AnswerCheck::Invalid(issues) => Err(LoopError::Answer { call_id: self.call_id().clone(), issues }),
        })
    }

    /// Checks an answer by the tool's success schema.
    pub(super) fn check(&self, kit: &Toolkit, value: &JsonText) -> AnswerCheck {
        let Some(tool) = kit.get(self.name()).filter(|tool| tool.is_interaction()) else {
            return AnswerCheck::UnknownTool;
        };
        let broken = || Issues::from(Issue::new("", "validator", "the answer could not be validated"));
        match isolated(|| tool.check_answer(value)).unwrap_or_else(|_| Err(broken())) {
            Ok(()) => AnswerCheck::Valid,
            Err(issues) => AnswerCheck::Invalid(issues),
        }
    }

    /// Creates the result of an interaction that is closed without an answer.
    pub(super) fn cancelled(&self, reason: &str) -> ToolResult {
        ToolResult::cancelled(&self.call, reason)
    }
}
