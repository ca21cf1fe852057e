//! Approval of signals and interactions: without approval they do not surface.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{ApprovalRequest, Verdict};
use haft_executor::{ApprovalPolicy, Cx, RunOptions, Suspend};
use haft_model::ScriptedModel;
use serde_json::json;

use super::*;

/// A model that makes one signal and one interaction.
fn script() -> ScriptedModel {
    ScriptedModel::default().then([call("c1", "note", "1"), call("c2", "ask", "\"name?\"")]).then("done")
}

/// A loop whose run policy gates every call.
fn gated(model: &ScriptedModel, options: RunOptions) -> TurnLoop {
    agent(model).options(options.policy(ApprovalPolicy::always()))
}

fn asking(decide: fn(&ApprovalRequest) -> Verdict) -> RunOptions {
    RunOptions::new().approvals(move |request: ApprovalRequest, _: Cx| async move { decide(&request) })
}

fn surfaced(events: &[LoopEvent]) -> usize {
    events.iter().filter(|event| matches!(event, LoopEvent::Signal(_))).count()
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_does_not_surface() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let denying = RunOptions::new().approvals(move |request: ApprovalRequest, _: Cx| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { request.deny("no") }
    });
    let model = script();
    let seen = events(gated(&model, denying).start(request())).await;
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(surfaced(&seen), 0);
    let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
    assert_eq!(*end, LoopEnd::Stopped, "nothing waits for an answer");
    assert_eq!(told(state.history())[3..5], ["output c1: denied", "output c2: denied"]);
    assert!(state.interactions().is_empty());
}

#[tokio::test(start_paused = true)]
async fn no_gated_call_surfaces_without_an_approver() {
    let halt = Tool::signal("halt").needs_approval(ApprovalPolicy::always()).define().unwrap();
    let model = ScriptedModel::default().then([call("c1", "halt", "{}")]).then("done");
    let seen = events(TurnLoop::new(model, Toolkit::from_iter([halt])).start(request())).await;
    assert_eq!(surfaced(&seen), 0);
    assert!(words(&seen).contains(&"output 0: denied".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_surfaces_once() {
    let model = script();
    let seen = events(gated(&model, asking(ApprovalRequest::approve)).start(request())).await;
    assert_eq!(surfaced(&seen), 1);
    let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
    assert_eq!(ended(end), "waiting for 1 and 0");
    assert_eq!(told(state.history())[3..], ["output c1: null"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_surfaces_with_its_edited_arguments() {
    let editing = |request: &ApprovalRequest| match request.tool.as_str() {
        "note" => request.edit(json!(9)),
        _ => request.edit(json!("age?")),
    };
    let model = script();
    let seen = events(gated(&model, asking(editing)).start(request())).await;
    let signal = seen.iter().find_map(|event| match event {
        LoopEvent::Signal(signal) => Some(signal),
        _ => None,
    });
    let signal = signal.unwrap();
    assert_eq!((signal.decode::<u8>().unwrap(), signal.call().arguments.as_str()), (9, "9"));
    let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
    let mut state = stored(state);
    let interaction = &state.interactions()[0];
    assert_eq!(
        (interaction.decode::<String>().unwrap(), interaction.call().arguments.as_str()),
        ("age?".into(), "\"age?\"")
    );
    assert!(
        matches!(&state.history()[2], Item::ToolCall(call) if call.arguments == "\"name?\""),
        "as the model wrote it"
    );
    state.answer("c2", "forty").unwrap();
    assert_eq!(told(finish(&agent(&model), stored(&state)).await.state.history())[4], "output c2: forty");
}

#[tokio::test(start_paused = true)]
async fn an_answer_by_the_approver_is_the_result_and_nothing_surfaces() {
    let model = script();
    let seen = events(gated(&model, asking(|request| request.answer(json!("Ada")))).start(request())).await;
    assert_eq!(surfaced(&seen), 0);
    let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
    assert_eq!(*end, LoopEnd::Stopped);
    assert_eq!(told(state.history())[3..5], ["output c1: Ada", "output c2: Ada"]);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_signal_or_interaction_surfaces_after_its_verdict() {
    let model = script();
    let agent = gated(&model, RunOptions::new().approvals(Suspend)).decide(|mut after| async move {
        for signal in after.signals_mut() {
            signal.answer(format!("noted {}", signal.decode::<u8>().unwrap()));
        }
        after.as_usual()
    });
    let seen = events(agent.start(request())).await;
    assert_eq!(surfaced(&seen), 0);
    let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
    assert_eq!(ended(end), "waiting for 0 and 2");
    assert!(state.interactions().is_empty(), "a call without approval can't be answered");

    let mut state = stored(state);
    let asked = state.approvals();
    agent.verdict(&mut state, asked[0].edit(json!(7))).unwrap();
    agent.verdict(&mut state, asked[1].edit(json!("age?"))).unwrap();
    let seen = events(agent.start(stored(&state))).await;
    assert_eq!(words(&seen)[..4], ["resumed 2", "resolved 0", "signal c1", "resolved 1"]);
    let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
    assert_eq!(ended(end), "waiting for 1 and 0");
    assert_eq!(told(state.history()), ["user", "call c1", "call c2", "output c1: null"]);

    let mut state = stored(state);
    assert_eq!(state.interactions()[0].decode::<String>().unwrap(), "age?");
    state.answer("c2", "forty").unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    assert_eq!(told(outcome.state.history())[3..5], ["output c1: noted 7", "output c2: forty"]);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_signal_or_interaction_that_is_denied_does_not_surface() {
    let model = script();
    let agent = gated(&model, RunOptions::new().approvals(Suspend));
    let mut state = finish(&agent, request()).await.state;
    for asked in state.approvals() {
        agent.verdict(&mut state, asked.deny("no")).unwrap();
    }
    let seen = events(agent.start(stored(&state))).await;
    assert_eq!(surfaced(&seen), 0);
    let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
    assert_eq!(*end, LoopEnd::Stopped);
    assert_eq!(told(state.history())[3..5], ["output c1: denied", "output c2: denied"]);
}

/// The calls and their approval requests are in a history without an open turn.
#[tokio::test(start_paused = true)]
async fn calls_of_a_history_from_elsewhere_surface_too() {
    let model = script();
    let agent = gated(&model, RunOptions::new().approvals(Suspend));
    let suspended = finish(&agent, request()).await.state;
    let mut state = LoopState::new(TurnRequest::new("any", suspended.history().to_vec()));
    for asked in state.approvals() {
        agent.verdict(&mut state, asked.approve()).unwrap();
    }
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(ended(&outcome.end), "waiting for 1 and 0");
    let mut state = stored(&outcome.state);
    state.answer("c2", "Ada").unwrap();
    let outcome = finish(&agent, state).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    assert_eq!(told(outcome.state.history())[3..5], ["output c1: null", "output c2: Ada"]);
}
