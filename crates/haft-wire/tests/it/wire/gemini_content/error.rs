//! Errors.

use std::time::Duration;

use haft_wire::{ErrorCause, ErrorReport, ErrorResponse, GeminiContent, Wire};
use serde_json::{Value, json};

fn report(status: u16, body: &Value) -> ErrorReport {
    GeminiContent::new().error(&ErrorResponse::new(status, &body.to_string()))
}

fn body(code: u16, status: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message, "status": status}})
}

fn quota(ids: &[&str], delay: &str) -> Value {
    let violations: Vec<_> = ids.iter().map(|id| json!({"quotaMetric": "m", "quotaId": id})).collect();
    json!({"error": {
        "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota for models/gemini-3-pro.",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations},
            {"@type": "type.googleapis.com/google.rpc.Help", "links": [{"description": "x", "url": "https://a.example"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
        ],
    }})
}

#[test]
fn every_error_has_its_cause() {
    for (status, name, message, cause) in [
        (400, "INVALID_ARGUMENT", "Invalid JSON payload received.", ErrorCause::InvalidRequest),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", ErrorCause::Permission),
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", ErrorCause::Authentication),
        (400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", ErrorCause::Authentication),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
            ErrorCause::ContextTooLong,
        ),
        (400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", ErrorCause::TooLarge),
        (401, "UNAUTHENTICATED", "Request had invalid credentials.", ErrorCause::Authentication),
        (403, "PERMISSION_DENIED", "Requests are blocked by a policy.", ErrorCause::Permission),
        (400, "INVALID_ARGUMENT", "The prompt is blocked by a filter.", ErrorCause::ContentFiltered),
        (403, "PERMISSION_DENIED", "You do not have permission.", ErrorCause::Permission),
        (403, "PERMISSION_DENIED", "Your API key was reported as leaked.", ErrorCause::Authentication),
        (
            403,
            "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers (callers without established identity).",
            ErrorCause::Authentication,
        ),
        (404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta", ErrorCause::UnknownModel),
        (404, "NOT_FOUND", "File files/x not found.", ErrorCause::InvalidRequest),
        (408, "CANCELLED", "The operation was cancelled.", ErrorCause::Unavailable),
        (413, "", "", ErrorCause::TooLarge),
        (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", ErrorCause::RateLimited),
        (429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", ErrorCause::QuotaExceeded),
        (500, "INTERNAL", "An internal error has occurred.", ErrorCause::Unavailable),
        (503, "UNAVAILABLE", "The model is overloaded. models/gemini-3-pro", ErrorCause::Unavailable),
        (504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.", ErrorCause::TimedOut),
        (418, "NEW_STATUS", "I'm a teapot", ErrorCause::InvalidRequest),
    ] {
        let found = report(status, &body(status, name, message));
        assert_eq!(found.cause, cause, "{status} {name} {message}");
        // Streams that are no event streams wrap errors into a list.
        assert_eq!(report(status, &json!([body(status, name, message)])).cause, cause);
    }
}

#[test]
fn a_quota_per_day_is_used_up_and_one_per_minute_is_not() {
    let minute = report(429, &quota(&["GenerateRequestsPerMinutePerProjectPerModel"], "34.074824224s"));
    assert_eq!(minute.cause, ErrorCause::RateLimited);
    assert_eq!(minute.retry_after, Some(Duration::from_nanos(34_074_824_224)));
    for ids in [["GenerateRequestsPerDayPerProject", "PerMinute"], ["PerMinute", "GenerateRequestsPerDayPerProject"]] {
        assert_eq!(report(429, &quota(&ids, "5s")).cause, ErrorCause::QuotaExceeded, "{ids:?}");
    }
}

#[test]
fn the_time_to_wait_of_the_headers_wins() {
    let text = quota(&["PerMinute"], "34s").to_string();
    let response = ErrorResponse::new(429, &text).retry_after(Some(Duration::from_secs(7)));
    assert_eq!(GeminiContent::new().error(&response).retry_after, Some(Duration::from_secs(7)));
    for delay in ["", "s", "-1s", "NaNs", "1e300s", "5", "5m"] {
        assert_eq!(report(429, &quota(&["PerMinute"], delay)).retry_after, None, "{delay}");
    }
}

#[test]
fn the_part_of_the_request_is_found() {
    let mut error = body(400, "INVALID_ARGUMENT", "Invalid value");
    error["error"]["details"] = json!([{
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": "contents[0].parts", "description": "bad"}],
    }]);
    assert_eq!(report(400, &error).param.as_deref(), Some("contents[0].parts"));
    error["error"]["details"][0]["fieldViolations"][0]["field"] = json!("");
    assert_eq!(report(400, &error).param, None);
}

#[test]
fn the_reason_in_the_details_names_the_cause() {
    let mut error = body(400, "INVALID_ARGUMENT", "Bad");
    for (reason, cause) in [
        ("API_KEY_INVALID", ErrorCause::Authentication),
        ("ACCESS_TOKEN_EXPIRED", ErrorCause::Authentication),
        ("SOMETHING_ELSE", ErrorCause::InvalidRequest),
    ] {
        error["error"]["details"] = json!([5, {"reason": reason, "domain": "googleapis.com"}]);
        assert_eq!(report(400, &error).cause, cause);
    }
}

#[test]
fn keys_are_never_part_of_an_error() {
    let secret = "AQ.secret-KEY_1234567";
    for message in [
        format!("Consumer 'api_key:{secret}' has been suspended."),
        format!("Consumer api_key: {secret} has been suspended."),
        format!("GET /v1beta/models?key={secret}&alt=sse failed"),
        format!("?key=\"{secret}\""),
        "Bad key AIzaSySecretKEY_1234567, use another".to_owned(),
        "Bearer ya29.SecretKEY_1234567".to_owned(),
    ] {
        for found in [report(400, &body(400, "INVALID_ARGUMENT", &message)), report(502, &json!(message))] {
            assert!(!found.message.contains("KEY_1234567"), "{}", found.message);
            assert!(found.message.contains("[key]"), "{}", found.message);
        }
    }
    let long = "key=".repeat(2_000);
    assert!(report(400, &body(400, "X", &long)).message.len() < 30_000);
}

#[test]
fn any_body_has_a_report() {
    let wire = GeminiContent::new();
    for (status, text, cause) in [
        (502, "<html><body>Bad gateway</body></html>", ErrorCause::Unavailable),
        (401, "", ErrorCause::Authentication),
        (429, "{\"error\":{\"mess", ErrorCause::RateLimited),
        (400, r#"{"error": {"message": {"a": 1}, "status": []}}"#, ErrorCause::InvalidRequest),
        (500, r#"{"error": {"code": "500"}}"#, ErrorCause::Unavailable),
        (404, r#"{"error": {"type": "not_found"}}"#, ErrorCause::InvalidRequest),
        (400, "null", ErrorCause::InvalidRequest),
        (503, "[]", ErrorCause::Unavailable),
    ] {
        let found = wire.error(&ErrorResponse::new(status, text));
        assert_eq!(found.cause, cause, "{text}");
        assert!(found.message.contains(&status.to_string()), "{}", found.message);
    }
    assert_eq!(report(400, &json!({"error": "plain"})).message, "plain");
    assert!(report(400, &body(400, "X", &"é".repeat(10_000))).message.chars().count() < 3_000);
}
