//! More calls at once than a task may poll in one go: tokio lets a task take a certain number of steps, and then every
//! future it polls is pending until the task has yielded.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_core::ToolCall;
use haft_executor::{Cx, RunOptions, Tool, Toolkit};
use tokio::time::sleep;

const MANY: usize = 2_000;
const LONG: Duration = Duration::from_millis(10);

/// Creates a tool that sleeps, and a count of how often its calls were polled.
fn sleeper() -> (Toolkit, Arc<AtomicUsize>) {
    let looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looks);
    let tool = Tool::new("sleep").handler(move |(), _cx| {
        let looks = Arc::clone(&counted);
        async move {
            let mut sleeping = pin!(sleep(LONG));
            std::future::poll_fn(|task| {
                looks.fetch_add(1, Ordering::Relaxed);
                sleeping.as_mut().poll(task)
            })
            .await;
        }
    });
    (Toolkit::from_iter([tool.unwrap()]), looks)
}

fn calls() -> Vec<ToolCall> {
    (0..MANY).map(|n| ToolCall::new(format!("c{n}"), "sleep", "")).collect()
}

async fn all_are_done(options: RunOptions) -> usize {
    let (kit, looks) = sleeper();
    let results = kit.run_with(calls(), options).collect_results().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), MANY);
    looks.load(Ordering::Relaxed)
}

#[tokio::test(start_paused = true)]
async fn a_call_is_not_polled_repeatedly_while_it_can_not_proceed() {
    let looks = all_are_done(RunOptions::new()).await;
    assert!(looks <= 5 * MANY, "{MANY} calls were looked at {looks} times");
    let looks = all_are_done(RunOptions::new().call_timeout(2 * LONG)).await;
    assert!(looks <= 5 * MANY, "{MANY} calls with a timeout were looked at {looks} times");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_in_time_does_not_time_out_because_of_the_others() {
    all_are_done(RunOptions::new().call_timeout(LONG)).await;
    // Calls in separate tasks end after those tasks were scheduled, a moment later.
    all_are_done(RunOptions::new().call_timeout(LONG + Duration::from_millis(1)).spawned()).await;
}

/// Calls that are always ready must not prevent the timeouts of others.
#[tokio::test(start_paused = true)]
async fn calls_that_are_always_ready_still_time_out() {
    let restless = Tool::new("restless").handler(|(), cx: Cx| async move {
        while cx.attempt() == 1 {
            // Advances the clock, which stands still while a task is ready, and continues at once.
            tokio::time::advance(Duration::from_millis(1)).await;
        }
    });
    let kit: Toolkit = Toolkit::from_iter([restless.unwrap()]);
    let calls = (0..400).map(|n| ToolCall::new(format!("c{n}"), "restless", ""));
    let results = kit.run_with(calls, RunOptions::new().call_timeout(LONG)).collect_results().await;
    let kinds = results.iter().map(|result| result.failure().unwrap().kind.as_str());
    assert!(kinds.into_iter().all(|kind| kind == "timed_out"));
}
