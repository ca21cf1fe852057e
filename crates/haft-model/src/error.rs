//! Errors of a language model, by cause.
//!
//! The causes are those that require different actions: wait and retry, shorten the conversation, correct the request,
//! involve an operator. The message holds the provider's text and identifies its response; the source holds the error of
//! the client's own code. No part of an error may contain credentials.

mod provider_message;
mod written;

use std::time::Duration;

use haft_executor::BoxError;

pub use self::provider_message::ProviderMessage;
pub(crate) use self::written::WrittenError;

/// The error of a request to a model.
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
    /// Too many requests or tokens at the moment.
    #[error("the provider limits the request rate: {message}")]
    RateLimited {
        /// The provider's message.
        message: ProviderMessage,
        /// The time to wait before a retry, if the provider stated it.
        retry_after: Option<Duration>,
    },
    /// The provider is overloaded, down or unreachable.
    #[error("the provider is unavailable: {message}")]
    Unavailable {
        /// The provider's message, or a description of the transport error.
        message: ProviderMessage,
        /// The time to wait before a retry, if the provider stated it.
        retry_after: Option<Duration>,
        /// The transport error.
        #[source]
        source: Option<BoxError>,
    },
    /// The request timed out.
    #[error("the model did not respond within {after:?}")]
    TimedOut {
        /// The timeout.
        after: Duration,
    },
    /// The request is invalid: it can't be sent to this provider, or the provider rejected it.
    #[error("the request is invalid{}: {message}", at(.param.as_ref()))]
    InvalidRequest {
        /// The provider's message, or the reason why the request can't be sent.
        message: ProviderMessage,
        /// The invalid part of the request, if the provider named it.
        param: Option<String>,
    },
    /// The conversation exceeds the context of the model.
    #[error("the conversation is too long for the model: {message}")]
    ContextTooLong {
        /// The provider's message.
        message: ProviderMessage,
    },
    /// A content filter of the provider rejected the request.
    #[error("a content filter of the provider rejected the request: {message}")]
    ContentFiltered {
        /// The provider's message.
        message: ProviderMessage,
    },
    /// The API key is missing, wrong or lacks the permission.
    #[error("the provider rejected the credentials: {message}")]
    Authentication {
        /// The provider's message.
        message: ProviderMessage,
    },
    /// A quota or a budget is used up. Waiting does not help.
    #[error("the quota at the provider is used up: {message}")]
    QuotaExceeded {
        /// The provider's message.
        message: ProviderMessage,
    },
    /// The model does not exist, or is not available with these credentials.
    #[error("the provider does not know the model: {message}")]
    UnknownModel {
        /// The provider's message.
        message: ProviderMessage,
    },
    /// The request uses a capability that the model does not have.
    #[error("the model does not support {capability}")]
    Unsupported {
        /// The capability.
        capability: String,
    },
    /// The stream ended before the turn was complete.
    #[error("the stream ended before the turn was complete")]
    IncompleteTurn,
    /// The response could not be read.
    #[error("the response is invalid: {message}")]
    Unreadable {
        /// The description of the problem.
        message: ProviderMessage,
        /// The error of the reader.
        #[source]
        source: Option<BoxError>,
    },
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// A scripted or recorded model received a request that its script or recording does not contain.
    #[error("the scripted or recorded model can't answer: {message}")]
    OffScript {
        /// The expected and the actual request.
        message: String,
    },
}

impl ModelError {
    /// Reports whether the same request may succeed later: as the provider stated it
    /// ([`ProviderMessage::should_retry`]), or else by the cause.
    #[must_use]
    pub fn retryable(&self) -> bool {
        self.stated_retry().unwrap_or_else(|| self.is_transient())
    }

    pub(crate) fn stated_retry(&self) -> Option<bool> {
        self.provider_message()?.stated_retry()
    }

    fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Unavailable { .. } | Self::TimedOut { .. } | Self::IncompleteTurn => true,
            Self::InvalidRequest { .. }
            | Self::ContextTooLong { .. }
            | Self::ContentFiltered { .. }
            | Self::Authentication { .. }
            | Self::QuotaExceeded { .. }
            | Self::UnknownModel { .. }
            | Self::Unsupported { .. }
            | Self::Unreadable { .. }
            | Self::Cancelled
            | Self::OffScript { .. } => false,
        }
    }

    /// Returns the time to wait before a retry, if the provider stated it.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Returns the provider that reported the error, if it is known.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.provider_message()?.provider_name()
    }

    /// Returns the HTTP status of the response that reported the error, if there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.provider_message()?.response_status()
    }

    /// Returns the provider's id of the request, if it is known.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.provider_message()?.id_of_request()
    }

    fn provider_message(&self) -> Option<&ProviderMessage> {
        match self {
            Self::RateLimited { message, .. }
            | Self::Unavailable { message, .. }
            | Self::InvalidRequest { message, .. }
            | Self::ContextTooLong { message }
            | Self::ContentFiltered { message }
            | Self::Authentication { message }
            | Self::QuotaExceeded { message }
            | Self::UnknownModel { message }
            | Self::Unreadable { message, .. } => Some(message),
            Self::TimedOut { .. }
            | Self::Unsupported { .. }
            | Self::IncompleteTurn
            | Self::Cancelled
            | Self::OffScript { .. } => None,
        }
    }

    /// Returns the cause as a word, for logs and recordings.
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
            Self::QuotaExceeded { .. } => "quota_exceeded",
            Self::UnknownModel { .. } => "unknown_model",
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
