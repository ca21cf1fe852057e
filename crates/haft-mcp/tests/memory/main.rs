//! The memory that huge answers take.
//!
//! It is a test program of its own because the allocator counts for the whole process, which must do nothing else.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

use std::convert::Infallible;
use std::path::Path;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use haft_core::{FailureKind, ToolCall};
use haft_executor::{Dispatch, RunOptions};
use haft_http::{AddressGuard, HttpClient};
use haft_mcp::{Era, McpClient, McpServer};
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The size of an answer.
const HUGE: usize = 100_000_000;
/// The memory that reading it may take: the limit of one message is 16 MiB, and a buffer that grows is copied.
const ALLOWED: usize = 64 << 20;

#[tokio::test]
async fn an_answer_of_100_mb_takes_no_more_memory_than_its_limit_allows() {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples/hostile_server");
    let lines = McpServer::command(program, [""; 0]).era(Era::Legacy).connect().await.unwrap();
    check(&lines, "big", json!({"bytes": HUGE})).await;
    lines.close().await;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(answer)).await.unwrap() });
    let guard = AddressGuard::new().allow_host("127.0.0.1").unwrap();
    let client = HttpClient::builder().no_proxy().guarded(guard).unwrap();
    let web = McpServer::http(url).era(Era::Modern).http_client(client).connect().await.unwrap();
    for tool in ["json", "events"] {
        check(&web, tool, json!({})).await;
    }
    web.close().await;
}

async fn check(client: &McpClient, tool: &str, arguments: Value) {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let call = ToolCall::new("c1", tool, arguments.to_string());
    let result = client.run_calls(vec![call.into()], RunOptions::new()).collect_results().await.remove(0);
    let failure = result.failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::OutputTooLarge, true), "{tool}: {failure}");
    let taken = ALLOCATOR.peak_usage() - before;
    assert!(taken < ALLOWED, "{tool} took {taken} bytes");
}

/// Answers as a server of the new era, without ever holding a huge answer.
async fn answer(body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let mut result = match message["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
        "tools/list" => json!({"tools": [tool("json"), tool("events")]}),
        _ => return huge(&message),
    };
    for (name, value) in [("resultType", json!("complete")), ("ttlMs", json!(0)), ("cacheScope", json!("private"))] {
        result[name] = value;
    }
    axum::Json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into_response()
}

fn huge(message: &Value) -> Response {
    const PIECE: usize = 64 * 1024;
    let is_events = message["params"]["name"] == "events";
    let head = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":""#, message["id"]);
    let (head, tail, kind) = if is_events {
        (format!("data: {head}"), "\"}]}}\n\n", "text/event-stream")
    } else {
        (head, "\"}]}}", "application/json")
    };
    let filler = std::iter::repeat_n(Bytes::from(vec![b'x'; PIECE]), HUGE / PIECE);
    let pieces = [Bytes::from(head)].into_iter().chain(filler).chain([Bytes::from(tail)]);
    let body = Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>)));
    ([("content-type", kind)], body).into_response()
}
