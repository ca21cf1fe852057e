//! Runs in which failures of some classes are errors.

use std::error::Error;
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{FailureClass, FailureKind, ToolCall, ToolEvent};
use haft_executor::{Cx, ExecutionLimits, HandlerError, Permission, RunError, RunOptions, Tool, Toolkit};
use tokio::time::sleep;

use crate::executing::{calls, came, kit, told};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Creates tools that fail in every class, and one that is slow and succeeds.
fn tools() -> Toolkit {
    kit([
        Tool::new("slow").try_handler_mixed(|takes: u64, cx: Cx| async move {
            cx.emit("at work").await?;
            sleep(seconds(takes)).await;
            Ok::<_, HandlerError>(takes)
        }),
        Tool::new("broken").try_handler_opaque(|(), _cx| async { Err::<(), _>("a wire is loose") }),
        Tool::new("declared").try_handler(|(), _cx| async { Err::<(), _>("sold out") }),
        Tool::new("late").limits(ExecutionLimits::new().timeout(seconds(1))).handler(|(), _cx| async {
            sleep(seconds(60)).await;
        }),
        Tool::new("secret").handler(|(), _cx| async {}),
    ])
}

fn options() -> RunOptions {
    RunOptions::new().permit(|tool: &Tool, _: &ToolCall, _: &Cx| match tool.name() {
        "secret" => Permission::denied("not for you"),
        _ => Permission::Allowed,
    })
}

#[tokio::test(start_paused = true)]
async fn siblings_drain_before_the_one_error_and_every_event_is_emitted() {
    let calls = calls([("slow", "5"), ("broken", ""), ("slow", "1"), ("broken", "")]);
    let items: Vec<_> = tools().run(calls).fail_on([FailureClass::Internal]).collect().await;
    let events: Vec<_> = items.iter().filter_map(|item| item.as_ref().ok()).map(told).collect();
    assert_eq!(events.len(), 6);
    assert_eq!(events[4..], ["c3 output 1", "c1 output 5"], "the failures come early and stop nobody");
    let errors: Vec<_> = items.iter().filter_map(|item| item.as_ref().err()).collect();
    assert_eq!(errors.len(), 1);
    assert!(items.last().is_some_and(Result::is_err), "at the end");
    assert_eq!(errors[0].failed, [1, 3]);
    let results: Vec<_> = errors[0].results.iter().map(came).collect();
    assert_eq!(results, ["5", "execution_error", "1", "execution_error"], "all results, in the order of the calls");
}

#[tokio::test(start_paused = true)]
async fn each_class_is_an_error_for_its_own_failures_alone() {
    let calls = || {
        calls([("ghost", ""), ("slow", "no number"), ("declared", ""), ("broken", ""), ("secret", ""), ("late", "")])
    };
    let classes = [
        FailureClass::Call,
        FailureClass::Parameters,
        FailureClass::Declared,
        FailureClass::Internal,
        FailureClass::Denied,
        FailureClass::TimedOut,
    ];
    for (place, class) in classes.into_iter().enumerate() {
        let error = tools().run_with(calls(), options()).fail_on([class]).collect_results().await.unwrap_err();
        assert_eq!(error.failed, [place], "{class:?}");
        assert_eq!(error.results.len(), 6);
    }
    let none = tools().run_with(calls(), options()).fail_on([FailureClass::Cancelled]).collect_results().await;
    assert_eq!(none.unwrap().len(), 6);
    let none = tools().run_with(calls(), options()).fail_on([]).collect_results().await;
    assert_eq!(none.unwrap().len(), 6);
    let all = tools().run_with(calls(), options()).fail_on(FailureClass::ALL).collect_results().await;
    assert_eq!(all.unwrap_err().failed, [0, 1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn without_a_matching_failure_the_stream_ends_without_an_error() {
    let items: Vec<_> = tools().run(calls([("declared", "")])).fail_on([FailureClass::Internal]).collect().await;
    assert!(matches!(&items[..], [Ok(ToolEvent::Output { .. })]));
    let results = tools().run(calls([("declared", "")])).fail_on([FailureClass::Internal]).collect_results().await;
    assert_eq!(results.unwrap().iter().map(came).collect::<Vec<_>>(), ["tool_failed"]);
    assert_eq!(tools().run(Vec::<ToolCall>::new()).fail_on(FailureClass::ALL).collect_results().await, Ok(vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_ends_with_the_finished_results() {
    let mut run = tools().run(calls([("slow", "1"), ("slow", "60")])).fail_on([FailureClass::Cancelled]);
    while let Some(item) = run.next().await {
        if item.unwrap().result().is_some() {
            break;
        }
    }
    run.cancel();
    let error: RunError = run.collect_results().await.unwrap_err();
    assert_eq!(error.results.iter().map(came).collect::<Vec<_>>(), ["1", "cancelled"]);
    assert_eq!(error.failed, [1]);
}

#[tokio::test]
async fn the_error_comes_once_and_nothing_after_it() {
    let mut run = tools().run(calls([("broken", "")])).fail_on(FailureClass::ALL);
    assert!(run.next().await.unwrap().is_ok());
    assert!(run.next().await.unwrap().is_err());
    assert!(run.next().await.is_none());
    assert!(run.next().await.is_none());
}

#[tokio::test]
async fn the_error_contains_the_failed_calls() {
    let run = tools()
        .run(calls([("broken", ""), ("declared", ""), ("ghost", "")]))
        .fail_on([FailureClass::Internal, FailureClass::Call]);
    let error = run.collect_results().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 of 3 calls failed: `broken` (c1) with execution_error; `ghost` (c3) with unknown_tool"
    );
    let source = error.source().and_then(|source| source.downcast_ref::<haft_core::ToolFailure>()).unwrap();
    assert_eq!(source.kind, FailureKind::ExecutionError);
    assert!(!error.to_string().contains("loose"), "what only the operator may know is further down");
    assert_eq!(source.source().unwrap().to_string(), "a wire is loose");
}

#[test]
fn every_kind_has_a_class() {
    let classes: std::collections::BTreeSet<_> = FailureKind::ALL.iter().map(FailureKind::class).collect();
    assert_eq!(classes.into_iter().collect::<Vec<_>>(), FailureClass::ALL);
}
