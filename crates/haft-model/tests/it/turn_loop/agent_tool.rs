//! Agents as tools of other agents.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_core::{ApprovalRequest, FailureKind, Question, Usage};
use haft_executor::{ApprovalPolicy, RunOptions, SharedToolkit, Suspend, SuspendedError, VerdictFault};
use haft_model::{Budget, LoopError, ModelError, ScriptedTurn, StateError};
use serde_json::{Value, json};

use super::*;

fn task(id: &str, tool: &str) -> ToolCall {
    call(id, tool, r#"{"task": "do it"}"#)
}

fn pay(paid: &Arc<AtomicU64>) -> Tool {
    let paid = Arc::clone(paid);
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(move |cents: u64, _cx| {
        paid.fetch_add(cents, Ordering::SeqCst);
        async move { format!("paid {cents}") }
    });
    pay.unwrap()
}

/// A model that makes calls first and then says something.
fn calls_then(calls: impl IntoIterator<Item = ToolCall>, text: &str) -> ScriptedModel {
    ScriptedModel::default().then(calls.into_iter().collect::<Vec<_>>()).then(text)
}

/// `clerk` pays, `manager` asks `clerk`, and the agent that is returned asks `manager`.
fn company(paid: &Arc<AtomicU64>, payments: &[&str]) -> TurnLoop {
    let payments: Vec<_> = payments.iter().enumerate().map(|(n, cents)| call(&format!("p{n}"), "pay", cents)).collect();
    let clerk = TurnLoop::new(calls_then(payments, "the clerk is done"), Toolkit::from_iter([pay(paid)]));
    let clerk = clerk.as_tool("clerk", "Pays.").build().unwrap();
    let manager = TurnLoop::new(calls_then([task("m1", "clerk")], "the manager is done"), Toolkit::from_iter([clerk]));
    let manager = manager.as_tool("manager", "Lets others pay.").build().unwrap();
    let outer = calls_then([task("o1", "manager")], "all is done");
    TurnLoop::new(outer, Toolkit::from_iter([manager])).options(RunOptions::new().approvals(Suspend))
}

/// Returns the output of the last call that the model read.
fn output(state: &LoopState) -> String {
    told(state.history()).into_iter().rfind(|line| line.starts_with("output")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn approvals_two_levels_down_suspend_and_resume_the_whole() {
    let paid = Arc::default();
    let agent = company(&paid, &["1", "20"]);
    let mut state = stored(&finish(&agent, request()).await.state);
    let open = state.approvals();
    assert_eq!(open.iter().map(|request| request.tool.as_str()).collect::<Vec<_>>(), ["manager", "manager"]);
    let subjects: Vec<_> = open.iter().map(ApprovalRequest::subject).collect();
    assert!(subjects.iter().all(|subject| subject.tool == "pay"));
    assert_eq!(subjects.iter().map(|subject| subject.arguments.as_str()).collect::<Vec<_>>(), ["1", "20"]);
    assert_eq!(finish(&agent, stored(&state)).await.state.approvals(), open, "it goes on waiting");

    // One verdict at a time, each in a process of its own.
    agent.verdict(&mut state, open[0].approve()).unwrap();
    let mut state = stored(&finish(&agent, stored(&state)).await.state);
    assert_eq!(state.approvals(), open[1..]);
    assert_eq!(paid.load(Ordering::SeqCst), 0);
    agent.verdict(&mut state, open[1].edit(json!(30))).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(outcome.state.text(), "all is done");
    assert_eq!(output(&outcome.state), "output o1: the manager is done");
    assert_eq!(paid.load(Ordering::SeqCst), 31);
    assert_eq!((outcome.state.turns(), outcome.state.sub_agent_turns()), (2, 4));
    assert_eq!(outcome.state.calls(), 4);
    assert!(!serde_json::to_string(&outcome.state).unwrap().contains("waiting"), "nothing is left over");
}

#[tokio::test(start_paused = true)]
async fn a_denial_reaches_the_model_inside() {
    let paid = Arc::default();
    let agent = company(&paid, &["1"]);
    let mut state = finish(&agent, request()).await.state;
    let open = state.approvals();
    agent.verdict(&mut state, open[0].deny("too much")).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(outcome.state.text(), "all is done");
    assert_eq!(paid.load(Ordering::SeqCst), 0);
}

/// A verdict that the agent inside does not accept leaves its request open.
#[tokio::test(start_paused = true)]
async fn an_invalid_edit_is_asked_again() {
    let paid = Arc::default();
    let agent = company(&paid, &["1"]);
    let mut state = finish(&agent, request()).await.state;
    let open = state.approvals();
    agent.verdict(&mut state, open[0].edit(json!("much"))).unwrap();
    let mut state = stored(&finish(&agent, stored(&state)).await.state);
    let again = state.approvals();
    assert_ne!(again[0].request_id, open[0].request_id, "a new round");
    assert_eq!(again[0].subject(), open[0].subject());
    agent.verdict(&mut state, again[0].approve()).unwrap();
    assert_eq!(finish(&agent, state).await.state.text(), "all is done");
    assert_eq!(paid.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn an_approver_outside_decides_at_once() {
    let paid = Arc::default();
    let agent = company(&paid, &["1", "20"]);
    let options = RunOptions::new().approvals(|request: ApprovalRequest, _: haft_executor::Cx| async move {
        if request.subject().arguments == "1" { request.approve() } else { request.deny("no") }
    });
    let outcome = agent.start_with(request(), options).finish().await;
    assert_eq!(outcome.state.text(), "all is done");
    assert_eq!(paid.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn without_an_approver_outside_the_calls_inside_are_denied() {
    let paid = Arc::default();
    let clerk =
        TurnLoop::new(calls_then([call("p", "pay", "1")], "nobody allowed it"), Toolkit::from_iter([pay(&paid)]));
    let clerk = clerk.as_tool("clerk", "Pays.").build().unwrap();
    let agent = TurnLoop::new(calls_then([task("o1", "clerk")], "done"), Toolkit::from_iter([clerk]));
    let outcome = finish(&agent, request()).await;
    assert_eq!(output(&outcome.state), "output o1: nobody allowed it");
}

#[tokio::test(start_paused = true)]
async fn an_interaction_inside_is_a_question_outside() {
    let inner = agent(&calls_then([call("i1", "ask", "\"Which colour?\"")], "it is painted"));
    let painter = inner.as_tool("painter", "Paints.").build().unwrap();
    let agent = TurnLoop::new(calls_then([task("o1", "painter")], "done"), Toolkit::from_iter([painter]));
    let agent = agent.options(RunOptions::new().approvals(Suspend));
    let mut state = stored(&finish(&agent, request()).await.state);
    let open = state.approvals();
    let Some(Question::Input { message, schema, .. }) = open[0].question.as_deref() else { panic!("{open:?}") };
    assert_eq!((message.as_str(), &schema["type"]), ("Which colour?", &json!("string")));
    for wrong in [open[0].answer(json!(7)), open[0].approve()] {
        let fault = agent.verdict(&mut state, wrong).unwrap_err();
        assert!(matches!(fault, StateError::Verdict { fault: VerdictFault::Invalid { .. }, .. }), "{fault}");
    }
    agent.verdict(&mut state, open[0].answer(json!("blue"))).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(output(&outcome.state), "output o1: it is painted");
}

#[tokio::test(start_paused = true)]
async fn usage_and_budget_roll_up() {
    let usage = |turn: ScriptedTurn| turn.usage(Usage::new(40, 10));
    let inner = || {
        let model = ScriptedModel::default()
            .then(usage(ScriptedTurn::calls([call("i1", "double", "1")])))
            .then(usage(ScriptedTurn::calls([call("i2", "double", "2")])))
            .then(usage(ScriptedTurn::text("inner")));
        agent(&model).as_tool("helper", "Helps.").build().unwrap()
    };
    let outer = || {
        let model = ScriptedModel::default()
            .then(usage(ScriptedTurn::calls([task("o1", "helper")])))
            .then(usage(ScriptedTurn::text("outer")));
        TurnLoop::new(model, Toolkit::from_iter([inner()]))
    };
    let state = finish(&outer(), request()).await.state;
    assert_eq!((state.usage().total_tokens, state.turns(), state.sub_agent_turns()), (250, 2, 3));
    assert_eq!((state.calls(), state.total_turns()), (3, 5));
    let next = stored(&state).follow_up(Item::user("more"));
    assert_eq!((next.usage().total_tokens, next.sub_agent_turns()), (0, 0));
    assert_eq!((next.total_usage().total_tokens, next.total_turns(), next.total_calls()), (250, 5, 3));

    // 50 for the outer turn and 100 for the inner ones: then nothing is left, inside and outside.
    let outcome = finish(&outer().budget(Budget::new().tokens(150)), request()).await;
    assert_eq!(ended(&outcome.end), "budget(tokens)");
    assert_eq!(outcome.state.usage().total_tokens, 150);
    assert_eq!(output(&outcome.state), "output o1: tool_failed");
    let outcome = finish(&outer().budget(Budget::new().calls(2)), request()).await;
    assert_eq!(output(&outcome.state), "output o1: tool_failed");
}

#[tokio::test(start_paused = true)]
async fn agents_that_call_themselves_are_not_nested_without_end() {
    for depth in [1, 3] {
        let tools = SharedToolkit::default();
        let endless = (0..9).fold(ScriptedModel::default(), |model, n| model.then([task(&format!("c{n}"), "again")]));
        let endless = (0..9).fold(endless, |model, n| model.then(format!("done {n}")));
        let agent = TurnLoop::new(endless.clone(), tools.clone()).max_turns(2);
        tools.add(agent.as_tool("again", "Does it again.").depth(depth).build().unwrap()).unwrap();
        let mut seen = events(agent.start(request())).await;
        let Some(LoopEvent::Ended { state, .. }) = seen.pop() else { panic!() };
        // One loop outside, and as many inside as are allowed: each made its first turn, then the innermost call failed.
        let deepest = endless.requests().into_iter().nth(depth as usize + 1).unwrap();
        let Some(Item::ToolOutput(output)) = deepest.history.last() else { panic!("{:?}", deepest.history) };
        assert!(output.output.to_string().contains(&format!("nested {depth} deep at most")), "{output:?}");
        assert!(state.sub_agent_turns() >= depth);
    }
}

#[tokio::test(start_paused = true)]
async fn the_work_inside_is_progress_without_the_state() {
    let inner = agent(&calls_then([call("i1", "double", "21")], "it is 42"));
    let helper = inner.as_tool("helper", "Helps.").build().unwrap();
    let outer = TurnLoop::new(calls_then([task("o1", "helper")], "done"), Toolkit::from_iter([helper]));
    let seen = events(outer.start(request())).await;
    let progress: Vec<Value> = seen
        .iter()
        .filter_map(|event| match event {
            LoopEvent::Tool(ToolEvent::Progress { data, .. }) => Some(data.to_value()),
            _ => None,
        })
        .collect();
    assert!(progress.iter().all(|it| it["agent"] == "helper" && it.get("state").is_none()), "{progress:?}");
    let types: Vec<_> = progress.iter().map(|it| it["type"].as_str().unwrap()).collect();
    for expected in ["called", "output", "text_delta", "step_ended"] {
        assert!(types.contains(&expected), "{expected}: {types:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_inside_is_a_failure_of_the_call() {
    let broken =
        ScriptedModel::default().then(ScriptedTurn::failed(ModelError::Authentication { message: "key".into() }));
    let many = ScriptedModel::default().then([call("i1", "double", "1")]).then([call("i2", "double", "2")]);
    for (model, kind) in [(broken, FailureKind::ExecutionError), (many, FailureKind::ToolFailed)] {
        let helper = agent(&model).max_turns(1).as_tool("helper", "Helps.").build().unwrap();
        let outer = TurnLoop::new(calls_then([task("o1", "helper")], "done"), Toolkit::from_iter([helper]));
        let outcome = finish(&outer, request()).await;
        assert_eq!(output(&outcome.state), format!("output o1: {kind}"));
        assert_eq!(outcome.state.text(), "done");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_reaches_the_inside_and_the_usage_is_counted() {
    struct Dropped(Arc<AtomicU64>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::<AtomicU64>::default();
    let counted = Arc::clone(&dropped);
    let wait = Tool::new("wait").handler(move |(), _cx| {
        let guard = Dropped(Arc::clone(&counted));
        async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        }
    });
    let turn = ScriptedTurn::calls([call("i1", "wait", "")]).usage(Usage::new(5, 5));
    let inner = TurnLoop::new(ScriptedModel::default().then(turn), Toolkit::from_iter([wait.unwrap()]));
    let helper = inner.as_tool("helper", "Helps.").build().unwrap();
    let outer = TurnLoop::new(calls_then([task("o1", "helper")], "done"), Toolkit::from_iter([helper]));
    let mut run = outer.start(request());
    while let Some(event) = run.next().await {
        if let LoopEvent::Tool(ToolEvent::Progress { data, .. }) = &event
            && data.to_value()["type"] == "called"
        {
            run.cancel();
        }
    }
    let outcome = run.finish().await;
    assert_eq!(ended(&outcome.end), "cancelled");
    assert_eq!(output(&outcome.state), "output o1: cancelled");
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    assert_eq!(outcome.state.usage().total_tokens, 10);
}

/// A state inside that was changed does not go on, and one that is missing is rejected.
#[tokio::test(start_paused = true)]
async fn a_changed_state_inside_does_not_go_on() {
    let paid = Arc::default();
    let agent = company(&paid, &["1"]);
    let state = finish(&agent, request()).await.state;
    let whole = serde_json::to_value(&state).unwrap();
    let mut forged = whole.clone();
    let inside = forged.pointer_mut("/waiting/0/wait/state").unwrap();
    *inside = inside.as_str().unwrap().replace("do it", "pay more").into();
    let mut state: LoopState = serde_json::from_value(forged).unwrap();
    let open = state.approvals();
    agent.verdict(&mut state, open[0].approve()).unwrap();
    let outcome = finish(&agent, state).await;
    assert_eq!(output(&outcome.state), "output o1: denied");
    assert_eq!(paid.load(Ordering::SeqCst), 0);

    let mut forged = whole;
    forged.as_object_mut().unwrap().remove("waiting");
    let error = serde_json::from_value::<LoopState>(forged).unwrap_err().to_string();
    assert!(error.contains("the state of the call is missing"), "{error}");
    assert!(!matches!(outcome.end, LoopEnd::Failed(LoopError::Suspended(SuspendedError::Lost { .. }))));
}

/// A call that waits is cancelled like any other ("never mind"), and leaves nothing behind.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_inside_is_cancelled_with_its_questions() {
    let agent = company(&Arc::default(), &["1", "2"]);
    let mut state = finish(&agent, request()).await.state;
    assert_eq!(state.cancel_pending("never mind").len(), 1);
    assert!(state.approvals().is_empty());
    assert!(!serde_json::to_string(&state).unwrap().contains("waiting"));
    assert_eq!(finish(&agent, state).await.state.text(), "all is done");
}
