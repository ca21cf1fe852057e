//! Any calls, and a loop that is stopped anywhere: every call ends with one output, and every history is consistent.

use haft_core::{Delta, history};
use haft_executor::{ApprovalPolicy, RunOptions, Suspend};
use haft_model::{LanguageModel, ModelInfo, TurnStream};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::seeded::for_all;

/// A model that answers by the position in the conversation, so that a request can be repeated: each of its turns has
/// a text, and the texts are counted.
struct ByPlace(Vec<Turn>);

impl LanguageModel for ByPlace {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("test")
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        let is_said =
            |item: &&Item| matches!(item, Item::Message(message) if message.role == haft_core::Role::Assistant);
        let place = request.history.iter().filter(is_said).count();
        let last = || Turn::new(vec![Item::assistant("done")], Finish::Stop);
        let turn = self.0.get(place).cloned().unwrap_or_else(last);
        TurnStream::of([Ok(Delta::text("…")), Ok(Delta::complete(turn))])
    }
}

/// The reaction to a loop that waits.
#[derive(Clone, Copy, Debug)]
enum Reply {
    Agree,
    Refuse,
    One,
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let kinds = prop_oneof![
        Just(("double", "1")),
        Just(("double", "2")),
        Just(("double", "\"x\"")),
        Just(("pay", "3")),
        Just(("pay", "-3")),
        Just(("note", "4")),
        Just(("note", "[]")),
        Just(("ask", "\"?\"")),
        Just(("ask", "{")),
        Just(("nothing", "{}")),
    ];
    // Few ids, so that they clash within a turn and across turns.
    (0..5_u8, kinds).prop_map(|(id, (name, arguments))| call(&format!("c{id}"), name, arguments))
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let finish = prop_oneof![6 => Just(Finish::ToolCalls), 1 => Just(Finish::Length), 1 => Just(Finish::Pause)];
    (vec(any_call(), 1..5), finish).prop_map(|(calls, finish)| {
        let items = std::iter::once(Item::assistant("so")).chain(calls.into_iter().map(Item::from));
        Turn::new(items.collect(), finish)
    })
}

fn any_reply() -> impl Strategy<Value = Reply> {
    prop_oneof![Just(Reply::Agree), Just(Reply::Refuse), Just(Reply::One)]
}

/// Answers the calls that a state waits for: all, or only the first.
fn reply(agent: &TurnLoop, state: &mut LoopState, end: &LoopEnd, reply: Reply) {
    let LoopEnd::Waiting { interactions, approvals } = end else { return };
    let most = if matches!(reply, Reply::One) { 1 } else { usize::MAX };
    for approval in approvals.iter().take(most) {
        let verdict = if matches!(reply, Reply::Refuse) { approval.deny("no") } else { approval.approve() };
        agent.verdict(state, verdict).unwrap();
    }
    for open in interactions.iter().take(most.saturating_sub(approvals.len())) {
        match reply {
            Reply::Refuse => state.close(open.call_id(), "nobody").unwrap(),
            Reply::Agree | Reply::One => state.answer(open.call_id(), "yes").unwrap(),
        }
    }
}

/// Checks the invariants of a state that can be stored.
fn check_state(state: &LoopState) {
    let waiting = history::approvals(state.history()).pending.len() + state.interactions().len();
    assert_eq!(history::unanswered(state.history()).len(), waiting, "{:?}", told(state.history()));
    assert_eq!(history::is_reconciled(state.history()), waiting == 0, "{:?}", told(state.history()));
    assert_eq!(&stored(state), state);
}

/// Reads a run up to this many events, or to its end.
async fn read(mut run: LoopRun, most: usize) -> (LoopState, Option<LoopEnd>) {
    let mut outputs = Vec::new();
    let mut is_whole = false;
    for _ in 0..most {
        let Some(event) = run.next().await else { break };
        check_state(&run.state());
        check_state(&run.checkpoint());
        match event {
            LoopEvent::TurnStarted { .. } => (outputs, is_whole) = (Vec::new(), true),
            LoopEvent::Tool(ToolEvent::Output { index, .. }) => outputs.push(index),
            LoopEvent::TurnEnded { turn, results, .. } => {
                let asked: Vec<_> = turn.tool_calls().into_iter().map(|call| call.call_id).collect();
                assert_eq!(results.iter().map(|result| result.call_id.clone()).collect::<Vec<_>>(), asked);
                outputs.sort_unstable();
                assert!(!is_whole || outputs.iter().copied().eq(0..asked.len()), "{outputs:?}");
                is_whole = false;
            }
            LoopEvent::Ended { end, state } => return (*state, Some(end)),
            _ => {}
        }
    }
    (run.state(), None)
}

async fn play(turns: Vec<Turn>, stops: Vec<usize>, replies: Vec<Reply>) {
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents });
    let count = turns.len();
    let agent = TurnLoop::new(ByPlace(turns), kit().with(pay.unwrap()).unwrap())
        .options(RunOptions::new().approvals(Suspend))
        .repeated_calls(3);
    let (mut stops, mut replies) = (stops.into_iter(), replies.into_iter());
    let mut state = LoopState::new(request());
    for _ in 0..200 {
        let run = agent.start(stored(&state));
        let (reached, end) = read(run, stops.next().unwrap_or(usize::MAX)).await;
        state = reached;
        check_state(&state);
        match end {
            None | Some(LoopEnd::RepeatedCalls) => {}
            Some(end @ LoopEnd::Waiting { .. }) => {
                reply(&agent, &mut state, &end, replies.next().unwrap_or(Reply::Agree));
            }
            Some(LoopEnd::Stopped) => {
                assert!(history::is_reconciled(state.history()));
                assert_eq!(usize::try_from(state.turns()).unwrap(), count + 1);
                assert!(state.is_done());
                return;
            }
            Some(other) => panic!("{other:?}"),
        }
    }
    panic!("no end: {:?}", told(state.history()));
}

#[test]
fn every_call_has_one_output_wherever_the_loop_is_stopped() {
    for_all(96, (vec(any_turn(), 0..5), vec(0..25_usize, 0..6), vec(any_reply(), 0..8)), |(turns, stops, replies)| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(play(turns, stops, replies));
        Ok(())
    });
}
