//! Rejected verdicts: those with invalid content, and those on a tool that has changed since.

use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, ApprovalRule};
use haft_executor::{ApprovalPolicy, Cx, RunOptions, Suspend, VerdictFault};
use haft_model::{ScriptedModel, StateError};
use serde_json::json;

use super::*;

/// The kit with `pay`, gated and described; and the payments.
fn till(said: &str) -> (Toolkit, Arc<Mutex<Vec<u64>>>) {
    let paid = Arc::<Mutex<Vec<u64>>>::default();
    let noted = Arc::clone(&paid);
    let pay =
        Tool::new("pay").describe(said).needs_approval(ApprovalPolicy::always()).handler(move |cents: u64, _cx| {
            noted.lock().unwrap().push(cents);
            async move { format!("paid {cents}") }
        });
    (kit().with(pay.unwrap()).unwrap(), paid)
}

fn suspending(model: &ScriptedModel, kit: &Toolkit) -> TurnLoop {
    TurnLoop::new(model.clone(), kit.clone()).options(RunOptions::new().approvals(Suspend))
}

fn script() -> ScriptedModel {
    ScriptedModel::default().then([call("c1", "pay", "5")]).then("done")
}

/// A loop that waits for a verdict on `pay 5`.
async fn waiting(agent: &TurnLoop) -> (LoopState, ApprovalRequest) {
    let state = stored(&finish(agent, request()).await.state);
    let approval = state.approvals().remove(0);
    (state, approval)
}

#[tokio::test(start_paused = true)]
async fn a_verdict_with_invalid_content_is_rejected_with_its_issues_and_the_request_stays_pending() {
    let ((kit, paid), model) = (till("Pays."), script());
    let agent = suspending(&model, &kit);
    let (mut state, approval) = waiting(&agent).await;
    let before = state.clone();
    for verdict in [approval.edit(json!("much")), approval.edit(json!(-1)), approval.answer(json!(5))] {
        let error = agent.verdict(&mut state, verdict).unwrap_err();
        let StateError::Verdict { request_id, fault: VerdictFault::Invalid { issues } } = &error else {
            panic!("{error}")
        };
        assert_eq!((request_id, issues.len()), (&approval.request_id, 1));
        assert!(error.to_string().contains(&issues.reason(1_000)), "{error}");
        assert_eq!(state, before);
    }
    agent.verdict(&mut state, approval.edit(json!(6))).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!((outcome.end, &*paid.lock().unwrap()), (LoopEnd::Stopped, &vec![6]));
}

