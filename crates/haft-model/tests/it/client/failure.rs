//! Responses with an error status, and connections that fail: the cause, and whether a retry is useful.

use std::time::Duration;

use super::server::builder;
use super::*;

/// A status and an error of a provider, with the kind of the error, whether it is retryable, and the wait.
type Row = (Provider, u16, &'static str, &'static str, &'static str, bool, Option<u64>);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    (Provider::Responses, 429, "rate_limit_exceeded", "slow down", "rate_limited", true, Some(7)),
    (Provider::Responses, 429, "insufficient_quota", "no credit", "quota_exceeded", false, None),
    (Provider::Responses, 503, "server_error", "overloaded", "unavailable", true, Some(7)),
    (Provider::Responses, 400, "context_length_exceeded", "too long", "context_too_long", false, None),
    (Provider::Responses, 400, "x", "bad", "invalid_request", false, None),
    (Provider::Responses, 401, "invalid_api_key", "no", "authentication", false, None),
    (Provider::Responses, 403, "x", "no", "authentication", false, None),
    (Provider::Responses, 404, "model_not_found", "no", "unknown_model", false, None),
    (Provider::Responses, 413, "x", "large", "invalid_request", false, None),
    (Provider::Chat, 429, "rate_limit_exceeded", "slow down", "rate_limited", true, Some(7)),
    (Provider::Chat, 429, "insufficient_quota", "no credit", "quota_exceeded", false, None),
    (Provider::Chat, 500, "x", "down", "unavailable", true, Some(7)),
    (Provider::Chat, 400, "context_length_exceeded", "too long", "context_too_long", false, None),
    (Provider::Chat, 400, "x", "This model's maximum context length is 8 tokens", "context_too_long", false, None),
    (Provider::Chat, 400, "content_filter", "no", "content_filtered", false, None),
    (Provider::Chat, 401, "invalid_api_key", "no", "authentication", false, None),
    (Provider::Chat, 404, "model_not_found", "no", "unknown_model", false, None),
    (Provider::Chat, 413, "x", "large", "invalid_request", false, None),
    (Provider::Anthropic, 429, "rate_limit_error", "slow down", "rate_limited", true, Some(7)),
    (Provider::Anthropic, 529, "overloaded_error", "Overloaded", "unavailable", true, Some(7)),
    (Provider::Anthropic, 503, "invalid_request_error", "no upstream server", "unavailable", true, Some(7)),
    (Provider::Anthropic, 400, "invalid_request_error", "prompt is too long: 9 > 8", "context_too_long", false, None),
    (Provider::Anthropic, 400, "invalid_request_error", "max_tokens: bad", "invalid_request", false, None),
    (Provider::Anthropic, 400, "invalid_request_error", "Your credit balance is too low", "quota_exceeded", false, None),
    (Provider::Anthropic, 401, "authentication_error", "no", "authentication", false, None),
    (Provider::Anthropic, 403, "permission_error", "no", "authentication", false, None),
    (Provider::Anthropic, 404, "not_found_error", "model: m", "unknown_model", false, None),
    (Provider::Anthropic, 413, "request_too_large", "large", "invalid_request", false, None),
    (Provider::Gemini, 429, "RESOURCE_EXHAUSTED", "slow down", "rate_limited", true, Some(7)),
    (Provider::Gemini, 503, "UNAVAILABLE", "overloaded", "unavailable", true, Some(7)),
    (Provider::Gemini, 400, "INVALID_ARGUMENT", "The input token count exceeds the limit", "context_too_long", false, None),
    (Provider::Gemini, 400, "INVALID_ARGUMENT", "API key not valid.", "authentication", false, None),
    (Provider::Gemini, 400, "INVALID_ARGUMENT", "bad", "invalid_request", false, None),
    (Provider::Gemini, 403, "PERMISSION_DENIED", "no", "authentication", false, None),
    (Provider::Gemini, 404, "NOT_FOUND", "models/m is not found for API version v1beta", "unknown_model", false, None),
];

