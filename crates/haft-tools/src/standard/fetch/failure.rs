//! `fetch`'s failures.

use haft_core::{FailureKind, ToolFailure};
use haft_executor::{Failure, HandlerError};
use haft_http::HttpError;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// The failure of a call of `fetch`, for the model. Its text names neither an address nor the rule that rejected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FetchFailure {
    /// The URL is malformed, or its scheme is neither `http` nor `https`.
    InvalidUrl,
    /// The application does not permit the host.
    Forbidden,
    /// The application does not permit the host that the URL redirects to.
    ForbiddenRedirect,
    /// The host name has no address.
    UnknownHost,
    /// The host does not accept connections.
    Unreachable,
    /// The host has no trusted certificate.
    Untrusted,
    /// The host did not answer in time.
    TimedOut,
    /// The connection ended within the answer.
    Interrupted,
    /// The URL redirects again and again.
    TooManyRedirects,
}

impl Failure for FetchFailure {
    fn message(&self) -> String {
        match self {
            Self::InvalidUrl => "the URL is invalid: pass an absolute URL with the scheme http or https",
            Self::Forbidden => {
                "the host of the URL is not permitted: only hosts that the application permits can be fetched"
            }
            Self::ForbiddenRedirect => "the URL redirects to a host that is not permitted",
            Self::UnknownHost => "the host name of the URL can't be resolved",
            Self::Unreachable => "the host of the URL can't be reached",
            Self::Untrusted => "no encrypted connection to a trusted host can be established",
            Self::TimedOut => "the host did not answer in time",
            Self::Interrupted => "the connection ended before the answer was complete",
            Self::TooManyRedirects => "the URL redirects too many times",
        }
        .to_owned()
    }

    fn retryable(&self) -> bool {
        match self {
            Self::UnknownHost | Self::Unreachable | Self::TimedOut | Self::Interrupted => true,
            Self::InvalidUrl | Self::Forbidden | Self::ForbiddenRedirect | Self::Untrusted | Self::TooManyRedirects => {
                false
            }
        }
    }
}

/// Returns a request's failure: the cause for the model, and the error itself for the operator. Errors in the client's
/// settings are for the operator alone.
pub(super) fn failure(error: HttpError) -> HandlerError<FetchFailure> {
    let declared = match &error {
        HttpError::InvalidUrl { .. } => FetchFailure::InvalidUrl,
        HttpError::Forbidden { endpoint, .. } if endpoint.redirects() == 0 => FetchFailure::Forbidden,
        HttpError::Forbidden { .. } => FetchFailure::ForbiddenRedirect,
        HttpError::Dns { .. } => FetchFailure::UnknownHost,
        HttpError::Connect { .. } | HttpError::Proxy { .. } => FetchFailure::Unreachable,
        HttpError::Tls { .. } => FetchFailure::Untrusted,
        HttpError::TimedOut { .. } => FetchFailure::TimedOut,
        HttpError::Closed { .. } => FetchFailure::Interrupted,
        HttpError::TooManyRedirects { .. } => FetchFailure::TooManyRedirects,
        _ => return HandlerError::opaque(error),
    };
    let failure = ToolFailure::new(FailureKind::ToolFailed, declared.message()).details(json!(declared)).cause(error);
    HandlerError::opaque(if declared.retryable() { failure.retryable() } else { failure.not_retryable() })
}
