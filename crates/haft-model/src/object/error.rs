//! Errors of requests for a value.

use haft_core::{Finish, ToolCall, Usage};
use haft_schema::{Issues, SchemaError};

use crate::error::ModelError;

/// The reason why a request for a value failed. See
/// [`LanguageModelExt::object`](crate::LanguageModelExt::object).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The schema of the type is invalid. Nothing was sent.
    #[error("the answer can't be requested: {0}")]
    Schema(#[source] SchemaError),
    /// A request to the model failed.
    #[error("the request to the model failed: {source}")]
    #[non_exhaustive]
    Model {
        /// The error.
        source: ModelError,
        /// The usage so far, including that of the failed request as far as it is known.
        usage: Usage,
    },
    /// The model refused to answer.
    #[error("the model refused to answer: {text}")]
    #[non_exhaustive]
    Refused {
        /// The text of the refusal.
        text: String,
        /// The usage of all requests.
        usage: Usage,
    },
    /// The answer was cut off, or the provider paused it.
    #[error("the answer is incomplete; its finish reason is `{finish}`")]
    #[non_exhaustive]
    CutOff {
        /// The reason why the answer ended.
        finish: Finish,
        /// The text up to there.
        text: String,
        /// The usage of all requests.
        usage: Usage,
    },
    /// The model called tools instead of answering.
    #[error("the model called {} instead of answering; run its calls in a `TurnLoop`, or offer no tools", names(.calls))]
    #[non_exhaustive]
    CalledTools {
        /// The calls, in order.
        calls: Vec<ToolCall>,
        /// The usage of all requests.
        usage: Usage,
    },
    /// The answer is invalid, also after the model was asked for a corrected one.
    #[error("the answer of the model is invalid: {issues}")]
    #[non_exhaustive]
    Invalid {
        /// The issues of the last answer.
        issues: Issues,
        /// The text of the last answer.
        text: String,
        /// The usage of all requests.
        usage: Usage,
    },
}

impl ObjectError {
    /// Returns the cause as a word, for logs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Schema(_) => "schema",
            Self::Model { .. } => "model",
            Self::Refused { .. } => "refused",
            Self::CutOff { .. } => "cut_off",
            Self::CalledTools { .. } => "called_tools",
            Self::Invalid { .. } => "invalid",
        }
    }

    /// Returns the usage of all requests that were made.
    #[must_use]
    pub fn usage(&self) -> Usage {
        match self {
            Self::Schema(_) => Usage::default(),
            Self::Model { usage, .. }
            | Self::Refused { usage, .. }
            | Self::CutOff { usage, .. }
            | Self::CalledTools { usage, .. }
            | Self::Invalid { usage, .. } => *usage,
        }
    }
}

/// Lists the tools of a few calls.
fn names(calls: &[ToolCall]) -> String {
    const MOST_LISTED: usize = 3;
    let listed: Vec<String> = calls.iter().take(MOST_LISTED).map(|call| format!("`{:.80}`", call.name)).collect();
    let more = if calls.len() > MOST_LISTED { " and others" } else { "" };
    listed.join(", ") + more
}
