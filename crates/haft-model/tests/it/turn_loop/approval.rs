//! Calls that require approval, in the process or outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_core::{ApprovalDecision, ApprovalRequest, ToolCall, ToolCallOutput, Verdict, history};
use haft_executor::{ApprovalPolicy, Cx, RunOptions, Suspend, VerdictFault};
use haft_model::{ScriptedModel, StateError};
use serde_json::json;

use super::*;

/// The kit with `pay`, which requires approval; and the sum that was paid.
fn till() -> (Toolkit, Arc<AtomicU64>) {
    let paid = Arc::new(AtomicU64::new(0));
    let sum = Arc::clone(&paid);
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(move |cents: u64, _cx| {
        sum.fetch_add(cents, Ordering::SeqCst);
        async move { format!("paid {cents}") }
    });
    (kit().with(pay.unwrap()).unwrap(), paid)
}

fn suspending(model: &ScriptedModel, kit: &Toolkit) -> TurnLoop {
    TurnLoop::new(model.clone(), kit.clone()).options(RunOptions::new().approvals(Suspend))
}

fn script() -> ScriptedModel {
    ScriptedModel::default()
        .then([call("c1", "pay", "1"), call("c2", "double", "4"), call("c3", "pay", "20"), call("c4", "pay", "-1")])
        .then("done")
}

