//! OpenAI's errors: the table from codes and statuses to causes.

use serde::Deserialize;

use crate::wire::ErrorResponse;
use crate::wire::response::error_body::{capped, message_or_status, of_status, status_code};
use crate::wire_error::{ErrorCause, ErrorReport};

/// Causes by code or type, which are more precise than the status.
const CODES: &[(&str, ErrorCause)] = &[
    ("rate_limit_exceeded", ErrorCause::RateLimited),
    ("rate_limit_error", ErrorCause::RateLimited),
    ("tokens", ErrorCause::RateLimited),
    ("requests", ErrorCause::RateLimited),
    ("slow_down", ErrorCause::RateLimited),
    ("insufficient_quota", ErrorCause::QuotaExceeded),
    ("quota_exceeded", ErrorCause::QuotaExceeded),
    ("billing_hard_limit_reached", ErrorCause::QuotaExceeded),
    ("billing_not_active", ErrorCause::QuotaExceeded),
    ("server_error", ErrorCause::Unavailable),
    ("internal_error", ErrorCause::Unavailable),
    ("internal_server_error", ErrorCause::Unavailable),
    ("api_error", ErrorCause::Unavailable),
    ("server_overloaded", ErrorCause::Unavailable),
    ("server_is_overloaded", ErrorCause::Unavailable),
    ("overloaded_error", ErrorCause::Unavailable),
    ("service_unavailable", ErrorCause::Unavailable),
    ("engine_overloaded", ErrorCause::Unavailable),
    ("timeout", ErrorCause::TimedOut),
    ("request_timeout", ErrorCause::TimedOut),
    ("vector_store_timeout", ErrorCause::TimedOut),
    ("model_not_found", ErrorCause::UnknownModel),
    ("context_length_exceeded", ErrorCause::ContextTooLong),
    ("exceed_context_size_error", ErrorCause::ContextTooLong),
    ("request_too_large", ErrorCause::TooLarge),
    ("image_file_too_large", ErrorCause::TooLarge),
    ("image_too_large", ErrorCause::TooLarge),
    ("content_filter", ErrorCause::ContentFiltered),
    ("content_policy_violation", ErrorCause::ContentFiltered),
    ("image_content_policy_violation", ErrorCause::ContentFiltered),
    ("misalignment_policy_violation", ErrorCause::ContentFiltered),
    ("moderation_blocked", ErrorCause::ContentFiltered),
    ("bio_policy", ErrorCause::ContentFiltered),
    ("cyber_policy", ErrorCause::ContentFiltered),
    // The code for prompts that a policy rejects.
    ("invalid_prompt", ErrorCause::ContentFiltered),
    ("invalid_api_key", ErrorCause::Authentication),
    ("authentication_error", ErrorCause::Authentication),
    ("account_deactivated", ErrorCause::Authentication),
    ("permission_error", ErrorCause::Permission),
    ("permission_denied", ErrorCause::Permission),
    ("insufficient_permissions", ErrorCause::Permission),
    ("unsupported_country_region_territory", ErrorCause::Permission),
    ("data_residency_mismatch", ErrorCause::Permission),
    ("invalid_request_error", ErrorCause::InvalidRequest),
    ("invalid_image", ErrorCause::InvalidRequest),
    ("invalid_image_format", ErrorCause::InvalidRequest),
    ("invalid_base64_image", ErrorCause::InvalidRequest),
    ("invalid_image_url", ErrorCause::InvalidRequest),
    ("invalid_image_mode", ErrorCause::InvalidRequest),
    ("image_too_small", ErrorCause::InvalidRequest),
    ("image_parse_error", ErrorCause::InvalidRequest),
    ("unsupported_image_media_type", ErrorCause::InvalidRequest),
    ("empty_image_file", ErrorCause::InvalidRequest),
    ("failed_to_download_image", ErrorCause::InvalidRequest),
    ("image_file_not_found", ErrorCause::InvalidRequest),
];

