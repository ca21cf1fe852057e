//! Tracing subscribers are user code too: one that panics loses no result.

mod broken;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{ApprovalRequest, Outcome, ToolCall, ToolFailure, ToolResult};
use haft_executor::{ApprovalPolicy, Cx, RunOptions, Tool, Toolkit};

use self::broken::{PANICKING_METHODS, listening};

fn kit() -> Toolkit {
    let waits = |n: u32, _: Cx| async move {
        tokio::task::yield_now().await;
        n
    };
    let fails = |_: u32, _: Cx| async { Err::<(), _>("no") };
    let panics = |_: u32, _: Cx| async { panic!("the handler") };
    let tools = [
        Tool::new("plain").handler(|n: u32, _: Cx| async move { n }).unwrap(),
        Tool::new("waits").handler(waits).unwrap(),
        Tool::new("asks").needs_approval(ApprovalPolicy::always()).handler(|n: u32, _: Cx| async move { n }).unwrap(),
        Tool::new("blocks").blocking_handler(|n: u32, _: Cx| n).unwrap(),
        Tool::new("fails").try_handler_opaque(fails).unwrap(),
        Tool::new("panics").handler::<_, (), _, _>(panics).unwrap(),
    ];
    Toolkit::from_iter(tools)
}

const NAMES: [&str; 7] = ["plain", "waits", "asks", "blocks", "fails", "panics", "missing"];

fn expected(result: &ToolResult) {
    let is_ok = !["fails", "panics", "missing"].contains(&result.tool.as_str());
    assert_eq!(result.is_ok(), is_ok, "{result:?}");
    if let (Outcome::Ok(output), true) = (&result.outcome, is_ok) {
        assert_eq!(output.value().unwrap().as_str(), "7");
    }
}

fn calls() -> impl Iterator<Item = ToolCall> {
    NAMES.into_iter().map(|name| ToolCall::new(name, name, "7"))
}

fn options() -> RunOptions {
    RunOptions::new().approvals(|request: ApprovalRequest, _: Cx| async move { request.approve() })
}

#[tokio::test]
async fn a_subscriber_that_panics_loses_no_result_of_a_run() {
    for method in PANICKING_METHODS {
        for options in [options(), options().spawned()] {
            listening(method, async {
                let results = kit().run_with(calls(), options).collect_results().await;
                assert_eq!(results.len(), NAMES.len());
                results.iter().for_each(expected);
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_subscriber_that_panics_loses_no_result_of_a_single_call() {
    for method in PANICKING_METHODS {
        listening(method, async {
            let (kit, options) = (kit(), options());
            for call in calls() {
                expected(&kit.run_call_with(&call, &options).await);
                if call.name != "asks" {
                    expected(&kit.run_call(&call).await);
                }
            }
        })
        .await;
    }
}

#[tokio::test]
async fn a_subscriber_that_panics_does_not_reach_whoever_drops_a_run() {
    for method in PANICKING_METHODS {
        listening(method, async {
            drop(kit().run(calls()));
            let mut run = kit().run_with(calls(), options());
            assert!(run.next().await.is_some());
            drop(run);
        })
        .await;
    }
}

/// An error whose `Display` fails.
#[derive(Debug)]
struct Mute;

impl std::error::Error for Mute {}

impl std::fmt::Display for Mute {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("mute");
    }
}

#[tokio::test]
async fn an_approver_whose_error_has_no_display_denies_only_its_own_call() {
    let records = Arc::<AtomicUsize>::default();
    let written = Arc::clone(&records);
    let options = RunOptions::new()
        .approvals(|_: ApprovalRequest, _: Cx| async { Err::<haft_core::Verdict, _>(Mute) })
        .audit(move |_| {
            written.fetch_add(1, Ordering::SeqCst);
        });
    let results = kit().run_with(calls(), options).collect_results().await;
    assert_eq!(results[2].failure().map(|failure: &ToolFailure| failure.kind.as_str()), Some("denied"));
    assert!(results[0].is_ok() && results[1].is_ok());
    assert_eq!(records.load(Ordering::SeqCst), 1);
}
