//! Wire errors: a request that can't be written, a response that can't be read, and what a provider reports.

use std::time::Duration;

use crate::wire::ErrorResponse;
use crate::wire::response::error_body;
use crate::wire::response::stated_wait::stated_wait;

/// The error for a request that can't be sent to a provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The request asks for something that the model does not support.
    #[error("the model does not support {capability}; {advice}")]
    Unsupported {
        /// The capability.
        capability: String,
        /// The change that makes the request possible.
        advice: String,
    },
    /// The request is invalid for this provider.
    #[error("{param}: {message}")]
    Invalid {
        /// The request part, such as `history[3]` or `output_format`.
        param: String,
        /// The reason, and what to change.
        message: String,
    },
}

/// The error for a response that can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The response does not match the wire.
    #[error("{message}")]
    Invalid {
        /// The response part and what is wrong with it.
        message: String,
        /// The parser's error.
        #[source]
        source: Option<serde_json::Error>,
    },
    /// The provider reported an error in the response.
    #[error("{}", .0.message)]
    Provider(ErrorReport),
    /// The stream ended before the response was complete.
    #[error("the stream ended before the response was complete")]
    Incomplete,
}

/// An error that a provider reported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorReport {
    /// The cause.
    pub cause: ErrorCause,
    /// The provider's text.
    pub message: String,
    /// The request part that the provider names.
    pub param: Option<String>,
    /// The time to wait before sending the request again.
    pub retry_after: Option<Duration>,
}

/// The cause of an error that a provider reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCause {
    /// Too many requests or tokens for now.
    RateLimited,
    /// A quota or budget is used up; waiting does not help.
    QuotaExceeded,
    /// The provider can't answer for now.
    Unavailable,
    /// The provider gave up waiting.
    TimedOut,
    /// The request is invalid.
    InvalidRequest,
    /// The model does not exist, or this key has no access to it.
    UnknownModel,
    /// The conversation is too long for the model.
    ContextTooLong,
    /// The request exceeds the provider's size limit.
    TooLarge,
    /// A content filter rejected the request.
    ContentFiltered,
    /// The key is missing or wrong.
    Authentication,
    /// The key does not permit this.
    Permission,
}

impl ErrorReport {
    /// Creates a report. If the message of a transient error states a wait, the report has it:
    /// `Please try again in 1.2s`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use haft_wire::{ErrorCause, ErrorReport};
    ///
    /// let report = ErrorReport::new(ErrorCause::RateLimited, "Limit reached. Please try again in 1.2s.");
    /// assert_eq!(report.retry_after, Some(Duration::from_millis(1200)));
    /// ```
    #[must_use]
    pub fn new(cause: ErrorCause, message: impl Into<String>) -> Self {
        let message = message.into();
        let is_transient = matches!(cause, ErrorCause::RateLimited | ErrorCause::Unavailable | ErrorCause::TimedOut);
        let retry_after = if is_transient { stated_wait(&message) } else { None };
        Self { cause, message, param: None, retry_after }
    }

    /// Creates the report for a response from its status and headers alone. The message is the body, limited and
    /// without keys.
    ///
    /// ```
    /// use haft_wire::{ErrorCause, ErrorReport, ErrorResponse};
    ///
    /// let report = ErrorReport::of_status(&ErrorResponse::new(429, "slow down"));
    /// assert_eq!((report.cause, report.message.as_str()), (ErrorCause::RateLimited, "status 429: slow down"));
    /// ```
    #[must_use]
    pub fn of_status(response: &ErrorResponse<'_>) -> Self {
        let message = error_body::message_or_status(String::new(), response);
        let report = Self::new(error_body::of_status(response.status), message);
        error_body::model_or_path(report.with_wait(response), response)
    }
}

impl ErrorReport {
    /// Sets the wait from a response's headers, which is more reliable than one in a message.
    pub(crate) fn with_wait(mut self, response: &ErrorResponse<'_>) -> Self {
        self.retry_after = response.retry_after.or(self.retry_after);
        self
    }
}

impl ReadError {
    /// Creates the error for a response that does not match the wire.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid { message: message.into(), source: None }
    }

    /// Creates the error for a response part that is not valid JSON of its form.
    #[must_use]
    pub fn json(part: &str, source: serde_json::Error) -> Self {
        Self::Invalid { message: format!("{part} is invalid: {source}"), source: Some(source) }
    }
}
