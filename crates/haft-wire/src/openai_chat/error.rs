//! Errors of the Chat Completions API and of the servers that speak it.

use serde::Deserialize;
use serde_json::Value;

use crate::error_body::{capped, message_or_status, of_status};
use crate::wire::ErrorResponse;
use crate::wire_error::{ErrorCause, ErrorReport};

/// Causes by the `code` or `type` of an error, which say more than its status.
pub(super) const CODES: [(&str, ErrorCause); 14] = [
    ("context_length_exceeded", ErrorCause::ContextTooLong),
    ("string_above_max_length", ErrorCause::TooLarge),
    ("content_filter", ErrorCause::ContentFiltered),
    ("content_policy_violation", ErrorCause::ContentFiltered),
    ("invalid_prompt", ErrorCause::ContentFiltered),
    ("insufficient_quota", ErrorCause::QuotaExceeded),
    ("billing_hard_limit_reached", ErrorCause::QuotaExceeded),
    ("rate_limit_exceeded", ErrorCause::RateLimited),
    ("invalid_api_key", ErrorCause::Authentication),
    ("authentication_error", ErrorCause::Authentication),
    ("model_not_found", ErrorCause::UnknownModel),
    ("server_error", ErrorCause::Unavailable),
    ("service_unavailable", ErrorCause::Unavailable),
    ("exceed_context_size_error", ErrorCause::ContextTooLong),
];

/// Causes by a part of the message, for servers that send no code.
const PHRASES: [(&str, ErrorCause); 4] = [
    ("maximum context length", ErrorCause::ContextTooLong),
    ("exceeds the available context size", ErrorCause::ContextTooLong),
    ("context window", ErrorCause::ContextTooLong),
    ("too large for model", ErrorCause::ContextTooLong),
];

/// An error in a body or an event: an object, or a text.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum ErrorBody {
    Object(ErrorMembers),
    Text(String),
}

#[derive(Deserialize)]
pub(super) struct ErrorMembers {
    #[serde(default)]
    message: Option<String>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    code: Option<Value>,
    #[serde(default)]
    param: Option<String>,
}

#[derive(Deserialize)]
struct Envelope {
    error: ErrorBody,
}

pub(super) fn read(response: &ErrorResponse<'_>) -> ErrorReport {
    let cause = of_status(response.status);
    let body = serde_json::from_str::<Envelope>(response.body).map(|envelope| envelope.error);
    let mut report = match body.or_else(|_| serde_json::from_str::<ErrorMembers>(response.body).map(ErrorBody::Object))
    {
        Ok(body) => body.report(cause),
        Err(_) => ErrorReport::new(cause, ""),
    };
    report.message = message_or_status(std::mem::take(&mut report.message), response);
    report.retry_after = response.retry_after;
    report
}

impl ErrorBody {
    /// Returns the report of an error, whose cause is this one unless the error states another.
    pub(super) fn report(self, cause: ErrorCause) -> ErrorReport {
        let (message, stated, param) = match self {
            Self::Text(message) => (message, None, None),
            Self::Object(ErrorMembers { message, kind, code, param }) => {
                let code = code.as_ref().and_then(Value::as_str);
                let of = |name: &str| CODES.iter().find(|(known, _)| *known == name).map(|(_, cause)| *cause);
                (message.unwrap_or_default(), code.and_then(of).or_else(|| kind.as_deref().and_then(of)), param)
            }
        };
        let phrase = PHRASES.iter().find(|(phrase, _)| message.contains(phrase)).map(|(_, cause)| *cause);
        ErrorReport { param, ..ErrorReport::new(stated.or(phrase).unwrap_or(cause), capped(message)) }
    }
}
