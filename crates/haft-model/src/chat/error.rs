//! Errors of a chat, by what a server answers.

use haft_core::{ApprovalRequest, Timestamp};

use crate::store::StoreError;
use crate::turn_loop::{Interaction, StateError};

/// The reason why a message was not sent, or a run has no end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The conversation runs already, here or in another process. (HTTP 409)
    #[error("the conversation is busy with another message; try again when that is answered")]
    Busy {
        /// The time at which the claim expires unless it is renewed.
        until: Timestamp,
    },
    /// There is no such conversation. (HTTP 404)
    #[error("there is no such conversation")]
    Unknown,
    /// Calls wait for a verdict or an answer, so the model can't read a message. (HTTP 409)
    #[error(
        "{} for a verdict or an answer; give it, or go on without it by `cancel_pending`",
        waiting(.approvals.len() + .interactions.len())
    )]
    Waiting {
        /// The calls that wait for a verdict.
        approvals: Vec<ApprovalRequest>,
        /// The calls that wait for an answer.
        interactions: Vec<Interaction>,
    },
    /// The answer is complete, and nothing was added. (HTTP 409)
    #[error("there is nothing to go on with: the last answer is complete, and no call waits")]
    NothingToDo,
    /// A verdict or an answer is not valid. Nothing was changed. (HTTP 422)
    #[error(transparent)]
    State(#[from] StateError),
    /// The store failed. (HTTP 500)
    #[error(transparent)]
    Store(StoreError),
    /// The chat is used outside of a tokio runtime.
    #[error("a chat runs in a task: use it in a tokio runtime")]
    NoRuntime,
    /// The task of the run is gone: its runtime shuts down, or it panicked.
    #[error("the run was interrupted before it ended; the conversation is as it was saved last")]
    Interrupted,
}

impl ChatError {
    /// Returns the status of an HTTP response with this error. The message of one from 500 on is for the operator: that
    /// of a store may name files.
    ///
    /// ```
    /// use haft_executor::Toolkit;
    /// use haft_model::{Chat, MemoryStore, ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chat = Chat::new(TurnLoop::new(ScriptedModel::default(), Toolkit::new()), MemoryStore::new());
    /// let unknown = chat.resume("acme/42").await.unwrap_err();
    /// assert_eq!(unknown.http_status(), 404);
    /// # }
    /// ```
    #[must_use]
    pub fn http_status(&self) -> u16 {
        match self {
            Self::Unknown => 404,
            Self::Busy { .. } | Self::Waiting { .. } | Self::NothingToDo => 409,
            Self::State(_) => 422,
            Self::Store(_) | Self::NoRuntime | Self::Interrupted => 500,
        }
    }
}

fn waiting(count: usize) -> String {
    if count == 1 {
        "one call of the conversation waits".to_owned()
    } else {
        format!("{count} calls of the conversation wait")
    }
}

impl From<StoreError> for ChatError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy { until } => Self::Busy { until },
            other => Self::Store(other),
        }
    }
}
