//! Errors.

use std::time::Duration;

use haft_wire::{ErrorCause, ErrorResponse, OpenAiChat, Wire};
use serde_json::json;

#[test]
fn every_error_has_its_cause() {
    let error = |code: &str| json!({"error": {"message": "m", "type": "t", "code": code, "param": null}}).to_string();
    let table = [
        (400, error("context_length_exceeded"), ErrorCause::ContextTooLong),
        (400, error("content_filter"), ErrorCause::ContentFiltered),
        (400, error("unknown_parameter"), ErrorCause::InvalidRequest),
        (401, error("invalid_api_key"), ErrorCause::Authentication),
        (403, String::new(), ErrorCause::Permission),
        (404, error("model_not_found"), ErrorCause::UnknownModel),
        (408, String::new(), ErrorCause::TimedOut),
        (413, "<html>".to_owned(), ErrorCause::TooLarge),
        (429, error("rate_limit_exceeded"), ErrorCause::RateLimited),
        (429, error("insufficient_quota"), ErrorCause::QuotaExceeded),
        (500, error("server_error"), ErrorCause::Unavailable),
        (503, "busy".to_owned(), ErrorCause::Unavailable),
        (529, "{\"error\":".to_owned(), ErrorCause::Unavailable),
        (400, json!({"error": "prompt is too large for model context window"}).to_string(), ErrorCause::ContextTooLong),
        (
            400,
            json!({"object": "error", "message": "maximum context length is 8"}).to_string(),
            ErrorCause::ContextTooLong,
        ),
    ];
    for (status, body, cause) in table {
        let report = OpenAiChat::new().error(&ErrorResponse::new(status, &body));
        assert_eq!(report.cause, cause, "{status} {body}");
        assert!(!report.message.is_empty());
    }
}

#[test]
fn the_wait_and_the_parameter_are_kept_and_the_message_is_limited() {
    let long = "é".repeat(5_000);
    let body = json!({"error": {"message": long, "param": "messages[0]"}}).to_string();
    let response = ErrorResponse::new(400, &body).retry_after(Some(Duration::from_secs(3)));
    let report = OpenAiChat::new().error(&response);
    assert_eq!((report.param.as_deref(), report.retry_after), (Some("messages[0]"), Some(Duration::from_secs(3))));
    assert_eq!(report.message.chars().count(), 2_001);
}
