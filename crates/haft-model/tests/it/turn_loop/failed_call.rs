//! Failures of a class that ends the loop.

use haft_core::{FailureClass, ToolFailure, ToolResult, history};
use haft_executor::{ApprovalPolicy, RunOptions, Suspend};
use haft_model::ScriptedModel;
use serde_json::json;

use super::*;

/// The kit with `broken`, `refuses` and `pay`, which requires approval and then fails.
fn workshop() -> Toolkit {
    let tools = [
        Tool::new("broken").try_handler_opaque(|(), _cx| async { Err::<(), _>("a wire is loose") }),
        Tool::new("refuses").try_handler(|(), _cx| async { Err::<(), _>("none left") }),
        Tool::new("pay")
            .needs_approval(ApprovalPolicy::always())
            .try_handler_opaque(|(): (), _cx| async { Err::<(), _>("no money") }),
    ];
    tools.into_iter().map(Result::unwrap).fold(kit(), |kit, tool| kit.with(tool).unwrap())
}

fn failed(end: &LoopEnd) -> Vec<&str> {
    let LoopEnd::CallsFailed { results } = end else { panic!("{end:?}") };
    results.iter().map(|result: &ToolResult| result.call_id.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_turn_is_finished_before_the_loop_ends_and_the_state_can_be_started_again() {
    let model = ScriptedModel::default()
        .then([call("c1", "broken", ""), call("c2", "double", "4"), call("c3", "refuses", "")])
        .then("sorry");
    let agent = TurnLoop::new(model.clone(), workshop()).fail_on([FailureClass::Internal]);
    let events = events(agent.start(request())).await;
    let Some(LoopEvent::Ended { end, state }) = events.last() else { panic!() };
    assert_eq!(failed(end), ["c1"]);
    assert_eq!(words(&events)[words(&events).len() - 2], "ended 1 with 3");
    assert!(history::is_reconciled(state.history()));
    assert_eq!(told(state.history())[4..], ["output c1: execution_error", "output c2: 8", "output c3: tool_failed"]);
    assert_eq!(model.requests().len(), 1);
    assert!(!end.is_stopped() && !end.is_waiting() && end.error().is_none());

    let outcome = finish(&agent, stored(state)).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "sorry"));
}

