//! States that were damaged while a call waited: no call runs unchecked, and none runs twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_core::{CallId, history};
use haft_executor::{ApprovalPolicy, RunOptions, Suspend};
use haft_model::{LoopError, ScriptedModel};
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

/// A state with a finished turn (`c1`) and one that waits for a verdict (`c2`) and an answer (`c3`).
async fn waiting(kit: &Toolkit) -> LoopState {
    let model = ScriptedModel::default()
        .then([call("c1", "double", "1")])
        .then([call("c2", "pay", "5"), call("c3", "ask", "\"?\"")]);
    let outcome = finish(&suspending(&model, kit), request()).await;
    assert_eq!(ended(&outcome.end), "waiting for 1 and 1");
    outcome.state
}

/// The same, with the verdict and the answer.
async fn answered(kit: &Toolkit) -> LoopState {
    let mut state = waiting(kit).await;
    let yes = state.approvals()[0].approve();
    suspending(&ScriptedModel::default(), kit).verdict(&mut state, yes).unwrap();
    state.answer("c3", "yes").unwrap();
    state
}

fn rename_call(items: &mut [Item], to: &str) {
    let old = items.iter_mut().find_map(|item| match item {
        Item::ToolCall(call) if call.call_id == "c1" => Some(&mut call.call_id),
        _ => None,
    });
    *old.unwrap() = CallId::from(to);
}

fn rename_call_and_output(items: &mut [Item], to: &str) {
    rename_call(items, to);
    for item in items {
        if let Item::ToolOutput(output) = item
            && output.call_id == "c1"
        {
            output.call_id = CallId::from(to);
        }
    }
}

fn remove_output(items: &mut Vec<Item>) {
    items.retain(|item| !matches!(item, Item::ToolOutput(output) if output.call_id == "c1"));
}

type Damage = fn(&mut Vec<Item>);

const DAMAGES: [(&str, Damage); 5] = [
    ("the call renamed", |items| rename_call(items, "c2")),
    ("call and output renamed", |items| rename_call_and_output(items, "c2")),
    ("an older twin without output", |items| {
        remove_output(items);
        rename_call(items, "c2");
    }),
    ("the output removed", remove_output),
    ("the request removed", |items| items.retain(|item| !matches!(item, Item::ApprovalRequest(_)))),
];