#[tokio::test]
async fn every_error_has_its_cause() {
    for &(provider, status, kind, message, expected, retryable, wait) in TABLE {
        let server = Server::start().await;
        let headers = format!("{JSON}retry-after: 7\r\nx-request-id: req_1\r\n");
        let reply = response(status, &headers, &provider.error(kind, message));
        let error = rejected(&provider.model(&server), &server, &reply).await;
        let found = (error.kind(), error.retryable(), error.retry_after());
        assert_eq!(
            found,
            (expected, retryable, wait.map(Duration::from_secs)),
            "{provider:?} {status} {kind}: {error}"
        );
        assert_eq!((error.status(), error.request_id()), (Some(status), Some("req_1")), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[tokio::test]
async fn waits_are_read_from_headers_and_bodies() {
    let server = Server::start().await;
    let model = Provider::Responses.model(&server);
    let reply = response(429, "retry-after-ms: 1500\r\nretry-after: 2\r\n", "");
    assert_eq!(rejected(&model, &server, &reply).await.retry_after(), Some(Duration::from_millis(1500)));
    let body = r#"{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}"#;
    let error = rejected(&Provider::Gemini.model(&server), &server, &response(429, JSON, body)).await;
    assert_eq!(error.retry_after(), Some(Duration::from_millis(34_500)));
    let daily = body.replace(
        r#""retryDelay":"34.5s""#,
        r#""violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]"#,
    );
    let error = rejected(&Provider::Gemini.model(&server), &server, &response(429, JSON, &daily)).await;
    assert_eq!(error.kind(), "quota_exceeded", "{error}");
}

#[tokio::test]
async fn bodies_of_any_form_are_described() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        for (status, body, kind, part) in [
            (502, "<html><body>Bad gateway</body></html>", "unavailable", "a page of HTML"),
            (500, "", "unavailable", "without a body"),
            (429, "{\"error\":{\"mess", "rate_limited", "429"),
            (401, "go away", "authentication", "go away"),
            (302, "", "invalid_request", "302"),
        ] {
            let error = rejected(&model, &server, &response(status, "content-type: text/html\r\n", body)).await;
            assert_eq!(error.kind(), kind, "{provider:?}: {error}");
            assert!(error.to_string().contains(part), "{provider:?}: {error}");
        }
        // A body that ends too early, or is too large: the status is still known.
        for length in ["999999999", "100"] {
            let reply = format!("HTTP/1.1 429 Slow\r\ncontent-length: {length}\r\n\r\n{{");
            let (turn, ()) = join!(model.stream_turn(&request()).into_turn(), async {
                let (_, connection) = answer(&server, &reply).await;
                connection.end().await;
            });
            let error = turn.unwrap_err();
            assert_eq!((error.kind(), error.status()), ("rate_limited", Some(429)), "{error}");
        }
    }
}

#[tokio::test]
async fn long_messages_are_shortened() {
    for provider in ALL {
        let server = Server::start().await;
        let reply = response(400, JSON, &provider.error("x", &"é".repeat(100_000)));
        let error = rejected(&provider.model(&server), &server, &reply).await;
        assert!(error.to_string().chars().count() < 3_000, "{provider:?}");
    }
}

#[tokio::test]
async fn failed_connections_may_be_tried_again() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        let (turn, ()) = join!(model.stream_turn(&request()).into_turn(), async { server.accept().await.reset() });
        let error = turn.unwrap_err();
        assert_eq!((error.kind(), error.retryable(), error.status()), ("unavailable", true, None), "{error}");
        drop(server);
        let error = model.stream_turn(&request()).into_turn().await.unwrap_err();
        assert_eq!((error.kind(), error.retryable()), ("unavailable", true), "{error}");
        assert!(error.to_string().contains("can't connect to 127.0.0.1"), "{error}");
        assert!(std::error::Error::source(&error).is_some());
    }
}

#[tokio::test]
async fn what_only_other_settings_can_change_is_not_tried_again() {
    let server = Server::start().await;
    let secure = local(server.url("").replace("http:", "https:"));
    let (turn, ()) = join!(secure.stream_turn(&request()).into_turn(), async {
        let mut connection = server.accept().await;
        connection.read_some().await;
        connection.write("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        connection.closed().await;
    });
    let error = turn.unwrap_err();
    assert_eq!((error.kind(), error.retryable()), ("invalid_request", false), "{error}");
    assert!(error.to_string().contains("encrypted connection"), "{error}");

    let looping = local(server.url("")).http_client(builder().redirects(1).build().unwrap());
    let again = response(307, "location: /x\r\n", "");
    let (turn, ()) = join!(looping.stream_turn(&request()).into_turn(), async {
        answer(&server, &again).await;
        answer(&server, &again).await;
    });
    let error = turn.unwrap_err();
    assert_eq!((error.kind(), error.retryable()), ("invalid_request", false), "{error}");
    assert!(error.to_string().contains("redirects"), "{error}");
}
