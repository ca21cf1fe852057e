//! Calls: what is sent, what comes back, and what is known if nothing does.

use std::time::Duration;

use haft_core::{FailureKind, ToolCall, ToolEvent};
use haft_executor::{Dispatch, RunOptions, ToolSource};
use haft_mcp::{McpLimits, TraceContext};
use serde_json::{Value, json};

use crate::hostile::{Hostile, call, until};

#[tokio::test]
async fn invalid_arguments_never_reach_the_server() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let hostile = Hostile::new().tools(&json!([{"name": "echo", "inputSchema": schema}]));
    let client = hostile.connect().await;
    let failure = call(&client, "echo", json!({"a": "x"})).await.failure().unwrap().clone();
    assert_eq!((failure.kind, failure.started), (FailureKind::InputValidationError, false));
    assert_eq!(call(&client, "echo", json!({"a": 1})).await.to_model_text(), r#"{"a":1}"#);
    assert_eq!(hostile.received("tools/call").len(), 1);
}

#[tokio::test]
async fn arguments_arrive_with_every_digit() {
    let hostile = Hostile::new();
    let client = hostile.connect().await;
    let call = ToolCall::new("c1", "echo", r#"{"n": 123456789012345678901234567890, "s": 1.10}"#);
    client.run_calls(vec![call.into()], RunOptions::new()).collect_results().await;
    let log = std::fs::read_to_string(hostile.path("log")).unwrap();
    assert!(
        log.contains(r#""n":123456789012345678901234567890"#) || log.contains(r#""n": 123456789012345678901234567890"#),
        "{log}"
    );
}

#[tokio::test]
async fn a_call_carries_the_trace_context_of_its_task() {
    let hostile = Hostile::new();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let context = move || Some(TraceContext::new(parent).state("vendor=1"));
    let client = hostile.server().trace_context(context).connect().await.unwrap();
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
    let meta = &hostile.received("tools/call")[0]["params"]["_meta"];
    assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!(parent), &json!("vendor=1")));
    assert!(!meta["progressToken"].is_null());
}

#[tokio::test]
async fn a_result_that_violates_the_output_schema_is_a_failure() {
    let output = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let tool = json!({"name": "raw", "inputSchema": {"type": "object"}, "outputSchema": output});
    let hostile = Hostile::new().tools(&json!([tool]));
    let client = hostile.connect().await;
    let raw = |result: &'static str| call(&client, "raw", json!({"result": result}));
    for lie in [r#"{"content":[],"structuredContent":{"n":"x"}}"#, r#"{"content":[{"type":"text","text":"{}"}]}"#] {
        let failure = raw(lie).await.failure().unwrap().clone();
        assert_eq!(failure.kind, FailureKind::OutputValidationError, "{lie}");
        assert!(failure.started);
    }
    assert_eq!(raw(r#"{"content":[],"structuredContent":{"n":1}}"#).await.to_model_text(), r#"{"n":1}"#);
    let error = raw(r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#).await.failure().unwrap().clone();
    assert_eq!((error.kind, &*error.message), (FailureKind::ToolFailed, "no"));
}

#[tokio::test]
async fn stray_output_and_odd_ids_do_not_disturb_calls() {
    let client = Hostile::new();
    let client = client.connect().await;
    assert_eq!(call(&client, "noise", json!({})).await.to_model_text(), "quiet");
    assert_eq!(call(&client, "text-id", json!({})).await.to_model_text(), "a number as text");
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
}

#[tokio::test]
async fn progress_arrives_in_order_and_a_flood_is_bounded() {
    let hostile = Hostile::new();
    let client = hostile.connect().await;
    let progress = async |tool: &str, arguments: Value| {
        let call = ToolCall::new("c1", tool, arguments.to_string());
        let mut events = client.run_calls(vec![call.into()], RunOptions::new());
        let mut done = Vec::new();
        while let Some(event) = futures_util::StreamExt::next(&mut events).await {
            done.extend(event.progress().map(|progress| progress.done));
            if let ToolEvent::Output { result, .. } = &event {
                assert_eq!(result.to_model_text(), "done");
            }
        }
        done
    };
    assert_eq!(progress("progress", json!({"values": [1, 3, 2, 3, 5]})).await, [1.0, 3.0, 5.0]);
    let flood = progress("flood", json!({"count": 20_000})).await;
    assert!(flood.is_sorted_by(|one, other| one < other) && flood.last() == Some(&19_999.0));
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let hostile = Hostile::new();
    let client = hostile.connect().await;
    let cancellation = haft_executor::Cancellation::new();
    let call = ToolCall::new("c1", "wait", "{}");
    let run = client.run_calls(vec![call.into()], RunOptions::new().cancellation(cancellation.clone()));
    let running = tokio::spawn(run.collect_results());
    let sent = hostile.until_received("tools/call").await;
    cancellation.cancel();
    let result = running.await.unwrap().remove(0);
    let failure = result.failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::Cancelled, true));
    let cancelled = hostile.until_received("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], sent["id"]);
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    let hostile = Hostile::new();
    let client = hostile.connect().await;
    let run = client.run_calls(vec![ToolCall::new("c1", "wait", "{}").into()], RunOptions::new());
    let running = tokio::spawn(run.collect_results());
    hostile.until_received("tools/call").await;
    running.abort();
    hostile.until_received("notifications/cancelled").await;
}

#[tokio::test]
async fn a_silent_server_times_out_and_hears_of_it() {
    let hostile = Hostile::new();
    let limits = McpLimits::default().call_timeout(Duration::from_millis(100));
    let client = hostile.server().limits(limits).connect().await.unwrap();
    let failure = call(&client, "wait", json!({})).await.failure().unwrap().clone();
    assert_eq!((failure.kind, failure.started), (FailureKind::TimedOut, true));
    assert_eq!(failure.message, "the MCP server `hostile` did not answer within 100ms");
    hostile.until_received("notifications/cancelled").await;
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
}

#[tokio::test]
async fn an_answer_beyond_the_limit_costs_its_own_call() {
    let hostile = Hostile::new();
    let client = hostile.server().limits(McpLimits::default().message(64 * 1024)).connect().await.unwrap();
    let failure = call(&client, "big", json!({"bytes": 1_000_000})).await.failure().unwrap().clone();
    assert_eq!(failure.kind, FailureKind::OutputTooLarge, "{failure}");
    assert!(failure.message.contains("more than 65536 bytes"), "{failure}");
    // The server is started again.
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
    assert_eq!(hostile.received("initialize").len(), 2);
}

#[tokio::test]
async fn a_call_whose_server_dies_has_an_unknown_outcome_and_is_not_sent_again() {
    let hostile = Hostile::new();
    let client = hostile.connect().await;
    let failure = call(&client, "exit", json!({})).await.failure().unwrap().clone();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::OutcomeUnknown, true), "{failure}");
    assert!(failure.message.contains("has exited (exit status: 3) before it answered"), "{failure}");
    assert_eq!(hostile.received("tools/call").len(), 1);
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
}

