//! Failures that are repeated, when, and how often.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use haft_core::{Annotations, Idempotent, Outcome, Readonly, ToolCall};
use haft_executor::{Cancellation, ForwardCx, Next, Request, Tool, Toolkit};
use serde_json::json;
use tokio::time::Instant;

use super::*;
use crate::tests::{Probe, ScriptedRun, answers, brief, busy, fails, idempotent, ms, run, run_in, succeeds};

/// No jitter: 100, 200, 400 and 500 milliseconds from then on.
fn plain() -> Backoff {
    Backoff::exponential(ms(100)).cap(ms(500)).jitter(0.0)
}

fn always_busy() -> Vec<ScriptedRun> {
    vec![fails(busy()); 20]
}

fn retry(max_attempts: u32) -> Retry {
    Retry::new(max_attempts).backoff(plain())
}

#[tokio::test(start_paused = true)]
async fn attempts_follow_the_schedule_up_to_their_number() {
    let table: [(u32, &[u128]); 4] =
        [(0, &[0]), (1, &[0]), (3, &[0, 100, 300]), (6, &[0, 100, 300, 700, 1_200, 1_700])];
    for (max_attempts, times) in table {
        let probe = Probe::new(always_busy());
        let result = run(&probe.tool(idempotent()).wrap(retry(max_attempts))).await;
        assert_eq!(brief(&result), json!(["execution_error", true]));
        assert_eq!(probe.times(), times, "{max_attempts}");
        let numbers: Vec<u32> = probe.runs().iter().map(|run| run.attempt).collect();
        assert_eq!(numbers, (1..=max_attempts.max(1)).collect::<Vec<_>>());
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_success_ends_it() {
    let probe = Probe::new([fails(busy()), fails(busy()), succeeds()]);
    let result = run(&probe.tool(idempotent()).wrap(retry(9))).await;
    assert_eq!(brief(&result), 2);
    assert_eq!(probe.times(), [0, 100, 300]);
}

#[tokio::test(start_paused = true)]
async fn what_the_failure_asks_for_is_the_least_wait_within_reason() {
    let asks = |wait| [fails(busy().retry_after(wait)), succeeds()];
    let table: [(Duration, &[u128]); 4] = [
        (ms(20), &[0, 100]),
        (ms(3_000), &[0, 3_000]),
        (Duration::from_secs(60), &[0, 60_000]),
        (Duration::from_secs(61), &[0]),
    ];
    for (wait, times) in table {
        let probe = Probe::new(asks(wait));
        run(&probe.tool(idempotent()).wrap(retry(2))).await;
        assert_eq!(probe.times(), times, "{wait:?}");
    }
    let probe = Probe::new(asks(Duration::from_secs(3600)));
    run(&probe.tool(idempotent()).wrap(retry(2).longest_retry_after(Duration::from_secs(7200)))).await;
    assert_eq!(probe.times(), [0, 3_600_000]);
    let probe = Probe::new(asks(Duration::MAX));
    let patient = retry(2).longest_retry_after(Duration::MAX);
    assert_eq!(brief(&run(&probe.tool(idempotent()).wrap(patient)).await), json!(["execution_error", true]));
}

#[tokio::test(start_paused = true)]
async fn no_attempt_begins_beyond_the_budget_and_none_is_waited_for() {
    for (budget, times) in [(300, vec![0, 100, 300]), (299, vec![0, 100]), (0, vec![0])] {
        let probe = Probe::new(always_busy());
        let began = Instant::now();
        run(&probe.tool(idempotent()).wrap(retry(9).budget(ms(budget)))).await;
        assert_eq!(probe.times(), times);
        assert_eq!(began.elapsed().as_millis(), *times.last().unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_attempts_counts_into_the_budget() {
    let probe = Probe::new(vec![fails(busy()).after(250); 9]);
    run(&probe.tool(idempotent()).wrap(retry(9).budget(ms(400)))).await;
    assert_eq!(probe.times(), [0, 350]);
}

#[tokio::test(start_paused = true)]
async fn no_wait_reaches_the_deadline() {
    for (deadline, times) in [(301, vec![0, 100, 300]), (300, vec![0, 100]), (50, vec![0])] {
        let probe = Probe::new(always_busy());
        let tool = probe.tool(idempotent()).wrap(retry(9));
        let began = Instant::now();
        let result = run_in(&tool, |options| options.deadline(began + ms(deadline))).await;
        assert_eq!(brief(&result), json!(["execution_error", true]));
        assert_eq!(probe.times(), times);
        assert_eq!(began.elapsed().as_millis(), *times.last().unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_stops_waiting_at_once() {
    let probe = Probe::new(always_busy());
    let tool = probe.tool(idempotent()).wrap(retry(9));
    let cancellation = Cancellation::new();
    let began = Instant::now();
    let (result, ()) = tokio::join!(run_in(&tool, |options| options.cancellation(cancellation.clone())), async {
        tokio::time::sleep(ms(150)).await;
        cancellation.cancel();
    });
    assert_eq!(brief(&result), json!(["cancelled", true]), "an attempt had begun");
    assert_eq!((probe.times(), began.elapsed()), (vec![0, 100], ms(150)));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_began_is_repeated_only_if_that_does_no_harm() {
    let none = Annotations::new;
    let table = [
        (none(), 1),
        (none().with(Idempotent(false)).with(Readonly(false)), 1),
        (none().with(Idempotent(true)), 3),
        (none().with(Readonly(true)), 3),
        (none().with(Readonly(true)).with(Idempotent(true)), 3),
        (none().with(Readonly(true)).with(Idempotent(false)), 1),
        (none().with(Readonly(false)).with(Idempotent(true)), 3),
    ];
    for (annotations, attempts) in table {
        let probe = Probe::new(always_busy());
        let shown = format!("{annotations:?}");
        // A user's own rule can't say otherwise.
        run(&probe.tool(annotations).wrap(retry(3).when(|_| true))).await;
        assert_eq!(probe.runs().len(), attempts, "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_began_is_repeated_whatever_the_tool_is() {
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    let full = answers(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        ToolFailure::new("full", "try later").retryable().not_started().into()
    });
    let probe = Probe::new([]);
    let result = run(&probe.tool(Annotations::new()).wrap(full).wrap(retry(4))).await;
    assert_eq!(brief(&result), json!(["full", false]));
    assert_eq!((tries.load(Ordering::Relaxed), probe.runs().len()), (4, 0));
}

#[tokio::test(start_paused = true)]
async fn no_wording_of_an_inner_layer_hides_that_the_handler_began() {
    let probe = Probe::new(always_busy());
    let reword = |request: Request, next: Next| async move {
        next.run(request).await;
        Outcome::from(ToolFailure::new("renamed", "try later").retryable().not_started())
    };
    let result = run(&probe.tool(Annotations::new()).wrap(reword).wrap(retry(4))).await;
    assert_eq!(brief(&result), json!(["renamed", true]));
    assert_eq!(probe.runs().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_later_attempt_that_never_began_does_not_hide_an_earlier_one_that_did() {
    let probe = Probe::new(always_busy());
    let once = |request: Request, next: Next| async move {
        match request.attempt() {
            1 => next.run(request).await,
            _ => ToolFailure::new("full", "no more").not_started().into(),
        }
    };
    let result = run(&probe.tool(idempotent()).wrap(once).wrap(retry(4))).await;
    assert_eq!(brief(&result), json!(["full", true]));
}

#[test]
fn only_what_may_pass_by_itself_is_repeated_by_default() {
    let repeated = ["timed_out", "execution_error", "tool_failed", "outcome_unknown", "out_of_stock"];
    for kind in FailureKind::ALL.into_iter().chain(["out_of_stock".into()]) {
        let expected = repeated.contains(&kind.as_str());
        assert_eq!(may_be_temporary(&ToolFailure::new(kind.clone(), "no").retryable()), expected, "{kind}");
        let is_unknown = kind == FailureKind::OutcomeUnknown;
        assert_eq!(may_be_temporary(&ToolFailure::new(kind, "no").not_retryable()), is_unknown);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_of_ones_own_replaces_the_default() {
    let hopeless = || vec![fails(ToolFailure::new(FailureKind::OutputTooLarge, "too large")); 9];
    let probe = Probe::new(hopeless());
    run(&probe.tool(idempotent()).wrap(retry(3))).await;
    assert_eq!(probe.runs().len(), 1);
    let probe = Probe::new(hopeless());
    let stubborn = retry(3).when(|failure| failure.kind == FailureKind::OutputTooLarge);
    run(&probe.tool(idempotent()).wrap(stubborn)).await;
    assert_eq!(probe.runs().len(), 3);
    let probe = Probe::new(always_busy());
    run(&probe.tool(idempotent()).wrap(retry(3).when(|_| false))).await;
    assert_eq!(probe.runs().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_gets_the_same_arguments() {
    let probe = Probe::new(always_busy());
    let change = |request: Request, next: Next| async move {
        let changed = request.with_arguments(&json!({"changed": true}));
        next.run(changed).await
    };
    run(&probe.tool(idempotent()).wrap(retry(3)).wrap(change)).await;
    let arguments: Vec<_> = probe.runs().into_iter().map(|run| run.arguments).collect();
    assert_eq!(arguments, vec![json!({"changed": true}); 3]);
}

/// Forwards calls by a script, and counts the attempts.
fn forwarding(annotations: Annotations, script: &'static [fn() -> ToolFailure]) -> (Tool, Arc<AtomicU32>) {
    let attempts = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&attempts);
    let definition = Tool::dynamic("send").define().unwrap().annotate_merge(annotations);
    let tool = definition.with_forward(move |_: Tool, _: ToolCall, _: ForwardCx| {
        let made = counted.fetch_add(1, Ordering::SeqCst) as usize;
        std::future::ready(match script.get(made) {
            Some(failure) => Err(failure()),
            None => Ok(json!("sent").into()),
        })
    });
    (tool.unwrap(), attempts)
}

fn refused() -> ToolFailure {
    busy().not_started()
}

fn lost() -> ToolFailure {
    ToolFailure::new(FailureKind::OutcomeUnknown, "")
}

/// A refused connection is repeated for every tool, a lost reply only if the tool is idempotent.
#[tokio::test(start_paused = true)]
async fn a_forwarded_call_is_repeated_unless_it_may_have_been_executed() {
    type Row = (Annotations, &'static [fn() -> ToolFailure], Result<&'static str, (&'static str, bool)>, u32);
    let table: [Row; 8] = [
        (Annotations::new(), &[refused, refused], Ok("sent"), 3),
        (Annotations::new(), &[refused, refused, refused, refused], Err(("execution_error", false)), 3),
        (Annotations::new(), &[busy, refused], Err(("execution_error", true)), 1),
        (Annotations::new(), &[lost], Err(("outcome_unknown", true)), 1),
        (Annotations::new(), &[refused, lost], Err(("outcome_unknown", true)), 2),
        (idempotent(), &[lost, refused], Ok("sent"), 3),
        (idempotent(), &[lost, lost, lost, lost], Err(("outcome_unknown", true)), 3),
        (idempotent(), &[lost, refused, refused], Err(("execution_error", true)), 3),
    ];
    for (number, (annotations, script, expected, attempts)) in table.into_iter().enumerate() {
        let (tool, made) = forwarding(annotations, script);
        let result = Toolkit::from_iter([tool.wrap(retry(3))]).run_call(&ToolCall::new("c1", "send", "{}")).await;
        match expected {
            Ok(value) => assert_eq!(result.to_model_text(), value, "{number}"),
            Err((kind, started)) => assert_eq!(brief(&result), json!([kind, started]), "{number}"),
        }
        assert_eq!(made.load(Ordering::SeqCst), attempts, "{number}");
    }
}

/// A call that was cut short before anything was sent is repeated like a refused one.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_times_out_before_it_is_sent_is_repeated() {
    for (is_sent, attempts) in [(false, 3), (true, 1)] {
        let made = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&made);
        let tool = Tool::dynamic("send").define().unwrap().with_forward(move |_: Tool, _: ToolCall, cx: ForwardCx| {
            counted.fetch_add(1, Ordering::SeqCst);
            cx.mark_unsent();
            async move {
                if is_sent {
                    cx.mark_sending()?;
                }
                std::future::pending().await
            }
        });
        let tool = tool.unwrap().wrap(crate::Timeout::new(ms(50))).wrap(retry(3));
        let result = Toolkit::from_iter([tool]).run_call(&ToolCall::new("c1", "send", "{}")).await;
        assert_eq!(brief(&result), json!(["timed_out", is_sent]));
        assert_eq!(made.load(Ordering::SeqCst), attempts);
    }
}
