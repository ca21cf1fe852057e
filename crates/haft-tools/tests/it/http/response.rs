//! Responses become results.

use haft_core::FailureKind;
use haft_http::Method;
use haft_tools::http::{ErrorDetail, ResponseMapping, ResultFormat, StatusOutcome, StatusSet};
use serde_json::{Value, json};

use super::server::{RawServer, Server, answer};
use super::{call, http_tool, of_kind, open_entry};

const LATIN1: &[u8] = b"caf\xE9";

async fn value(mapping: ResponseMapping, content_type: &'static str, body: &'static [u8]) -> Result<Value, String> {
    let server = Server::start(move |_, _| answer(200, content_type, body)).await;
    let tool = http_tool(Method::GET, server.url("/")).response(mapping).build(&open_entry()).unwrap();
    call(&tool, json!({})).await.map_err(|failure| failure.to_string())
}

#[tokio::test]
async fn the_type_of_the_body_decides() {
    for (content_type, body, expected) in [
        ("application/json", &b"{\"a\":[1]}"[..], json!({"a": [1]})),
        ("Application/Problem+JSON; charset=utf-8", b"1", json!(1)),
        ("application/json", b"\xEF\xBB\xBF[true]", json!([true])),
        ("application/json", b"", json!(null)),
        ("text/plain", b"{\"a\":1}", json!("{\"a\":1}")),
        ("text/plain", "é\u{0}".as_bytes(), json!("é\u{0}")),
        ("text/plain", LATIN1, json!("caf\u{FFFD}")),
        ("text/html; charset=ISO-8859-1", LATIN1, json!("café")),
        ("text/plain; charset=\"latin1\"", LATIN1, json!("café")),
        ("application/atom+xml", b"<a/>", json!("<a/>")),
        ("application/x-ndjson", b"1\n2\n", json!("1\n2\n")),
        ("", b"text", json!("text")),
        ("", LATIN1, json!({"content_type": "", "base64": "Y2Fm6Q=="})),
        ("image/png", b"\x89PNG", json!({"content_type": "image/png", "base64": "iVBORw=="})),
        (
            "application/octet-stream",
            b"text",
            json!({"content_type": "application/octet-stream", "base64": "dGV4dA=="}),
        ),
    ] {
        assert_eq!(value(ResponseMapping::new(), content_type, body).await.unwrap(), expected, "{content_type}");
    }
}

#[tokio::test]
async fn a_set_format_overrides_the_type() {
    let with = |format| ResponseMapping::new().format(format);
    assert_eq!(value(with(ResultFormat::Json), "text/plain", b"[1]").await.unwrap(), json!([1]));
    assert_eq!(value(with(ResultFormat::Text), "application/json", b"[1]").await.unwrap(), json!("[1]"));
    assert_eq!(value(with(ResultFormat::Base64), "text/plain", b"[1]").await.unwrap(), json!("WzFd"));
    assert_eq!(value(with(ResultFormat::Text), "", b"").await.unwrap(), json!(""));
}

#[tokio::test]
async fn a_part_of_the_body_can_be_selected() {
    let body = br#"{"items":[{"n":1},{"n":2}],"a/b":{"~":null}}"#;
    let pointer = |pointer: &str| ResponseMapping::new().pointer(pointer);
    let path = |path: &str| ResponseMapping::new().json_path(path);
    for (mapping, expected) in [
        (pointer("/items/1/n"), json!(2)),
        (pointer("/a~1b/~0"), json!(null)),
        (pointer(""), serde_json::from_slice(body).unwrap()),
        (path("$.items[*].n"), json!([1, 2])),
        (path("$.items[?@.n > 1]"), json!([{"n": 2}])),
        (path("$.none"), json!([])),
    ] {
        assert_eq!(value(mapping.clone(), "application/json", body).await.unwrap(), expected, "{mapping:?}");
    }
    let missing = value(pointer("/none"), "application/json", body).await.unwrap_err();
    assert_eq!(missing, "execution_error: the response of the server has no value at `/none`");
}

#[tokio::test]
async fn a_path_that_selects_too_much_is_a_failure() {
    let body: &'static [u8] = format!("[{}0]", "0,".repeat(100_000)).leak().as_bytes();
    let mapping = ResponseMapping::new().json_path("$[*]");
    let failure = value(mapping, "application/json", body).await.unwrap_err();
    assert_eq!(failure, "output_too_large: the JSONPath of the tool selects more than 100000 values");
}