#[tokio::test]
async fn a_call_without_further_effect_is_sent_again_when_its_server_dies() {
    let tool = json!({"name": "exit-once", "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": true}});
    let hostile = Hostile::new().tools(&json!([tool]));
    let client = hostile.connect().await;
    let mark = hostile.path("mark").to_str().unwrap().to_owned();
    assert_eq!(call(&client, "exit-once", json!({"mark": mark})).await.to_model_text(), "again");
    assert_eq!(hostile.received("tools/call").len(), 2);
}

#[tokio::test]
async fn a_server_that_dies_all_the_time_is_not_started_for_ever() {
    let hostile = Hostile::new();
    let client = hostile.server().limits(McpLimits::default().restarts_per_hour(2)).connect().await.unwrap();
    for _ in 0..3 {
        let failure = call(&client, "exit", json!({})).await.failure().unwrap().clone();
        assert_eq!(failure.kind, FailureKind::OutcomeUnknown);
    }
    let failure = call(&client, "exit", json!({})).await.failure().unwrap().clone();
    assert!(failure.message.contains("was started 2 times within an hour"), "{failure}");
    assert!(!failure.started && failure.retry_after.is_some());
    assert_eq!(hostile.received("initialize").len(), 3);
}

#[tokio::test]
async fn a_protocol_error_says_whether_the_call_has_started_and_contains_no_secret() {
    let hostile = Hostile::new();
    let secret = haft_core::Secret::new("sk-planted-secret");
    let client = hostile.server().secret_env("TOKEN", secret).connect().await.unwrap();
    for (code, kind, started) in [
        (-32602, FailureKind::InputValidationError, false),
        (-32601, FailureKind::ExecutionError, false),
        (-32603, FailureKind::ExecutionError, true),
        (-32000, FailureKind::ExecutionError, true),
    ] {
        let failure = call(&client, "fail", json!({"code": code})).await.failure().unwrap().clone();
        assert_eq!((&failure.kind, failure.started), (&kind, started), "{code}");
        let expected = "the MCP server `hostile` rejects the call: the disk of [redacted] is full";
        assert_eq!(failure.message, expected);
    }
}

#[tokio::test]
async fn a_flood_of_requests_ends_the_server() {
    let hostile = Hostile::new();
    let client = hostile.connect().await;
    let result = call(&client, "ask-much", json!({"count": 100_000})).await;
    let failure = result.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::OutcomeUnknown);
}

