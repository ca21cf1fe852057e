//! A call that is cancelled drops its connection.

use haft_core::FailureKind;
use haft_executor::Cancellation;
use haft_http::Method;
use haft_tools::http::HttpRetry;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::server::{RawServer, Server, answer};
use super::{call_with, http_tool, open_entry, options};

#[tokio::test]
async fn the_connection_is_closed() {
    for begins in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin", b"HTTP/1.1 404 No\r\n\r\nbegin"] {
        let server = RawServer::start().await;
        let tool = http_tool(Method::GET, server.url("/")).build(&open_entry()).unwrap();
        let cancellation = Cancellation::new();
        let calling = call_with(&tool, json!({}), options().cancellation(cancellation.clone()));
        let serving = async {
            let mut socket = server.accept().await;
            socket.write_all(begins).await.unwrap();
            cancellation.cancel();
            socket
        };
        let (result, mut socket) = tokio::join!(calling, serving);
        assert_eq!(result.unwrap_err().kind, FailureKind::Cancelled);
        assert_eq!(socket.read(&mut [0; 8]).await.unwrap_or_default(), 0, "the connection has ended");
    }
}

#[tokio::test]
async fn a_wait_for_the_next_attempt_is_cancelled() {
    let cancellation = Cancellation::new();
    let server = {
        let cancellation = cancellation.clone();
        Server::start(move |_, _| {
            cancellation.cancel();
            answer(503, "", "")
        })
    }
    .await;
    let backoff = haft_executor::Backoff::constant(super::LONG);
    let retry = HttpRetry::attempts(9).backoff(backoff).max_wait(super::LONG);
    let tool = http_tool(Method::GET, server.url("/")).retry(retry).build(&open_entry()).unwrap();
    let failure = call_with(&tool, json!({}), options().cancellation(cancellation)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cancelled);
    assert_eq!(server.count(), 1);
}
