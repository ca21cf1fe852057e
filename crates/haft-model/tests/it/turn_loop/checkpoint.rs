//! Checkpoints: what is stored while the calls of a turn run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{ApprovalPolicy, Delta, RunOptions, Suspend};

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
