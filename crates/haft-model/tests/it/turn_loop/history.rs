//! Inconsistent histories, and the histories after a loop.

use haft_core::{ToolCallOutput, history};
use haft_model::{LoopError, ScriptedModel};

use super::*;

fn broken() -> TurnRequest {
    let items = vec![
        Item::user("before"),
        call("c1", "double", "1").into(),
        Item::user("hello?"),
        ToolCallOutput::new("c9", "orphan").into(),
    ];
    TurnRequest::new("any", items)
}

#[tokio::test(start_paused = true)]
async fn an_inconsistent_history_is_an_error_that_names_the_calls() {
    let model = ScriptedModel::default().then("hi");
    let outcome = finish(&agent(&model), broken()).await;
    let LoopEnd::Failed(LoopError::Unreconciled { calls, .. }) = &outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!(calls.iter().map(haft_core::CallId::as_str).collect::<Vec<_>>(), ["c1", "c9"]);
    assert!(model.requests().is_empty(), "the model was not asked");
    assert_eq!(outcome.state, LoopState::new(broken()));
    assert!(outcome.end.error().unwrap().to_string().contains("'c1'"));
}

#[tokio::test(start_paused = true)]
async fn it_is_repaired_with_an_event_if_repair_is_set() {
    let model = ScriptedModel::default().then("hi");
    let told = words(&events(agent(&model).repair("lost in a crash").start(broken())).await);
    assert_eq!(told[..2], ["repaired 2", "turn 1"]);
    let asked = &model.requests()[0].history;
    assert!(history::is_reconciled(asked));
    assert_eq!(super::told(asked)[1..3], ["call c1", "output c1: cancelled"]);

    let model = ScriptedModel::default().then("hi");
    let told = words(&events(agent(&model).repair("lost").start(request())).await);
    assert_eq!(told[0], "turn 1", "a whole history is not repaired");
}

#[tokio::test(start_paused = true)]
async fn a_history_that_the_decide_function_broke_is_found_before_the_next_request() {
    let model = ScriptedModel::default().then([call("c1", "double", "1")]);
    let agent = agent(&model).decide(|mut after| async move {
        after.request_mut().history.pop();
        after.next()
    });
    let outcome = finish(&agent, request()).await;
    assert_eq!(ended(&outcome.end), "failed: unreconciled");
    assert_eq!(outcome.state.turns(), 1);
}
