//! Middlewares that a user writes on the public API: a small retry and a small timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use haft_core::{FailureKind, Idempotent, Outcome, ToolCall, ToolFailure, ToolResult};
use haft_executor::{Cancellation, Cx, Middleware, Next, Request, RunOptions, Tool, Toolkit};
use tokio::time::{Instant, sleep, timeout_at};

/// Runs a call again, after a pause, while that is safe.
struct SmallRetry {
    attempts: u32,
    pause: Duration,
}

impl Middleware for SmallRetry {
    type Services = ();

    async fn around(&self, mut request: Request, next: Next) -> Outcome {
        loop {
            let again = request.again();
            let outcome = next.run(request).await;
            let is_safe = |failure: &ToolFailure| !failure.started || again.tool().annotations().idempotent();
            if again.attempt() > self.attempts || !outcome.failure().is_some_and(is_safe) {
                return outcome;
            }
            if again.cx().run_until_cancelled(sleep(self.pause)).await.is_none() {
                return ToolFailure::new(FailureKind::Cancelled, "").into();
            }
            request = again;
        }
    }
}

/// Fails a call that takes too long.
struct SmallTimeout(Duration);

impl Middleware for SmallTimeout {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let end = Instant::now() + self.0;
        match timeout_at(end, next.run(request.with_deadline(end))).await {
            Ok(outcome) => outcome,
            Err(_) => ToolFailure::new(FailureKind::TimedOut, "too slow").into(),
        }
    }
}

/// A tool that takes a second, and whether it is idempotent.
fn slow(is_idempotent: bool) -> (Tool, Arc<AtomicU32>) {
    let runs = Arc::<AtomicU32>::default();
    let counted = Arc::clone(&runs);
    let work = move |(), _: Cx| {
        counted.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_secs(1))
    };
    (Tool::new("slow").annotate(Idempotent(is_idempotent)).handler(work).unwrap(), runs)
}

fn wrapped(tool: &Tool) -> Toolkit {
    let retry = SmallRetry { attempts: 3, pause: Duration::from_secs(10) };
    Toolkit::from_iter([tool.wrap(SmallTimeout(Duration::from_millis(100))).wrap(retry)])
}

/// Runs the call as a single one, in a run and in a spawned run.
async fn every_way(kit: &Toolkit) -> [ToolResult; 3] {
    let call = ToolCall::new("c1", "slow", "");
    let run = |options: RunOptions| kit.run_with([call.clone()], options).collect_results();
    let single = kit.run_call(&call).await;
    [single, run(RunOptions::new()).await.remove(0), run(RunOptions::new().spawned()).await.remove(0)]
}

#[tokio::test(start_paused = true)]
async fn attempts_time_out_and_are_repeated_only_where_that_is_safe() {
    for (is_idempotent, attempts) in [(true, 3), (false, 1)] {
        let (tool, runs) = slow(is_idempotent);
        for result in every_way(&wrapped(&tool)).await {
            let failure = result.failure().unwrap();
            assert_eq!((&failure.kind, failure.started), (&FailureKind::TimedOut, true));
        }
        assert_eq!(runs.load(Ordering::Relaxed), 3 * attempts);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_was_not_reached_has_not_begun_and_may_always_be_tried_again() {
    let (tool, runs) = slow(false);
    let late = |request: Request, next: Next| async move {
        if request.attempt() < 3 {
            sleep(Duration::from_secs(1)).await;
        }
        next.run(request).await
    };
    for result in every_way(&wrapped(&tool.wrap(late))).await {
        assert_eq!(result.failure().map(|failure| failure.started), Some(true));
    }
    assert_eq!(runs.load(Ordering::Relaxed), 3, "the third attempt alone reached the handler, in each of three ways");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_does_not_wait_for_its_next_attempt() {
    let (tool, _) = slow(true);
    let (kit, cancellation, began) = (wrapped(&tool), Cancellation::new(), Instant::now());
    let run = kit.run_with([ToolCall::new("c1", "slow", "")], RunOptions::new().cancellation(cancellation.clone()));
    let (results, ()) = tokio::join!(run.collect_results(), async {
        sleep(Duration::from_secs(1)).await;
        cancellation.cancel();
    });
    assert_eq!(results[0].failure().unwrap().kind, FailureKind::Cancelled);
    assert_eq!(began.elapsed(), Duration::from_secs(1));
}