#[tokio::test]
async fn responses_without_a_body_are_null() {
    let server = Server::start(|_, _| answer(204, "application/json", "")).await;
    let tool = http_tool(Method::DELETE, server.url("/")).response(ResponseMapping::new().pointer("/a"));
    assert_eq!(call(&tool.build(&open_entry()).unwrap(), json!({})).await.unwrap(), json!(null));

    let server = RawServer::start().await;
    let tool = http_tool(Method::HEAD, server.url("/")).build(&open_entry()).unwrap();
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 123\r\nconnection: close\r\n\r\n";
    let arguments = json!({});
    let (result, ()) = tokio::join!(call(&tool, arguments), server.answer_once(head));
    assert_eq!(result.unwrap(), json!(null));
}

#[tokio::test]
async fn every_other_status_is_a_failure_whose_body_can_be_shown() {
    let with_body = || ResponseMapping::new().errors(ErrorDetail::Body);
    for (status, retryable) in [(301, false), (304, false), (400, false), (404, false), (409, false), (418, false)] {
        let server = Server::start(move |_, _| answer(status, "text/plain", "why not\n")).await;
        let tool = http_tool(Method::GET, server.url("/")).response(with_body()).build(&open_entry()).unwrap();
        let failure = call(&tool, json!({})).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::ToolFailed);
        assert!(failure.message.contains(&status.to_string()), "{failure}");
        assert_eq!(failure.retryable, retryable, "{status}");
        let details = failure.details.unwrap().to_value();
        let expected =
            if status == 304 { json!({"status": 304}) } else { json!({"status": status, "body": "why not"}) };
        assert_eq!(details, expected);
    }
    let server = Server::start(|_, _| answer(500, "text/html", "é".repeat(100_000))).await;
    let tool = http_tool(Method::GET, server.url("/")).response(with_body()).build(&open_entry()).unwrap();
    let details = call(&tool, json!({})).await.unwrap_err().details.unwrap().to_value();
    assert_eq!(details["body"], format!("{}…", "é".repeat(2000)));

    let server = Server::start(|_, _| answer(500, "image/png", "PNG")).await;
    let tool = http_tool(Method::GET, server.url("/")).response(with_body()).build(&open_entry()).unwrap();
    assert_eq!(call(&tool, json!({})).await.unwrap_err().details.unwrap().to_value(), json!({"status": 500}));
}

#[tokio::test]
async fn rules_decide_about_statuses() {
    let server = Server::start(|request, _| {
        let status = request.path.trim_start_matches('/').parse().unwrap();
        answer(status, "application/json", r#"{"reason":"r"}"#)
    })
    .await;
    let mapping = ResponseMapping::new()
        .status(StatusSet::one(404), StatusOutcome::Value(json!("missing")))
        .status(StatusSet::class(4), StatusOutcome::Success)
        .status(
            StatusSet::one(202),
            StatusOutcome::Failure { kind: Some("not_ready".into()), message: Some("ask again later".into()) },
        )
        .status(StatusSet::range(500, 503), StatusOutcome::Failure { kind: None, message: Some("it is down".into()) });
    let tool = http_tool(Method::POST, server.url("/{status}")).response(mapping).build(&open_entry()).unwrap();
    let of = async |status: u16| call(&tool, json!({"status": status})).await;
    assert_eq!(of(404).await.unwrap(), json!("missing"));
    assert_eq!(of(409).await.unwrap(), json!({"reason": "r"}));
    assert_eq!(of(200).await.unwrap(), json!({"reason": "r"}));
    let not_ready = of(202).await.unwrap_err();
    assert_eq!((not_ready.kind.as_str(), not_ready.message.as_str()), ("not_ready", "ask again later"));
    assert_eq!(not_ready.details.unwrap().to_value(), json!({"status": 202}));
    let down = of(503).await.unwrap_err();
    assert_eq!((down.kind, down.message.as_str()), (FailureKind::ToolFailed, "it is down"));
    assert!(of(504).await.unwrap_err().message.contains("504"));
}

#[tokio::test]
async fn the_settings_have_a_notation_for_rules() {
    let server =
        Server::start(|request, _| answer(request.path.trim_start_matches('/').parse().unwrap(), "text/plain", "b"))
            .await;
    let status = json!({
        "4xx": {"failure": "wrong", "kind": "wrong_input"}, "404": "null", "410": {"value": []}, "300-310": "success",
        "201": "failure",
    });
    let tool = of_kind(json!({"url": server.url("/{status}"), "status": status})).await.unwrap();
    let of = async |status: &str| call(&tool, json!({"status": status})).await;
    assert_eq!(of("404").await.unwrap(), json!(null), "one status is more than its class");
    assert_eq!(of("410").await.unwrap(), json!([]));
    assert_eq!(of("302").await.unwrap(), json!("b"));
    assert_eq!(of("400").await.unwrap_err().kind, FailureKind::from("wrong_input"));
    assert!(of("201").await.unwrap_err().message.contains("201 (Created)"));
}
