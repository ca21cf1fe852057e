//! Recordings, events and states that an earlier version wrote: they are read, and a loop continues with them.
//!
//! The files are one conversation. A loop with the tools of [`tools`] was recorded, ended because calls wait for a
//! verdict and an answer, and was started again.

use std::path::Path;

use haft_core::{Delta, Item, TurnRequest};
use haft_executor::{ApprovalPolicy, RunOptions, Suspend, Tool, Toolkit, VerdictFault};
use haft_model::{Cassette, LoopEnd, LoopEvent, LoopState, StateError, TurnLoop};

const STATE: &str = include_str!("stored_form/state_1.json");
const EVENTS: &str = include_str!("stored_form/events_1.jsonl");

fn tools() -> Toolkit {
    let tools = [
        Tool::new("double").handler(|n: i64, _cx| async move { n * 2 }),
        Tool::new("broken").try_handler(|(), _cx| async { Err::<(), _>("none left") }),
        Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|n: i64, _cx| async move { n }),
        Tool::signal("note").params::<u8>().define(),
        Tool::interaction("ask").params::<String>().success::<String>().define(),
    ];
    tools.into_iter().map(Result::unwrap).collect()
}

/// A loop that replays the recording.
fn agent() -> (Cassette, TurnLoop) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stored_form/cassette_1.jsonl");
    let cassette = Cassette::replay(file).unwrap();
    let agent = TurnLoop::new(cassette.clone(), tools()).options(RunOptions::new().approvals(Suspend));
    (cassette, agent)
}

#[tokio::test(start_paused = true)]
async fn a_recording_is_replayed() {
    let (cassette, agent) = agent();
    let request = TurnRequest::new("some-model", vec![Item::user("Pay it.")]);
    let outcome = agent.start(request).finish().await;
    assert!(outcome.end.is_waiting(), "{:?}", outcome.end);
    let mut state = outcome.state;
    let yes = state.approvals()[0].approve();
    agent.verdict(&mut state, yes).unwrap();
    state.answer("c5", "ten").unwrap();
    let outcome = agent.start(state).finish().await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "done"));
    cassette.finish().unwrap();
}

#[test]
fn every_event_is_read_as_what_it_was() {
    let events: Vec<LoopEvent> = EVENTS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(matches!(events[0], LoopEvent::TurnStarted { number: 1, model: None, .. }), "{:?}", events[0]);
    let parts = events.iter().filter_map(|event| match event {
        LoopEvent::Delta(Delta::TextDelta { part, .. } | Delta::ReasoningDelta { part, .. }) => Some(*part),
        LoopEvent::Delta(Delta::Unknown(_)) | LoopEvent::Unknown(_) => panic!("{event:?}"),
        _ => None,
    });
    assert!(parts.eq([0; 6]));
    let Some(LoopEvent::Ended { end, state }) = events.last() else { panic!("{:?}", events.last()) };
    assert!(end.is_waiting());
    assert_eq!(**state, serde_json::from_str::<LoopState>(STATE).unwrap());
}

/// The digest of a definition covers more than it did, so the old verdict is not valid for the tool: approval is
/// requested again, and the rest of the state is as it was.
#[tokio::test(start_paused = true)]
async fn a_state_that_waits_is_continued() {
    let mut state: LoopState = serde_json::from_str(STATE).unwrap();
    assert_eq!((state.turns(), state.calls(), state.interactions().len()), (1, 5, 1));
    let (_, agent) = agent();
    let old = state.approvals().remove(0);
    let fault = agent.verdict(&mut state, old.approve()).unwrap_err();
    assert!(matches!(fault, StateError::Verdict { fault: VerdictFault::OtherDigest, .. }), "{fault}");
    state.answer("c5", "ten").unwrap();
    let mut state = agent.start(state).finish().await.state;
    let new = state.approvals().remove(0);
    assert_eq!((&new.call_id, state.approvals().len()), (&old.call_id, 1));
    agent.verdict(&mut state, new.approve()).unwrap();
    let outcome = agent.start(state).finish().await;
    let outputs = outcome.state.history().iter().filter_map(|item| match item {
        Item::ToolOutput(output) => Some(format!("{} {}", output.call_id, output.is_error)),
        _ => None,
    });
    let outputs: Vec<String> = outputs.collect();
    assert_eq!(outputs, ["c1 false", "c2 true", "c3 false", "c4 false", "c5 false"]);
    // The recording begins with the first turn, and this state with the second.
    assert!(matches!(&outcome.end, LoopEnd::Failed(error) if error.kind() == "model"), "{:?}", outcome.end);
}
