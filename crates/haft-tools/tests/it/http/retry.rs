//! Requests that are sent again, and those that are not.

use std::time::Duration;

use futures_util::FutureExt;
use haft_core::FailureKind;
use haft_executor::Backoff;
use haft_http::Method;
use haft_tools::http::HttpRetry;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::server::{RawServer, Server, answer};
use super::{LONG, call, call_with, http_tool, of_entry, open_entry, options};

fn at_once(attempts: u32) -> HttpRetry {
    HttpRetry::attempts(attempts).backoff(Backoff::constant(Duration::ZERO))
}

/// A server that answers with this status, and with 200 from a number on.
async fn failing(status: u16, until: usize) -> Server {
    Server::start(move |_, number| answer(if number < until { status } else { 200 }, "text/plain", "done")).await
}

#[tokio::test]
async fn only_temporary_failures_of_harmless_requests_are_repeated() {
    for (method, status, expected) in [
        (Method::GET, 429, 3),
        (Method::GET, 408, 3),
        (Method::GET, 500, 3),
        (Method::GET, 502, 3),
        (Method::GET, 503, 3),
        (Method::GET, 504, 3),
        (Method::HEAD, 503, 3),
        (Method::PUT, 503, 3),
        (Method::DELETE, 503, 3),
        (Method::GET, 400, 1),
        (Method::GET, 404, 1),
        (Method::GET, 501, 1),
        (Method::POST, 503, 1),
        (Method::PATCH, 429, 1),
    ] {
        let server = failing(status, 3).await;
        let tool = http_tool(method.clone(), server.url("/")).retry(at_once(5)).build(&open_entry()).unwrap();
        let result = call(&tool, json!({})).await;
        assert_eq!(server.count(), expected, "{method} {status}");
        assert_eq!(result.is_ok(), expected == 3, "{method} {status}");
    }
}

#[tokio::test]
async fn the_entry_decides_what_is_harmless() {
    let tries = async |method: &str, readonly: Option<bool>, idempotent: Option<bool>, key: bool| -> usize {
        let server = failing(503, 9).await;
        let mut settings = json!({
            "url": server.url("/"), "method": method, "retry": {"attempts": 2, "first-wait-seconds": 0},
        });
        if key {
            settings["idempotency-key"] = "idempotency-key".into();
        }
        let mut entry = open_entry();
        entry.settings = settings;
        entry.tool.readonly = readonly;
        entry.tool.idempotent = idempotent;
        call(&of_entry(entry).await.unwrap(), json!({})).await.unwrap_err();
        server.count()
    };
    let (with_key, without) = (true, false);
    assert_eq!(tries("POST", None, None, without).await, 1);
    assert_eq!(tries("POST", None, None, with_key).await, 2);
    assert_eq!(tries("POST", Some(true), None, without).await, 2);
    assert_eq!(tries("POST", None, Some(true), without).await, 2);
    assert_eq!(tries("GET", None, Some(false), without).await, 1);
    assert_eq!(tries("GET", Some(true), Some(false), without).await, 1);
}

#[tokio::test]
async fn attempts_are_limited_and_the_last_failure_is_reported() {
    let server = failing(503, 99).await;
    let tool = http_tool(Method::GET, server.url("/")).retry(at_once(4)).build(&open_entry()).unwrap();
    let failure = call(&tool, json!({})).await.unwrap_err();
    assert_eq!(server.count(), 4);
    assert_eq!((failure.kind, failure.retryable), (FailureKind::ToolFailed, true));
    let once = http_tool(Method::GET, server.url("/")).build(&open_entry()).unwrap();
    server.take();
    call(&once, json!({})).await.unwrap_err();
    assert_eq!(server.count(), 1, "nothing is repeated unless it is asked for");
}