/// A verdict that was added to the history by hand is checked as well.
#[tokio::test(start_paused = true)]
async fn an_invalid_verdict_in_the_history_is_removed_and_the_loop_keeps_waiting() {
    let ((kit, paid), model) = (till("Pays."), script());
    let agent = suspending(&model, &kit);
    let (mut state, approval) = waiting(&agent).await;
    state.request_mut().history.push(approval.edit(json!("much")).into());
    let seen = events(agent.start(stored(&state))).await;
    let refused: Vec<_> = seen
        .iter()
        .filter_map(|event| match event {
            LoopEvent::VerdictRejected { reason, .. } => Some(reason.clone()),
            _ => None,
        })
        .collect();
    assert!(matches!(&refused[..], [reason] if reason.contains("are invalid: must be")), "{refused:?}");
    let Some(LoopEvent::Ended { end: LoopEnd::Waiting { approvals, .. }, state }) = seen.last() else { panic!() };
    assert_eq!(approvals, std::slice::from_ref(&approval));
    assert_eq!((told(state.history())[2..].to_vec(), model.requests().len()), (vec!["asked c1".to_owned()], 1));
    assert!(paid.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_changed_definition_voids_the_verdict_and_the_loop_waits_for_another() {
    for is_handed_in in [true, false] {
        let model = script();
        let (mut state, approval) = waiting(&suspending(&model, &till("Pays.").0)).await;
        let (kit, paid) = till("Pays, and tells your boss.");
        let agent = suspending(&model, &kit);
        if is_handed_in {
            let error = agent.verdict(&mut state, approval.approve()).unwrap_err();
            assert!(matches!(error, StateError::Verdict { fault: VerdictFault::OtherDigest, .. }), "{error}");
        } else {
            state.request_mut().history.push(approval.approve().into());
        }

        let seen = events(agent.start(stored(&state))).await;
        let was_refused = words(&seen).contains(&format!("refused {}", approval.request_id));
        assert_eq!(was_refused, !is_handed_in);
        let Some(LoopEvent::Ended { end: LoopEnd::Waiting { approvals, .. }, state }) = seen.last() else { panic!() };
        let [again] = &approvals[..] else { panic!("{approvals:?}") };
        assert_ne!((&again.request_id, &again.digest), (&approval.request_id, &approval.digest));
        assert_eq!(again.rule, Some(ApprovalRule::DefinitionChanged));
        assert_eq!(told(state.history())[1..], ["call c1", "asked c1"], "one request, and no output");
        assert_eq!((model.requests().len(), paid.lock().unwrap().len()), (1, 0), "the model is not asked meanwhile");

        // The loop waits with the new request, and the call runs with a verdict on that one.
        let mut state = finish(&agent, stored(state)).await.state;
        assert_eq!(state.approvals(), std::slice::from_ref(again));
        assert!(matches!(agent.verdict(&mut state, approval.approve()), Err(StateError::UnknownApproval { .. })));
        agent.verdict(&mut state, again.approve()).unwrap();
        let outcome = finish(&agent, stored(&state)).await;
        assert_eq!((outcome.end, &*paid.lock().unwrap()), (LoopEnd::Stopped, &vec![5]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_run_any_more_fails_without_an_approval_request() {
    let flag = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|flag: bool, _cx| async move { flag });
    for (kit, came) in [(kit().with(flag.unwrap()).unwrap(), "input_validation_error"), (kit(), "unknown_tool")] {
        let model = script();
        let (mut state, approval) = waiting(&suspending(&model, &till("Pays.").0)).await;
        state.request_mut().history.push(approval.approve().into());
        let outcome = finish(&suspending(&model, &kit), state).await;
        assert_eq!(outcome.end, LoopEnd::Stopped);
        assert_eq!(told(outcome.state.history())[1..], ["call c1", &format!("output c1: {came}"), "assistant"]);
    }
}

/// Messages after the turn of the call are not passed to it.
#[tokio::test(start_paused = true)]
async fn after_a_resume_messages_end_with_the_turn_of_the_call() {
    let seen = Arc::<Mutex<Vec<Vec<String>>>>::default();
    let (by_handler, by_approver) = (Arc::clone(&seen), Arc::clone(&seen));
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(move |cents: u64, cx: Cx| {
        by_handler.lock().unwrap().push(told(cx.messages()));
        async move { cents }
    });
    let kit = kit().with(pay.unwrap()).unwrap();
    let model = ScriptedModel::default().then([call("c1", "pay", "5"), call("c2", "double", "4")]).then("done");
    let (state, _) = waiting(&suspending(&model, &kit)).await;
    let state = state.follow_up(Item::user("and hurry up"));
    assert_eq!(told(state.history())[1..], ["call c1", "call c2", "output c2: 8", "asked c1", "user"]);

    let approver = move |request: ApprovalRequest, cx: Cx| {
        by_approver.lock().unwrap().push(told(cx.messages()));
        async move { request.approve() }
    };
    let agent = TurnLoop::new(model, kit).options(RunOptions::new().approvals(approver));
    assert_eq!(finish(&agent, state).await.end, LoopEnd::Stopped);
    let expected: Vec<_> = ["user", "call c1", "call c2"].map(str::to_owned).into();
    assert_eq!(*seen.lock().unwrap(), [expected.clone(), expected]);
}

/// Calls of several turns may wait, in a history from elsewhere: each is resumed with the messages of its turn.
#[tokio::test(start_paused = true)]
async fn calls_of_several_turns_are_resumed_with_the_messages_of_their_turn() {
    let seen = Arc::<Mutex<Vec<(String, usize)>>>::default();
    let noted = Arc::clone(&seen);
    let approver = move |request: ApprovalRequest, cx: Cx| {
        noted.lock().unwrap().push((request.call_id.to_string(), cx.messages().len()));
        async move { request.approve() }
    };
    let (kit, paid) = till("Pays.");
    let digest = |cents: u64| kit.get("pay").unwrap().approval_digest(&json!(cents));
    let (first, second) = (call("c1", "pay", "1"), call("c2", "pay", "2"));
    let history = vec![
        Item::user("one"),
        first.clone().into(),
        ApprovalRequest::new("q1", &first).digest(digest(1)).into(),
        Item::user("two"),
        second.clone().into(),
        ApprovalRequest::new("q2", &second).digest(digest(2)).into(),
        Item::user("well?"),
    ];
    let agent = TurnLoop::new(ScriptedModel::default().then("done"), kit.clone())
        .options(RunOptions::new().approvals(approver));
    let outcome = finish(&agent, TurnRequest::new("any", history)).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    // The second has the output of the first before it, instead of the approval request.
    assert_eq!(*seen.lock().unwrap(), [("c1".to_owned(), 2), ("c2".to_owned(), 5)]);
    assert_eq!(*paid.lock().unwrap(), [1, 2]);
}
