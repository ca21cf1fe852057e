//! Conversations of several tasks: totals, budgets, cancelled calls, and the application's own value.

use haft_core::{Usage, history};
use haft_executor::{ApprovalPolicy, RunOptions, Suspend, Tool};
use haft_model::{Budget, ScriptedModel, ScriptedTurn, Spent};

use super::*;

fn costing(id: &str) -> ScriptedTurn {
    ScriptedTurn::calls([call(id, "double", "4")]).usage(Usage::new(40, 0))
}

/// A loop whose first turn waits for a verdict and for an answer.
fn waiting() -> (ScriptedModel, TurnLoop) {
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always());
    let pay = pay.handler(|n: i64, _cx| async move { n }).unwrap();
    let ask = Tool::interaction("ask").params::<String>().success::<String>().define().unwrap();
    let model = ScriptedModel::default().then([call("c1", "pay", "5"), call("c2", "ask", "\"?\"")]).then("Fine.");
    let kit: Toolkit = [pay, ask].into_iter().collect();
    (model.clone(), TurnLoop::new(model, kit).options(RunOptions::new().approvals(Suspend)))
}

#[tokio::test(start_paused = true)]
async fn cancelled_calls_are_answered_and_the_next_message_goes_on() {
    let (model, agent) = waiting();
    let mut state = finish(&agent, request()).await.state;
    let cancelled = state.cancel_pending("never mind");
    assert_eq!(cancelled.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), ["c1", "c2"]);
    assert!(state.approvals().is_empty() && state.interactions().is_empty());
    assert!(history::is_reconciled(state.history()));
    assert!(state.cancel_pending("again").is_empty());

    let outcome = finish(&agent, stored(&state).follow_up(Item::user("Something else."))).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "Fine."));
    let read = told(&model.requests()[1].history);
    assert_eq!(read[read.len() - 3..], ["output c1: cancelled", "output c2: cancelled", "user"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_approved_and_then_cancelled_never_runs() {
    let (model, agent) = waiting();
    let mut state = finish(&agent, request()).await.state;
    let yes = state.approvals()[0].approve();
    agent.verdict(&mut state, yes).unwrap();
    agent.answer(&mut state, "c2", "yes").unwrap();
    assert_eq!(state.cancel_pending("never mind").len(), 2);
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(outcome.end, LoopEnd::Stopped, "also without another message");
    let read = told(&model.requests()[1].history);
    assert_eq!(read[read.len() - 2..], ["output c1: cancelled", "output c2: cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn totals_go_on_over_follow_ups() {
    let model = ScriptedModel::default().then(costing("c1")).then("one").then(costing("c2")).then("two");
    let agent = agent(&model);
    let first = finish(&agent, request()).await.state;
    assert_eq!((first.total_turns(), first.total_calls(), first.total_usage().total_tokens), (2, 1, 40));
    let second = finish(&agent, stored(&first.follow_up(Item::user("more")))).await.state;
    assert_eq!((second.turns(), second.calls(), second.usage().total_tokens), (2, 1, 40));
    assert_eq!((second.total_turns(), second.total_calls(), second.total_usage().total_tokens), (4, 2, 80));
    assert_eq!(stored(&second), second);
}

#[tokio::test(start_paused = true)]
async fn the_budget_of_a_conversation_is_spent_over_its_tasks() {
    let model = ScriptedModel::default().then(costing("c1")).then("one").then(costing("c2")).then("never");
    let agent = agent(&model).budget(Budget::new().tokens(60)).conversation_budget(Budget::new().tokens(80));
    let first = finish(&agent, request()).await;
    assert_eq!(first.end, LoopEnd::Stopped);
    let second = finish(&agent, first.state.follow_up(Item::user("more"))).await;
    assert_eq!(second.end, LoopEnd::Budget(Spent::Tokens));
    let third = finish(&agent, stored(&second.state).follow_up(Item::user("more"))).await;
    assert_eq!((third.end, model.requests().len()), (LoopEnd::Budget(Spent::Tokens), 3));
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_budget_of_a_conversation_are_cancelled() {
    let model = ScriptedModel::default().then(costing("c1")).then("one").then(costing("c2")).then("never");
    let agent = agent(&model).conversation_budget(Budget::new().calls(1));
    let first = finish(&agent, request()).await;
    assert_eq!(first.end, LoopEnd::Stopped);
    let second = finish(&agent, first.state.follow_up(Item::user("more"))).await;
    assert_eq!(second.end, LoopEnd::Budget(Spent::Calls));
    assert_eq!(told(second.state.history()).last().unwrap(), "output c2: cancelled");
    assert_eq!(second.state.total_calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_value_of_the_application_is_stored_and_changed_after_a_turn() {
    let model = ScriptedModel::default().then(costing("c1")).then("one");
    let agent = agent(&model).decide(|mut after| async move {
        let count = after.app::<u32>().unwrap().unwrap_or_default();
        after.set_app(&(count + 1)).unwrap();
        after.as_usual()
    });
    let mut state = LoopState::new(request());
    assert_eq!(state.app::<u32>().unwrap(), None);
    state.set_app(&40).unwrap();
    let state = finish(&agent, stored(&state)).await.state;
    assert_eq!(stored(&state.clone().follow_up(Item::user("more"))).app::<u32>().unwrap(), Some(42));
    assert!(state.app::<String>().is_err(), "another type");
}
