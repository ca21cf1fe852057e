//! Handlers that wait for answers, and go on with them later, perhaps in another process.
//!
//! ```text
//! handler ─> Done: the result of the call
//!     ↑ └──> Wait { questions, state } ─> approval requests ─> verdicts ─┐
//!     │                                   (live, or stored)              │
//!     └───────── called again with Resumed { state, answers } <──────────┘
//! ```
//!
//! A handler that waits has returned: it holds no slot, no lane and no memory, and all it wants to know later is its
//! state. On the way to the executor a [`Wait`] is a failure of the kind `input_required`, so that middleware passes it
//! on like any other outcome; the executor recognises it by its cause, which only this file creates. A failure that
//! leaves the executor has no such cause: a result never makes another call wait.

use std::error::Error;
use std::sync::Arc;

use haft_core::{ApprovalDecision, ApprovalRequest, FailureKind, Question, ToolFailure, Verdict};
use haft_schema::{Issues, JsonText};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The value of a call, or the questions that it asks first, as a [resumable](crate::ToolBuilder::resumable) handler
/// returns them.
#[derive(Clone, Debug)]
pub enum Resumable<T> {
    /// The call is done.
    Done(T),
    /// The call waits for answers.
    Wait(Wait),
}

/// Questions of a call, and the state that its handler goes on with when they are answered.
///
/// The handler is called again with both, as [`Resumed`], in this process or in another one. The state is stored as JSON
/// where the run is stored, and is never shown to approvers or models. The questions are.
///
/// A handler that is not declared as [resumable](crate::ToolBuilder::resumable) returns it as a [`ToolFailure`], which it
/// converts into. A [forwarding](crate::DynamicTools::forward) handler does so if the other side asks for input:
///
/// ```
/// use haft_core::{Question, ToolCall, ToolFailure, ToolOutput};
/// use haft_executor::{ForwardCx, Wait};
/// use serde_json::json;
///
/// async fn forward(_call: ToolCall, cx: ForwardCx) -> Result<ToolOutput, ToolFailure> {
///     let Some(resumed) = cx.resumed() else {
///         // The other side answered that it needs the size, and with what the call goes on.
///         return Err(Wait::new([Question::input::<u8>("Which size?")], "opaque state").into());
///     };
///     let state: String = resumed.state().map_err(|error| ToolFailure::new("state", "").cause(error))?;
///     Ok(ToolOutput::from(json!([state, resumed.answers()[0].value()])))
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a call waits when its handler returns this"]
pub struct Wait {
    pub(crate) questions: Vec<Question>,
    pub(crate) state: Result<JsonText, Issues>,
}

/// The answers to the questions of a call, and the state that its handler left with them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Resumed {
    state: JsonText,
    answers: Vec<QuestionAnswer>,
    round: u32,
}

/// An answer to a question of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuestionAnswer {
    request: ApprovalRequest,
    verdict: Verdict,
}

impl<T> Resumable<T> {
    /// Asks questions, and goes on with the state when they are answered. See [`Wait`].
    pub fn wait(questions: impl IntoIterator<Item = Question>, state: impl Serialize) -> Self {
        Self::Wait(Wait::new(questions, state))
    }
}

impl<T> From<Wait> for Resumable<T> {
    fn from(wait: Wait) -> Self {
        Self::Wait(wait)
    }
}

impl Wait {
    /// Asks questions, and goes on with the state when they are answered. Answers have the order of the questions. A state
    /// that JSON can't hold is an error of the handler, as is a wait without a question.
    pub fn new(questions: impl IntoIterator<Item = Question>, state: impl Serialize) -> Self {
        let state = haft_schema::internal::encode_unchecked(&state);
        Self { questions: questions.into_iter().collect(), state }
    }

    /// Returns the questions.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }
}

impl Resumed {
    pub(crate) fn new(state: JsonText, answers: Vec<QuestionAnswer>, round: u32) -> Self {
        Self { state, answers, round }
    }

    /// Decodes the state that the handler left. An error means that another version of the handler left it.
    pub fn state<S: DeserializeOwned>(&self) -> Result<S, serde_json::Error> {
        self.state.decode()
    }

    /// Returns the state as JSON.
    #[must_use]
    pub fn state_json(&self) -> &JsonText {
        &self.state
    }

    /// Returns the answers, in the order of the questions.
    #[must_use]
    pub fn answers(&self) -> &[QuestionAnswer] {
        &self.answers
    }

    /// Returns how often the call has waited, from one.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.round
    }
}

impl QuestionAnswer {
    pub(crate) fn new(request: ApprovalRequest, verdict: Verdict) -> Self {
        Self { request, verdict }
    }

    /// Returns the question; `None` never, for an answer that the executor made.
    #[must_use]
    pub fn question(&self) -> Option<&Question> {
        self.request.question.as_deref()
    }

    /// Returns the verdict, with the decision, the reason and the person who decided.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Reports whether the person declined.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self.verdict.decision, ApprovalDecision::Denied)
    }

    /// Returns the value that was answered, which the schema of the question accepts; `None` if the person declined, or
    /// the question asks for no value.
    #[must_use]
    pub fn value(&self) -> Option<&JsonText> {
        match &self.verdict.decision {
            ApprovalDecision::Answered(value) => Some(value),
            _ => None,
        }
    }

    /// Decodes the value that was answered; `None` where [`value`](Self::value) is.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        self.value().map(JsonText::decode).transpose()
    }
}

/// The cause of a failure that means that the call waits.
#[derive(Debug, thiserror::Error)]
#[error("the call waits for the answers to its questions")]
struct WaitCause(Arc<Wait>);

/// The failure that a handler returns in order to wait. Where nobody can be asked, it is the result of the call.
impl From<Wait> for ToolFailure {
    fn from(wait: Wait) -> Self {
        Self::new(FailureKind::InputRequired, "").cause(WaitCause(Arc::new(wait)))
    }
}

/// Takes the wait out of the failure of a handler, and leaves a failure that no longer makes a call wait.
pub(crate) fn take_wait(failure: &mut ToolFailure) -> Option<Arc<Wait>> {
    if failure.kind != FailureKind::InputRequired {
        return None;
    }
    let WaitCause(wait) = failure.source()?.downcast_ref()?;
    let wait = Arc::clone(wait);
    let mut plain = ToolFailure::new(FailureKind::InputRequired, failure.message.clone());
    plain.started = failure.started;
    *failure = plain;
    Some(wait)
}
