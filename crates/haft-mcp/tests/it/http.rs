//! Servers behind a URL.

use std::time::Duration;

use haft_core::{FailureKind, Secret, ToolCall};
use haft_executor::{Dispatch, RunOptions, ToolSource};
use haft_mcp::{Era, McpError, McpLimits, McpServer};
use serde_json::{Value, json};

use crate::hostile::{call, until};
use crate::web::{PATIENCE, Web};

fn tools(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect()
}

fn all() -> Value {
    tools(&[
        "echo",
        "stream",
        "odd",
        "big",
        "big-stream",
        "cut",
        "garbage",
        "status",
        "busy",
        "wait",
        "lost",
        "heard",
        "junk",
    ])
}

#[tokio::test]
async fn calls_work_in_both_eras_by_json_and_by_events() {
    for era in [Era::Auto, Era::Modern, Era::Legacy] {
        let web = Web::start(all(), None).await;
        let client = web.server(era).connect().await.unwrap();
        let expected = if era == Era::Legacy { Era::Legacy } else { Era::Modern };
        assert_eq!(client.info().unwrap().era, expected);
        assert_eq!(call(&client, "echo", json!({"a": 1})).await.to_model_text(), r#"{"a":1}"#, "{era:?}");
        let run = client.run_calls(vec![ToolCall::new("c1", "stream", "{}").into()], RunOptions::new());
        let events: Vec<_> = futures_util::StreamExt::collect(run).await;
        let done: Vec<_> = events.iter().filter_map(|event| Some(event.progress()?.done)).collect();
        assert_eq!(done, [1.0, 2.0], "{era:?}");
        assert_eq!(events.last().unwrap().result().unwrap().to_model_text(), "streamed");
        let odd = call(&client, "odd", json!({})).await;
        assert_eq!(odd.outcome.output().unwrap().content().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn arguments_arrive_with_every_digit() {
    let web = Web::start(all(), None).await;
    let client = web.server(Era::Modern).connect().await.unwrap();
    let call = ToolCall::new("c1", "echo", r#"{"n":1.10}"#);
    client.run_calls(vec![call.into()], RunOptions::new()).collect_results().await;
    let (headers, message) = web.received("tools/call").remove(0);
    assert_eq!(message["params"]["arguments"]["n"], json!(1.10));
    assert_eq!(
        (&headers["mcp-method"], &headers["mcp-name"]),
        (&"tools/call".parse().unwrap(), &"echo".parse().unwrap())
    );
}

#[tokio::test]
async fn an_answer_beyond_the_limit_costs_its_own_call() {
    let web = Web::start(all(), None).await;
    let client = web.server(Era::Modern).limits(McpLimits::default().message(64 * 1024)).connect().await.unwrap();
    for tool in ["big", "big-stream"] {
        let failure = call(&client, tool, json!({})).await.failure().unwrap().clone();
        assert_eq!((&failure.kind, failure.started), (&FailureKind::OutputTooLarge, true), "{tool} {failure}");
    }
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
}

#[tokio::test]
async fn every_way_to_fail_has_its_own_result() {
    let web = Web::start(all(), None).await;
    let client = web.server(Era::Modern).connect().await.unwrap();
    for (tool, kind, started, message) in [
        ("cut", FailureKind::OutcomeUnknown, true, "has closed the stream before it answered"),
        ("garbage", FailureKind::OutcomeUnknown, true, "has sent an answer that haft can't read"),
        ("status", FailureKind::OutcomeUnknown, true, "has answered with HTTP status 502"),
        ("busy", FailureKind::ExecutionError, false, "takes no more requests for now"),
        ("junk", FailureKind::OutcomeUnknown, true, "wrote more than 10000 lines that are no messages"),
        ("nothing", FailureKind::UnknownTool, false, "nothing"),
    ] {
        let failure = call(&client, tool, json!({})).await.failure().unwrap().clone();
        assert_eq!((&failure.kind, failure.started), (&kind, started), "{tool}: {failure}");
        assert!(failure.message.contains(message), "{tool}: {failure}");
        assert!(!failure.message.contains("sk-planted"), "{failure}");
    }
}

#[tokio::test]
async fn a_silent_server_times_out_and_a_lost_session_is_made_again() {
    let web = Web::start(all(), None).await;
    let limits = McpLimits::default().call_timeout(Duration::from_millis(100));
    let client = web.server(Era::Modern).limits(limits).connect().await.unwrap();
    let failure = call(&client, "wait", json!({})).await.failure().unwrap().clone();
    assert_eq!(failure.kind, FailureKind::TimedOut);

    let web = Web::start(all(), None).await;
    let client = web.server(Era::Legacy).connect().await.unwrap();
    assert_eq!(call(&client, "lost", json!({})).await.to_model_text(), "found");
    assert_eq!(web.received("initialize").len(), 2);
    client.close().await;
    tokio::time::timeout(PATIENCE, until(|| web.received("DELETE").into_iter().next())).await.unwrap();
}

#[tokio::test]
async fn a_call_waits_for_the_stream_on_which_its_server_may_ask() {
    let web = Web::start(all(), None).await;
    let client = web.server(Era::Legacy).connect().await.unwrap();
    assert_eq!(call(&client, "heard", json!({})).await.to_model_text(), "1");
}

#[tokio::test]
async fn private_addresses_are_reached_only_if_the_client_permits_them() {
    let web = Web::start(all(), None).await;
    for url in [web.url(), "http://169.254.169.254/mcp".to_owned(), "http://localhost:1/mcp".to_owned()] {
        let error = McpServer::http(url).named("inner").connect().await.unwrap_err();
        assert!(
            matches!(&error, McpError::Unreachable { source: haft_http::HttpError::Forbidden { .. }, .. }),
            "{error:?}"
        );
        assert_eq!(error.to_string(), "the MCP server `inner` can't be reached");
    }
    assert!(web.received("POST").is_empty());
}

#[tokio::test]
async fn a_server_that_requires_a_login_says_so_and_a_token_opens_it() {
    let web = Web::start(all(), Some("Bearer sk-1")).await;
    for era in [Era::Auto, Era::Modern, Era::Legacy] {
        let error = web.server(era).connect().await.unwrap_err();
        assert_eq!(error.to_string(), "the MCP server `web` requires a login; its tools are missing until then");
    }
    let server = web.server(Era::Auto).bearer(Secret::new("sk-1")).header("x-team", Secret::new("blue"));
    assert!(!format!("{server:?}").contains("sk-1"));
    let client = server.connect().await.unwrap();
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
    assert_eq!(web.received("tools/call")[0].0["x-team"], "blue");
}

#[tokio::test]
async fn arguments_become_headers_and_invalid_ones_quarantine_their_tool() {
    let with_header = |name: &str, header: Value| {
        let region = json!({"type": "string", "x-mcp-header": header});
        json!({"name": name, "inputSchema": {"type": "object", "properties": {"region": region}}})
    };
    let tools = json!([with_header("echo", json!("Region")), with_header("big", json!("Not A Token")), {"name": "x"}]);
    let web = Web::start(tools, None).await;
    let client = web.server(Era::Modern).connect().await.unwrap();
    assert_eq!(client.snapshot().toolkit().names().collect::<Vec<_>>(), ["echo"]);
    let reasons: Vec<_> = client.quarantined().iter().map(ToString::to_string).collect();
    assert_eq!(
        reasons[1],
        "the tool `big` is quarantined: the `x-mcp-header` annotations of its arguments are invalid"
    );
    call(&client, "echo", json!({"region": "eu"})).await;
    assert_eq!(web.received("tools/call")[0].0["mcp-param-region"], "eu");
}