#[tokio::test]
async fn endless_output_without_messages_ends_the_server() {
    let hostile = Hostile::new();
    let client = hostile.connect().await;
    let failure = call(&client, "junk", json!({})).await.failure().unwrap().clone();
    assert_eq!(failure.kind, FailureKind::OutcomeUnknown);
    assert!(failure.message.contains("wrote more than 10000 lines that are no messages"), "{failure}");
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
}

#[tokio::test]
async fn endless_notifications_and_progress_are_no_answer() {
    let hostile = Hostile::new();
    let short = Duration::from_millis(200);
    for (tool, limits) in [
        ("notify", McpLimits::default().call_timeout(short)),
        // Progress shows that it is alive, so only the other timeout ends it.
        ("busy", McpLimits::default().call_total(short)),
    ] {
        let client = hostile.server().limits(limits).connect().await.unwrap();
        let failure = call(&client, tool, json!({})).await.failure().unwrap().clone();
        assert_eq!(failure.kind, FailureKind::TimedOut, "{tool}: {failure}");
        client.close().await;
    }
}

#[tokio::test]
async fn calls_at_the_same_time_are_limited_per_server() {
    let hostile = Hostile::new();
    let client = hostile.server().limits(McpLimits::default().in_flight(1)).connect().await.unwrap();
    let waiting = client.run_calls(vec![ToolCall::new("c1", "wait", "{}").into()], RunOptions::new());
    let waiting = tokio::spawn(waiting.collect_results());
    hostile.until_received("tools/call").await;
    let echo = client.run_calls(vec![ToolCall::new("c2", "echo", "{}").into()], RunOptions::new());
    let echo = tokio::spawn(echo.collect_results());
    tokio::task::yield_now().await;
    assert_eq!(hostile.received("tools/call").len(), 1);
    waiting.abort();
    assert_eq!(echo.await.unwrap()[0].to_model_text(), "{}");
}

#[tokio::test]
async fn a_pinned_tool_runs_as_long_as_it_is_the_one_that_was_pinned() {
    let tool = |name: &str, description: &str| json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
    let hostile = Hostile::new().tools(&json!([tool("echo", "Says it."), tool("raw", "new"), tool("fail", "new")]));
    let pins = [tool("echo", "Says it."), tool("raw", "old"), tool("wait", "gone")];
    let client = hostile.server().pinned(pins);
    let mut listings = client.listings();
    assert_eq!(client.snapshot().toolkit().names().collect::<Vec<_>>(), ["echo", "raw", "wait"]);
    assert!(hostile.received("initialize").is_empty(), "nothing was started");

    assert_eq!(call(&client, "echo", json!({"a": 1})).await.to_model_text(), r#"{"a":1}"#);
    let changed = call(&client, "raw", json!({})).await.failure().unwrap().clone();
    assert_eq!((changed.kind.as_str(), changed.started), (haft_mcp::TOOL_CHANGED, false));
    let removed = call(&client, "wait", json!({})).await.failure().unwrap().clone();
    assert_eq!((removed.kind.as_str(), removed.started), (haft_mcp::TOOL_REMOVED, false));
    assert_eq!(client.snapshot().toolkit().len(), 3, "new tools are not offered");
    assert_eq!(client.listed().unwrap().tools.len(), 3);
    assert_eq!(listings.borrow_and_update().as_ref().unwrap().tools.len(), 3);
    assert_eq!(hostile.received("tools/call").len(), 1);
}

#[tokio::test]
async fn a_tool_that_changes_between_two_calls_is_rejected_from_then_on() {
    let tool = |name: &str, text: &str| json!({"name": name, "description": text, "inputSchema": {"type": "object"}});
    let tools = [tool("change", "Changes."), tool("echo", "Says it.")];
    let hostile = Hostile::new().tools(&json!(tools));
    let client = hostile.server().pinned(tools);
    assert_eq!(call(&client, "echo", json!({"a": 1})).await.to_model_text(), r#"{"a":1}"#);
    let changed = json!([tool("change", "Changes."), tool("echo", "Says it to others.")]);
    assert_eq!(call(&client, "change", json!({"tools": changed})).await.to_model_text(), "changed");
    let description = || client.listed().unwrap().tools[1].tool.description().unwrap().to_owned();
    until(|| (description() == "Says it to others.").then_some(())).await;
    let failure = call(&client, "echo", json!({})).await.failure().unwrap().clone();
    assert_eq!((failure.kind.as_str(), failure.started), (haft_mcp::TOOL_CHANGED, false));
    assert_eq!(hostile.received("tools/call").len(), 2);
}
