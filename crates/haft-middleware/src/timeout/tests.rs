//! Calls that time out, and their failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use haft_core::Annotations;
use haft_executor::{Next, Request, Tool};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::*;
use crate::tests::{Probe, brief, ms, run, run_in, succeeds};

#[tokio::test(start_paused = true)]
async fn what_is_done_in_time_is_left_alone() {
    for (takes, expected) in [(0, json!(0)), (99, json!(0)), (101, json!(["timed_out", true]))] {
        let probe = Probe::new([succeeds().after(takes)]);
        let began = Instant::now();
        let result = run(&probe.tool(Annotations::new()).wrap(Timeout::new(ms(100)))).await;
        assert_eq!(brief(&result), expected, "{takes}");
        assert_eq!(began.elapsed(), ms(takes.min(100)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_failure_says_how_long_it_was_and_may_be_tried_again() {
    let probe = Probe::new([succeeds().after(60_000)]);
    let result = run(&probe.tool(Annotations::new()).wrap(Timeout::new(ms(1_500)))).await;
    let failure = result.failure().unwrap();
    assert_eq!(failure.message, "the call took longer than 1.5s");
    assert!(failure.retryable);
}

#[tokio::test(start_paused = true)]
async fn the_handler_knows_its_deadline_and_never_a_later_one() {
    for (own, outer, told) in [(100, None, 100), (100, Some(500), 100), (100, Some(40), 40)] {
        let probe = Probe::new([]);
        let tool = probe.tool(Annotations::new()).wrap(Timeout::new(ms(own)));
        let now = Instant::now();
        run_in(&tool, |options| match outer {
            Some(outer) => options.deadline(now + ms(outer)),
            None => options,
        })
        .await;
        assert_eq!(probe.runs()[0].deadline_ms, Some(told));
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_was_not_reached_has_not_begun() {
    let probe = Probe::new([]);
    let slow = |request: Request, next: Next| async move {
        sleep(ms(60_000)).await;
        next.run(request).await
    };
    let result = run(&probe.tool(Annotations::new()).wrap(slow).wrap(Timeout::new(ms(100)))).await;
    assert_eq!(brief(&result), json!(["timed_out", false]));
    assert!(probe.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn work_that_timed_out_is_dropped_before_the_failure_is_returned() {
    struct Flag(Arc<AtomicBool>);
    impl Drop for Flag {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let dropped = Arc::new(AtomicBool::new(false));
    let watched = Arc::clone(&dropped);
    let tool = Tool::new("probe").handler(move |(), _cx| {
        let flag = Flag(Arc::clone(&watched));
        async move {
            sleep(ms(60_000)).await;
            drop(flag);
        }
    });
    run(&tool.unwrap().wrap(Timeout::new(ms(100)))).await;
    assert!(dropped.load(Ordering::Relaxed));
}

#[tokio::test(start_paused = true)]
async fn a_time_without_end_never_ends() {
    let probe = Probe::new([succeeds().after(86_400_000)]);
    assert!(run(&probe.tool(Annotations::new()).wrap(Timeout::new(Duration::MAX))).await.is_ok());
    assert_eq!(probe.runs()[0].deadline_ms, None);
}
