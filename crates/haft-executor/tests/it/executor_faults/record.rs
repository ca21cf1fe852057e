//! The invariants of the events of every run.
//!
//! Handlers count their emitted values in the values themselves: sequence numbers that the run assigns would be in
//! order even if the values were not.

use haft_core::{ToolCall, ToolEvent};
use haft_executor::Cx;
use serde_json::{Value, json};

/// Creates the `n`-th emitted value of a call, counted from zero. A preliminary result is the bare number.
pub(crate) fn mark(cx: &Cx, n: impl Into<u64>) -> Value {
    shown(cx.call_id().as_str(), n.into())
}

/// Checks that every call has exactly one output and nothing after it, that its emitted values are its own and in
/// order, none missing and none twice, that every event names its call correctly, and that events can be stored.
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
        let mut shown = 0;
        for event in of_call() {
            let Some((seq, value, expected)) = showing(event, shown) else { continue };
            ensure(seq == shown, || format!("what call {index} showed as number {shown} is numbered {seq}"))?;
            ensure(value == expected, || format!("call {index} showed {value} as number {shown}"))?;
            shown += 1;
        }
    }
    ensure(events.iter().all(|event| event.index() < calls.len()), || "an event of no call".to_owned())?;
    events.iter().try_for_each(check_stored)
}

/// Returns the number of an emitted value, the value, and the expected `n`-th value of its call.
fn showing(event: &ToolEvent, n: u64) -> Option<(u64, Value, Value)> {
    match event {
        ToolEvent::Progress { seq, data, .. } => Some((*seq, data.to_value(), shown(event.call_id().as_str(), n))),
        ToolEvent::Preliminary { seq, value, .. } => Some((*seq, value.to_value(), json!(n))),
        _ => None,
    }
}

fn shown(call: &str, n: u64) -> Value {
    json!([call, n])
}

/// Checks that an event is the same after a round trip, except for the causes of failures, which are not stored.
fn check_stored(event: &ToolEvent) -> Result<(), String> {
    let text = serde_json::to_string(event).map_err(|error| error.to_string())?;
    let read: ToolEvent = serde_json::from_str(&text).map_err(|error| format!("{error} in {text}"))?;
    ensure(read == *event, || format!("an event changed when it was stored: {text}"))
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
