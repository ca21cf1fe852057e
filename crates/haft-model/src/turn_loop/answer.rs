//! Answers that are checked when they are added to a state.

use haft_core::CallId;
use haft_executor::{ToolSource, ToolType};
use haft_schema::{Issue, Issues, JsonText};
use serde::Serialize;

use super::TurnLoop;
use super::interaction::AnswerCheck;
use super::isolation::isolated;
use super::state::LoopState;
use super::state_error::StateError;

impl TurnLoop {
    /// Answers an open interaction of a state. The value is checked by the success schema that the tool has now, so an
    /// invalid answer is rejected with all its issues, and the interaction stays as it was. Until the state is started
    /// another answer replaces this one.
    ///
    /// ```
    /// use haft_core::{Item, ToolCall, TurnRequest};
    /// use haft_executor::{Tool, Toolkit};
    /// use haft_model::{ScriptedModel, StateError, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ask = Tool::interaction("ask").params::<String>().success::<u8>().define()?;
    /// let model = ScriptedModel::default().then([ToolCall::new("c1", "ask", "\"How many?\"")]).then("Two it is.");
    /// let agent = TurnLoop::new(model, Toolkit::from_iter([ask]));
    /// let mut state = agent.start(TurnRequest::new("any", vec![Item::user("Order cakes.")])).finish().await.state;
    ///
    /// let wrong = agent.answer(&mut state, "c1", "two").unwrap_err();
    /// assert!(matches!(wrong, StateError::Answer { .. }));
    /// agent.answer(&mut state, "c1", 2)?;
    /// assert_eq!(agent.start(state).finish().await.state.text(), "Two it is.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer(
        &self,
        state: &mut LoopState,
        call_id: impl Into<CallId>,
        value: impl Serialize,
    ) -> Result<(), StateError> {
        self.add_answer(state, call_id.into(), encoded(&value))
    }

    /// Answers an open interaction of the tool type `T`, as [`answer`](Self::answer) does. A call of another tool is an
    /// error. The name of the type decides; a tool that was renamed is answered with [`answer`](Self::answer).
    ///
    /// ```
    /// use haft_core::{Item, ToolCall, TurnRequest};
    /// use haft_executor::{NoFailure, Tool, ToolType, Toolkit};
    /// use haft_model::{ScriptedModel, TurnLoop};
    ///
    /// struct Ask;
    ///
    /// impl ToolType for Ask {
    ///     const NAME: &'static str = "ask";
    ///     type Params = String;
    ///     type Success = u8;
    ///     type Failure = NoFailure;
    ///     type Services = ();
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::default().then([ToolCall::new("c1", "ask", "\"How many?\"")]).then("Two it is.");
    /// let agent = TurnLoop::new(model, Toolkit::from_iter([Tool::interaction_of::<Ask>().define()?]));
    /// let mut state = agent.start(TurnRequest::new("any", vec![Item::user("Order cakes.")])).finish().await.state;
    /// agent.answer_as::<Ask>(&mut state, "c1", 2)?;
    /// assert_eq!(agent.start(state).finish().await.state.text(), "Two it is.");
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::needless_pass_by_value, reason = "the answer is used up")]
    pub fn answer_as<T: ToolType>(
        &self,
        state: &mut LoopState,
        call_id: impl Into<CallId>,
        value: T::Success,
    ) -> Result<(), StateError> {
        let call_id = call_id.into();
        let interaction = state.interaction(call_id.clone())?;
        if interaction.name() != T::NAME {
            let (tool, answered) = (interaction.name().to_owned(), T::NAME.to_owned());
            return Err(StateError::OtherTool { call_id, tool, answered });
        }
        self.add_answer(state, call_id, encoded(&value))
    }

    fn add_answer(
        &self,
        state: &mut LoopState,
        call_id: CallId,
        value: Result<JsonText, Issues>,
    ) -> Result<(), StateError> {
        let interaction = state.interaction(call_id.clone())?;
        let value = match value {
            Ok(value) => value,
            Err(issues) => return Err(StateError::Answer { call_id, issues }),
        };
        match interaction.check(self.0.source.snapshot().toolkit(), &value) {
            AnswerCheck::Valid => interaction.answer(value),
            AnswerCheck::Invalid(issues) => return Err(StateError::Answer { call_id, issues }),
            AnswerCheck::UnknownTool => {
                return Err(StateError::UnknownTool { call_id, tool: interaction.name().to_owned() });
            }
        }
        Ok(())
    }
}

/// Encodes an answer.
fn encoded(value: &impl Serialize) -> Result<JsonText, Issues> {
    let failed = |reason: String| Issues::from(Issue::new("", "encoding", reason));
    match isolated(|| JsonText::encode(value)) {
        Ok(encoded) => encoded.map_err(|error| failed(format!("the answer can't be encoded: {error}"))),
        Err(panicked) => Err(failed(format!("the answer can't be encoded: {}", panicked.into_text()))),
    }
}
