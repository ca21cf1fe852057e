//! Errors of a loop.
//!
//! An error must never lose the state: it is returned with the state at the time of the error, which can be stored,
//! corrected and started again. The written form of an error is its kind and its message; its source stays in the
//! process.

use std::sync::Arc;

use haft_core::history::Change;
use haft_core::{CallId, Finish, ToolChoice};
use haft_executor::{BoxError, NotRunnable, SuspendedError};
use haft_schema::Issues;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::fault;
use super::isolation::Panicked;
use super::state_error::StateError;
use crate::error::ModelError;
use crate::model_info::ModelInfo;
use crate::store::StoreError;

/// The reason why a loop could not continue.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoopError {
    /// The request to the model failed, and a retry was useless or not allowed.
    #[error("the request to the model {model} failed: {source}")]
    Model {
        /// The names of the model.
        model: ModelInfo,
        /// The error.
        source: Arc<ModelError>,
    },
    /// The code of the model panicked. Its turn is lost.
    #[error("the model panicked: {message}")]
    ModelPanicked {
        /// The text of the panic.
        message: String,
    },
    /// The source of the tools panicked.
    #[error("the source of the tools panicked: {message}")]
    SourcePanicked {
        /// The text of the panic.
        message: String,
    },
    /// Tools can't run with the options of the loop: a handler or a service is missing, or a definition is invalid. The
    /// loop was started with them, so this is a mistake of the application. Nothing was done, and the state is
    /// unchanged.
    #[error("the loop can't be started with these tools: {0}")]
    NotRunnable(#[source] NotRunnable),
    /// The history contains calls without an output, outputs without a call, or duplicates of either, apart from the
    /// calls that wait for an answer or a verdict. None of its calls was run.
    #[error("the history is inconsistent: {}; correct it, or repair it with `TurnLoop::repair`", fault::summary(.changes))]
    #[non_exhaustive]
    Unreconciled {
        /// The affected calls.
        calls: Vec<CallId>,
        /// The changes that [`history::repair`](haft_core::history::repair) would make.
        changes: Vec<Change>,
    },
    /// The model made no call although the tool choice requires one.
    #[error("the model made no call although the tool choice requires one")]
    ToolChoice {
        /// The tool choice.
        choice: ToolChoice,
    },
    /// The model's turn is empty.
    #[error("the model's turn is empty; its finish reason is `{finish}`")]
    EmptyTurn {
        /// The reason why the turn ended.
        finish: Finish,
    },
    /// The final answer is not a value of the type that the loop ends with, also after the model was asked for a
    /// corrected one; see [`TurnLoop::finish_as`](crate::TurnLoop::finish_as).
    #[error("the final answer of the model is invalid: {issues}")]
    AnswerInvalid {
        /// The issues of the answer.
        issues: Issues,
        /// The text of the answer.
        text: String,
    },
    /// The model refused to give the final answer.
    #[error("the model refused to give the final answer: {text}")]
    AnswerRefused {
        /// The text of the refusal.
        text: String,
    },
    /// The final answer was cut off.
    #[error("the final answer of the model is incomplete; its finish reason is `{finish}`")]
    AnswerCutOff {
        /// The reason why the answer ended.
        finish: Finish,
    },
    /// The decide function returned an error.
    #[error("the decide function failed: {0}")]
    Decide(#[source] Arc<BoxError>),
    /// The decide function panicked.
    #[error("the decide function panicked: {message}")]
    DecidePanicked {
        /// The text of the panic.
        message: String,
    },
    /// A hook that prepares requests returned an error. The history is as it was before.
    #[error("the prepare function failed: {0}")]
    Prepare(#[source] Arc<BoxError>),
    /// A hook that prepares requests panicked. The history is as it was before.
    #[error("the prepare function panicked: {message}")]
    PreparePanicked {
        /// The text of the panic.
        message: String,
    },
    /// A hook that prepares requests returned a history that can't be sent. The history is as it was before.
    #[error(
        "the prepare function returned a history that can't be sent: {reason}; remove a call together with its output, \
         and keep their order"
    )]
    PreparedHistory {
        /// The faults of the history.
        reason: String,
    },
    /// The state is invalid.
    #[error("the state can't be started: {0}")]
    State(#[source] StateError),
    /// The answer to an interaction is invalid by the tool's success schema. It can be replaced.
    #[error("the answer to the interaction `{call_id}` is invalid: {issues}")]
    Answer {
        /// The interaction.
        call_id: CallId,
        /// The issues of the answer.
        issues: Issues,
    },
    /// The calls of the history that wait for a verdict contradict each other.
    #[error("the calls that wait for a verdict can't be resumed: {0}")]
    Suspended(#[source] SuspendedError),
    /// The conversation could not be saved, so the run was cancelled and no further call began; see
    /// [`Chat`](crate::Chat). What happened since the last save is lost.
    #[error("the conversation could not be saved: {0}")]
    NotSaved(#[source] Arc<StoreError>),
    /// An error that was read back from its written form.
    #[error("{message}")]
    Recorded {
        /// The kind; see [`LoopError::kind`].
        kind: String,
        /// The message.
        message: String,
    },
}

impl LoopError {
    /// Returns the cause as a word, for logs and stored events.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Model { .. } => "model",
            Self::ModelPanicked { .. } => "model_panicked",
            Self::SourcePanicked { .. } => "source_panicked",
            Self::NotRunnable(_) => "not_runnable",
            Self::Unreconciled { .. } => "unreconciled",
            Self::ToolChoice { .. } => "tool_choice",
            Self::EmptyTurn { .. } => "empty_turn",
            Self::AnswerInvalid { .. } => "answer_invalid",
            Self::AnswerRefused { .. } => "answer_refused",
            Self::AnswerCutOff { .. } => "answer_cut_off",
            Self::Decide(_) => "decide",
            Self::DecidePanicked { .. } => "decide_panicked",
            Self::Prepare(_) => "prepare",
            Self::PreparePanicked { .. } => "prepare_panicked",
            Self::PreparedHistory { .. } => "prepared_history",
            Self::State(_) => "state",
            Self::Answer { .. } => "answer",
            Self::Suspended(_) => "suspended",
            Self::NotSaved(_) => "not_saved",
            Self::Recorded { kind, .. } => kind,
        }
    }

    pub(super) fn unreconciled(changes: Vec<Change>) -> Self {
        Self::Unreconciled { calls: fault::calls(&changes), changes }
    }

    pub(super) fn model_panicked(panicked: Panicked) -> Self {
        Self::ModelPanicked { message: panicked.into_text() }
    }

    pub(super) fn source_panicked(panicked: Panicked) -> Self {
        Self::SourcePanicked { message: panicked.into_text() }
    }

    pub(super) fn prepared_history(changes: &[Change]) -> Self {
        Self::PreparedHistory { reason: fault::summary(changes) }
    }

    pub(super) fn prepare_panicked(panicked: Panicked) -> Self {
        Self::PreparePanicked { message: panicked.into_text() }
    }

    pub(super) fn decide_panicked(panicked: Panicked) -> Self {
        Self::DecidePanicked { message: panicked.into_text() }
    }
}

impl From<StateError> for LoopError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

/// Compares kind and message.
impl PartialEq for LoopError {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

/// The written form of an error.
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