fn approvals(end: &LoopEnd) -> Vec<ApprovalRequest> {
    match end {
        LoopEnd::Waiting { approvals, .. } => approvals.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_loop_waits_for_verdicts_and_everything_else_is_done() {
    let ((kit, paid), model) = (till(), script());
    let agent = suspending(&model, &kit);
    let outcome = finish(&agent, request()).await;
    let asked = approvals(&outcome.end);
    assert_eq!(outcome.state.approvals(), asked);
    assert_eq!(asked.iter().map(|request| request.call_id.as_str()).collect::<Vec<_>>(), ["c1", "c3"]);
    assert_eq!(
        told(outcome.state.history())[5..],
        ["output c2: 8", "output c4: input_validation_error", "asked c1", "asked c3"]
    );
    let again = finish(&agent, stored(&outcome.state)).await;
    assert_eq!((again.end, again.state), (outcome.end, outcome.state), "it goes on waiting");
    assert_eq!((paid.load(Ordering::SeqCst), model.requests().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn verdicts_that_arrived_meanwhile_are_acted_on_before_the_next_request() {
    let ((kit, paid), model) = (till(), script());
    let agent = suspending(&model, &kit);
    let outcome = finish(&agent, request()).await;
    let asked = approvals(&outcome.end);
    let mut state = stored(&outcome.state);
    agent.verdict(&mut state, asked[1].approve()).unwrap();
    assert!(matches!(agent.verdict(&mut state, asked[1].deny("no")), Err(StateError::AlreadyDecided { .. })));
    let other = Verdict::new(&asked[0].request_id, ApprovalDecision::Approved).digest("forged");
    assert!(matches!(agent.verdict(&mut state, other), Err(StateError::OtherDigest { .. })));

    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(ended(&outcome.end), "waiting for 0 and 1");
    assert_eq!(paid.load(Ordering::SeqCst), 20);
    assert_eq!(
        told(outcome.state.history())[5..],
        ["output c2: 8", "output c3: paid 20", "output c4: input_validation_error", "asked c1"]
    );

    let mut state = stored(&outcome.state);
    agent.verdict(&mut state, asked[0].deny("too dear")).unwrap();
    let seen = events(agent.start(stored(&state))).await;
    assert_eq!(words(&seen)[..5], ["resumed 1", "resolved 0", "output 0: denied", "ended 1 with 4", "turn 2"]);
    assert_eq!(paid.load(Ordering::SeqCst), 20, "what was approved ran once");
    let sent = &model.requests()[1].history;
    assert!(history::is_reconciled(sent));
    assert_eq!(
        told(sent)[5..],
        ["output c1: denied", "output c2: 8", "output c3: paid 20", "output c4: input_validation_error"]
    );
    let Some(LoopEvent::Ended { end: LoopEnd::Stopped, state }) = seen.last() else { panic!() };
    assert_eq!((state.turns(), state.calls()), (2, 4));
}

#[tokio::test(start_paused = true)]
async fn an_approver_may_edit_the_arguments_or_supply_the_result() {
    let ((kit, paid), model) = (till(), script());
    let agent = suspending(&model, &kit);
    let outcome = finish(&agent, request()).await;
    let asked = approvals(&outcome.end);
    let mut state = outcome.state;
    agent.verdict(&mut state, asked[0].edit(json!(7))).unwrap();
    agent.verdict(&mut state, asked[1].answer(json!("paid in cash"))).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    let outputs = told(outcome.state.history());
    assert_eq!((outputs[5].as_str(), outputs[7].as_str()), ("output c1: paid 7", "output c3: paid in cash"));
    assert_eq!(paid.load(Ordering::SeqCst), 7);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_verdict_is_reported_and_can_be_replaced() {
    let ((kit, paid), model) = (till(), ScriptedModel::default().then([call("c1", "pay", "1")]).then("done"));
    let agent = suspending(&model, &kit);
    let outcome = finish(&agent, request()).await;
    let approval = approvals(&outcome.end).remove(0);
    let mut state = outcome.state;
    let forged = Verdict::new(&approval.request_id, ApprovalDecision::Approved).digest("forged");
    state.request_mut().history.push(forged.into());
    let seen = events(agent.start(state)).await;
    assert!(words(&seen).contains(&format!("refused {}", approval.request_id)));
    let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
    assert_eq!((ended(end).as_str(), paid.load(Ordering::SeqCst)), ("waiting for 0 and 1", 0));
    for event in &seen {
        let written = serde_json::to_string(event).unwrap();
        assert_eq!(&serde_json::from_str::<LoopEvent>(&written).unwrap(), event);
    }
    let mut state = stored(state);
    agent.verdict(&mut state, approval.approve()).unwrap();
    assert_eq!(finish(&agent, state).await.end, LoopEnd::Stopped);
    assert_eq!(paid.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_were_changed_after_the_request_are_not_run() {
    let ((kit, paid), model) = (till(), ScriptedModel::default().then([call("c1", "pay", "1")]).then("done"));
    let agent = suspending(&model, &kit);
    let outcome = finish(&agent, request()).await;
    let approval = approvals(&outcome.end).remove(0);
    let mut state = outcome.state;
    agent.verdict(&mut state, approval.approve()).unwrap();
    for item in &mut state.request_mut().history {
        if let Item::ToolCall(call) = item {
            *call = ToolCall::new("c1", "pay", "1000000");
        }
    }
    let outcome = finish(&agent, state).await;
    assert_eq!(told(outcome.state.history())[2], "output c1: denied");
    assert_eq!(paid.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn approved_calls_of_a_plain_history_are_run_first() {
    let ((kit, paid), model) = (till(), ScriptedModel::default().then([call("c1", "pay", "5")]).then("done"));
    let outcome = finish(&suspending(&model, &kit), request()).await;
    let approval = approvals(&outcome.end).remove(0);
    let mut history = outcome.state.history().to_vec();
    history.push(approval.approve().into());
    history.push(Item::user("well?"));
    let model = ScriptedModel::default().then("thanks");
    // No approver is configured, and none is needed.
    let outcome = finish(&TurnLoop::new(model.clone(), kit), TurnRequest::new("any", history)).await;
    assert_eq!((outcome.end, paid.load(Ordering::SeqCst)), (LoopEnd::Stopped, 5));
    assert_eq!(told(&model.requests()[0].history), ["user", "call c1", "output c1: paid 5", "user"]);
    assert_eq!(outcome.state.turns(), 1);
}

#[tokio::test(start_paused = true)]
async fn resolved_approvals_of_earlier_rounds_are_not_sent() {
    let (kit, paid) = till();
    let approval = ApprovalRequest::new("q1", &call("c1", "pay", "5"));
    let history = vec![
        Item::user("pay"),
        call("c1", "pay", "5").into(),
        approval.clone().into(),
        approval.approve().into(),
        ToolCallOutput::new("c1", "paid 5").into(),
        Item::user("well?"),
    ];
    let model = ScriptedModel::default().then("thanks");
    let outcome = finish(&TurnLoop::new(model.clone(), kit), TurnRequest::new("any", history)).await;
    assert_eq!((outcome.end, paid.load(Ordering::SeqCst)), (LoopEnd::Stopped, 0));
    assert_eq!(told(&model.requests()[0].history), ["user", "call c1", "output c1: paid 5", "user"]);
}

#[tokio::test(start_paused = true)]
async fn two_requests_for_one_call_let_it_run_once() {
    let ((kit, paid), model) = (till(), ScriptedModel::default().then([call("c1", "pay", "5")]).then("done"));
    let agent = suspending(&model, &kit);
    let outcome = finish(&agent, request()).await;
    let approval = approvals(&outcome.end).remove(0);
    let mut history = outcome.state.history().to_vec();
    let mut second = serde_json::to_value(&approval).unwrap();
    second["request_id"] = json!("q2");
    let second: ApprovalRequest = serde_json::from_value(second).unwrap();
    history.extend([second.clone().into(), second.approve().into(), approval.approve().into()]);
    let outcome = finish(&agent, TurnRequest::new("any", history)).await;
    assert_eq!((outcome.end, paid.load(Ordering::SeqCst)), (LoopEnd::Stopped, 5));
    assert_eq!(told(outcome.state.history()), ["user", "call c1", "output c1: paid 5", "assistant"]);
}

#[tokio::test(start_paused = true)]
async fn of_two_requests_for_one_call_a_denial_wins() {
    for is_first in [true, false] {
        let ((kit, paid), model) = (till(), ScriptedModel::default().then([call("c1", "pay", "5")]).then("done"));
        let agent = suspending(&model, &kit);
        let outcome = finish(&agent, request()).await;
        let approval = approvals(&outcome.end).remove(0);
        let mut second = approval.clone();
        second.request_id = "q2".into();
        let (yes, no) = if is_first { (&second, &approval) } else { (&approval, &second) };
        let mut history = outcome.state.history().to_vec();
        history.extend([second.clone().into(), yes.approve().into(), no.deny("no").into()]);
        let seen = events(agent.start(TurnRequest::new("any", history))).await;
        assert!(words(&seen).contains(&format!("refused {}", yes.request_id)), "{:?}", words(&seen));
        let Some(LoopEvent::Ended { end: LoopEnd::Stopped, state }) = seen.last() else { panic!() };
        assert_eq!(told(state.history()), ["user", "call c1", "output c1: denied", "assistant"]);
        assert_eq!(paid.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_verdict_is_used_once_wherever_the_loop_is_lost() {
    let ((kit, paid), model) = (till(), ScriptedModel::default().then([call("c1", "pay", "5")]));
    let waiting = finish(&suspending(&model, &kit), request()).await.state;
    let approval = waiting.approvals().remove(0);
    let mut state = waiting.clone();
    let agent = suspending(&ScriptedModel::default(), &kit);
    agent.verdict(&mut state, approval.approve()).unwrap();
    // A second verdict must not replace the first.
    state.request_mut().history.push(approval.approve().into());
    let count = events(agent.start(state.clone())).await.len();
    for stop in 0..count {
        paid.store(0, Ordering::SeqCst);
        let mut run = agent.start(state.clone());
        for _ in 0..=stop {
            run.next().await;
        }
        let snapshot = stored(&run.state());
        drop(run);
        finish(&agent, snapshot).await;
        assert!(paid.load(Ordering::SeqCst) <= 5, "after event {stop}");
    }

    let mut run = agent.start(state);
    assert!(matches!(run.next().await, Some(LoopEvent::CallsResumed { .. })));
    let mut snapshot = stored(&run.state());
    drop(run);
    assert_eq!(snapshot.approvals(), std::slice::from_ref(&approval), "the request is pending again");
    paid.store(0, Ordering::SeqCst);
    assert_eq!(ended(&finish(&agent, snapshot.clone()).await.end), "waiting for 0 and 1");
    agent.verdict(&mut snapshot, approval.approve()).unwrap();
    finish(&agent, snapshot).await;
    assert_eq!(paid.load(Ordering::SeqCst), 5);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_on_an_expired_request_is_reported() {
    let ((kit, paid), model) = (till(), ScriptedModel::default().then([call("c1", "pay", "5")]).then("done"));
    let options = RunOptions::new().approvals(Suspend).approval_lifetime(std::time::Duration::ZERO);
    let agent = TurnLoop::new(model, kit).options(options);
    let mut state = finish(&agent, request()).await.state;
    let approval = state.approvals().remove(0);
    let late = agent.verdict(&mut state, approval.approve()).unwrap_err();
    assert!(matches!(late, StateError::Verdict { fault: VerdictFault::Expired, .. }), "{late}");
    state.request_mut().history.push(approval.approve().into());
    let seen = words(&events(agent.start(state)).await);
    assert!(seen.contains(&format!("refused {}", approval.request_id)), "{seen:?}");
    assert!(seen.contains(&"output 0: cancelled".to_owned()), "{seen:?}");
    assert_eq!(paid.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn an_approver_in_the_process_decides_within_the_turn_and_after_a_resume() {
    let ((kit, paid), model) = (till(), script());
    let present = |request: ApprovalRequest, _: Cx| async move {
        if request.arguments == "1" { request.approve() } else { request.deny("too much") }
    };
    let direct = TurnLoop::new(model.clone(), kit.clone()).options(RunOptions::new().approvals(present));
    let outcome = finish(&direct, request()).await;
    assert_eq!((outcome.end, paid.load(Ordering::SeqCst)), (LoopEnd::Stopped, 1));

    let model = script();
    let waiting = finish(&suspending(&model, &kit), request()).await;
    let direct = TurnLoop::new(model, kit).options(RunOptions::new().approvals(present));
    let outcome = finish(&direct, stored(&waiting.state)).await;
    assert_eq!(
        (outcome.end, paid.load(Ordering::SeqCst)),
        (LoopEnd::Stopped, 2),
        "pending requests are passed to the approver"
    );
    assert!(history::is_reconciled(outcome.state.history()));
}

#[tokio::test(start_paused = true)]
async fn without_an_approver_gated_calls_are_denied() {
    let ((kit, paid), model) = (till(), ScriptedModel::default().then([call("c1", "pay", "1")]).then("done"));
    let outcome = finish(&TurnLoop::new(model, kit), request()).await;
    assert_eq!(told(outcome.state.history())[2], "output c1: denied");
    assert_eq!(paid.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn interactions_signals_and_approvals_of_one_turn_are_concluded_together() {
    let (kit, paid) = till();
    let model = ScriptedModel::default()
        .then([call("c1", "ask", "\"?\""), call("c2", "pay", "3"), call("c3", "note", "1")])
        .then("done");
    let agent = suspending(&model, &kit).decide(|mut after| async move {
        let results: Vec<_> = after.results().iter().map(haft_core::ToolResult::to_model_text).collect();
        for signal in after.signals_mut() {
            signal.answer(results.join(" and "));
        }
        after.as_usual()
    });
    let outcome = finish(&agent, request()).await;
    assert_eq!(ended(&outcome.end), "waiting for 1 and 1");
    let approval = approvals(&outcome.end).remove(0);
    let mut state = stored(&outcome.state);
    agent.verdict(&mut state, approval.approve()).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!((ended(&outcome.end).as_str(), paid.load(Ordering::SeqCst)), ("waiting for 1 and 0", 3));
    let mut state = stored(&outcome.state);
    state.answer("c1", "yes").unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(
        told(outcome.state.history())[4..],
        ["output c1: yes", "output c2: paid 3", "output c3: yes and paid 3", "assistant"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_closes_the_waiting_calls_of_the_turn() {
    let (kit, _) = till();
    let model = ScriptedModel::default().then([call("c1", "pay", "1"), call("c2", "wait", "{}")]);
    let mut run = suspending(&model, &kit).start(request());
    while !matches!(run.next().await, Some(LoopEvent::Tool(ToolEvent::Suspended { .. }))) {}
    run.cancel();
    let outcome = run.finish().await;
    assert_eq!(outcome.end, LoopEnd::Cancelled);
    assert_eq!(told(outcome.state.history())[3..], ["output c1: cancelled", "output c2: cancelled"]);
    assert!(history::is_reconciled(outcome.state.history()));
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_of_a_resumed_call_gives_it_a_result() {
    let hold = Tool::new("hold").needs_approval(ApprovalPolicy::always()).handler(|(), cx: Cx| async move {
        let _ = cx.emit("begun").await;
        std::future::pending::<()>().await;
    });
    let kit = Toolkit::from_iter([hold.unwrap()]);
    let model = ScriptedModel::default().then([call("c1", "hold", "{}")]);
    let agent = suspending(&model, &kit);
    let outcome = finish(&agent, request()).await;
    let mut state = outcome.state;
    agent.verdict(&mut state, approvals(&outcome.end)[0].approve()).unwrap();
    let mut run = agent.start(state);
    while !matches!(run.next().await, Some(LoopEvent::Tool(ToolEvent::Progress { .. }))) {}
    assert_eq!(told(run.state().history()).last().unwrap(), "asked c1", "the verdict is used");
    run.cancel();
    let outcome = run.finish().await;
    assert_eq!(outcome.end, LoopEnd::Cancelled);
    assert_eq!(told(outcome.state.history())[1..], ["call c1", "output c1: cancelled"]);
}
