//! Request failures.
//!
//! The model reads the status. The body is for the operator, and for the model only as far as [`ErrorDetail`] says:
//! servers write stack traces, queries and passwords into it. Connections and credentials are for the operator alone.

use std::error::Error;
use std::iter::successors;
use std::time::Duration;

use haft_core::{FailureKind, ToolFailure};
use haft_executor::{Failure, HandlerError};
use haft_http::{HttpError, HttpResponse, StatusCode, TimeoutKind, retry_after};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::content::excerpt_text;
use super::credential::CredentialError;
use super::response::{ErrorDetail, StatusOutcome};
use crate::redactor::Redactor;

/// The number of bytes to read from a body for a failure, and the number of characters to show.
const MAX_READ: usize = 16 * 1024;
const MAX_EXCERPT: usize = 2000;

/// The failure of a tool whose server answered with a status that is not success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct HttpStatusFailure {
    /// The HTTP status.
    pub status: u16,
    /// The part of the response body that the tool shows, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The beginning of the response body, for the operator.
    #[serde(skip)]
    excerpt: Option<String>,
    /// The time that the server asks to wait.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
    #[serde(skip)]
    retryable: bool,
    /// The message from a rule for the status.
    #[serde(skip)]
    message: Option<String>,
    /// The kind from a rule for the status.
    #[serde(skip)]
    #[schemars(skip)]
    kind: Option<FailureKind>,
}

/// A failed response's body, for the operator: the failure's cause. The tool's secrets are removed from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body of the response with the status {status} is: {body}")]
#[non_exhaustive]
pub struct HttpStatusError {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of the body.
    pub body: String,
}

/// An error in one attempt at a request.
pub(super) enum AttemptError {
    Status(HttpStatusFailure),
    Http {
        error: HttpError,
        /// The error to use instead if the other one contains a secret.
        redacted: Option<RedactedError>,
    },
    Credential(CredentialError),
    /// The response can't be used.
    Content(ToolFailure),
}

/// A connection error as text, without secrets that a server has written into it, for example with a redirect.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(super) struct RedactedError {
    text: String,
}

/// The effect of sending a request again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repetition {
    /// It has no further effect.
    Harmless,
    /// It may have another.
    Harmful,
}

/// The time at which an attempt may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    Never,
    Now,
    /// After the wait that the server asks for.
    After(Duration),
}

impl AttemptError {
    /// Creates the error for a request without a complete response.
    pub(super) fn transport(error: HttpError, redactor: &Redactor) -> Self {
        let first: &(dyn Error + 'static) = &error;
        let all: Vec<String> = successors(Some(first), |error| (*error).source()).map(ToString::to_string).collect();
        let shown = format!("{} {error:?}", all.join(" "));
        let contains_secret = redactor.redact(&shown) != shown;
        let redacted = contains_secret.then(|| RedactedError { text: redactor.redact(&all.join(": ")) });
        Self::Http { error, redacted }
    }

    /// Returns the call's failure.
    pub(super) fn into_failure(self, repetition: Repetition) -> HandlerError<HttpStatusFailure> {
        match self {
            Self::Status(failure) => HandlerError::opaque(failure.into_failure()),
            Self::Http { error, redacted } => HandlerError::opaque(of_transport(error, redacted, repetition)),
            Self::Content(failure) => HandlerError::opaque(failure),
            Self::Credential(error) => {
                let message = "the tool can't authenticate itself; only its operator can see the cause";
                let failure = ToolFailure::new(FailureKind::ExecutionError, message);
                let failure = if error.retryable() { failure.retryable() } else { failure };
                HandlerError::opaque(failure.cause(error))
            }
        }
    }

    /// Returns when the attempt may be repeated.
    pub(super) fn retry(&self, repetition: Repetition) -> Retry {
        let is_harmless = repetition == Repetition::Harmless;
        match self {
            Self::Status(failure) if is_temporary(failure.status) && is_harmless => {
                failure.retry_after.map_or(Retry::Now, Retry::After)
            }
            Self::Http { error, .. } if error.retryable() && (is_harmless || !error.sent()) => Retry::Now,
            Self::Credential(error) if error.retryable() => Retry::Now,
            Self::Status(_) | Self::Http { .. } | Self::Credential(_) | Self::Content(_) => Retry::Never,
        }
    }

    /// Reports whether the server rejected the credentials.
    pub(super) fn is_unauthorized(&self) -> bool {
        matches!(self, Self::Status(failure) if failure.status == StatusCode::UNAUTHORIZED.as_u16())
    }
}

impl HttpStatusFailure {
    /// Reads the beginning of a response body. Errors on the way are ignored: they are not worth another failure.
    pub(super) async fn read(
        response: HttpResponse,
        rule: Option<&StatusOutcome>,
        errors: &ErrorDetail,
        redactor: &Redactor,
        repetition: Repetition,
    ) -> Self {
        let status = response.status().as_u16();
        let wait = retry_after(response.headers(), std::time::SystemTime::now());
        let headers = response.headers().clone();
        let (bytes, is_whole) = beginning(response).await;
        let text = excerpt_text(&headers, &bytes);
        let shown = |text: &str, is_whole: bool| {
            let text = if is_whole { redactor.redact(text) } else { redactor.redact_cut(text) };
            Some(cut(text.trim(), is_whole)).filter(|text| !text.is_empty())
        };
        let excerpt = text.as_deref().and_then(|text| shown(text, is_whole));
        let body = match errors {
            ErrorDetail::Status => None,
            ErrorDetail::Body => excerpt.clone(),
            ErrorDetail::Pointer(pointer) => {
                let json: Option<Value> = text.as_deref().and_then(|text| serde_json::from_str(text).ok());
                json.as_ref().and_then(|json| json.pointer(pointer)).and_then(|value| match value {
                    Value::Null => None,
                    Value::String(text) => shown(text, true),
                    other => shown(&other.to_string(), true),
                })
            }
        };
        let retryable = is_temporary(status) && (repetition == Repetition::Harmless || status == 429);
        let (kind, message) = match rule {
            Some(StatusOutcome::Failure { kind, message }) => (kind.clone(), message.clone()),
            Some(StatusOutcome::Success | StatusOutcome::Value(_)) | None => (None, None),
        };
        Self { status, body, excerpt, retry_after: wait.filter(|_| retryable), retryable, message, kind }
    }

