//! Idempotency keys of calls that wait for a verdict, and the events of handlers that start.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use haft_executor::{ApprovalPolicy, Cx, RunOptions, Suspend};
use haft_model::ScriptedModel;

use super::*;

type Keys = Arc<Mutex<Vec<(String, String)>>>;

/// The kit of a new process, with `pay`, which requires approval. Handlers note their call ids and keys.
fn till(keys: &Keys) -> Toolkit {
    let noted = Arc::clone(keys);
    let pay = Tool::new("pay").handler(move |cents: u64, cx: Cx| {
        noted.lock().unwrap().push((cx.call_id().to_string(), cx.idempotency_key()));
        async move { cents }
    });
    let pay = pay.unwrap();
    let free = pay.with_name("free").unwrap();
    kit().with(pay.set_needs_approval(ApprovalPolicy::always()).unwrap()).unwrap().with(free).unwrap()
}

fn agent(model: &ScriptedModel, keys: &Keys, options: RunOptions) -> TurnLoop {
    TurnLoop::new(model.clone(), till(keys)).options(options.approvals(Suspend))
}

/// Approves everything that waits.
fn approved(agent: &TurnLoop, state: &LoopState) -> LoopState {
    let mut state = stored(state);
    for request in state.approvals() {
        agent.verdict(&mut state, request.approve()).unwrap();
    }
    state
}

fn take(keys: &Keys) -> Vec<(String, String)> {
    std::mem::take(&mut keys.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waited_has_one_key_however_often_it_is_resumed() {
    for options in [RunOptions::new(), RunOptions::new().run_id("conversation")] {
        let keys = Keys::default();
        let script = [call("c1", "pay", "1"), call("c2", "free", "2"), call("c3", "pay", "3")];
        let model = ScriptedModel::default().then(script);
        let waiting = finish(&agent(&model, &keys, options), request()).await.state;
        let at_once = take(&keys);
        assert_eq!(at_once.len(), 1);

        // The same stored state, resumed by three processes, of which the first two crashed. The options of a process
        // do not replace the id of a run that waits.
        let mut seen = Vec::new();
        for options in [RunOptions::new(), RunOptions::new(), RunOptions::new().run_id("another")] {
            let model = ScriptedModel::default().then("done");
            let agent = agent(&model, &keys, options);
            let outcome = finish(&agent, approved(&agent, &waiting)).await;
            assert_eq!(outcome.end, LoopEnd::Stopped);
            seen.push(take(&keys));
            let written = serde_json::to_value(&outcome.state).unwrap();
            assert!(written.get("run_ids").is_none(), "nothing waits any more: {written}");
        }
        assert_eq!(seen[0].len(), 2);
        assert!(seen.iter().all(|keys| *keys == seen[0]), "{seen:?}");
        let distinct: HashSet<&String> = seen[0].iter().chain(&at_once).map(|(_, key)| key).collect();
        assert_eq!(distinct.len(), 3);
    }
}

/// Of two calls that wait, one is decided first; the state is stored before and after.
#[tokio::test(start_paused = true)]
async fn a_call_keeps_its_key_while_another_of_its_turn_goes_on() {
    let keys = Keys::default();
    let model = ScriptedModel::default().then([call("c1", "pay", "1"), call("c2", "pay", "2")]).then("done");
    let agent = agent(&model, &keys, RunOptions::new());
    let waiting = finish(&agent, request()).await.state;
    let together = approved(&agent, &waiting);
    let mut first_only = stored(&waiting);
    agent.verdict(&mut first_only, waiting.approvals()[0].approve()).unwrap();
    let rest = finish(&agent, first_only).await;
    assert_eq!(ended(&rest.end), "waiting for 0 and 1");
    finish(&agent, approved(&agent, &rest.state)).await;
    let one_by_one = take(&keys);

    let model = ScriptedModel::default().then("done");
    finish(&self::agent(&model, &keys, RunOptions::new()), together).await;
    assert_eq!(take(&keys), one_by_one);
}

#[tokio::test(start_paused = true)]
async fn a_state_without_run_ids_is_read_and_gets_them_when_it_is_started() {
    let keys = Keys::default();
    let model = ScriptedModel::default().then([call("c1", "pay", "1")]);
    let waiting = finish(&agent(&model, &keys, RunOptions::new()), request()).await.state;
    let mut written = serde_json::to_value(&waiting).unwrap();
    assert!(written.as_object_mut().unwrap().shift_remove("run_ids").is_some());
    let old: LoopState = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&old).unwrap(), written, "written as it was read");

    let model = ScriptedModel::default().then("done");
    let agent = agent(&model, &keys, RunOptions::new());
    // Nobody decides, so it goes on waiting, and from now on with an id.
    let waiting = finish(&agent, old).await.state;
    for _ in 0..2 {
        let mut run = agent.start(approved(&agent, &waiting));
        while !matches!(run.next().await, Some(LoopEvent::Tool(ToolEvent::Output { .. }))) {}
    }
    let seen = take(&keys);
    assert_eq!((seen.len(), &seen[0]), (2, &seen[1]));
}

#[tokio::test(start_paused = true)]
async fn equal_calls_of_other_conversations_have_other_keys() {
    let keys = Keys::default();
    for _ in 0..3 {
        let model =
            ScriptedModel::default().then([call("c1", "free", "1")]).then([call("c2", "free", "1")]).then("done");
        finish(&agent(&model, &keys, RunOptions::new()), request()).await;
    }
    let seen: HashSet<String> = take(&keys).into_iter().map(|(_, key)| key).collect();
    assert_eq!(seen.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_started_handler_is_reported_with_the_index_of_its_call_in_the_turn() {
    let keys = Keys::default();
    let model = ScriptedModel::default().then([call("c1", "pay", "1"), call("c2", "free", "2")]).then("done");
    let agent = agent(&model, &keys, RunOptions::new().started_events());
    let started = |events: &[LoopEvent]| -> Vec<(usize, String)> {
        let started = events.iter().filter_map(|event| match event {
            LoopEvent::Tool(ToolEvent::Started { index, call_id, attempt: 1, .. }) => {
                Some((*index, call_id.to_string()))
            }
            _ => None,
        });
        started.collect()
    };
    let mut run = agent.start(request());
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    assert_eq!(started(&events), [(1, "c2".to_owned())]);
    let mut run = agent.start(approved(&agent, &run.state()));
    events.clear();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    assert_eq!(started(&events), [(0, "c1".to_owned())]);
}
