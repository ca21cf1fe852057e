//! The budget of a loop.

use std::time::Duration;

use haft_core::{Usage, history};
use haft_model::{Budget, ModelError, ScriptedModel, ScriptedTurn, Spent};

use super::*;

fn costing(turns: u64, tokens: u64) -> ScriptedModel {
    (0..turns).fold(ScriptedModel::default(), |model, n| {
        let turn = ScriptedTurn::calls([call(&format!("c{n}"), "double", &n.to_string())]);
        model.then(turn.usage(Usage::new(tokens, 0)))
    })
}

#[tokio::test(start_paused = true)]
async fn tokens_end_the_loop_before_the_next_request() {
    let model = costing(9, 40);
    let agent = agent(&model).budget(Budget::new().tokens(100));
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::Budget(Spent::Tokens));
    assert_eq!((outcome.state.turns(), outcome.state.usage().total_tokens), (3, 120));
    assert!(history::is_reconciled(outcome.state.history()));

    let again = finish(&agent, stored(&outcome.state)).await;
    assert_eq!(again.end, LoopEnd::Budget(Spent::Tokens));
    assert_eq!(model.requests().len(), 3, "spent is spent, also after a stop");
}

#[tokio::test(start_paused = true)]
async fn the_usage_of_failed_attempts_counts() {
    let broken = ScriptedTurn::text("hel").usage(Usage::new(60, 0)).then_failed(ModelError::IncompleteTurn);
    let model = ScriptedModel::default().then(broken).then(ScriptedTurn::calls([call("c1", "double", "1")]));
    let agent =
        agent(&model).budget(Budget::new().tokens(50)).backoff(haft_executor::Backoff::constant(Duration::ZERO));
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::Budget(Spent::Tokens));
    assert_eq!(outcome.state.usage().input_tokens, 60);
    assert_eq!(model.requests().len(), 1, "the model is not asked again beyond the budget");
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_budget_are_cancelled_and_end_the_loop() {
    let three = [call("c1", "double", "1"), call("c2", "double", "2"), call("c3", "note", "3")];
    let model = ScriptedModel::default().then(three).then("never");
    let agent = agent(&model).budget(Budget::new().calls(2));
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::Budget(Spent::Calls));
    assert_eq!(told(outcome.state.history())[4..], ["output c1: 2", "output c2: 4", "output c3: cancelled"]);
    assert_eq!((outcome.state.calls(), model.requests().len()), (2, 1));
    let Item::ToolOutput(output) = &outcome.state.history()[6] else { panic!() };
    assert!(output.output.to_string().contains("budget of 2 calls"));
}

#[tokio::test(start_paused = true)]
async fn the_budget_of_calls_holds_over_a_stop() {
    let both = [call("c1", "ask", "\"?\""), call("c2", "double", "1")];
    let model = ScriptedModel::default().then(both).then("more").then("again");
    let agent = agent(&model);
    let limited = agent.clone().budget(Budget::new().calls(1));
    let mut state = stored(&finish(&limited, request()).await.state);
    state.answer("c1", "yes").unwrap();
    let outcome = finish(&limited, state).await;
    assert_eq!((outcome.end, model.requests().len()), (LoopEnd::Budget(Spent::Calls), 1));
    let outcome = finish(&limited, stored(&outcome.state)).await;
    assert_eq!((outcome.end, model.requests().len()), (LoopEnd::Budget(Spent::Calls), 1), "and over another");

    let raised = finish(&agent.clone().budget(Budget::new().calls(2)), outcome.state.clone()).await;
    assert_eq!((raised.end, raised.state.text().as_str()), (LoopEnd::Stopped, "more"), "a larger one has calls left");
    let followed = finish(&limited, outcome.state.follow_up(Item::user("and?"))).await;
    assert_eq!((followed.end, followed.state.text().as_str()), (LoopEnd::Stopped, "again"));
}

#[tokio::test(start_paused = true)]
async fn a_budget_of_calls_that_was_raised_may_be_used_up() {
    let model = ScriptedModel::default()
        .then([call("c1", "double", "1"), call("c2", "double", "2")])
        .then([call("c3", "double", "3")])
        .then("done");
    let outcome = finish(&agent(&model).budget(Budget::new().calls(1)), request()).await;
    assert_eq!(outcome.end, LoopEnd::Budget(Spent::Calls));
    let outcome = finish(&agent(&model).budget(Budget::new().calls(2)), stored(&outcome.state)).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "done"), "no call was rejected since");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_stays_within_the_limit_of_calls_may_answer() {
    let model = ScriptedModel::default().then([call("c1", "double", "1")]).then("it is 2");
    let outcome = finish(&agent(&model).budget(Budget::new().calls(1)), request()).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "it is 2"));
}