/// An API error.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponsesError {
    message: Option<String>,
    #[serde(rename = "type")]
    error_type: Option<String>,
    #[serde(deserialize_with = "code")]
    code: Option<String>,
    param: Option<String>,
}

/// A document with an error.
#[derive(Deserialize)]
struct ErrorDocument {
    #[serde(default)]
    error: Option<ErrorMember>,
    #[serde(default)]
    message: Option<String>,
}

/// An error as an object, or as text as some servers write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum ErrorMember {
    Object(ResponsesError),
    Text(String),
}

/// Reads a response whose status is an error.
pub(super) fn read(response: &ErrorResponse<'_>) -> ErrorReport {
    let document = serde_json::from_str::<ErrorDocument>(response.body).ok();
    let body = match document {
        Some(ErrorDocument { error: Some(ErrorMember::Object(body)), .. }) => body,
        Some(
            ErrorDocument { error: Some(ErrorMember::Text(message)), .. }
            | ErrorDocument { error: None, message: Some(message) },
        ) => ResponsesError { message: Some(message), ..ResponsesError::default() },
        _ => ResponsesError::default(),
    };
    let cause = match body.cause() {
        // A missing item, file or earlier response: an unknown model is named by another parameter.
        Some(ErrorCause::InvalidRequest) if response.status == 404 && body.names_other_than_model() => {
            ErrorCause::InvalidRequest
        }
        // All client errors have the same type, so the status says more.
        Some(ErrorCause::InvalidRequest) | None => of_status(response.status),
        Some(cause) => cause,
    };
    let mut report = body.report(cause);
    report.message = message_or_status(std::mem::take(&mut report.message), response);
    report.with_wait(response)
}

impl ResponsesError {
    /// Reads a response's error, which is an object or text.
    pub(super) fn read(json: &str) -> Self {
        match serde_json::from_str(json) {
            Ok(ErrorMember::Object(body)) => body,
            Ok(ErrorMember::Text(message)) => Self { message: Some(message), ..Self::default() },
            Err(_) => Self::default(),
        }
    }

    /// Reads an error event, whose members are in the event or nested in it.
    pub(super) fn of_event(json: &str) -> Self {
        match serde_json::from_str(json) {
            Ok(ErrorDocument { error: Some(ErrorMember::Object(body)), .. }) => body,
            Ok(ErrorDocument { error: Some(ErrorMember::Text(message)), .. }) => {
                Self { message: Some(message), ..Self::default() }
            }
            _ => Self::read(json),
        }
    }

    /// Returns the report for an error inside a response.
    pub(super) fn into_report(self) -> ErrorReport {
        let cause = self.cause().unwrap_or(ErrorCause::Unavailable);
        let mut report = self.report(cause);
        if report.message.is_empty() {
            "the provider reported an error without a message".clone_into(&mut report.message);
        }
        report
    }

    fn cause(&self) -> Option<ErrorCause> {
        let of_name = |name: &Option<String>| {
            let name = name.as_deref()?;
            CODES.iter().find(|(code, _)| *code == name).map(|(_, cause)| *cause)
        };
        of_name(&self.code).or_else(|| status_code(self.code.as_deref()?)).or_else(|| of_name(&self.error_type))
    }

    fn names_other_than_model(&self) -> bool {
        self.param.as_deref().is_some_and(|param| param != "model")
    }

    fn report(self, cause: ErrorCause) -> ErrorReport {
        let mut report = ErrorReport::new(cause, capped(self.message.unwrap_or_default()));
        report.param = self.param.map(capped);
        report
    }
}

/// Reads a code, which some servers write as a status number.
fn code<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Code {
        Text(String),
        Status(u16),
        Other(serde::de::IgnoredAny),
    }
    Ok(match Option::<Code>::deserialize(deserializer)? {
        Some(Code::Text(code)) => Some(code),
        Some(Code::Status(status)) => Some(status.to_string()),
        Some(Code::Other(_)) | None => None,
    })
}
