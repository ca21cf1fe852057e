//! Many calls at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{ToolCall, ToolEvent};
use haft_executor::{Cx, DefinitionError, HandlerError, RunOptions, Tool};
use tokio::sync::Barrier;
use tokio::time::{Instant, sleep};

use super::{echo, says};
use crate::executing::{calls, came, kit, tell};

#[tokio::test]
async fn all_calls_run_at_once_by_default() {
    let all = Arc::new(Barrier::new(20));
    let meet = Tool::new("meet").handler(move |(), _cx| {
        let all = Arc::clone(&all);
        async move {
            all.wait().await;
            "met"
        }
    });
    let results = kit([meet]).run(calls([("meet", ""); 20])).collect_results().await;
    assert!(results.iter().all(|result| came(result) == "\"met\""));
}

/// Creates a tool that waits a second, and records how many did so at the same time.
fn second(now: &Arc<AtomicUsize>, most: &Arc<AtomicUsize>) -> Result<Tool, DefinitionError> {
    let (now, most) = (Arc::clone(now), Arc::clone(most));
    Tool::new("second").handler(move |(), _cx| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_bound_is_used_up_and_never_exceeded() {
    for (bound, seconds) in [(0, 1), (1, 10), (4, 3), (10, 1), (99, 1)] {
        let (now, most) = (Arc::default(), Arc::default());
        let began = Instant::now();
        let run =
            kit([second(&now, &most)]).run_with(calls([("second", ""); 10]), RunOptions::new().concurrency(bound));
        assert_eq!(run.collect_results().await.len(), 10);
        assert_eq!(began.elapsed(), Duration::from_secs(seconds), "{bound}");
        let expected = if bound == 0 { 10 } else { bound.min(10) };
        assert_eq!(most.load(Ordering::SeqCst), expected, "{bound}");
    }
}

/// Creates a tool that emits and ends at given times.
fn timed() -> Result<Tool, DefinitionError> {
    Tool::new("timed").try_handler_mixed(|(emit, end): (u64, u64), cx: Cx| async move {
        sleep(Duration::from_secs(emit)).await;
        cx.emit(emit).await?;
        sleep(Duration::from_secs(end - emit)).await;
        Ok::<_, HandlerError>(end)
    })
}

#[tokio::test(start_paused = true)]
async fn events_of_different_calls_come_in_real_time() {
    let kit = kit([timed()]);
    let run = kit.run(calls([("timed", "[2,9]"), ("timed", "[1,4]"), ("timed", "[3,5]")]));
    assert_eq!(
        tell(run).await,
        ["c2 progress 1", "c1 progress 2", "c3 progress 3", "c2 output 4", "c3 output 5", "c1 output 9"]
    );
    let run = kit.run(calls([("timed", "[2,9]"), ("timed", "[1,4]")]));
    let results = run.collect_results().await;
    assert_eq!(results.iter().map(came).collect::<Vec<_>>(), ["9", "4"], "collected in the order of the calls");
}

#[tokio::test(start_paused = true)]
async fn one_at_a_time_is_the_order_of_the_calls() {
    let run =
        kit([timed()]).run_with(calls([("timed", "[2,9]"), ("timed", "[1,4]")]), RunOptions::new().concurrency(1));
    assert_eq!(tell(run).await, ["c1 progress 2", "c1 output 9", "c2 progress 1", "c2 output 4"]);
}

/// A fault of one call is that call's result, and does not affect the others.
#[tokio::test]
async fn names_kinds_inputs_and_crashes_each_have_their_outcome() {
    let kit = kit([
        echo("echo"),
        Tool::signal("signal").define(),
        Tool::new("fails").try_handler_opaque(|(), _cx| async { Err::<(), _>("a wire is loose") }),
        Tool::new("panics").handler(|(), cx: Cx| async move { assert!(cx.is_cancelled(), "a handler that breaks") }),
        Tool::new("says_no").try_handler(|(), _cx| async { Err::<(), _>("no") }),
    ]);
    let table = [
        (("ghost", "{}"), "unknown_tool"),
        (("signal", "{}"), "non_local_tool"),
        (("echo", "7"), "input_validation_error"),
        (("echo", "\"unfinished"), "input_validation_error"),
        (("fails", ""), "execution_error"),
        (("panics", ""), "execution_error"),
        (("says_no", ""), "tool_failed"),
        (("echo", "\"fine\""), "\"fine\""),
    ];
    let results = kit.run(calls(table.map(|(call, _)| call))).collect_results().await;
    for (result, (call, expected)) in results.iter().zip(table) {
        assert_eq!(came(result), expected, "{call:?}");
        assert!(result.failure().is_none_or(|failure| !failure.message.trim().is_empty()), "{call:?}");
    }
    assert!(results[4].failure().is_some_and(|failure| !failure.to_model_text().contains("wire")));
}

#[tokio::test]
async fn blank_arguments_are_an_empty_object() {
    let kit = kit([says("plain", "fine")]);
    let run = kit.run(calls([("plain", ""), ("plain", " \n\t"), ("plain", "{}"), ("plain", "{\"x\":1}")]));
    assert_eq!(
        tell(run).await,
        ["c1 output \"fine\"", "c2 output \"fine\"", "c3 output \"fine\"", "c4 output input_validation_error"]
    );
}

#[tokio::test]
async fn no_calls_are_no_events() {
    let kit = kit([says("plain", "fine")]);
    assert_eq!(kit.run(Vec::<ToolCall>::new()).collect::<Vec<_>>().await, []);
    assert_eq!(kit.run(Vec::<ToolCall>::new()).collect_results().await, []);
}

#[tokio::test]
async fn nothing_runs_until_the_run_is_polled() {
    let began = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&began);
    let tool = Tool::new("t").handler(move |(), _cx| {
        counter.fetch_add(1, Ordering::Relaxed);
        async {}
    });
    let kit = kit([tool]);
    drop(kit.run(calls([("t", "")])));
    let mut run = kit.run(calls([("t", ""), ("t", "")]));
    assert_eq!(began.load(Ordering::Relaxed), 0);
    assert!(matches!(run.next().await, Some(ToolEvent::Output { index: 0, .. })));
    assert_eq!(began.load(Ordering::Relaxed), 2, "the first look starts all of them");
}
