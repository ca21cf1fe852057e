//! Loops over live tools: one snapshot for each turn, and resumed calls on the tools of that time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use haft_core::ApprovalRule;
use haft_executor::{
    ApprovalPolicy, Changed, Cx, RunOptions, SharedToolkit, Snapshot, Suspend, ToolSource, VerdictFault,
};
use haft_model::{LoopError, ModelError, ScriptedTurn, StateError};

use super::*;

/// A tool that returns its version, in its definition and in its result.
fn version(name: &str, version: u32) -> Tool {
    Tool::new(name).describe(format!("v{version}")).handler(move |(), _cx| async move { version }).unwrap()
}

/// The same tool, which requires approval.
fn gated(name: &str, number: u32) -> Tool {
    version(name, number).set_needs_approval(ApprovalPolicy::always()).unwrap()
}

/// Returns the tools that each request offered, with their descriptions.
fn offered(model: &ScriptedModel) -> Vec<Vec<String>> {
    let offer = |tool: &Arc<haft_core::ToolDescriptor>| {
        format!("{} {}", tool.name, tool.description.as_deref().unwrap_or_default())
    };
    model.requests().iter().map(|request| request.tools.iter().map(offer).collect()).collect()
}

fn outputs(state: &LoopState) -> Vec<String> {
    told(state.history()).into_iter().filter(|told| told.starts_with("output")).collect()
}

/// A source that counts its snapshots.
struct Counting(SharedToolkit, Arc<AtomicUsize>);

