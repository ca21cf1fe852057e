//! A call that speaks to the loop itself.
//!
//! Nobody runs a signal: its arguments are checked, it is permitted and approved like any other call, and the function
//! that decides reads it and answers it. One that is not answered is closed with `null`, so that the history has an
//! answer to every call.

use haft_core::{CallId, FailureKind, JsonText, Schema, ToolCall, ToolFailure, ToolResult};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json_string;

/// A signal of the model's, its arguments checked.
///
/// ```
/// use haft_core::{Item, Tool, ToolCall, Toolkit, TurnRequest};
/// use haft_model::{ScriptedModel, TurnLoop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kit: Toolkit = Toolkit::new().with(Tool::signal("grade").params::<u8>().define()?)?;
/// let model = ScriptedModel::new([[ToolCall::new("c1", "grade", "3")]]);
/// let agent = TurnLoop::new(model, kit).decide(|mut after| async move {
///     for signal in after.signals_mut() {
///         match signal.decode::<u8>() {
///             Ok(grade) => signal.answer(format!("noted: {grade}")),
///             Err(error) => return after.fail(error),
///         }
///     }
///     after.stop()
/// });
/// let state = agent.start(TurnRequest::new("any", vec![Item::user("How was it?")])).finish().await.state;
/// assert!(matches!(&state.history()[2], Item::ToolOutput(answer) if answer.output.to_string() == "noted: 3"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Signal {
    pub(super) call: ToolCall,
    /// Its arguments, as the tool's schema read them. Written as a string of JSON.
    #[serde(with = "json_string")]
    pub arguments: JsonText,
    #[serde(with = "json_string", default = "JsonText::null", skip_serializing_if = "JsonText::is_null")]
    answer: JsonText,
}

impl Signal {
    pub(super) fn new(call: ToolCall, arguments: JsonText) -> Self {
        Self { call, arguments, answer: JsonText::null() }
    }

    /// The call, with the arguments that a person put in the place of the model's if one did.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.call.name
    }

    /// The id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call.call_id
    }

    /// The arguments as a type of one's own.
    pub fn decode<P: DeserializeOwned>(&self) -> Result<P, serde_json::Error> {
        P::deserialize(self.arguments.to_value())
    }

    /// Answers the signal: the model reads the value as the result of its call. The last answer counts.
    pub fn answer(&mut self, value: impl Into<Value>) {
        self.answer = JsonText::from(value.into());
    }

    /// Takes over what another copy of the signal was answered.
    pub(super) fn answer_as(&mut self, other: &Self) {
        self.answer.clone_from(&other.answer);
    }

    /// The one result of the call. An answer nests no deeper than the result of a tool may.
    pub(super) fn result(&self) -> ToolResult {
        match Schema::unknown().check_output(&self.answer) {
            Ok(()) => ToolResult::ok(&self.call, self.answer.clone()),
            Err(issues) => {
                let failure = ToolFailure::with_issues(FailureKind::OutputValidationError, issues).not_started();
                ToolResult::from_failure(&self.call, failure)
            }
        }
    }
}