#[tokio::test]
async fn interrupted_connections_are_repeated_if_harmless_or_unsent() {
    for (method, connections) in [(Method::GET, 2), (Method::POST, 1)] {
        let server = RawServer::start().await;
        let tool = http_tool(method, server.url("/")).retry(at_once(3)).build(&open_entry()).unwrap();
        let serving = async {
            server.answer_once(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n").await;
            if connections == 2 {
                server.answer_once(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
            }
        };
        let (result, ()) = tokio::join!(call(&tool, json!({})), serving);
        assert_eq!(result.is_ok(), connections == 2);
    }
}

#[tokio::test]
async fn a_server_is_waited_for_as_long_as_it_asks_up_to_a_limit() {
    let asking = |seconds: &'static str| {
        Server::start(move |_, number| {
            let mut response = answer(if number < 2 { 429 } else { 200 }, "text/plain", "");
            response.headers_mut().insert("retry-after", seconds.parse().unwrap());
            response
        })
    };
    let server = asking("31").await;
    let tool = http_tool(Method::GET, server.url("/")).retry(at_once(5)).build(&open_entry()).unwrap();
    let failure = call(&tool, json!({})).await.unwrap_err();
    assert_eq!(server.count(), 1, "the default limit is 30 seconds");
    assert_eq!(failure.retry_after, Some(Duration::from_secs(31)));
    assert!(failure.retryable);

    let server = asking("0").await;
    let tool = http_tool(Method::GET, server.url("/")).retry(at_once(5)).build(&open_entry()).unwrap();
    call(&tool, json!({})).await.unwrap();
    assert_eq!(server.count(), 2);

    // A wait beyond the deadline of the call is not begun.
    let server = asking("300").await;
    let retry = at_once(5).max_wait(LONG);
    let tool = http_tool(Method::GET, server.url("/")).retry(retry).build(&open_entry()).unwrap();
    let deadline = options().deadline(Instant::now() + Duration::from_secs(200));
    let failure = call_with(&tool, json!({}), deadline).await.unwrap_err();
    assert_eq!((server.count(), failure.kind), (1, FailureKind::ToolFailed));

    // For a request that must not be repeated, the model still reads when it may try again.
    let server = asking("7").await;
    let tool = http_tool(Method::POST, server.url("/")).build(&open_entry()).unwrap();
    let failure = call(&tool, json!({})).await.unwrap_err();
    assert_eq!((failure.retryable, failure.retry_after), (true, Some(Duration::from_secs(7))));
}

/// The clock is paused only while the tool waits, as no request could be sent in time then.
#[tokio::test]
async fn the_wait_that_a_server_asks_for_passes_before_the_next_request() {
    let server = RawServer::start().await;
    let tool = http_tool(Method::GET, server.url("/")).retry(at_once(2)).build(&open_entry()).unwrap();
    let serving = async {
        let mut socket = server.accept().await;
        let busy = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        socket.write_all(busy.as_bytes()).await.unwrap();
        // The client closes the connection when it has read the response, so that it waits from now on.
        assert_eq!(socket.read(&mut [0]).await.unwrap(), 0);
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert!(server.accept().now_or_never().is_none(), "the next request comes too early");
        tokio::time::advance(Duration::from_secs(1)).await;
        tokio::time::resume();
        server.answer_once(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    };
    let (result, ()) = tokio::join!(call(&tool, json!({})), serving);
    result.unwrap();
}

#[tokio::test]
async fn a_harmful_request_that_was_redirected_is_not_repeated() {
    let gone = {
        let other = RawServer::start().await;
        other.url("/")
    };
    let server = Server::start(move |_, _| {
        let mut response = answer(307, "text/plain", "moved");
        response.headers_mut().insert("location", gone.parse().unwrap());
        response
    })
    .await;
    for (method, count) in [(Method::POST, 1), (Method::PUT, 3)] {
        let tool = http_tool(method, server.url("/")).redirects(1).retry(at_once(3)).build(&open_entry()).unwrap();
        let failure = call(&tool, json!({})).await.unwrap_err();
        assert_eq!(server.take().len(), count);
        assert_eq!(failure.retryable, count == 3, "{failure}");
        let kind = if count == 1 { FailureKind::OutcomeUnknown } else { FailureKind::ExecutionError };
        assert_eq!(failure.kind, kind);
    }
}
