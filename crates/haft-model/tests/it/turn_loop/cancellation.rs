//! Cancellation of loops.

use haft_core::history;
use haft_executor::Cancellation;
use haft_model::{LoopOutcome, ScriptedModel, ScriptedTurn};

use super::*;

/// Reads up to an event, cancels the loop, and reads to the end.
async fn cancelled_at(mut run: LoopRun, at: impl Fn(&LoopEvent) -> bool) -> LoopOutcome {
    while !at(&run.next().await.unwrap()) {}
    run.cancel();
    run.finish().await
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_is_cancelled_before_the_start_does_nothing() {
    let model = ScriptedModel::default();
    let flag = Cancellation::new();
    flag.cancel();
    let outcome = finish(&agent(&model).cancellation(flag), request()).await;
    assert_eq!((outcome.end, outcome.state.history()), (LoopEnd::Cancelled, &request().history[..]));
    assert!(model.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_request_in_flight_is_dropped() {
    let model = ScriptedModel::default().then(ScriptedTurn::text("hel").then_pending());
    let outcome = cancelled_at(agent(&model).start(request()), |event| matches!(event, LoopEvent::Delta(_))).await;
    assert_eq!((outcome.end, outcome.state.turns()), (LoopEnd::Cancelled, 0));
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_while_the_model_is_pending_wakes_the_loop() {
    let model = ScriptedModel::default().then(ScriptedTurn::pending());
    let flag = Cancellation::new();
    let run = tokio::spawn(agent(&model).cancellation(flag.clone()).start(request()).finish());
    tokio::task::yield_now().await;
    flag.cancel();
    assert_eq!(run.await.unwrap().end, LoopEnd::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn one_run_can_be_cancelled_from_elsewhere() {
    let model = ScriptedModel::default().then(ScriptedTurn::pending());
    let all = Cancellation::new();
    let run = agent(&model).cancellation(all.clone()).start(request());
    let one = run.cancellation();
    let ending = tokio::spawn(run.finish());
    tokio::task::yield_now().await;
    one.cancel();
    assert_eq!(ending.await.unwrap().end, LoopEnd::Cancelled);
    assert!(!all.is_cancelled(), "the loop's own flag is left alone");

    let run = agent(&model).cancellation(all.clone()).start(request());
    all.cancel();
    assert!(run.cancellation().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn running_tools_are_cancelled_and_every_call_has_an_output() {
    let calls =
        [call("c1", "double", "1"), call("c2", "wait", "{}"), call("c3", "ask", "\"?\""), call("c4", "note", "1")];
    let model = ScriptedModel::default().then(calls).then("later");
    let run = agent(&model).start(request());
    let outcome = cancelled_at(run, |event| matches!(event, LoopEvent::Tool(ToolEvent::Output { .. }))).await;
    assert_eq!(outcome.end, LoopEnd::Cancelled);
    assert!(history::is_reconciled(outcome.state.history()));
    assert_eq!(
        told(outcome.state.history())[5..],
        ["output c1: 2", "output c2: cancelled", "output c3: cancelled", "output c4: null"]
    );
    let outcome = finish(&agent(&model), stored(&outcome.state)).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "later"), "and can be started again");
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_dropped_and_made_again() {
    let model = ScriptedModel::default().then([call("c1", "note", "7")]).then("done");
    let undecided = agent(&model).decide(|after| async move {
        std::future::pending::<()>().await;
        after.stop()
    });
    let mut run = undecided.start(request());
    while !matches!(run.next().await, Some(LoopEvent::Signal(_))) {}
    let waiting = tokio::time::timeout(std::time::Duration::from_millis(1), run.next());
    assert!(waiting.await.is_err(), "it decides");
    run.cancel();
    let outcome = run.finish().await;
    assert_eq!(outcome.end, LoopEnd::Cancelled);

    let decided = agent(&model).decide(|mut after| async move {
        for signal in after.signals_mut() {
            signal.answer("heard");
        }
        after.as_usual()
    });
    let outcome = finish(&decided, stored(&outcome.state)).await;
    assert_eq!(told(outcome.state.history())[1..], ["call c1", "output c1: heard", "assistant"]);
}

#[tokio::test(start_paused = true)]
async fn cancelling_one_run_does_not_affect_others() {
    let flag = Cancellation::new();
    let model = ScriptedModel::new(["one"]);
    let agent = agent(&model).cancellation(flag.clone());
    let (first, second) = (agent.start(request()), agent.start(request()));
    first.cancel();
    assert_eq!(first.finish().await.end, LoopEnd::Cancelled);
    assert_eq!(second.finish().await.end, LoopEnd::Stopped);
    assert!(!flag.is_cancelled());
}
