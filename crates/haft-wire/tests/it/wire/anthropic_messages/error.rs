//! Errors.

use std::time::Duration;

use haft_wire::{AnthropicMessages, ErrorCause, ErrorReport, ErrorResponse, Wire};
use serde_json::{Value, json};

fn report(status: u16, body: &str) -> ErrorReport {
    AnthropicMessages::new().error(&ErrorResponse::new(status, body))
}

fn body(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
}

#[test]
fn every_error_has_its_cause() {
    use ErrorCause::*;
    for (status, kind, message, cause) in [
        (400, "invalid_request_error", "max_tokens: must be positive", InvalidRequest),
        (503, "invalid_request_error", "no upstream server", Unavailable),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", ContextTooLong),
        (400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2", ContextTooLong),
        (400, "invalid_request_error", "Your credit balance is too low to access the API.", QuotaExceeded),
        (400, "invalid_request_error", "You have reached your specified API usage limits.", QuotaExceeded),
        (400, "invalid_request_error", "Output blocked by content filtering policy", ContentFiltered),
        (401, "authentication_error", "invalid x-api-key", Authentication),
        (402, "billing_error", "payment", QuotaExceeded),
        (403, "permission_error", "no", Permission),
        (404, "not_found_error", "model: claude-0", UnknownModel),
        (413, "request_too_large", "Request exceeds the maximum size", TooLarge),
        (429, "rate_limit_error", "slow down; see the context window docs", RateLimited),
        (500, "api_error", "Internal server error", Unavailable),
        (504, "timeout_error", "late", TimedOut),
        (529, "overloaded_error", "Overloaded", Unavailable),
        (529, "new_error", "x", Unavailable),
        (418, "new_error", "x", InvalidRequest),
    ] {
        let found = report(status, &body(kind, message).to_string());
        assert_eq!((found.cause, found.message.as_str()), (cause, message), "{status} {kind}");
    }
}

#[test]
fn a_code_says_more_than_the_type() {
    let mut limited = body("invalid_request_error", "x");
    limited["error"]["details"] = json!({"error_code": "enforced_spend_limit_reached"});
    assert_eq!(report(400, &limited.to_string()).cause, ErrorCause::QuotaExceeded);
    limited["error"]["details"] = json!({"error_code": 5});
    assert_eq!(report(400, &limited.to_string()).cause, ErrorCause::InvalidRequest);
}

#[test]
fn the_part_of_the_request_is_found() {
    for (message, param) in [
        ("messages.3.content.0: bad", Some("messages.3.content.0")),
        ("max_tokens: 5 > 3", Some("max_tokens")),
        ("Error: bad", None),
        ("prompt is too long: 3 > 2", None),
        ("bad", None),
    ] {
        assert_eq!(report(400, &body("invalid_request_error", message).to_string()).param.as_deref(), param);
    }
}

#[test]
fn any_body_has_a_report() {
    for (status, text, cause) in [
        (502, "<html><body>Bad gateway</body></html>", ErrorCause::Unavailable),
        (401, "", ErrorCause::Authentication),
        (429, "{\"type\":\"error\",\"err", ErrorCause::RateLimited),
        (400, r#"{"error": "text"}"#, ErrorCause::InvalidRequest),
        (400, r#"{"error": {"message": {"a": 1}, "type": []}}"#, ErrorCause::InvalidRequest),
        (404, r#"{"error": {"code": 404, "status": "NOT_FOUND"}}"#, ErrorCause::InvalidRequest),
        (400, "null", ErrorCause::InvalidRequest),
    ] {
        let found = report(status, text);
        assert_eq!(found.cause, cause, "{text}");
        assert!(found.message.contains(&status.to_string()), "{}", found.message);
    }
    assert!(report(400, &body("x", &"é".repeat(10_000)).to_string()).message.chars().count() < 3_000);
}

#[test]
fn the_time_to_wait_is_kept() {
    let limited = body("rate_limit_error", "slow down").to_string();
    let response = ErrorResponse::new(429, &limited).retry_after(Some(Duration::from_secs(7)));
    assert_eq!(AnthropicMessages::new().error(&response).retry_after, Some(Duration::from_secs(7)));
}