#[tokio::test(start_paused = true)]
async fn time_ends_a_request_in_flight_and_leaves_the_state_before_it() {
    let model = ScriptedModel::default()
        .then(ScriptedTurn::calls([call("c1", "double", "1")]).delay(Duration::from_secs(4)))
        .then(ScriptedTurn::text("hel").then_pending());
    let agent = agent(&model).budget(Budget::new().time(Duration::from_secs(10)));
    let started = tokio::time::Instant::now();
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::Budget(Spent::Time));
    assert_eq!(started.elapsed(), Duration::from_secs(10));
    assert_eq!((outcome.state.turns(), outcome.state.time_used()), (1, Duration::from_secs(10)));
    assert!(history::is_reconciled(outcome.state.history()));
}

#[tokio::test(start_paused = true)]
async fn time_cancels_running_tools() {
    let calls = [call("c1", "double", "1"), call("c2", "wait", "{}"), call("c3", "ask", "\"?\"")];
    let model = ScriptedModel::default().then(calls).then("late");
    let limited = agent(&model).budget(Budget::new().time(Duration::from_secs(10)));
    let outcome = finish(&limited, request()).await;
    assert_eq!(outcome.end, LoopEnd::Budget(Spent::Time));
    assert_eq!(told(outcome.state.history())[4..], ["output c1: 2", "output c2: cancelled", "output c3: cancelled"]);
    assert!(outcome.state.interactions().is_empty());

    let again = finish(&limited, stored(&outcome.state)).await;
    assert_eq!(again.end, LoopEnd::Budget(Spent::Time), "time counts through a stop");
    let outcome = finish(&agent(&model), again.state).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "late"));
}

#[tokio::test(start_paused = true)]
async fn time_counts_while_the_loop_runs_and_not_while_it_is_stored() {
    let slow = |id: &str| ScriptedTurn::calls([call(id, "double", "1")]).delay(Duration::from_secs(3));
    let model = ScriptedModel::default().then(slow("c1")).then(slow("c2")).then("done");
    let agent = agent(&model).max_turns(1).budget(Budget::new().time(Duration::from_secs(7)));
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.state.time_used(), Duration::from_secs(3));
    tokio::time::advance(Duration::from_secs(3600)).await;
    let mut run = agent.clone().max_turns(9).start(stored(&outcome.state));
    tokio::time::advance(Duration::from_secs(3600)).await;
    assert_eq!(run.state().time_used(), Duration::from_secs(3), "nor before the first poll");
    while !matches!(run.next().await, Some(LoopEvent::TurnEnded { .. })) {}
    assert_eq!(run.state().time_used(), Duration::from_secs(6));
    while run.next().await.is_some() {}
    tokio::time::advance(Duration::from_secs(3600)).await;
    let outcome = run.finish().await;
    assert_eq!((outcome.end, outcome.state.time_used()), (LoopEnd::Stopped, Duration::from_secs(6)));
}

#[tokio::test(start_paused = true)]
async fn time_ends_a_wait_between_attempts_and_a_decision() {
    let limited = Budget::new().time(Duration::from_secs(5));
    let busy = ModelError::RateLimited { message: "busy".into(), retry_after: Some(Duration::from_secs(60)) };
    let model = ScriptedModel::default().then(ScriptedTurn::failed(busy));
    let outcome = finish(&agent(&model).budget(limited.clone()), request()).await;
    assert_eq!((outcome.end, outcome.state.time_used()), (LoopEnd::Budget(Spent::Time), Duration::from_secs(5)));

    let model = ScriptedModel::default().then([call("c1", "double", "1")]);
    let undecided = agent(&model).budget(limited).decide(|after| async move {
        std::future::pending::<()>().await;
        after.stop()
    });
    let outcome = finish(&undecided, request()).await;
    assert_eq!((outcome.end, outcome.state.turns()), (LoopEnd::Budget(Spent::Time), 1));
}

#[tokio::test(start_paused = true)]
async fn a_budget_beyond_the_range_of_the_clock_is_unlimited() {
    let model = ScriptedModel::default().then("hi");
    let outcome = finish(&agent(&model).budget(Budget::new().time(Duration::MAX)), request()).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
}
