//! Why a loop could not go on.
//!
//! An error never costs the state: it comes with the state as it was when the error was met, which can be stored,
//! mended and started again. LoopErrorForm out, an error is its kind and its words; what was underneath stays in the process.

use std::sync::Arc;

use haft_core::history::Change;
use haft_core::{BoxError, CallId, Finish, Issues, SuspendedError, ToolChoice};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::fault;
use super::isolation::Panicked;
use super::state_error::StateError;
use crate::error::ModelError;

/// Why a loop could not go on.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoopError {
    /// The model gave no answer, and asking again was no use or not allowed.
    #[error("the model gave no answer: {0}")]
    Model(#[source] Arc<ModelError>),
    /// The model's code panicked. Nothing is known of the turn it was at.
    #[error("the model panicked: {message}")]
    ModelPanicked {
        /// What the panic said.
        message: String,
    },
    /// The history holds calls without an answer, answers without a call, or two of either, apart from the calls that
    /// wait for somebody. Nothing of it was run.
    #[error("the history is not whole: {}; mend it, or have it repaired with `TurnLoop::repair`", fault::summary(.changes))]
    #[non_exhaustive]
    Unreconciled {
        /// The calls in question.
        calls: Vec<CallId>,
        /// What [`history::repair`](haft_core::history::repair) would change.
        changes: Vec<Change>,
    },
    /// The model made no call although it had to.
    #[error("the model made no call, though one was required")]
    ToolChoice {
        /// What was required.
        choice: ToolChoice,
    },
    /// The model's turn holds nothing.
    #[error("the model's turn is empty; it ended by `{finish}`")]
    EmptyTurn {
        /// Why the turn ended.
        finish: Finish,
    },
    /// The function that decides gave up.
    #[error("what decides between turns failed: {0}")]
    Decide(#[source] Arc<BoxError>),
    /// The function that decides panicked.
    #[error("what decides between turns panicked: {message}")]
    DecidePanicked {
        /// What the panic said.
        message: String,
    },
    /// The state is not one a loop can be in.
    #[error("the state can't be started: {0}")]
    State(#[source] StateError),
    /// The answer to an interaction is not what its tool promises. Another one can be given.
    #[error("the answer to the interaction `{call_id}` does not fit: {issues}")]
    Answer {
        /// The interaction.
        call_id: CallId,
        /// What is wrong with the answer.
        issues: Issues,
    },
    /// The tool of an answered interaction is no longer there to check the answer.
    #[error("there is no interaction `{tool}` any more to check the answer to `{call_id}`")]
    ToolGone {
        /// The tool.
        tool: String,
        /// The interaction.
        call_id: CallId,
    },
    /// The calls of the history that wait for a verdict contradict each other.
    #[error("the calls that wait for a verdict can't be gone on with: {0}")]
    Suspended(#[source] SuspendedError),
    /// An error that was written out and read again.
    #[error("{message}")]
    Recorded {
        /// What [`LoopError::kind`] said.
        kind: String,
        /// The words.
        message: String,
    },
}

impl LoopError {
    /// The cause as a word, for logs and stored events.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Model(_) => "model",
            Self::ModelPanicked { .. } => "model_panicked",
            Self::Unreconciled { .. } => "unreconciled",
            Self::ToolChoice { .. } => "tool_choice",
            Self::EmptyTurn { .. } => "empty_turn",
            Self::Decide(_) => "decide",
            Self::DecidePanicked { .. } => "decide_panicked",
            Self::State(_) => "state",
            Self::Answer { .. } => "answer",
            Self::ToolGone { .. } => "tool_gone",
            Self::Suspended(_) => "suspended",
            Self::Recorded { kind, .. } => kind,
        }
    }

    pub(super) fn unreconciled(changes: Vec<Change>) -> Self {
        Self::Unreconciled { calls: fault::calls(&changes), changes }
    }

    pub(super) fn model_panicked(panicked: Panicked) -> Self {
        Self::ModelPanicked { message: panicked.into_text() }
    }

    pub(super) fn decide_panicked(panicked: Panicked) -> Self {
        Self::DecidePanicked { message: panicked.into_text() }
    }
}

impl From<ModelError> for LoopError {
    fn from(error: ModelError) -> Self {
        Self::Model(Arc::new(error))
    }
}

impl From<StateError> for LoopError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

/// Equal when kind and words are.
impl PartialEq for LoopError {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

#[derive(Serialize, Deserialize)]
struct LoopErrorForm {
    kind: String,
    message: String,
}

impl Serialize for LoopError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LoopErrorForm { kind: self.kind().to_owned(), message: self.to_string() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LoopError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let LoopErrorForm { kind, message } = LoopErrorForm::deserialize(deserializer)?;
        Ok(Self::Recorded { kind, message })
    }
}
