//! Signals: calls that are addressed to the loop.
//!
//! A signal has no handler: its arguments are validated, it is permitted and approved like any other call, and the
//! decide function reads and answers it. The result of a signal without an answer is `null`, so that the history has
//! an output of every call.

use haft_core::{CallId, FailureKind, ToolCall, ToolFailure, ToolResult};
use haft_executor::ToolType;
use haft_schema::{JsonText, Schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json_string;

/// A signal of the model. Its arguments are validated.
///
/// ```
/// use haft_core::{Item, ToolCall, TurnRequest};
/// use haft_executor::{Tool, Toolkit};
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
    /// The arguments as decoded by the tool's schema, written as a string of JSON.
    #[serde(with = "json_string")]
    pub arguments: JsonText,
    #[serde(with = "json_string", default = "JsonText::null", skip_serializing_if = "JsonText::is_null")]
    answer: JsonText,
}

impl Signal {
    pub(super) fn new(call: ToolCall, arguments: JsonText) -> Self {
        Self { call, arguments, answer: JsonText::null() }
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

    /// Returns the id of the call.
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
    ///
    /// ```
    /// use haft_executor::{DefinitionError, NoFailure, StaticTool, Tool, ToolType, Toolkit};
    /// use haft_core::{Item, ToolCall, TurnRequest};
    /// use haft_model::{ScriptedModel, TurnLoop};
    /// use serde_json::Value;
    ///
    /// struct Grade;
    ///
    /// impl ToolType for Grade {
    ///     const NAME: &'static str = "grade";
    ///     type Params = u8;
    ///     type Success = Value;
    ///     type Failure = NoFailure;
    ///     type Services = ();
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new().with(Tool::signal_of::<Grade>().define()?)?;
    /// let model = ScriptedModel::new([[ToolCall::new("c1", "grade", "3")]]);
    /// let agent = TurnLoop::new(model, kit).decide(|mut after| async move {
    ///     for signal in after.signals_mut() {
    ///         if let Some(Ok(grade)) = signal.decode_as::<Grade>() {
    ///             signal.answer(format!("noted: {grade}"));
    ///         }
    ///     }
    ///     after.stop()
    /// });
    /// let state = agent.start(TurnRequest::new("any", vec![Item::user("How was it?")])).finish().await.state;
    /// assert!(matches!(&state.history()[2], Item::ToolOutput(answer) if answer.output.to_string() == "noted: 3"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn decode_as<T: ToolType>(&self) -> Option<Result<T::Params, serde_json::Error>> {
        (self.name() == T::NAME).then(|| self.decode())
    }

    /// Sets the answer, which the model reads as the result of its call. The last answer counts.
    pub fn answer(&mut self, value: impl Into<Value>) {
        self.answer = JsonText::from(value.into());
    }

    /// Takes over the answer of another copy of the signal.
    pub(super) fn answer_as(&mut self, other: &Self) {
        self.answer.clone_from(&other.answer);
    }

    /// Returns the result of the call. An answer that nests deeper than the result of a tool may is a failure.
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