    /// Returns the call's failure.
    fn into_failure(self) -> ToolFailure {
        let kind = self.kind.clone().unwrap_or(FailureKind::ToolFailed);
        let mut failure = ToolFailure::new(kind, self.message());
        let mut details = json!({"status": self.status});
        if let Some(body) = self.body {
            details["body"] = body.into();
        }
        failure = failure.details(details);
        if let Some(body) = self.excerpt {
            failure = failure.cause(HttpStatusError { status: self.status, body });
        }
        failure.retryable = self.retryable;
        match self.retry_after {
            Some(wait) => failure.retry_after(wait),
            None => failure,
        }
    }
}

impl Failure for HttpStatusFailure {
    fn message(&self) -> String {
        if let Some(message) = &self.message {
            return message.clone();
        }
        let reason = StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        match reason {
            Some(reason) => format!("the server answered with the status {} ({reason})", self.status),
            None => format!("the server answered with the status {}", self.status),
        }
    }

    fn retryable(&self) -> bool {
        self.retryable
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// Reports whether the same request may have another status later.
fn is_temporary(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

/// Returns the failure for a request without a complete response.
fn of_transport(error: HttpError, redacted: Option<RedactedError>, repetition: Repetition) -> ToolFailure {
    let may_repeat = repetition == Repetition::Harmless || !error.sent();
    let (kind, mut message) = match &error {
        HttpError::TimedOut { timeout: TimeoutKind::Connect, after, .. } => {
            (FailureKind::TimedOut, format!("the server can't be reached within {after:?}"))
        }
        HttpError::TimedOut { after, .. } => {
            (FailureKind::TimedOut, format!("the server did not answer completely within {after:?}"))
        }
        HttpError::TooLarge { limit, .. } => {
            let message = format!("the response of the server is larger than the limit of {limit} bytes");
            (FailureKind::OutputTooLarge, message)
        }
        HttpError::Forbidden { .. } => {
            let message = "the address of the server is not permitted; only the operator of the tool can permit it";
            (FailureKind::ExecutionError, message.to_owned())
        }
        HttpError::TooManyRedirects { .. } => {
            (FailureKind::ExecutionError, "the server redirected the request too often".to_owned())
        }
        _ if !may_repeat => {
            (FailureKind::OutcomeUnknown, "the connection ended before the response was complete".to_owned())
        }
        HttpError::Closed { .. } => {
            (FailureKind::ExecutionError, "the connection ended before the response was complete".to_owned())
        }
        _ => {
            let message = "the server can't be reached; only the operator of the tool can see the cause";
            (FailureKind::ExecutionError, message.to_owned())
        }
    };
    if !may_repeat {
        message.push_str("; the request may have had its effect");
    }
    let mut failure = ToolFailure::new(kind, message);
    failure.retryable = error.retryable() && may_repeat;
    match redacted {
        Some(redacted) => failure.cause(redacted),
        None => failure.cause(error),
    }
}

/// Reads the beginning of a body, and reports whether that is all of it.
async fn beginning(response: HttpResponse) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let Ok(mut chunks) = response.chunks() else { return (bytes, false) };
    while bytes.len() < MAX_READ {
        match chunks.next().await {
            Some(Ok(chunk)) => bytes.extend_from_slice(&chunk),
            Some(Err(_)) => return (bytes, false),
            None => return (bytes, true),
        }
    }
    bytes.truncate(MAX_READ);
    (bytes, false)
}

fn cut(text: &str, is_whole: bool) -> String {
    match text.char_indices().nth(MAX_EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if is_whole || text.is_empty() => text.to_owned(),
        None => format!("{text}…"),
    }
}
