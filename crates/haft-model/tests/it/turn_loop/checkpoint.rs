//! Checkpoints: what is stored while the calls of a turn run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::Delta;
use haft_executor::{ApprovalPolicy, RunOptions, Suspend};

use super::*;

fn is_complete(event: &LoopEvent) -> bool {
    matches!(event, LoopEvent::Delta(Delta::TurnComplete(_)))
}

fn is_output(event: &LoopEvent) -> bool {
    matches!(event, LoopEvent::Tool(ToolEvent::Output { .. }))
}

/// Reads a run up to an event, and returns the checkpoint after it, as it is read back.
async fn checkpoint_at(run: &mut LoopRun, is_wanted: impl Fn(&LoopEvent) -> bool) -> LoopState {
    while !is_wanted(&run.next().await.unwrap()) {}
    stored(&run.checkpoint())
}

#[tokio::test(start_paused = true)]
async fn calls_that_were_about_to_run_have_an_unknown_outcome_and_are_not_run_again() {
    let reached = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reached);
    let pay = Tool::new("pay").handler(move |(), _cx| {
        count.fetch_add(1, Ordering::SeqCst);
        async { "paid" }
    });
    let model = ScriptedModel::default().then([call("c1", "pay", "")]).then("I will check.");
    let agent = TurnLoop::new(model, Toolkit::from_iter([pay.unwrap()]));
    let mut run = agent.start(request());
    let checkpoint = checkpoint_at(&mut run, is_complete).await;
    assert_eq!(reached.load(Ordering::SeqCst), 0, "a checkpoint can be stored before a call runs");
    assert_eq!(told(checkpoint.history()), ["user", "call c1", "output c1: outcome_unknown"]);
    assert_eq!((checkpoint.turns(), checkpoint.calls()), (1, 1));
    assert_eq!(run.state().turns(), 0, "the state is that before the turn");
    drop(run);

    let outcome = finish(&agent, checkpoint).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "I will check."));
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_result_is_kept_while_other_calls_run() {
    let model = ScriptedModel::default().then([call("c1", "wait", ""), call("c2", "double", "4")]).then("done");
    let mut run = agent(&model).start(request());
    let checkpoint = checkpoint_at(&mut run, is_output).await;
    let expected = ["user", "call c1", "call c2", "output c1: outcome_unknown", "output c2: 8"];
    assert_eq!(told(checkpoint.history()), expected);
    assert_eq!(finish(&agent(&model), checkpoint.follow_up(Item::user("well?"))).await.state.text(), "done");
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_still_wait() {
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|(), _cx| async { "paid" });
    let slow = Tool::new("slow").handler(|(), _cx| async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        "at last"
    });
    let kit = kit().with(pay.unwrap()).unwrap().with(slow.unwrap()).unwrap();
    let calls = [call("c1", "pay", ""), call("c2", "ask", "\"?\""), call("c3", "slow", ""), call("c4", "note", "1")];
    let model = ScriptedModel::default().then(calls).then("done");
    let agent = TurnLoop::new(model, kit).options(RunOptions::new().approvals(Suspend));
    let mut run = agent.start(request());
    let mut checkpoint = checkpoint_at(&mut run, |event| matches!(event, LoopEvent::Signal(_))).await;
    drop(run);
    assert_eq!(told(checkpoint.history())[5..], ["output c3: outcome_unknown", "output c4: null", "asked c1"]);
    assert_eq!(checkpoint.interactions().len(), 1);

    let approval = checkpoint.approvals().remove(0);
    agent.verdict(&mut checkpoint, approval.approve()).unwrap();
    agent.answer(&mut checkpoint, "c2", "yes").unwrap();
    let outcome = finish(&agent, checkpoint).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    let outputs: Vec<_> = told(outcome.state.history()).into_iter().filter(|it| it.starts_with("output")).collect();
    assert_eq!(outputs, ["output c1: paid", "output c2: yes", "output c3: outcome_unknown", "output c4: null"]);
}

/// A kit of `pay`, which requires approval and counts how often it runs.
fn paying(paid: &Arc<AtomicUsize>) -> Toolkit {
    let count = Arc::clone(paid);
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(move |cents: u64, _cx| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { cents }
    });
    Toolkit::from_iter([pay.unwrap()])
}

