//! Why a model gave no answer.
//!
//! The causes are those that call for different actions: wait and try again, shorten the conversation, mend the request,
//! ask an operator. What the provider said is kept in the message; what our own code met is kept as the source.

mod written;

use std::time::Duration;

use haft_core::BoxError;

pub(crate) use self::written::WrittenError;

/// Why a model gave no answer.
///
/// ```
/// use std::time::Duration;
/// use haft_model::ModelError;
///
/// let error = ModelError::RateLimited { message: "slow down".into(), retry_after: Some(Duration::from_secs(2)) };
/// assert!(error.retryable());
/// assert_eq!(error.retry_after(), Some(Duration::from_secs(2)));
/// assert!(!ModelError::Authentication { message: "no such key".into() }.retryable());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Too many requests or tokens for now.
    #[error("the provider limits the rate: {message}")]
    RateLimited {
        /// What the provider said.
        message: String,
        /// How long to wait, when the provider said so.
        retry_after: Option<Duration>,
    },
    /// The provider is overloaded, down or out of reach.
    #[error("the provider is unavailable: {message}")]
    Unavailable {
        /// What the provider said, or what was met on the way.
        message: String,
        /// How long to wait, when the provider said so.
        retry_after: Option<Duration>,
        /// What was met on the way.
        #[source]
        source: Option<BoxError>,
    },
    /// No answer in time.
    #[error("the model gave no answer within {after:?}")]
    TimedOut {
        /// How long was waited.
        after: Duration,
    },
    /// The request is not one the provider takes.
    #[error("the provider refuses the request{}: {message}", at(.param.as_ref()))]
    InvalidRequest {
        /// What the provider said.
        message: String,
        /// The part of the request at fault, when the provider named it.
        param: Option<String>,
    },
    /// The conversation is longer than the model can read.
    #[error("the conversation is too long for the model: {message}")]
    ContextTooLong {
        /// What the provider said.
        message: String,
    },
    /// A filter of the provider refused the request.
    #[error("a filter of the provider refuses the request: {message}")]
    ContentFiltered {
        /// What the provider said.
        message: String,
    },
    /// The key is missing, wrong or not allowed to do this.
    #[error("the provider does not accept the credentials: {message}")]
    Authentication {
        /// What the provider said.
        message: String,
    },
    /// The request asks for something this model can't do.
    #[error("the model does not support {capability}")]
    Unsupported {
        /// What was asked for.
        capability: String,
    },
    /// The stream ended before the turn was complete.
    #[error("the answer ended before its turn was complete")]
    IncompleteTurn,
    /// What came back could not be understood.
    #[error("the answer can't be read: {message}")]
    Unreadable {
        /// What was wrong with it.
        message: String,
        /// What reading it met.
        #[source]
        source: Option<BoxError>,
    },
    /// The request was called off.
    #[error("the request was called off")]
    Cancelled,
    /// A stand-in for a model was asked something that its script or recording does not hold.
    #[error("the stand-in for a model can't answer: {message}")]
    OffScript {
        /// What was expected, and what came.
        message: String,
    },
}

impl ModelError {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Unavailable { .. } | Self::TimedOut { .. } | Self::IncompleteTurn => true,
            Self::InvalidRequest { .. }
            | Self::ContextTooLong { .. }
            | Self::ContentFiltered { .. }
            | Self::Authentication { .. }
            | Self::Unsupported { .. }
            | Self::Unreadable { .. }
            | Self::Cancelled
            | Self::OffScript { .. } => false,
        }
    }

    /// How long to wait before trying again, when the provider said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The cause as a word, for logs and recordings.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::Unavailable { .. } => "unavailable",
            Self::TimedOut { .. } => "timed_out",
            Self::InvalidRequest { .. } => "invalid_request",
            Self::ContextTooLong { .. } => "context_too_long",
            Self::ContentFiltered { .. } => "content_filtered",
            Self::Authentication { .. } => "authentication",
            Self::Unsupported { .. } => "unsupported",
            Self::IncompleteTurn => "incomplete_turn",
            Self::Unreadable { .. } => "unreadable",
            Self::Cancelled => "cancelled",
            Self::OffScript { .. } => "off_script",
        }
    }
}

fn at(param: Option<&String>) -> String {
    param.map(|param| format!(" (at `{param}`)")).unwrap_or_default()
}
