//! States that are stored and read back, consistent or not.

use haft_core::{ApprovalDecision, ApprovalRequest, Delta, Verdict};
use haft_model::{ScriptedModel, StateError};
use serde_json::{Value, json};

use super::*;

fn script() -> ScriptedModel {
    ScriptedModel::default()
        .then([call("c1", "double", "1"), call("c2", "note", "2")])
        .then([call("c3", "double", "1"), call("c4", "double", "3")])
        .then("done")
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_taken_at_any_event_leads_to_the_same_end() {
    let whole = finish(&agent(&script()), request()).await.state;
    let count = events(agent(&script()).start(request())).await.len();
    for stop in 0..count {
        let model = script();
        let mut run = agent(&model).start(request());
        for _ in 0..=stop {
            run.next().await;
        }
        let snapshot = stored(&run.state());
        assert!(haft_core::history::is_reconciled(snapshot.history()), "after event {stop}");
        drop(run);
        let turns = usize::try_from(snapshot.turns()).unwrap();
        let rest = ScriptedModel::new(script_turns().split_off(turns));
        let outcome = finish(&agent(&rest), snapshot).await;
        assert_eq!(outcome.end, LoopEnd::Stopped, "after event {stop}");
        assert_eq!(told(outcome.state.history()), told(whole.history()), "after event {stop}");
        assert_eq!((outcome.state.turns(), outcome.state.calls()), (whole.turns(), whole.calls()));
    }
}

fn script_turns() -> Vec<haft_model::ScriptedTurn> {
    vec![
        [call("c1", "double", "1"), call("c2", "note", "2")].into(),
        [call("c3", "double", "1"), call("c4", "double", "3")].into(),
        "done".into(),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_state_in_which_the_model_is_done_stays_done_until_an_item_is_added() {
    let model = ScriptedModel::new(["one", "two", "three", "four"]);
    let first = finish(&agent(&model), request()).await;
    assert!(first.state.is_done());
    let again = finish(&agent(&model), stored(&first.state)).await;
    assert_eq!((&again, model.requests().len()), (&first, 1), "the model is not asked twice");

    let mut state = finish(&agent(&model), again.state.follow_up(Item::user("more"))).await.state;
    assert_eq!(state.text(), "two");
    state.request_mut().history.push(Item::user("more"));
    let talkative = agent(&model).decide(|mut after| async move {
        after.push(Item::user("and?"));
        after.stop()
    });
    let state = finish(&talkative, state).await.state;
    assert!(!state.is_done(), "something was said after the model");
    assert_eq!(finish(&agent(&model), state).await.state.text(), "four");
}

#[tokio::test(start_paused = true)]
async fn a_state_that_was_stopped_in_the_middle_continues() {
    let model = ScriptedModel::default().then([call("c1", "double", "1")]).then("done");
    let paused = finish(&agent(&model).decide(|after| async { after.stop() }), request()).await;
    assert_eq!(paused.end, LoopEnd::Stopped);
    let outcome = finish(&agent(&model), stored(&paused.state)).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "done"));
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_in_the_middle_of_a_turn_is_the_state_before_it() {
    let model = script();
    let mut run = agent(&model).start(request());
    while !matches!(run.next().await, Some(LoopEvent::Delta(Delta::TurnComplete(_)))) {}
    assert_eq!((run.state().turns(), run.state().history().len()), (0, 1));
    while !matches!(run.next().await, Some(LoopEvent::TurnEnded { .. })) {}
    assert_eq!((run.state().turns(), run.state().history().len()), (1, 5));
}

#[tokio::test(start_paused = true)]
async fn a_state_has_a_fixed_form() {
    let model = ScriptedModel::default().then([call("c1", "double", "1"), call("c2", "ask", "\"?\"")]);
    let state = finish(&agent(&model), request()).await.state;
    let written = serde_json::to_value(&state).unwrap();
    assert_eq!((&written["v"], &written["turns"], &written["calls"]), (&json!(1), &json!(1), &json!(2)));
    let ask = call("", "ask", "\"?\"").argument_digest();
    assert_eq!(written["seen"], json!({"ask": {ask: 1}}), "the equal calls in a row");
    assert!(written.get("lacks_calls").is_none());
    assert_eq!(written["open"]["interactions"][0]["call"]["call_id"], "c2");
    assert!(written["time_used_ms"].is_u64() && written["request"].get("tools").is_none());
    assert_eq!(stored(&state).interactions(), state.interactions());
}

#[test]
fn a_request_alone_is_a_valid_state() {
    let read: LoopState = serde_json::from_value(json!({"request": {"model": "m", "history": []}})).unwrap();
    assert_eq!(read, LoopState::new(TurnRequest::new("m", vec![])));
}

fn waiting() -> Value {
    let call = json!({"call_id": "c1", "name": "ask", "arguments": "\"?\""});
    let mut item = call.clone();
    item["type"] = json!("tool_call");
    json!({
        "v": 1,
        "request": {"model": "m", "history": [item.clone()]},
        "turns": 1,
        "open": {
            "turn": {"items": [item], "finish": "tool_calls"},
            "interactions": [{"call": call, "arguments": "\"?\""}]
        }
    })
}

type Change = fn(&mut Value, Value);

#[test]
fn states_that_are_newer_or_contradict_themselves_are_rejected() {
    serde_json::from_value::<LoopState>(waiting()).unwrap();
    let output = json!({"type": "tool_output", "call_id": "c1", "output": "x"});
    let changes: [(&str, Change, &str); 15] = [
        ("newer", |state, _| state["v"] = json!(2), "newer version"),
        ("no history", |state, _| state["request"]["history"] = json!("gone"), "invalid type"),
        ("no call", |state, _| state["request"]["history"] = json!([]), "contains no such call"),
        (
            "answered",
            |state, output| state["request"]["history"].as_array_mut().unwrap().push(output),
            "contains its output",
        ),
        (
            "twice",
            |state, _| {
                let open = state["open"]["interactions"].as_array_mut().unwrap();
                open.push(open[0].clone());
            },
            "two interactions",
        ),
        ("done and open", |state, _| state["done"] = json!(true), "the state is done, but a turn is open"),
        (
            "another tool",
            |state, _| state["open"]["interactions"][0]["call"]["name"] = json!("tell"),
            "the interaction `c1` is open, but the call at 0 of the history has another tool or other arguments",
        ),
        (
            "other arguments",
            |state, _| state["request"]["history"][0]["arguments"] = json!("\"!\""),
            "the call at 0 of the history",
        ),
        ("an empty turn", |state, _| state["open"]["turn"]["items"] = json!([]), "the open turn has no items"),
        (
            "another turn",
            |state, _| state["open"]["turn"]["items"][0]["call_id"] = json!("c9"),
            "the interaction `c1` is open, but the open turn contains no such call",
        ),
        (
            "half an argument",
            |state, _| state["open"]["interactions"][0]["arguments"] = json!("[1"),
            "EOF while parsing",
        ),
        ("negative", |state, _| state["turns"] = json!(-1), "invalid"),
        ("half a turn", |state, _| state["open"] = json!({"interactions": []}), "missing field `turn`"),
        ("odd counts", |state, _| state["seen"] = json!({"ask": 3}), "invalid type"),
        ("no request", |state, _| drop(state.as_object_mut().unwrap().remove("request")), "missing field `request`"),
    ];
    for (name, change, words) in changes {
        let mut state = waiting();
        change(&mut state, output.clone());
        let error = serde_json::from_value::<LoopState>(state).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_inconsistent_state_in_memory_is_an_error_when_it_is_started() {
    let model = ScriptedModel::default().then([call("c1", "ask", "\"?\"")]);
    let mut state = finish(&agent(&model), request()).await.state;
    state.request_mut().history.clear();
    let outcome = finish(&agent(&model), state).await;
    assert_eq!(ended(&outcome.end), "failed: state");
    assert_eq!(outcome.state.interactions().len(), 1, "and nothing is lost");
}

#[test]
fn an_approval_request_takes_one_verdict() {
    let pay = call("c1", "double", "1");
    let agent = agent(&ScriptedModel::default());
    let digest = kit().get("double").unwrap().approval_digest(&json!(1));
    let approval = ApprovalRequest::new("q1", &pay).digest(digest);
    let mut state = LoopState::new(TurnRequest::new("m", vec![pay.into(), approval.clone().into()]));
    let stranger = Verdict::new("q2", ApprovalDecision::Approved);
    assert_eq!(
        agent.verdict(&mut state, stranger).unwrap_err(),
        StateError::UnknownApproval { request_id: "q2".into(), pending: vec!["q1".into()] }
    );
    agent.verdict(&mut state, approval.approve()).unwrap();
    let second = agent.verdict(&mut state, approval.deny("no")).unwrap_err();
    assert_eq!(second, StateError::AlreadyDecided { request_id: "q1".into() });
    assert_eq!(told(state.history()), ["call c1", "asked c1", "said approved"]);
}

#[test]
fn answers_to_unknown_calls_are_rejected() {
    let mut state = LoopState::new(request());
    assert!(matches!(state.answer("c1", 1), Err(StateError::UnknownInteraction { .. })));
    assert!(matches!(state.close("c1", "no"), Err(StateError::UnknownInteraction { .. })));
}

/// JSON text of nested lists.
fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[tokio::test(start_paused = true)]
async fn a_state_with_deeply_nested_data_can_be_read() {
    let any = || Tool::interaction("deep").params::<Value>().success::<Value>();
    let give = Tool::new("give").handler(|depth: usize, _cx| async move { deep(depth) });
    let note = Tool::signal("deep_note").params::<Value>().define();
    let kit: Toolkit = [any().define(), give, note].into_iter().map(Result::unwrap).collect();
    for depth in [60, 100, 124, 127, 128] {
        let calls = [
            call("c1", "deep", &nested(depth)),
            call("c2", "give", &depth.to_string()),
            call("c3", "deep_note", &nested(depth)),
        ];
        let model = ScriptedModel::default().then(calls).then("done");
        let agent = TurnLoop::new(model, kit.clone());
        let seen = events(agent.start(request())).await;
        let Some(last @ LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
        assert_eq!(ended(end), "waiting for 1 and 0", "{depth}");
        let read: LoopEvent = serde_json::from_str(&serde_json::to_string(last).unwrap()).unwrap();
        assert_eq!(&read, last, "{depth}");
        let signal = seen.iter().find(|event| matches!(event, LoopEvent::Signal(_))).unwrap();
        let read: LoopEvent = serde_json::from_str(&serde_json::to_string(signal).unwrap()).unwrap();
        assert_eq!(&read, signal, "{depth}");

        let mut state = stored(state);
        assert_eq!(state.interactions()[0].decode::<Value>().unwrap(), deep(depth));
        state.answer("c1", deep(depth)).unwrap();
        let outcome = finish(&agent, stored(&state)).await;
        assert_eq!(outcome.end, LoopEnd::Stopped, "{depth}");
        let given = format!("output c1: {}", nested(depth));
        assert_eq!(told(outcome.state.history())[4..6], [given, format!("output c2: {}", nested(depth))]);
    }
}

fn deep(depth: usize) -> Value {
    (1..depth).fold(json!([]), |inner, _| json!([inner]))
}

#[tokio::test(start_paused = true)]
async fn a_deeply_nested_item_can_be_stored() {
    let thought = Item::Unknown(json!({"type": "hunch", "of": deep(300)}));
    let model = ScriptedModel::default().then(Turn::new(vec![thought.clone()], Finish::Stop));
    let outcome = finish(&agent(&model), request()).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    assert_eq!(stored(&outcome.state).history()[1], thought);
    assert!(serde_json::to_value(&outcome.state).unwrap()["request"].is_string());
}