/// Returns the agent of `paying` and its state, in which the calls `c1` to `c4` wait.
async fn four_wait(paid: &Arc<AtomicUsize>) -> (TurnLoop, LoopState) {
    let calls = ["c1", "c2", "c3", "c4"].map(|id| call(id, "pay", "5"));
    let model = ScriptedModel::default().then(calls).then("done");
    let agent = TurnLoop::new(model, paying(paid)).options(RunOptions::new().approvals(Suspend));
    let state = finish(&agent, request()).await.state;
    (agent, state)
}

fn is_resumed(event: &LoopEvent) -> bool {
    matches!(event, LoopEvent::CallsResumed { .. })
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_that_was_about_to_run_has_an_unknown_outcome_and_is_not_run_again() {
    let paid = Arc::default();
    let (agent, mut state) = four_wait(&paid).await;
    let requests = state.approvals();
    agent.verdict(&mut state, requests[0].approve()).unwrap();
    agent.verdict(&mut state, requests[1].deny("too much")).unwrap();
    agent.verdict(&mut state, requests[2].answer(serde_json::json!(4))).unwrap();
    agent.verdict(&mut state, requests[3].edit(serde_json::json!(3))).unwrap();

    let mut run = agent.start(state);
    let checkpoint = checkpoint_at(&mut run, is_resumed).await;
    assert_eq!(paid.load(Ordering::SeqCst), 0, "a checkpoint can be stored before a call runs");
    drop(run);
    let mut kept: Vec<_> = told(checkpoint.history()).into_iter().skip(5).collect();
    kept.sort();
    let outcomes = ["output c1: outcome_unknown", "output c4: outcome_unknown"];
    assert_eq!(kept, [&["asked c2", "asked c3"], &outcomes[..], &["said answered", "said denied"]].concat());

    let outcome = finish(&agent, checkpoint).await;
    assert_eq!((outcome.end, paid.load(Ordering::SeqCst)), (LoopEnd::Stopped, 0));
    let outputs: Vec<_> = told(outcome.state.history()).into_iter().skip(5).take(4).collect();
    assert_eq!(outputs, [outcomes[0], "output c2: denied", "output c3: 4", outcomes[1]]);
}

#[tokio::test(start_paused = true)]
async fn while_resumed_calls_run_a_checkpoint_has_their_results_and_the_calls_that_wait() {
    let paid = Arc::default();
    let (agent, mut state) = four_wait(&paid).await;
    for request in &state.approvals()[..2] {
        agent.verdict(&mut state, request.approve()).unwrap();
    }
    let mut run = agent.start(state);
    let mut last = Vec::new();
    while let Some(event) = run.next().await {
        let checkpoint = run.checkpoint();
        assert_eq!(stored(&checkpoint), checkpoint);
        match event {
            LoopEvent::Ended { state, .. } => assert_eq!(checkpoint, *state),
            _ => last = told(checkpoint.history()),
        }
    }
    assert_eq!(last[5..], ["asked c3", "asked c4", "output c1: 5", "output c2: 5"]);
    assert_eq!((run.state().approvals().len(), paid.load(Ordering::SeqCst)), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn between_turns_a_checkpoint_is_the_state() {
    let calls =
        [call("c1", "double", "1"), call("c1", "double", "1"), call("c2", "missing", ""), call("c3", "ask", "\"?\"")];
    let model = ScriptedModel::default().then(calls);
    let mut run = agent(&model).start(request());
    let (mut runs, mut ended) = (false, None);
    while let Some(event) = run.next().await {
        runs |= is_complete(&event);
        let checkpoint = run.checkpoint();
        assert_eq!(stored(&checkpoint), checkpoint);
        if !runs || matches!(event, LoopEvent::Ended { .. }) {
            assert_eq!(checkpoint, run.state());
        }
        if let LoopEvent::Ended { state, .. } = event {
            ended = Some(*state);
        }
    }
    let ended = ended.unwrap();
    assert_eq!(run.checkpoint(), ended);
    let outputs = ["output c1: 2", "output c1_2: duplicate_call_id", "output c2: unknown_tool"];
    assert_eq!(told(ended.history())[5..], outputs);
}