impl ToolSource for Counting {
    fn snapshot(&self) -> Snapshot {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.snapshot()
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        self.0.changed(after)
    }
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_is_taken_once_for_each_turn() {
    let (tools, taken) = (SharedToolkit::default(), Arc::new(AtomicUsize::new(0)));
    tools.add(version("a", 1)).unwrap();
    let transient = || ModelError::RateLimited { message: "busy".into(), retry_after: None };
    let model = ScriptedModel::default()
        .then(ScriptedTurn::failed(transient()))
        .then([call("c1", "a", ""), call("c2", "a", "")])
        .then([call("c3", "a", "")])
        .then("done");
    let agent = TurnLoop::new(model, Counting(tools, Arc::clone(&taken)));
    assert_eq!(taken.load(Ordering::SeqCst), 0, "nothing happens before the loop is started");
    assert_eq!(finish(&agent, request()).await.end, LoopEnd::Stopped);
    assert_eq!(taken.load(Ordering::SeqCst), 3);
}

/// Everything that changes between the request and the calls of its turn counts from the next turn on.
#[tokio::test(start_paused = true)]
async fn a_call_runs_the_tool_that_the_model_was_shown() {
    let tools = SharedToolkit::new(Toolkit::from_iter([version("kept", 1), version("gone", 1)]));
    let meanwhile = tools.clone();
    let first = ScriptedTurn::calls([call("c1", "kept", ""), call("c2", "gone", ""), call("c3", "new", "")]);
    let first = first.check(move |_| {
        meanwhile.replace(version("kept", 2));
        meanwhile.remove("gone");
        meanwhile.add(version("new", 2)).map_err(|error| error.to_string())
    });
    let second = [call("c4", "kept", ""), call("c5", "gone", ""), call("c6", "new", "")];
    let model = ScriptedModel::default().then(first).then(second).then("done");
    let outcome = finish(&TurnLoop::new(model.clone(), tools), request()).await;
    assert_eq!(
        outputs(&outcome.state),
        [
            "output c1: 1",
            "output c2: 1",
            "output c3: unknown_tool",
            "output c4: 2",
            "output c5: unknown_tool",
            "output c6: 2"
        ]
    );
    assert_eq!(offered(&model)[..2], [["kept v1", "gone v1"], ["kept v2", "new v2"]]);
}

/// A request that is retried offers the same tools, so a change between two attempts does not matter.
#[tokio::test(start_paused = true)]
async fn a_retry_offers_the_same_tools() {
    let tools = SharedToolkit::new(Toolkit::from_iter([version("a", 1)]));
    let meanwhile = tools.clone();
    let failed = ScriptedTurn::failed(ModelError::RateLimited { message: "busy".into(), retry_after: None });
    let failed = failed.check(move |_| meanwhile.replace(version("a", 2)).map(drop).ok_or("it was there"));
    let model = ScriptedModel::default().then(failed).then([call("c1", "a", "")]).then("done");
    let outcome = finish(&TurnLoop::new(model.clone(), tools), request()).await;
    assert_eq!(offered(&model), [["a v1"], ["a v1"], ["a v2"]]);
    assert_eq!(outputs(&outcome.state), ["output c1: 1"]);
}

#[tokio::test(start_paused = true)]
async fn tools_that_a_handler_adds_are_offered_in_the_next_turn() {
    let tools = SharedToolkit::default();
    let inside = tools.clone();
    let learn = Tool::new("learn").handler(move |name: String, _: Cx| {
        let is_added = inside.add(version(&name, 1)).is_ok();
        async move { is_added }
    });
    tools.add(learn.unwrap()).unwrap();
    let source = tools.namespaced("ns").unwrap();
    let model = ScriptedModel::default()
        .then([call("c1", "ns__learn", "\"x\""), call("c2", "ns__x", "")])
        .then([call("c3", "ns__x", "")])
        .then("done");
    let outcome = finish(&TurnLoop::new(model.clone(), source), request()).await;
    assert_eq!(outputs(&outcome.state), ["output c1: true", "output c2: unknown_tool", "output c3: 1"]);
    assert_eq!(offered(&model)[1], ["ns__learn ", "ns__x v1"]);
}

#[tokio::test(start_paused = true)]
async fn the_decide_function_may_set_another_live_source() {
    let (first, second) = (SharedToolkit::default(), SharedToolkit::default());
    first.add(version("a", 1)).unwrap();
    second.add(version("b", 1)).unwrap();
    let model = ScriptedModel::new([[call("c1", "a", "")], [call("c2", "b", "")], [call("c3", "b", "")]]).then("done");
    let next = second.clone();
    let agent = TurnLoop::new(model.clone(), first.clone()).decide(move |mut after| {
        match after.number() {
            1 => after.set_tools(next.clone()),
            2 => drop(next.replace(version("b", 2))),
            _ => drop(next.remove("b")),
        }
        async move { after.as_usual() }
    });
    let outcome = finish(&agent, request()).await;
    assert_eq!(outputs(&outcome.state), ["output c1: 1", "output c2: 1", "output c3: 2"]);
    assert_eq!(offered(&model), [vec!["a v1"], vec!["b v1"], vec!["b v2"], vec![]]);
}

/// Starts a loop that waits for approval of `pay`, and returns its state as another process reads it.
async fn waiting(tools: &SharedToolkit) -> (TurnLoop, LoopState) {
    tools.replace(gated("pay", 1));
    let model = ScriptedModel::default().then([call("c1", "pay", "")]).then("done");
    let agent = TurnLoop::new(model, tools.clone()).options(RunOptions::new().approvals(Suspend));
    let outcome = finish(&agent, request()).await;
    assert_eq!(ended(&outcome.end), "waiting for 0 and 1");
    (agent, stored(&outcome.state))
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_runs_if_the_definition_is_the_same() {
    let tools = SharedToolkit::default();
    let (agent, mut state) = waiting(&tools).await;
    let asked = state.approvals().remove(0);
    tools.remove("pay");
    tools.add(version("look", 1)).unwrap();
    tools.add(gated("pay", 1)).unwrap();
    agent.verdict(&mut state, asked.approve()).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!((outcome.end, outputs(&outcome.state)), (LoopEnd::Stopped, vec!["output c1: 1".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn approval_is_requested_again_if_the_definition_has_changed() {
    let tools = SharedToolkit::default();
    let (agent, mut state) = waiting(&tools).await;
    let old = state.approvals().remove(0);
    // The verdict is given in time, and the tool changes before the loop goes on.
    agent.verdict(&mut state, old.approve()).unwrap();
    tools.replace(gated("pay", 2));
    let seen = events(agent.start(stored(&state))).await;
    let told = words(&seen);
    assert_eq!(told[..3], ["resumed 1", "asked 0", "suspended 0"], "{told:?}");
    assert_eq!(told.last().unwrap(), "waiting for 0 and 1");
    assert!(told.contains(&format!("refused {}", old.request_id)), "{told:?}");
    let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
    let mut state = stored(state);
    let new = state.approvals().remove(0);
    assert_eq!(new.rule, Some(ApprovalRule::DefinitionChanged));
    assert_ne!((&new.request_id, &new.digest), (&old.request_id, &old.digest));
    assert!(matches!(agent.verdict(&mut state, old.approve()), Err(StateError::UnknownApproval { .. })));

    // The tool changes once more: the verdict is rejected already when it is added.
    tools.replace(gated("pay", 3));
    let rejected = agent.verdict(&mut state, new.approve());
    assert!(matches!(rejected, Err(StateError::Verdict { fault: VerdictFault::OtherDigest, .. })), "{rejected:?}");
    tools.replace(gated("pay", 2));
    agent.verdict(&mut state, new.approve()).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!((outcome.end, outputs(&outcome.state)), (LoopEnd::Stopped, vec!["output c1: 2".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waited_fails_if_its_tool_is_gone() {
    for is_decided in [true, false] {
        let tools = SharedToolkit::default();
        let (agent, mut state) = waiting(&tools).await;
        let asked = state.approvals().remove(0);
        if is_decided {
            agent.verdict(&mut state, asked.approve()).unwrap();
        }
        tools.remove("pay");
        let outcome = finish(&agent, stored(&state)).await;
        let expected = (LoopEnd::Stopped, vec!["output c1: unknown_tool".to_owned()]);
        assert_eq!((outcome.end, outputs(&outcome.state)), expected);
        assert!(outcome.state.approvals().is_empty());
    }
}

/// While a resumed call runs, changes do not affect it.
#[tokio::test(start_paused = true)]
async fn a_resumed_call_keeps_the_tools_that_it_was_resumed_with() {
    let tools = SharedToolkit::default();
    let (agent, mut state) = waiting(&tools).await;
    let asked = state.approvals().remove(0);
    agent.verdict(&mut state, asked.approve()).unwrap();
    let mut run = agent.start(state);
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        tools.remove("pay");
        seen.push(event);
    }
    assert_eq!(words(&seen)[..3], ["resumed 1", "resolved 0", "output 0: 1"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_checked_by_the_interaction_of_its_time() {
    let ask = |tool: Result<Tool, haft_executor::DefinitionError>| Toolkit::from_iter([tool.unwrap()]);
    let text = ask(Tool::interaction("ask").success::<String>().define());
    let number = ask(Tool::interaction("ask").success::<u8>().define());
    let local = Toolkit::from_iter([version("ask", 1)]);
    for (later, expected) in [
        (text.clone(), "output c1: 7 or 8"),
        (number, "failed: answer"),
        (local, "output c1: unknown_tool"),
        (Toolkit::new(), "output c1: unknown_tool"),
    ] {
        let tools = SharedToolkit::new(text.clone());
        let model = ScriptedModel::default().then([call("c1", "ask", "{}")]).then("done");
        let agent = TurnLoop::new(model, tools.clone());
        let mut state = stored(&finish(&agent, request()).await.state);
        state.answer("c1", "7 or 8").unwrap();
        tools.update(|_| Ok::<_, std::convert::Infallible>(later.clone())).unwrap();
        let outcome = finish(&agent, state).await;
        let came = outputs(&outcome.state).pop().unwrap_or_else(|| ended(&outcome.end));
        assert_eq!(came, expected);
    }
}

/// A person answered, and the interaction is gone: the model reads `unknown_tool`, and the application gets the answer.
#[tokio::test(start_paused = true)]
async fn an_answer_to_an_interaction_that_is_gone_is_in_the_metadata_of_the_result() {
    let tools = SharedToolkit::new(Toolkit::from_iter([Tool::interaction("ask").define().unwrap()]));
    let model = ScriptedModel::default().then([call("c1", "ask", "{}"), call("c2", "ask", "{}")]).then("done");
    let agent = TurnLoop::new(model.clone(), tools.clone());
    let mut state = stored(&finish(&agent, request()).await.state);
    state.answer("c1", serde_json::json!({"chosen": [1, 2]})).unwrap();
    state.close("c2", "nobody was there").unwrap();
    tools.remove("ask");
    let seen = events(agent.start(stored(&state))).await;
    let results: Vec<_> = seen
        .iter()
        .filter_map(|event| if let LoopEvent::Tool(event) = event { event.result() } else { None })
        .collect();
    let metadata: Vec<_> =
        results.iter().map(|result| result.metadata().cloned().map(serde_json::Value::from)).collect();
    assert_eq!(metadata, [Some(serde_json::json!({"answer": {"chosen": [1, 2]}})), None]);
    assert!(!results[0].to_model_text().contains("chosen"));
    let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
    assert_eq!(outputs(state), ["output c1: unknown_tool", "output c2: cancelled"]);
    let state = stored(state);
    let Item::ToolOutput(output) = &state.history()[3] else { panic!() };
    assert_eq!(output.metadata.as_ref().unwrap()["answer"]["chosen"][1], 2);
}

/// The definition changes and changes back while approval is pending: the first request is valid again.
#[tokio::test(start_paused = true)]
async fn a_definition_that_changed_back_needs_no_new_request() {
    let tools = SharedToolkit::default();
    let (agent, mut state) = waiting(&tools).await;
    let asked = state.approvals().remove(0);
    tools.replace(gated("pay", 2));
    assert!(agent.verdict(&mut state, asked.approve()).is_err());
    tools.replace(gated("pay", 1));
    agent.verdict(&mut state, asked.approve()).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!((outcome.end, outputs(&outcome.state)), (LoopEnd::Stopped, vec!["output c1: 1".to_owned()]));
}

/// A source that fails when waiting calls are resumed: no answer and no verdict is used up.
#[tokio::test(start_paused = true)]
async fn a_source_that_panics_at_a_resume_leaves_verdicts_in_the_state() {
    let tools = SharedToolkit::default();
    let (agent, mut state) = waiting(&tools).await;
    let yes = state.approvals()[0].approve();
    agent.verdict(&mut state, yes).unwrap();
    let model = ScriptedModel::new(["unused"]);
    let broken = TurnLoop::new(model, Broken(Mutex::new(0))).options(RunOptions::new().approvals(Suspend));
    let outcome = finish(&broken, stored(&state)).await;
    assert_eq!((ended(&outcome.end).as_str(), &outcome.state), ("failed: source_panicked", &state));
    assert_eq!(outputs(&finish(&agent, stored(&outcome.state)).await.state), ["output c1: 1"]);
}

/// A source that panics from some snapshot on.
struct Broken(Mutex<u32>);

impl ToolSource for Broken {
    fn snapshot(&self) -> Snapshot {
        let left = {
            let mut left = self.0.lock().unwrap();
            *left = left.saturating_sub(1);
            *left
        };
        assert!(left > 0, "no more tools");
        Snapshot::new(Toolkit::from_iter([version("a", 1)]), 1)
    }

    fn changed(&self, _: u64) -> Changed<'_> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_panics_ends_the_loop_and_no_state_is_lost() {
    let model = ScriptedModel::default().then([call("c1", "a", "")]).then("done");
    let agent = TurnLoop::new(model.clone(), Broken(Mutex::new(2)));
    let outcome = finish(&agent, request()).await;
    let LoopEnd::Failed(LoopError::SourcePanicked { message }) = &outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!(message, "no more tools");
    assert_eq!(outputs(&outcome.state), ["output c1: 1"]);
    let agent = TurnLoop::new(model, Toolkit::new());
    assert_eq!(finish(&agent, stored(&outcome.state)).await.end, LoopEnd::Stopped);
}

/// Loops that share a source see its changes, each from its next turn on.
#[tokio::test(start_paused = true)]
async fn one_source_serves_many_loops() {
    let tools = SharedToolkit::new(Toolkit::from_iter([version("a", 1)]));
    let agents: Vec<_> = (0..3)
        .map(|_| {
            let model = ScriptedModel::new([[call("c1", "a", "")], [call("c2", "a", "")]]).then("done");
            TurnLoop::new(model, tools.clone()).start(request())
        })
        .collect();
    for (number, run) in agents.into_iter().enumerate() {
        let number = u32::try_from(number).unwrap();
        let mut run = run;
        while let Some(event) = run.next().await {
            if matches!(event, LoopEvent::TurnEnded { number: 1, .. }) {
                tools.replace(version("a", number + 2));
            }
        }
        let state = run.finish().await.state;
        let expected = [format!("output c1: {}", number + 1), format!("output c2: {}", number + 2)];
        assert_eq!(outputs(&state), expected);
    }
}