#[tokio::test(start_paused = true)]
async fn other_classes_are_read_by_the_model() {
    for (classes, ends) in [
        (vec![], false),
        (vec![FailureClass::TimedOut, FailureClass::Denied], false),
        (vec![FailureClass::Declared], true),
        (FailureClass::ALL.to_vec(), true),
    ] {
        let model = ScriptedModel::default().then([call("c1", "refuses", "")]).then("sorry");
        let outcome = finish(&TurnLoop::new(model, workshop()).fail_on(classes), request()).await;
        assert_eq!(matches!(outcome.end, LoopEnd::CallsFailed { .. }), ends);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_loop_rejects_is_an_invalid_call_and_no_failure_of_its_tool() {
    let script = || {
        ScriptedModel::default()
            .then([call("c1", "double", "1"), call("c2", "double", "1"), call("c3", "double", "2")])
            .then("done")
    };
    let agent = |class| agent(&script()).repeated_calls(1).fail_on([class]);
    assert_eq!(finish(&agent(FailureClass::Declared), request()).await.end, LoopEnd::Stopped);
    assert_eq!(failed(&finish(&agent(FailureClass::Call), request()).await.end), ["c2"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_is_finished_first_also_in_another_process() {
    let script =
        || ScriptedModel::default().then([call("c1", "broken", ""), call("c2", "pay", ""), call("c3", "ask", "\"?\"")]);
    let agent = |class| {
        TurnLoop::new(script().then("sorry"), workshop()).options(RunOptions::new().approvals(Suspend)).fail_on([class])
    };
    let agent = agent(FailureClass::Internal);
    let mut state = stored(&finish(&agent, request()).await.state);
    assert_eq!(ended(&finish(&agent, state.clone()).await.end), "waiting for 1 and 1");
    let yes = state.approvals()[0].approve();
    agent.verdict(&mut state, yes).unwrap();
    state.answer("c3", json!("yes")).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(failed(&outcome.end), ["c1", "c2"], "in the order of the calls");
    assert!(history::is_reconciled(outcome.state.history()));
    assert_eq!(finish(&agent, stored(&outcome.state)).await.end, LoopEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_call_of_a_bare_history_counts() {
    let model = ScriptedModel::default().then([call("c1", "pay", "")]).then("sorry");
    let agent = TurnLoop::new(model, workshop())
        .options(RunOptions::new().approvals(Suspend))
        .fail_on([FailureClass::Internal]);
    let mut waiting = finish(&agent, request()).await.state;
    let yes = waiting.approvals()[0].approve();
    agent.verdict(&mut waiting, yes).unwrap();
    // Only the history was stored.
    let state = LoopState::new(TurnRequest::new("any", waiting.history().to_vec()));
    let outcome = finish(&agent, state).await;
    assert_eq!(failed(&outcome.end), ["c1"]);
    assert_eq!(finish(&agent, outcome.state).await.end, LoopEnd::Stopped);
}

/// Two calls of a bare history: one fails in a start that ends because the other still waits.
#[tokio::test(start_paused = true)]
async fn a_failure_of_a_bare_history_counts_although_another_call_still_waits() {
    for other in [call("c2", "pay", ""), call("c2", "ask", "\"?\"")] {
        let is_interaction = other.name == "ask";
        let model = ScriptedModel::default().then([call("c1", "pay", ""), other]).then("sorry");
        let gate = |tool: &Tool| tool.clone().set_needs_approval(ApprovalPolicy::always()).unwrap();
        let gated: Toolkit = workshop().iter().map(gate).collect();
        let agent =
            TurnLoop::new(model, gated).options(RunOptions::new().approvals(Suspend)).fail_on([FailureClass::Internal]);
        let waiting = finish(&agent, request()).await.state;
        let mut state = LoopState::new(TurnRequest::new("any", waiting.history().to_vec()));
        let requests = state.approvals();
        agent.verdict(&mut state, requests[0].approve()).unwrap();
        let outcome = finish(&agent, stored(&state)).await;
        assert_eq!(ended(&outcome.end), "waiting for 0 and 1");

        let mut state = stored(&outcome.state);
        assert_eq!(state, outcome.state);
        if is_interaction {
            agent.verdict(&mut state, requests[1].approve()).unwrap();
            state = stored(&finish(&agent, state).await.state);
            state.answer("c2", json!("yes")).unwrap();
        } else {
            agent.verdict(&mut state, requests[1].deny("no")).unwrap();
        }
        let outcome = finish(&agent, stored(&state)).await;
        assert_eq!(failed(&outcome.end), ["c1"]);
        assert!(history::is_reconciled(outcome.state.history()));
        assert_eq!(finish(&agent, stored(&outcome.state)).await.end, LoopEnd::Stopped, "it is reported once");
    }
}

/// A failure that ends no loop does not stay in the state.
#[tokio::test(start_paused = true)]
async fn a_failure_of_a_bare_history_is_forgotten_when_the_model_reads_it() {
    let model = ScriptedModel::default().then([call("c1", "pay", "")]).then("sorry").then("and now?");
    let quiet = TurnLoop::new(model, workshop()).options(RunOptions::new().approvals(Suspend));
    let waiting = finish(&quiet, request()).await.state;
    let mut state = LoopState::new(TurnRequest::new("any", waiting.history().to_vec()));
    let yes = state.approvals()[0].approve();
    quiet.verdict(&mut state, yes).unwrap();
    let state = finish(&quiet, state).await.state;
    assert_eq!(state.text(), "sorry");
    let strict = quiet.fail_on([FailureClass::Internal]);
    assert_eq!(finish(&strict, stored(&state).follow_up(Item::user("so?"))).await.end, LoopEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn the_decide_function_is_not_asked_about_a_failed_turn() {
    let model = ScriptedModel::default().then([call("c1", "broken", "")]);
    let agent = TurnLoop::new(model, workshop())
        .fail_on([FailureClass::Internal])
        .decide(|_| async { panic!("the turn failed") });
    assert_eq!(failed(&finish(&agent, request()).await.end), ["c1"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_loop_is_cancelled_and_not_failed() {
    let model = ScriptedModel::default().then([call("c1", "broken", ""), call("c2", "wait", "")]);
    let agent = TurnLoop::new(model, workshop()).fail_on(FailureClass::ALL);
    let mut run = agent.start(request());
    while let Some(event) = run.next().await {
        if matches!(&event, LoopEvent::Tool(event) if event.result().is_some()) {
            run.cancel();
        }
    }
    assert_eq!(run.finish().await.end, LoopEnd::Cancelled);
}

#[test]
fn the_end_is_written_with_the_failures() {
    let result = ToolResult::from_failure(&call("c1", "broken", ""), ToolFailure::new("execution_error", "no"));
    let end = LoopEnd::CallsFailed { results: vec![result] };
    let written = serde_json::to_value(&end).unwrap();
    assert_eq!((&written["type"], &written["results"][0]["call_id"]), (&json!("calls_failed"), &json!("c1")));
    assert_eq!(serde_json::from_value::<LoopEnd>(written).unwrap(), end);
}