#[tokio::test(start_paused = true)]
async fn no_call_of_a_damaged_history_runs() {
    for (name, damage) in DAMAGES {
        let (kit, paid) = till();
        let mut state = answered(&kit).await;
        damage(&mut state.request_mut().history);
        let model = ScriptedModel::new(["done"]);
        for round in 0..3 {
            let outcome = finish(&suspending(&model, &kit), stored(&state)).await;
            assert_eq!(ended(&outcome.end), "failed: unreconciled", "{name}, round {round}");
            assert_eq!(paid.load(Ordering::SeqCst), 0, "{name}, round {round}");
            assert_eq!(outcome.state, state, "{name}, round {round}: nothing was changed");
            state = outcome.state;
        }
        assert!(model.requests().is_empty(), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_repaired_history_runs_a_call_once_or_not_at_all() {
    for ((name, damage), sum) in DAMAGES.into_iter().zip([0, 0, 0, 5, 0]) {
        let (kit, paid) = till();
        let mut state = answered(&kit).await;
        damage(&mut state.request_mut().history);
        let model = ScriptedModel::new(["done", "again"]);
        let agent = suspending(&model, &kit).repair("lost");
        let outcome = finish(&agent, stored(&state)).await;
        assert_eq!((ended(&outcome.end).as_str(), paid.load(Ordering::SeqCst)), ("stopped", sum), "{name}");
        assert!(history::is_reconciled(&model.requests()[0].history), "{name}");
        let is_approval = |item: &Item| matches!(item, Item::ApprovalRequest(_) | Item::Verdict(_));
        let left: Vec<_> = outcome.state.history().iter().filter(|item| is_approval(item)).collect();
        // A verdict without a request is left unchanged and has no effect.
        let most = usize::from(name == "the request removed");
        assert_eq!(left.len(), most, "{name}: {left:?}");
        finish(&agent, stored(&outcome.state).follow_up(Item::user("again"))).await;
        assert_eq!(paid.load(Ordering::SeqCst), sum, "{name}: nothing runs a second time");
    }
}

#[tokio::test(start_paused = true)]
async fn a_repair_does_not_change_the_calls_that_wait() {
    let (kit, paid) = till();
    let mut state = waiting(&kit).await;
    remove_output(&mut state.request_mut().history);
    let agent = suspending(&ScriptedModel::default().then("done"), &kit).repair("lost");
    let seen = events(agent.start(stored(&state))).await;
    assert_eq!(words(&seen), ["repaired 1", "resumed 1", "asked 0", "suspended 0", "waiting for 1 and 1"]);
    let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
    assert_eq!(told(state.history()), ["user", "call c1", "call c2", "call c3", "asked c2", "output c1: cancelled"]);
    let mut state = stored(state);
    let yes = state.approvals()[0].approve();
    agent.verdict(&mut state, yes).unwrap();
    state.answer("c3", "yes").unwrap();
    assert_eq!(finish(&agent, state).await.end, LoopEnd::Stopped);
    assert_eq!(paid.load(Ordering::SeqCst), 5);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_that_must_be_renamed_is_cancelled_with_an_event() {
    for (taken, closed, end) in [("c2", 0, "waiting for 1 and 0"), ("c3", 1, "waiting for 0 and 1")] {
        let (kit, _) = till();
        let mut state = waiting(&kit).await;
        rename_call_and_output(&mut state.request_mut().history, taken);
        let agent = suspending(&ScriptedModel::default(), &kit).repair("lost");
        let seen = events(agent.start(stored(&state))).await;
        let words = words(&seen);
        assert_eq!(words[..2], ["repaired 2".to_owned(), format!("output {closed}: cancelled")]);
        assert_eq!(words.last().unwrap(), end);
        let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
        let line = format!("output {taken}_2: cancelled");
        assert!(told(state.history()).contains(&line), "{:?}", told(state.history()));
        assert_eq!(stored(state), **state, "it can be read again");
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_that_must_be_renamed_gets_its_own_answer() {
    let model = ScriptedModel::default()
        .then([call("c1", "double", "1")])
        .then([call("c2", "note", "7"), call("c3", "ask", "\"?\"")]);
    let mut state = finish(&agent(&model), request()).await.state;
    rename_call_and_output(&mut state.request_mut().history, "c2");
    state.answer("c3", "yes").unwrap();
    let model = ScriptedModel::new(["done"]);
    let agent = agent(&model).repair("lost").decide(|mut after| async move {
        for signal in after.signals_mut() {
            signal.answer("noted");
        }
        after.as_usual()
    });
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    assert_eq!(
        told(outcome.state.history()),
        [
            "user",
            "call c2",
            "output c2: 2",
            "call c2_2",
            "call c3",
            "output c2_2: noted",
            "output c3: yes",
            "assistant"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn faults_are_described_in_a_few_sentences() {
    let (kit, _) = till();
    let mut state = waiting(&kit).await;
    let items = &mut state.request_mut().history;
    rename_call(items, "c2");
    let outcome = finish(&suspending(&ScriptedModel::default(), &kit), state).await;
    let LoopEnd::Failed(error @ LoopError::Unreconciled { calls, changes, .. }) = &outcome.end else { panic!() };
    assert_eq!(calls.iter().map(CallId::as_str).collect::<Vec<_>>(), ["c2", "c1", "c2"]);
    assert_eq!(changes.len(), 3, "the calls that wait are not among them: {changes:?}");
    assert_eq!(
        error.to_string(),
        "the history is inconsistent: the call 'c2' of 'double' at 1 has no output; the output for the call 'c1' at 2 \
         belongs to no call: no call has this id; the call 'c2' of 'pay' at 3 has the id of an earlier call; correct it, or \
         repair it with `TurnLoop::repair`"
    );

    let lost = (0..50).map(|number| call(&format!("c{number}{}", "é".repeat(999)), "double", "1").into());
    let outcome = finish(&agent(&ScriptedModel::default()), TurnRequest::new("any", lost.collect())).await;
    let words = outcome.end.error().unwrap().to_string();
    assert!(words.contains("and 47 more; correct it") && words.len() < 1_000, "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_state_that_lost_a_call_is_rejected_when_it_is_read() {
    let (kit, _) = till();
    let state = waiting(&kit).await;
    let words = |state: &LoopState| {
        let read = serde_json::from_value::<LoopState>(serde_json::to_value(state).unwrap());
        read.unwrap_err().to_string()
    };
    for lost in ["c2", "c3"] {
        let mut state = state.clone();
        state.request_mut().history.retain(|item| !matches!(item, Item::ToolCall(call) if call.call_id == lost));
        let said = words(&state);
        assert!(said.contains(&format!("`{lost}`")) && said.contains("history contains no such call"), "{said}");
        let outcome = finish(&suspending(&ScriptedModel::default(), &kit), state).await;
        assert_eq!(ended(&outcome.end), "failed: state");
    }

    // A plain history has no open turn, only its approval requests.
    let mut history = state.history().to_vec();
    history.retain(|item| !matches!(item, Item::ToolCall(call) if call.call_id == "c2"));
    let said = words(&LoopState::new(TurnRequest::new("any", history.clone())));
    assert!(said.contains("`c2`") && said.contains("contains no such call"), "{said}");

    let Some(Item::ApprovalRequest(approval)) =
        history.iter_mut().find(|item| matches!(item, Item::ApprovalRequest(_)))
    else {
        panic!()
    };
    approval.provider_data.insert("vendor".to_owned(), json!({"asks": "itself"}));
    stored(&LoopState::new(TurnRequest::new("any", history)));
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_of_a_resumed_turn_has_the_available_results() {
    let (kit, paid) = till();
    let model =
        ScriptedModel::default().then([call("c1", "pay", "1"), call("c2", "pay", "20"), call("c3", "pay", "300")]);
    let agent = suspending(&model, &kit);
    let mut state = finish(&agent, request()).await.state;
    for approval in state.approvals().into_iter().take(2) {
        agent.verdict(&mut state, approval.approve()).unwrap();
    }
    let count = events(suspending(&ScriptedModel::default(), &kit).start(state.clone())).await.len();
    for stop in 0..count {
        paid.store(0, Ordering::SeqCst);
        let agent = suspending(&ScriptedModel::default(), &kit);
        let mut run = agent.start(state.clone());
        let mut outputs = 0;
        for _ in 0..=stop {
            outputs += usize::from(matches!(run.next().await, Some(LoopEvent::Tool(ToolEvent::Output { .. }))));
        }
        let mut snapshot = stored(&run.state());
        drop(run);
        let kept = snapshot.history().iter().filter(|item| matches!(item, Item::ToolOutput(_))).count();
        assert!(kept >= outputs, "after event {stop}: {:?}", told(snapshot.history()));
        assert_eq!(
            snapshot.approvals().len(),
            3 - kept,
            "after event {stop}: a call without a result is pending again"
        );
        for approval in snapshot.approvals().into_iter().filter(|approval| approval.call_id != "c3") {
            agent.verdict(&mut snapshot, approval.approve()).unwrap();
        }
        let outcome = finish(&agent, snapshot).await;
        assert_eq!(ended(&outcome.end), "waiting for 0 and 1");
        assert_eq!(
            told(outcome.state.history())[4..],
            ["asked c3", "output c1: paid 1", "output c2: paid 20"],
            "after event {stop}"
        );
        if kept == 2 {
            assert_eq!(paid.load(Ordering::SeqCst), 21, "after event {stop}: what is written down ran once");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_waiting_calls_with_one_id_are_rejected_before_either_runs() {
    let (kit, paid) = till();
    let approval = async |arguments: &str, id: &str| {
        let model = ScriptedModel::default().then([call("c1", "pay", arguments)]);
        let mut approval = finish(&suspending(&model, &kit), request()).await.state.approvals().remove(0);
        approval.request_id = id.into();
        approval
    };
    let (small, large) = (approval("5", "q1").await, approval("700", "q2").await);
    let history = vec![
        Item::user("go"),
        call("c1", "pay", "5").into(),
        small.clone().into(),
        Item::user("more"),
        call("c1", "pay", "700").into(),
        large.into(),
        small.approve().into(),
    ];
    let state = LoopState::new(TurnRequest::new("any", history));
    let outcome = finish(&suspending(&ScriptedModel::default(), &kit), stored(&state)).await;
    assert_eq!((ended(&outcome.end).as_str(), paid.load(Ordering::SeqCst)), ("failed: unreconciled", 0));
    assert_eq!(outcome.state, state);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_on_a_resolved_request_is_rejected() {
    let (kit, _) = till();
    let model = ScriptedModel::default().then([call("c1", "pay", "1")]).then("done");
    let agent = suspending(&model, &kit);
    let mut state = finish(&agent, request()).await.state;
    let approval = state.approvals().remove(0);
    agent.verdict(&mut state, approval.approve()).unwrap();
    let mut state = finish(&agent, state).await.state;
    let error = agent.verdict(&mut state, approval.approve()).unwrap_err();
    let words = format!(
        "the approval request `{}` is not pending: it is resolved already, or was never made here; none is pending",
        approval.request_id
    );
    assert_eq!(error.to_string(), words);

    // The request may still be in the history after its call has an output.
    state.request_mut().history.push(approval.clone().into());
    assert_eq!(agent.verdict(&mut state, approval.approve()).unwrap_err().to_string(), words);
}
