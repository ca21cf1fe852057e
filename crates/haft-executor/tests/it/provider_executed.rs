//! Calls that the provider executed, and their results, good and bad: they pass through unchanged.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::history::{self, StrayReason};
use haft_core::{ContentPart, FailureKind, Finish, Item, ProviderCall, ToolCall, ToolCallOutput, ToolResult, Turn};
use haft_executor::{Cx, RunOptions, Tool, Toolkit};
use serde_json::json;

use crate::executing::{came, kit};
use crate::running::alone;

/// Creates a kit whose tool `search` has the name of the provider's, and counts its runs.
fn searching() -> (Toolkit, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ran);
    let search = Tool::new("search").handler(move |text: String, _: Cx| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { format!("here: {text}") }
    });
    (kit([search]), ran)
}

fn remote(id: &str) -> ToolCall {
    ToolCall::new(id, "search", "\"rust\"").executed_by_provider().metadata("trace", id)
}

fn local() -> ToolCall {
    ToolCall::new("local", "search", "\"haft\"")
}

/// Creates a turn in which the provider executed three calls, well and badly, beside one that is to be run here.
fn turn(finish: Finish) -> Turn {
    let found = ToolCallOutput::new("good", vec![ContentPart::text("found"), ContentPart::text("twice")]);
    let mut failed = ProviderCall::new("vendor", "browse", json!({"status": "failed", "error": {"code": 503}})).error();
    failed.provider_data.insert("vendor".to_owned(), json!({"signature": "x="}));
    Turn::new(
        vec![
            Item::assistant("let me look"),
            remote("good").into(),
            found.tool("search").provider_data("vendor", json!({"encrypted": "abc="})).into(),
            remote("bad").into(),
            ToolCallOutput::new("bad", r#"{"error":"max_uses_exceeded"}"#).error().into(),
            failed.call_id("worse").into(),
            local().into(),
        ],
        finish,
    )
}

#[tokio::test]
async fn a_turn_with_results_of_the_provider_enters_the_history_unchanged() {
    let (kit, ran) = searching();
    let turn = turn(Finish::ToolCalls);
    assert_eq!(turn.tool_calls(), [local()], "only this one is to be run here");
    let results = kit.run(turn.tool_calls()).collect_results().await;
    assert_eq!(results.iter().map(came).collect::<Vec<_>>(), ["\"here: haft\""]);
    assert_eq!(ran.load(Ordering::SeqCst), 1);

    let items = turn.items.clone();
    let mut history = vec![Item::user("what is there?")];
    turn.append_to_history(&mut history, results).unwrap();
    assert_eq!(history[1..=items.len()], items);
    assert!(matches!(&history[items.len() + 1..], [Item::ToolOutput(output)] if output.call_id == "local"));

    assert!(history::is_reconciled(&history));
    assert_eq!(history::repair(history.clone(), "gone").into_parts(), (history.clone(), Vec::new()));
    let stored = serde_json::to_string(&history).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Item>>(&stored).unwrap(), history);
}

/// Only calls that are to be run here can be open, cancelled or answered.
#[test]
fn calls_of_the_provider_are_never_open() {
    let turn = turn(Finish::ToolCalls);
    let items = turn.items.clone();
    let mut history = Vec::new();
    turn.append_to_history(&mut history, []).unwrap();
    assert_eq!(history, items);
    assert_eq!(history::unanswered(&history), [&local()]);

    let cancelled = history::cancel_pending(&history, "gone");
    assert_eq!(cancelled.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), ["local"]);
    let repaired = history::repair(history.clone(), "gone");
    assert_eq!(repaired.changes.len(), 1, "{:?}", repaired.changes);
    assert_eq!(repaired.history[..items.len()], items);

    for id in ["good", "bad"] {
        let error = history::answer(&mut history, [ToolResult::ok(&remote(id), json!("mine"))]).unwrap_err();
        assert_eq!(error.strays()[0].reason, StrayReason::ProviderExecuted, "{error}");
    }
    assert_eq!(history, items, "nothing was changed");
}

#[test]
fn a_truncated_turn_keeps_the_calls_of_the_provider() {
    let turn = turn(Finish::Length);
    let (items, results) = (turn.items.clone(), turn.interrupted_results());
    assert_eq!(results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), ["local"]);
    let mut history = Vec::new();
    turn.append_to_history(&mut history, results).unwrap();
    assert_eq!(history[..items.len()], items);
    assert!(history::is_reconciled(&history));
}

/// A caller may pass all calls of a turn: those that the provider executed are not run a second time.
#[tokio::test]
async fn a_call_that_the_provider_ran_is_not_run_here_even_if_given() {
    let (kit, ran) = searching();
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        let calls = [remote("good"), local(), remote("bad")];
        let results = kit.run_with(calls, options.clone()).collect_results().await;
        assert_eq!(
            results.iter().map(came).collect::<Vec<_>>(),
            ["non_local_tool", "\"here: haft\"", "non_local_tool"]
        );
        assert_eq!(came(&kit.run_call_with(&remote("good"), &options).await), "non_local_tool");
    }
    assert_eq!(kit.try_run_call(remote("good"), RunOptions::new()).await.unwrap_err().kind, FailureKind::NonLocalTool);
    let search = kit.get("search").unwrap();
    let call = remote("good");
    assert_eq!(came(&alone(search).run_call(&call).await), "non_local_tool");
    assert_eq!(ran.load(Ordering::SeqCst), 2, "the local one, twice");
}
