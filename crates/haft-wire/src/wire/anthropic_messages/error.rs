//! Messages API errors.

use serde::Deserialize;
use serde_json::Value;

use crate::wire::ErrorResponse;
use crate::wire::response::error_body::{message_or_status, of_status};
use crate::wire_error::{ErrorCause, ErrorReport};

/// Causes by the code in an error's details, which is stable.
const CODES: [(&str, ErrorCause); 6] = [
    ("enforced_spend_limit_reached", ErrorCause::QuotaExceeded),
    ("storage_quota_exceeded", ErrorCause::QuotaExceeded),
    ("ramp_limit_exceeded", ErrorCause::RateLimited),
    ("request_body_too_large_after_decoding", ErrorCause::TooLarge),
    ("organization_on_hold", ErrorCause::Permission),
    ("compaction_unavailable", ErrorCause::Unavailable),
];

/// Causes by message text, for errors with the general type `invalid_request_error` and no code.
const PHRASES: [(&str, ErrorCause); 7] = [
    ("prompt is too long", ErrorCause::ContextTooLong),
    ("exceed context limit", ErrorCause::ContextTooLong),
    ("context window", ErrorCause::ContextTooLong),
    ("credit balance is too low", ErrorCause::QuotaExceeded),
    ("api usage limits", ErrorCause::QuotaExceeded),
    ("content filtering policy", ErrorCause::ContentFiltered),
    ("request exceeds the maximum size", ErrorCause::TooLarge),
];

/// Causes by error type.
const TYPES: [(&str, ErrorCause); 11] = [
    ("invalid_request_error", ErrorCause::InvalidRequest),
    ("authentication_error", ErrorCause::Authentication),
    ("billing_error", ErrorCause::QuotaExceeded),
    ("permission_error", ErrorCause::Permission),
    ("not_found_error", ErrorCause::UnknownModel),
    ("request_too_large", ErrorCause::TooLarge),
    ("rate_limit_error", ErrorCause::RateLimited),
    ("timeout_error", ErrorCause::TimedOut),
    ("api_error", ErrorCause::Unavailable),
    ("overloaded_error", ErrorCause::Unavailable),
    ("conflict_error", ErrorCause::Unavailable),
];

/// The status for an error in a stream or in a successful response, which has none.
const NO_STATUS: u16 = 500;

#[derive(Deserialize)]
struct ErrorEnvelope {
    error: MessagesError,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessagesError {
    #[serde(rename = "type")]
    kind: Value,
    message: Value,
    details: Value,
}

/// Reads a response whose status is an error.
pub(super) fn read(response: &ErrorResponse<'_>) -> ErrorReport {
    let by_status = of_status(response.status);
    let mut report = of_body(response, by_status);
    // Gateways use the general type too, with a status of their own.
    if report.cause == ErrorCause::InvalidRequest {
        report.cause = by_status;
    }
    report.with_wait(response)
}

/// Reads an error in a stream or in a successful response.
pub(super) fn report(body: &str) -> ErrorReport {
    of_body(&ErrorResponse::new(NO_STATUS, body), ErrorCause::Unavailable)
}

/// Reads a body. The cause is `otherwise` unless the body states one.
fn of_body(response: &ErrorResponse<'_>, otherwise: ErrorCause) -> ErrorReport {
    let error = serde_json::from_str::<ErrorEnvelope>(response.body).map(|envelope| envelope.error).unwrap_or_default();
    let text = error.message.as_str().unwrap_or_default();
    let kind = error.kind.as_str().unwrap_or_default();
    let code = error.details.get("error_code").and_then(Value::as_str).unwrap_or_default();
    let cause = cause(kind, code, text).unwrap_or(otherwise);
    let mut report = ErrorReport::new(cause, message_or_status(text.to_owned(), response));
    report.param = param(text).map(str::to_owned);
    report
}

fn cause(kind: &str, code: &str, message: &str) -> Option<ErrorCause> {
    let by_name = |table: &[(&str, ErrorCause)], name: &str| {
        table.iter().find(|(known, _)| *known == name).map(|(_, cause)| *cause)
    };
    let by_phrase = || {
        let message = message.to_lowercase();
        PHRASES.iter().find(|(phrase, _)| message.contains(phrase)).map(|(_, cause)| *cause)
    };
    let is_general = matches!(kind, "invalid_request_error" | "");
    by_name(&CODES, code).or_else(|| by_phrase().filter(|_| is_general)).or_else(|| by_name(&TYPES, kind))
}

/// Returns the request part that a message names: `max_tokens: must be at least 1`.
fn param(message: &str) -> Option<&str> {
    let (param, _) = message.split_once(": ")?;
    let is_path = param.starts_with(|first: char| first.is_ascii_lowercase())
        && param.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    is_path.then_some(param)
}
