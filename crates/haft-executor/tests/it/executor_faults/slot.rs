//! The order in which calls get a slot, when they arrive late or limits combine.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::ToolCall;
use haft_executor::{BoxError, Concurrency, Cx, ExecutionLimits, Permission, Permitting, RunOptions, Tool, Toolkit};
use tokio::time::sleep;

use super::broken::{endless, limits, ms};

fn keyed(tool: &Tool, name: &str) -> Tool {
    let limits = limits().concurrency(Concurrency::Keyed("one at a time".to_owned()));
    tool.with_limits(limits).unwrap().with_name(name).unwrap()
}

/// Checks that calls which wait for others with their key let other calls pass, including those that arrive later.
async fn check_later_call_passes(options: RunOptions) {
    let sound = Tool::new("late").handler(|(), _| async { "done" }).unwrap();
    let kit: Toolkit = [keyed(&endless(), "first"), keyed(&endless(), "second"), sound].into_iter().collect();
    let permit = |tool: &Tool, _: &ToolCall, _: &Cx| match tool.name() {
        "late" => Permitting::later(async {
            sleep(ms(5)).await;
            Ok::<_, BoxError>(Permission::Allowed)
        }),
        _ => Permission::Allowed.into(),
    };
    let calls = ["first", "second", "late"].map(|name| ToolCall::new(name, name, "{}"));
    let results = kit.run_with(calls, options.permit(permit).timeout(ms(1000))).collect_results().await;
    assert!(results[2].is_ok(), "it waited behind calls that don't concern it: {:?}", results[2]);
}

#[tokio::test(start_paused = true)]
async fn a_later_call_passes_those_that_wait_for_their_own_key() {
    check_later_call_passes(RunOptions::new()).await;
}

#[tokio::test(start_paused = true)]
async fn a_later_call_passes_those_that_wait_for_their_own_key_when_spawned() {
    check_later_call_passes(RunOptions::new().spawned()).await;
}

/// Runs ten calls of a tool with a limit in a run with another, and returns how many ran at a time.
async fn side_by_side(tool: ExecutionLimits, run: usize) -> usize {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = (Arc::clone(&now), Arc::clone(&most));
    let handler = move |(), _: Cx| {
        let (now, most) = counted.clone();
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(ms(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        }
    };
    let kit: Toolkit = [Tool::new("t").limits(tool).handler(handler).unwrap()].into_iter().collect();
    let calls = (0..10).map(|n| ToolCall::new(format!("c{n}"), "t", "{}"));
    let results = kit.run_with(calls, RunOptions::new().concurrency(run)).collect_results().await;
    assert!(results.iter().all(haft_core::ToolResult::is_ok), "{results:?}");
    most.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn the_tighter_of_two_concurrency_limits_holds() {
    let at_most = |count| limits().concurrency(Concurrency::Max(NonZeroUsize::new(count).unwrap()));
    assert_eq!(side_by_side(limits(), 0).await, 10);
    assert_eq!(side_by_side(at_most(2), 5).await, 2, "the tool's");
    assert_eq!(side_by_side(limits().concurrency(Concurrency::Exclusive), 0).await, 1, "the tool's");
    assert_eq!(side_by_side(at_most(5), 2).await, 2, "the run's");
    assert_eq!(side_by_side(limits(), 2).await, 2, "the run's");
}
