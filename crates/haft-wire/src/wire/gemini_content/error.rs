//! Gemini API errors, which look like those from all Google APIs.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::wire::ErrorResponse;
use crate::wire::response::error_body::{message_or_status, of_status};
use crate::wire_error::{ErrorCause, ErrorReport};

/// Causes by message text, or by the reason in the details, which say more than the status. The first match wins.
const PHRASES: [(&str, ErrorCause); 20] = [
    ("API_KEY_INVALID", ErrorCause::Authentication),
    ("API key not valid", ErrorCause::Authentication),
    ("API key expired", ErrorCause::Authentication),
    ("API Key not found", ErrorCause::Authentication),
    ("reported as leaked", ErrorCause::Authentication),
    ("unregistered callers", ErrorCause::Authentication),
    ("CREDENTIALS_MISSING", ErrorCause::Authentication),
    ("ACCESS_TOKEN_EXPIRED", ErrorCause::Authentication),
    ("User location is not supported", ErrorCause::Permission),
    ("exceeds the maximum number of tokens", ErrorCause::ContextTooLong),
    ("input token count", ErrorCause::ContextTooLong),
    ("payload size exceeds the limit", ErrorCause::TooLarge),
    ("PROHIBITED_CONTENT", ErrorCause::ContentFiltered),
    ("blocked by", ErrorCause::ContentFiltered),
    ("PerDay", ErrorCause::QuotaExceeded),
    ("credits are depleted", ErrorCause::QuotaExceeded),
    ("spending cap", ErrorCause::QuotaExceeded),
    ("is not found for API version", ErrorCause::UnknownModel),
    ("models/", ErrorCause::UnknownModel),
    ("BILLING_DISABLED", ErrorCause::QuotaExceeded),
];

/// Causes by status name.
const STATUSES: [(&str, ErrorCause); 14] = [
    ("INVALID_ARGUMENT", ErrorCause::InvalidRequest),
    ("FAILED_PRECONDITION", ErrorCause::InvalidRequest),
    ("OUT_OF_RANGE", ErrorCause::InvalidRequest),
    ("UNIMPLEMENTED", ErrorCause::InvalidRequest),
    ("ALREADY_EXISTS", ErrorCause::InvalidRequest),
    ("UNAUTHENTICATED", ErrorCause::Authentication),
    ("PERMISSION_DENIED", ErrorCause::Permission),
    ("NOT_FOUND", ErrorCause::InvalidRequest),
    ("RESOURCE_EXHAUSTED", ErrorCause::RateLimited),
    ("CANCELLED", ErrorCause::Unavailable),
    ("DEADLINE_EXCEEDED", ErrorCause::TimedOut),
    ("INTERNAL", ErrorCause::Unavailable),
    ("UNKNOWN", ErrorCause::Unavailable),
    ("UNAVAILABLE", ErrorCause::Unavailable),
];

/// The texts before a key in a message.
const KEY_MARKS: [&str; 3] = ["api_key:", "key=", "AIza"];
/// The replacement for a key.
const HIDDEN_KEY: &str = "[key]";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GoogleError {
    code: Option<u16>,
    message: Option<String>,
    status: Option<String>,
    details: Option<Vec<Value>>,
}

/// An error body. Streams that are not event streams wrap it in a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum GoogleErrorBody {
    One { error: GoogleError },
    Listed(Vec<Listed>),
    Plain { error: String },
}

#[derive(Deserialize)]
struct Listed {
    error: GoogleError,
}

/// Reads a response whose status is an error.
pub(super) fn read(response: &ErrorResponse<'_>) -> ErrorReport {
    let error = match serde_json::from_str(response.body) {
        Ok(GoogleErrorBody::One { error }) => error,
        Ok(GoogleErrorBody::Listed(list)) => list.into_iter().next().map(|listed| listed.error).unwrap_or_default(),
        Ok(GoogleErrorBody::Plain { error }) => GoogleError { message: Some(error), ..GoogleError::default() },
        Err(_) => GoogleError::default(),
    };
    error.report(response)
}

/// Reads the error in a response whose status is successful.
pub(super) fn of_body(error: &str) -> ErrorReport {
    let read: GoogleError = serde_json::from_str(error).unwrap_or_default();
    let status = read.code.unwrap_or(500);
    read.report(&ErrorResponse::new(status, error))
}

impl GoogleError {
    fn report(self, response: &ErrorResponse<'_>) -> ErrorReport {
        let details = self.details.as_deref().unwrap_or_default();
        let cause = self.cause(response.status, details);
        let param = details.iter().find_map(|detail| detail.pointer("/fieldViolations/0/field")?.as_str());
        let delay = details.iter().find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?));
        let param = param.filter(|field| !field.is_empty()).map(str::to_owned);
        let message = without_keys(message_or_status(self.message.unwrap_or_default(), response));
        let mut report = ErrorReport { param, ..ErrorReport::new(cause, message) };
        report.retry_after = delay.or(report.retry_after);
        report.with_wait(response)
    }

    fn cause(&self, status: u16, details: &[Value]) -> ErrorCause {
        let message = self.message.as_deref().unwrap_or_default();
        let violations = details.iter().filter_map(|detail| detail.get("violations")?.as_array()).flatten();
        let quotas = violations.filter_map(|violation| violation.get("quotaId")?.as_str());
        let texts: Vec<&str> = details.iter().filter_map(reason).chain(quotas).collect();
        let by_phrase = PHRASES.iter().find(|(phrase, cause)| {
            let said = message.contains(phrase) || texts.iter().any(|text| text.contains(phrase));
            said && applies(*cause, status)
        });
        let by_status = || {
            let name = self.status.as_deref()?;
            STATUSES.iter().find(|(known, _)| *known == name)
        };
        by_phrase.or_else(by_status).map_or_else(|| of_status(status), |(_, cause)| *cause)
    }
}

fn reason(detail: &Value) -> Option<&str> {
    detail.get("reason")?.as_str()
}

/// Reports whether a cause fits a status. A message about a quota, for example, may mention a model.
fn applies(cause: ErrorCause, status: u16) -> bool {
    match cause {
        ErrorCause::UnknownModel => status == 404,
        ErrorCause::QuotaExceeded => matches!(status, 402 | 403 | 429),
        ErrorCause::ContentFiltered => status == 400,
        _ => status < 500,
    }
}

/// Reads a time such as `34.07s`.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Replaces everything that may be a key.
fn without_keys(mut message: String) -> String {
    for mark in KEY_MARKS {
        let mut from = 0;
        while let Some(found) = message[from..].find(mark) {
            let start = from + found;
            let key = if mark == "AIza" { start } else { start + mark.len() };
            let is_gap = |letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"' | '`' | '\\');
            let key = key + (message.len() - key - message[key..].trim_start_matches(is_gap).len());
            let is_end = |letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'));
            let end = message[key..].find(is_end).map_or(message.len(), |length| key + length);
            message.replace_range(key..end, HIDDEN_KEY);
            from = key + HIDDEN_KEY.len();
        }
    }
    message
}
