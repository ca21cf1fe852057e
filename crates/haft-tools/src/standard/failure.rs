//! The standard tools' declared failure.
//!
//! All tools share one shape: a message for the model, a stable reason for programs, and the position in the input if
//! there is one. Each family has its own enum of causes, which becomes this value at its tool's edge. A failure must
//! never contain a path outside the arguments, nor an operating system error's text.

use haft_executor::Failure;
use schemars::JsonSchema;
use serde::Serialize;

/// A failure that the model reads: the arguments were valid, and there is no result for them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct StandardFailure {
    /// The cause, in `snake_case`; the same for every failure of this cause.
    reason: &'static str,
    /// The position in the input, in characters from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    #[serde(skip)]
    message: String,
}

impl StandardFailure {
    /// Creates a failure; the message is one sentence: what failed, and what to do.
    pub(super) fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self { reason, position: None, message: message.into() }
    }

    /// Sets the position, in characters from 1.
    pub(super) fn at(mut self, position: usize) -> Self {
        self.position = Some(position);
        self
    }
}

impl Failure for StandardFailure {
    fn message(&self) -> String {
        self.message.clone()
    }
}
