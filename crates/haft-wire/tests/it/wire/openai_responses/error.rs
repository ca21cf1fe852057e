//! Errors.

use std::time::Duration;

use haft_wire::{ErrorCause, ErrorReport, ErrorResponse, OpenAiResponses, ReadError, Wire, WireEvent};
use serde_json::{Value, json};

use super::{context, response};

fn report(status: u16, body: &str) -> ErrorReport {
    OpenAiResponses::new().error(&ErrorResponse::new(status, body))
}

#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn body(kind: &str, code: Value, param: Value) -> String {
    json!({"error": {"message": "No.", "type": kind, "param": param, "code": code}}).to_string()
}

#[test]
fn every_error_has_its_cause() {
    use ErrorCause::*;
    let client = "invalid_request_error";
    for (status, kind, code, param, cause) in [
        (400, client, json!("unsupported_value"), json!("temperature"), InvalidRequest),
        (400, client, json!(null), json!(null), InvalidRequest),
        (400, client, json!("context_length_exceeded"), json!("input"), ContextTooLong),
        (400, client, json!("invalid_prompt"), json!(null), ContentFiltered),
        (400, client, json!("previous_response_not_found"), json!("previous_response_id"), InvalidRequest),
        (401, client, json!("invalid_api_key"), json!(null), Authentication),
        (403, client, json!(null), json!(null), Permission),
        (403, "request_forbidden", json!("unsupported_country_region_territory"), json!(null), Permission),
        (404, client, json!("model_not_found"), json!(null), UnknownModel),
        (404, client, json!(null), json!("model"), UnknownModel),
        (404, client, json!(null), json!("input"), InvalidRequest),
        (408, "x", json!(null), json!(null), TimedOut),
        (413, "x", json!(null), json!(null), TooLarge),
        (429, "tokens", json!("rate_limit_exceeded"), json!(null), RateLimited),
        (429, "requests", json!(null), json!(null), RateLimited),
        (429, "insufficient_quota", json!("insufficient_quota"), json!(null), QuotaExceeded),
        (429, "x", json!(429), json!(null), RateLimited),
        (500, "server_error", json!(null), json!(null), Unavailable),
        (503, "server_error", json!("server_is_overloaded"), json!(null), Unavailable),
        (504, "x", json!(null), json!(null), TimedOut),
        (418, "new_error", json!("new_code"), json!(null), InvalidRequest),
    ] {
        let text = body(kind, code, param.clone());
        let found = report(status, &text);
        assert_eq!((found.cause, found.message.as_str()), (cause, "No."), "{status} {text}");
        assert_eq!(found.param.as_deref(), param.as_str());
    }
}

#[test]
fn any_body_has_a_report() {
    for (status, text, cause, message) in [
        (502, "<html><body>Bad gateway</body></html>", ErrorCause::Unavailable, "status 502 with a page of HTML"),
        (401, "", ErrorCause::Authentication, "status 401 without a body"),
        (429, "{\"error\":{\"mess", ErrorCause::RateLimited, "status 429: {\"error\":{\"mess"),
        (400, r#"{"error": "text"}"#, ErrorCause::InvalidRequest, "text"),
        (400, r#"{"message": "plain"}"#, ErrorCause::InvalidRequest, "plain"),
        (500, r#"{"error": null}"#, ErrorCause::Unavailable, "status 500: {\"error\": null}"),
        (
            400,
            r#"{"error": {"message": {"a": 1}}}"#,
            ErrorCause::InvalidRequest,
            "status 400: {\"error\": {\"message\": {\"a\": 1}}}",
        ),
        (400, "null", ErrorCause::InvalidRequest, "status 400: null"),
        (400, "[[1]]", ErrorCause::InvalidRequest, "status 400: [[1]]"),
    ] {
        let found = report(status, text);
        assert_eq!((found.cause, found.message.as_str()), (cause, message));
    }
    let long = json!({"error": {"message": "é".repeat(10_000)}}).to_string();
    assert!(report(400, &long).message.chars().count() < 3_000);
}

#[test]
fn the_time_to_wait_is_kept() {
    let limited = body("tokens", json!("rate_limit_exceeded"), Value::Null);
    let response = ErrorResponse::new(429, &limited).retry_after(Some(Duration::from_secs(7)));
    assert_eq!(OpenAiResponses::new().error(&response).retry_after, Some(Duration::from_secs(7)));
}

fn streamed(event: &Value, name: Option<&str>) -> ReadError {
    let text = event.to_string();
    let mut reader = OpenAiResponses::new().stream(&context());
    reader.event(WireEvent::new(name, &text), &mut Vec::new()).unwrap_err()
}

#[test]
fn a_key_is_in_no_error() {
    let message = "Incorrect API key provided: sk-proj-secret1234. Use another.";
    let mut failed = response(json!([]));
    failed["status"] = json!("failed");
    failed["error"] = json!({"code": "invalid_api_key", "message": message});
    let whole = OpenAiResponses::new().response(&failed.to_string(), &context()).unwrap_err();
    let texts = [
        format!(
            "{:?}",
            report(401, &json!({"error": {"message": message, "param": "sk-proj-secret1234"}}).to_string())
        ),
        format!("{:?}", report(401, message)),
        format!("{whole:?} {whole}"),
        format!("{:?}", streamed(&json!({"type": "error", "message": message}), None)),
        format!("{:?}", streamed(&json!({"type": "response.failed", "response": failed}), None)),
    ];
    for text in texts {
        assert!(!text.contains("secret1234") && text.contains("[key]"), "{text}");
    }
}

#[test]
fn an_error_in_a_stream_has_its_cause() {
    use ErrorCause::*;
    let mut failed = response(json!([]));
    failed["status"] = json!("failed");
    failed["error"] = json!({"code": "rate_limit_exceeded", "message": "Slow down."});
    let event = |code: Value, message: &str| json!({"type": "error", "code": code, "message": message, "param": "p"});
    let nested = |error: Value| json!({"type": "error", "error": error, "status": 400});
    let unknown = "the provider reported an error without a message";
    for (event, name, cause, message) in [
        (event(json!("context_length_exceeded"), "Too long."), None, ContextTooLong, "Too long."),
        (event(json!(null), "Broken."), None, Unavailable, "Broken."),
        (nested(json!({"type": "invalid_request_error", "message": "Bad."})), None, InvalidRequest, "Bad."),
        (nested(json!("Plain.")), None, Unavailable, "Plain."),
        (json!({"error": {"code": "server_error", "message": "No type."}}), None, Unavailable, "No type."),
        (json!({"code": "slow_down", "message": "By name."}), Some("error"), RateLimited, "By name."),
        (json!({"type": "error"}), None, Unavailable, unknown),
        (json!({"type": "response.failed", "response": failed}), None, RateLimited, "Slow down."),
        (json!({"type": "response.failed", "response": {}}), None, Unavailable, unknown),
        (json!({"type": "response.failed", "response": {"error": "text"}}), None, Unavailable, "text"),
    ] {
        let ReadError::Provider(report) = streamed(&event, name) else { panic!("{event}") };
        assert_eq!((report.cause, report.message.as_str()), (cause, message), "{event}");
    }
}
