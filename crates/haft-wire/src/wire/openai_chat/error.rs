//! Errors from the Chat Completions API and the servers that speak it.

use serde::Deserialize;
use serde_json::Value;

use crate::wire::ErrorResponse;
use crate::wire::response::error_body::{capped, message_or_status, of_status, status_code};
use crate::wire_error::{ErrorCause, ErrorReport};

/// Causes by an error's `code` or `type`, which say more than its status.
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

/// Causes by an error's `type`, if it has no status. With one, the status says more.
const REQUEST_TYPES: [(&str, ErrorCause); 3] = [
    ("invalid_request_error", ErrorCause::InvalidRequest),
    ("permission_error", ErrorCause::Permission),
    ("not_found_error", ErrorCause::UnknownModel),
];

/// Causes by message text, for servers that send no code.
const PHRASES: [(&str, ErrorCause); 4] = [
    ("maximum context length", ErrorCause::ContextTooLong),
    ("exceeds the available context size", ErrorCause::ContextTooLong),
    ("context window", ErrorCause::ContextTooLong),
    ("too large for model", ErrorCause::ContextTooLong),
];

/// An error in a body or an event.
pub(super) struct ErrorBody {
    message: String,
    kind: Option<String>,
    code: Option<String>,
    param: Option<String>,
}

#[derive(Deserialize)]
struct Envelope {
    error: Value,
}

pub(super) fn read(response: &ErrorResponse<'_>) -> ErrorReport {
    let cause = of_status(response.status);
    let body = serde_json::from_str::<Envelope>(response.body).map(|envelope| envelope.error);
    let body = body.or_else(|_| serde_json::from_str::<Value>(response.body));
    let mut report = match ErrorBody::of(body.ok()) {
        Some(body) => body.report(cause),
        None => ErrorReport::new(cause, ""),
    };
    report.message = message_or_status(std::mem::take(&mut report.message), response);
    report.with_wait(response)
}

impl ErrorBody {
    /// Reads an error: an object or a text. Servers also write `null`, `false` or nothing if there is none.
    pub(super) fn of(error: Option<Value>) -> Option<Self> {
        match error? {
            Value::String(message) if !message.is_empty() => {
                Some(Self { message, kind: None, code: None, param: None })
            }
            Value::Object(mut members) if !members.is_empty() => {
                let mut text = |member: &str| match members.get_mut(member).map(Value::take) {
                    None | Some(Value::Null) => None,
                    Some(Value::String(text)) => Some(text),
                    Some(other) => Some(other.to_string()),
                };
                let (kind, code, param) = (text("type"), text("code"), text("param"));
                Some(Self { message: text("message").unwrap_or_default(), kind, code, param })
            }
            _ => None,
        }
    }

    /// Returns the report for an error in a successful response. Its code may be a status number, and its type may say
    /// that the request is at fault: then another attempt fails the same way.
    pub(super) fn unannounced(self) -> ErrorReport {
        let by_code = self.code.as_deref().and_then(status_code);
        let by_type = || {
            let kind = self.kind.as_deref()?;
            REQUEST_TYPES.iter().find(|(known, _)| *known == kind).map(|(_, cause)| *cause)
        };
        let cause = by_code.or_else(by_type).unwrap_or(ErrorCause::Unavailable);
        self.report(cause)
    }

    /// Returns an error's report. The cause is this one unless the error states another.
    fn report(self, cause: ErrorCause) -> ErrorReport {
        let Self { message, kind, code, param } = self;
        let of = |name: &str| CODES.iter().find(|(known, _)| *known == name).map(|(_, cause)| *cause);
        let stated = code.as_deref().and_then(of).or_else(|| kind.as_deref().and_then(of));
        let phrase = PHRASES.iter().find(|(phrase, _)| message.contains(phrase)).map(|(_, cause)| *cause);
        ErrorReport { param, ..ErrorReport::new(stated.or(phrase).unwrap_or(cause), capped(message)) }
    }
}
