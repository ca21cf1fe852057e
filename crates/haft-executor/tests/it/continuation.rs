//! The continuation of a run: one value made from all results.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{ToolCall, ToolResult};
use haft_executor::{Cancellation, Cx, HandlerError, RunOptions, Step, Tool, Toolkit};
use tokio::time::sleep;

use crate::executing::{calls, came, kit};

/// Creates a tool that emits its argument and returns it after as many seconds.
fn slow() -> Toolkit {
    kit([Tool::new("slow").try_handler_mixed(|takes: u64, cx: Cx| async move {
        cx.emit(takes).await?;
        cx.preliminary(0).await?;
        sleep(Duration::from_secs(takes)).await;
        Ok::<_, HandlerError>(takes)
    })])
}

/// Counts how often it was called.
fn counting(times: &Arc<AtomicUsize>) -> impl FnOnce(Vec<ToolResult>) -> Vec<String> + Unpin + use<> {
    let times = Arc::clone(times);
    move |results| {
        times.fetch_add(1, Ordering::Relaxed);
        results.iter().map(|result| came(result).to_owned()).collect()
    }
}

fn three() -> Vec<ToolCall> {
    calls([("slow", "3"), ("ghost", ""), ("slow", "1")])
}

#[tokio::test(start_paused = true)]
async fn events_pass_through_unchanged_and_one_value_follows() {
    let times = Arc::default();
    let plain: Vec<_> = slow().run(three()).collect().await;
    let steps: Vec<_> = slow().run(three()).continue_with_results(counting(&times)).collect().await;
    assert_eq!(steps.len(), plain.len() + 1);
    for (step, event) in steps.iter().zip(&plain) {
        assert!(matches!(step, Step::Event(passed) if passed == event), "{step:?} {event:?}");
    }
    let Some(Step::Next(results)) = steps.last() else { panic!("{steps:?}") };
    assert_eq!(results, &["3", "unknown_tool", "1"], "in the order of the calls");
    assert_eq!(times.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_comes_after_the_value() {
    let times = Arc::default();
    let mut steps = slow().run(three()).continue_with_results(counting(&times));
    while !matches!(steps.next().await, Some(Step::Next(_))) {}
    assert!(steps.next().await.is_none());
    assert!(steps.next().await.is_none());
    assert_eq!(times.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_run_of_no_calls_is_continued() {
    let times = Arc::default();
    let steps: Vec<_> = slow().run(Vec::<ToolCall>::new()).continue_with_results(counting(&times)).collect().await;
    assert_eq!(steps, [Step::Next(vec![])]);
}

/// Calls that timed out have results; only a cancellation stops the continuation.
#[tokio::test(start_paused = true)]
async fn a_run_that_timed_out_is_continued() {
    let times = Arc::default();
    let run = slow().run_with(three(), RunOptions::new().timeout(Duration::from_secs(2)));
    let steps: Vec<_> = run.continue_with_results(counting(&times)).collect().await;
    assert!(matches!(steps.last(), Some(Step::Next(results)) if results == &["timed_out", "unknown_tool", "1"]));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_answers_every_call_and_is_not_continued() {
    let times = Arc::default();
    let mut steps = slow().run(three()).continue_with_results(counting(&times));
    assert!(steps.next().await.is_some());
    steps.cancel();
    let rest: Vec<_> = steps.collect().await;
    let answered = rest.iter().filter(|step| matches!(step, Step::Event(event) if event.result().is_some()));
    assert_eq!(answered.count(), 3);
    assert!(!rest.iter().any(|step| matches!(step, Step::Next(_))));
    assert_eq!(times.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_flag_cancels_it_like_the_stream_itself() {
    let times = Arc::default();
    let flag = Cancellation::new();
    let mut steps =
        slow().run_with(three(), RunOptions::new().cancellation(flag.clone())).continue_with_results(counting(&times));
    assert!(steps.next().await.is_some());
    flag.cancel();
    let rest: Vec<_> = steps.collect().await;
    assert!(!rest.is_empty() && !rest.iter().any(|step| matches!(step, Step::Next(_))));
    assert_eq!(times.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_is_not_continued() {
    let times = Arc::default();
    let mut steps = slow().run(three()).continue_with_results(counting(&times));
    assert!(steps.next().await.is_some());
    drop(steps);
    assert_eq!(times.load(Ordering::Relaxed), 0);
    assert_eq!(Arc::strong_count(&times), 1, "what was to follow is gone");
}

#[tokio::test]
async fn a_panic_in_the_continuation_reaches_the_caller() {
    let steps = slow().run(calls([("ghost", "")])).continue_with_results(|results| assert!(results.is_empty(), "mine"));
    let ended = tokio::spawn(steps.collect::<Vec<_>>()).await;
    assert!(ended.unwrap_err().is_panic());
}
