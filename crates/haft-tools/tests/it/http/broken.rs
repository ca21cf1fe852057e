//! Servers that answer slowly, too much, or wrongly.

use std::error::Error;
use std::time::Duration;

use haft_core::{FailureKind, ToolFailure};
use haft_http::Method;
use haft_tools::http::ResponseMapping;
use serde_json::json;

use super::server::{RawServer, Server, answer};
use super::{call, call_with, http_tool, open_entry, options};

/// Calls a tool whose server answers with these bytes and closes the connection.
async fn failure(method: Method, bytes: &[u8]) -> ToolFailure {
    let server = RawServer::start().await;
    let tool = http_tool(method, server.url("/")).build(&open_entry()).unwrap();
    let (result, ()) = tokio::join!(call(&tool, json!({})), server.answer_once(bytes));
    result.unwrap_err()
}

#[tokio::test]
async fn a_response_that_breaks_off_is_no_result() {
    for bytes in [
        &b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"a\":1}"[..],
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"",
        b"SSH-2.0-x\r\n",
    ] {
        let read = failure(Method::GET, bytes).await;
        assert_eq!(read.kind, FailureKind::ExecutionError, "{read}");
        assert!(read.retryable && read.source().is_some());
        assert_eq!(read.message, "the connection ended before the response was complete");

        let written = failure(Method::POST, bytes).await;
        assert_eq!(written.kind, FailureKind::OutcomeUnknown, "{written}");
        assert!(!written.retryable, "a repeated request may repeat its effects");
    }
}

#[tokio::test]
async fn a_longer_body_than_declared_is_cut() {
    let server = RawServer::start().await;
    let tool = http_tool(Method::GET, server.url("/")).build(&open_entry()).unwrap();
    let bytes = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nhello";
    let (result, ()) = tokio::join!(call(&tool, json!({})), server.answer_once(bytes));
    assert_eq!(result.unwrap(), json!("he"));
}

#[tokio::test]
async fn a_failed_status_is_known_even_if_its_body_breaks_off() {
    let bytes = b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nno such";
    let failure = failure(Method::GET, bytes).await;
    assert_eq!(failure.kind, FailureKind::ToolFailed);
    assert!(Error::source(&failure).unwrap().to_string().ends_with("is: no such…"), "{failure:?}");
    assert_eq!(failure.details.unwrap().to_value(), json!({"status": 404}));
}

#[tokio::test]
async fn content_that_is_not_what_it_claims_to_be_is_a_failure() {
    for (content_type, encoding, body) in [
        ("application/json", "identity", &b"{\"a\":"[..]),
        ("application/json", "identity", b"<html>"),
        ("application/json", "identity", b"\"\xFF\""),
        ("application/json", "identity", b"[1] [2]"),
        ("text/plain", "gzip", b"\x1f\x8b\x08\x00"),
        ("application/json", "GZIP", b"{}"),
    ] {
        let server = Server::start(move |_, _| {
            let mut response = answer(200, content_type, body);
            response.headers_mut().insert("content-encoding", encoding.parse().unwrap());
            response
        })
        .await;
        let tool = http_tool(Method::GET, server.url("/")).build(&open_entry()).unwrap();
        let failure = call(&tool, json!({})).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::ExecutionError, "{content_type} {encoding}");
        assert!(failure.message.starts_with("the server sent a "), "{failure}");
        assert!(!failure.retryable);
        assert_eq!(server.one().header("accept-encoding"), "");
    }
    let deep = "[".repeat(100_000);
    let server = Server::start(move |_, _| answer(200, "application/json", deep.clone())).await;
    let tool = http_tool(Method::GET, server.url("/")).build(&open_entry()).unwrap();
    assert_eq!(call(&tool, json!({})).await.unwrap_err().kind, FailureKind::ExecutionError);
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_not_read() {
    let server = Server::start(|_, _| answer(200, "text/plain", "x".repeat(1001))).await;
    let with = |limit| http_tool(Method::GET, server.url("/")).response(ResponseMapping::new().limit(limit));
    let result = call(&with(1001).build(&open_entry()).unwrap(), json!({})).await;
    assert_eq!(result.unwrap().as_str().unwrap().len(), 1001);
    let failure = call(&with(1000).build(&open_entry()).unwrap(), json!({})).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::OutputTooLarge);
    assert_eq!(failure.message, "the response of the server is larger than the limit of 1000 bytes");

    // A body that never ends.
    let server = RawServer::start().await;
    let tool = http_tool(Method::GET, server.url("/")).response(ResponseMapping::new().limit(1000));
    let tool = tool.build(&open_entry()).unwrap();
    let endless = async {
        use tokio::io::AsyncWriteExt as _;
        let mut socket = server.accept().await;
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n").await.unwrap();
        while socket.write_all(&[b'x'; 500]).await.is_ok() {}
    };
    let (result, ()) = tokio::join!(call(&tool, json!({})), endless);
    assert_eq!(result.unwrap_err().kind, FailureKind::OutputTooLarge);
}

#[tokio::test]
async fn a_server_that_never_answers_is_a_timeout() {
    let server = RawServer::start().await;
    for (method, retryable) in [(Method::GET, true), (Method::POST, false)] {
        let tool = http_tool(method, server.url("/")).timeout(Duration::from_millis(20)).build(&open_entry()).unwrap();
        let failure = call(&tool, json!({})).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::TimedOut);
        let effect = if retryable { "" } else { "; the request may have had its effect" };
        assert_eq!(failure.message, format!("the server did not answer completely within 20ms{effect}"));
        assert_eq!(failure.retryable, retryable);
    }
    let tool = http_tool(Method::GET, server.url("/")).build(&open_entry()).unwrap();
    let failure = call_with(&tool, json!({}), options().call_timeout(Duration::from_millis(20))).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::TimedOut);
}

#[tokio::test]
async fn a_server_that_does_not_exist_is_only_described_to_the_operator() {
    let server = RawServer::start().await;
    let url = server.url("/");
    drop(server);
    for method in [Method::GET, Method::POST] {
        let tool = http_tool(method, &url).build(&open_entry()).unwrap();
        let failure = call(&tool, json!({})).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::ExecutionError);
        assert!(failure.retryable, "nothing was sent");
        assert!(!failure.to_model_text().contains("127.0.0.1"), "{failure}");
        assert!(failure.source().unwrap().to_string().contains("can't connect to 127.0.0.1"));
    }
}
