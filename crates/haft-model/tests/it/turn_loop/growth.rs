//! The cost of a turn does not depend on the number of turns: the history is appended to, never copied or read again.

use std::sync::{Arc, Mutex};

use haft_core::Delta;
use haft_core::history::Revision;
use haft_executor::{ApprovalPolicy, Cx, RunOptions, Suspend};
use haft_model::{LanguageModel, ModelInfo, TurnStream};

use super::*;

const TURNS: usize = 40;

/// A model that makes one call per turn and counts the requests whose history does not extend the one before.
#[derive(Clone, Default)]
struct Watching(Arc<Mutex<Watched>>);

#[derive(Default)]
struct Watched {
    revision: Option<Revision>,
    requests: usize,
    copies: usize,
}

impl LanguageModel for Watching {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("test")
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        let mut watched = self.0.lock().unwrap();
        if let Some(revision) = &watched.revision
            && request.history.added_since(revision).is_none()
        {
            watched.copies += 1;
        }
        watched.revision = Some(request.history.revision());
        watched.requests += 1;
        let turn = if watched.requests <= TURNS {
            turn_of([call("call_0", "look", "{}")], Finish::ToolCalls)
        } else {
            Turn::new(vec![Item::assistant("done")], Finish::Stop)
        };
        TurnStream::of([Ok(Delta::complete(turn))])
    }
}

fn looking(look: impl Fn(Cx) + Send + Sync + 'static) -> Toolkit {
    let look = Arc::new(look);
    let tool = Tool::new("look").handler(move |(), cx: Cx| {
        let look = Arc::clone(&look);
        async move { look(cx) }
    });
    Toolkit::from_iter([tool.unwrap()])
}

/// Runs a loop to its end and returns the number of copies of its history.
async fn copies(loop_of: impl FnOnce(Watching) -> TurnLoop) -> usize {
    let model = Watching::default();
    let agent = loop_of(model.clone()).repeated_calls(0).max_turns(u32::MAX);
    let outcome = finish(&agent, request()).await;
    assert!(outcome.end.is_stopped(), "{:?}", outcome.end);
    assert_eq!(outcome.state.turns() as usize, TURNS + 1);
    assert!(haft_core::history::is_reconciled(outcome.state.history()));
    model.0.lock().unwrap().copies
}

#[tokio::test(start_paused = true)]
async fn a_loop_adds_to_its_history_and_never_copies_it() {
    let plain = copies(|model| TurnLoop::new(model, looking(|cx| assert!(!cx.messages().is_empty())))).await;
    assert_eq!(plain, 0);
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_reads_or_appends_copies_no_history() {
    let deciding = |model| {
        TurnLoop::new(model, looking(drop)).decide(|mut after| async move {
            assert!(!after.history().is_empty());
            if after.results().is_empty() {
                return after.stop();
            }
            after.push(Item::user("go on"));
            after.next()
        })
    };
    assert_eq!(copies(deciding).await, 0);
}

#[tokio::test(start_paused = true)]
async fn items_that_a_decision_adds_are_visible_to_it_and_taken_over_once() {
    let model = ScriptedModel::new(["one", "two"]);
    let agent = agent(&model).decide(|mut after| async move {
        let before = after.history().len();
        after.push(Item::user("a"));
        assert_eq!((after.history().len(), after.request().history.len()), (before + 1, before + 1));
        after.request_mut().history.push(Item::user("b"));
        after.push(Item::user("c"));
        assert_eq!(after.history().len(), before + 3);
        if after.number() == 2 { after.stop() } else { after.next() }
    });
    let state = finish(&agent, request()).await.state;
    let texts: Vec<String> = state.history().iter().map(|item| format!("{item:?}")).collect();
    assert_eq!(texts.len(), 1 + 4 + 4);
    for (text, word) in texts[1..].iter().zip(["one", "a", "b", "c", "two", "a", "b", "c"]) {
        assert!(text.contains(&format!("{word:?}")), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_messages_of_a_context_that_outlives_its_turn_stay_as_they_were() {
    let kept: Arc<Mutex<Vec<Cx>>> = Arc::default();
    let keeping = Arc::clone(&kept);
    copies(|model| TurnLoop::new(model, looking(move |cx| keeping.lock().unwrap().push(cx)))).await;
    let kept = kept.lock().unwrap();
    assert_eq!(kept.len(), TURNS);
    for (turn, cx) in kept.iter().enumerate() {
        // The first message, two items per earlier turn, and the call itself.
        assert_eq!(cx.messages().len(), 1 + 2 * turn + 1);
        assert!(matches!(cx.messages().last(), Some(Item::ToolCall(call)) if call.call_id == *cx.call_id()));
    }
}

#[tokio::test(start_paused = true)]
async fn each_of_many_verdicts_and_results_reaches_its_call() {
    const CALLS: usize = 60;
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|n: usize, _cx| async move { n });
    let calls: Vec<ToolCall> = (0..CALLS).map(|n| call(&format!("c{n}"), "pay", &n.to_string())).collect();
    let model = ScriptedModel::default().then(calls).then("done");
    let agent = TurnLoop::new(model.clone(), Toolkit::from_iter([pay.unwrap()]));
    let agent = agent.options(RunOptions::new().approvals(Suspend)).repeated_calls(0);
    let mut state = finish(&agent, request()).await.state;
    // The last request first; one in three is denied.
    for (n, approval) in state.approvals().iter().enumerate().rev() {
        let verdict = if n.is_multiple_of(3) { approval.deny("no") } else { approval.approve() };
        agent.verdict(&mut state, verdict.clone()).unwrap();
        assert!(agent.verdict(&mut state, verdict).is_err(), "it was decided");
    }
    let mut run = agent.start(stored(&state));
    let mut outputs: usize = 0;
    while let Some(event) = run.next().await {
        if matches!(event, LoopEvent::Tool(ToolEvent::Output { .. })) {
            outputs += 1;
            if outputs.is_multiple_of(7) {
                let placed = run.state().history().iter().filter(|item| matches!(item, Item::ToolOutput(_))).count();
                assert!(placed >= outputs, "a result that was told is in the state");
            }
        }
    }
    let sent = model.request(1).unwrap().history;
    assert_eq!((outputs, sent.len()), (CALLS, 1 + 2 * CALLS));
    for n in 0..CALLS {
        let expected = if n.is_multiple_of(3) { format!("output c{n}: denied") } else { format!("output c{n}: {n}") };
        assert_eq!(told(&sent)[1 + CALLS + n], expected);
    }
}
