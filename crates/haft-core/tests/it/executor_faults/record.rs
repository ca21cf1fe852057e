//! What holds for the events of every run, whatever happened in it.

use haft_core::{ToolCall, ToolEvent};

/// Checks that every call has exactly one output and nothing after it, that what it showed is numbered without gaps,
/// that every event names its call rightly, and that events survive being stored.
pub(crate) fn check(calls: &[ToolCall], events: &[ToolEvent]) -> Result<(), String> {
    for (index, call) in calls.iter().enumerate() {
        let of_call = || events.iter().filter(|event| event.index() == index);
        let outputs = of_call().filter(|event| event.result().is_some()).count();
        ensure(outputs == 1, || format!("call {index} has {outputs} outputs"))?;
        ensure(of_call().next_back().is_some_and(|event| event.result().is_some()), || {
            format!("something follows the output of call {index}")
        })?;
        ensure(of_call().all(|event| *event.call_id() == call.call_id && event.tool() == call.name), || {
            format!("an event of call {index} names another call")
        })?;
        let shown: Vec<u64> = of_call().filter_map(seq).collect();
        ensure(shown.iter().copied().eq(0..shown.len() as u64), || format!("call {index} showed {shown:?}"))?;
    }
    ensure(events.iter().all(|event| event.index() < calls.len()), || "an event of no call".to_owned())?;
    events.iter().try_for_each(check_stored)
}

/// The place of a shown value among those of its call.
fn seq(event: &ToolEvent) -> Option<u64> {
    match event {
        ToolEvent::Progress { seq, .. } | ToolEvent::Preliminary { seq, .. } => Some(*seq),
        _ => None,
    }
}

/// An event is the same after a round trip, but for the causes of failures, which are not stored.
fn check_stored(event: &ToolEvent) -> Result<(), String> {
    let text = serde_json::to_string(event).map_err(|error| error.to_string())?;
    let read: ToolEvent = serde_json::from_str(&text).map_err(|error| format!("{error} in {text}"))?;
    ensure(read == *event, || format!("an event changed when it was stored: {text}"))
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
