//! Responses and streams that are built with the SDKs' types.

use haft_core::{CallId, Delta, Item, Turn};
use haft_parts::{Judge, Sample, WireName};
use haft_wire::ReadError;
use serde_json::{Value, json};

use super::{JudgedWire, events, turn_of, wires};

/// The samples whose response is an error of the provider.
const FAILED: [&str; 2] = ["failed", "failed_call"];

/// Runs a check for every sample, and fails with all of its complaints.
#[track_caller]
fn check_all(check: impl Fn(&JudgedWire, &Sample) -> Vec<String>) {
    let mut complaints = Vec::new();
    for wire in &wires() {
        for sample in &wire.samples() {
            let label = format!("{}, {}", wire.name.as_str(), sample.name);
            complaints.extend(check(wire, sample).iter().map(|complaint| format!("{label}: {complaint}")));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Returns the body and the stream of a sample that has both, and that is a turn.
fn both(sample: &Sample) -> Option<(&Value, &str)> {
    if FAILED.contains(&sample.name.as_str()) {
        return None;
    }
    sample.body.as_ref().zip(sample.sse.as_deref())
}

/// Returns the places at which two turns differ.
fn differences(left: &Turn, right: &Turn) -> Vec<String> {
    let mut found = Vec::new();
    compare("", &serde_json::to_value(left).unwrap(), &serde_json::to_value(right).unwrap(), &mut found);
    found
}

fn compare(at: &str, left: &Value, right: &Value, found: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let missing = right.keys().filter(|key| !left.contains_key(*key));
            for key in left.keys().chain(missing) {
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(json!("(absent)"));
                compare(&format!("{at}/{key}"), &of(left), &of(right), found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{at}/{index}"), left, right, found);
            }
        }
        _ if left == right => {}
        _ => found.push(format!("{at}: {left} is not {right}")),
    }
}

#[test]
fn a_stream_is_read_like_the_whole_response() {
    check_all(|wire, sample| {
        let Some((body, sse)) = both(sample) else { return Vec::new() };
        match wire.read_stream(sse) {
            Ok(deltas) => differences(&turn_of(&deltas), &wire.read(body)),
            Err(error) => vec![error.to_string()],
        }
    });
}

#[test]
fn a_stream_is_read_like_what_the_sdk_makes_of_it() {
    check_all(|wire, sample| {
        let Some((_, sse)) = both(sample) else { return Vec::new() };
        // The SDK of Gemini returns no parts of the future.
        if wire.name == WireName::Gemini && sample.name.starts_with("unknown") {
            return Vec::new();
        }
        let accumulated = Judge::shared().accumulate(wire.name, sse).unwrap();
        differences(&turn_of(&wire.read_stream(sse).unwrap()), &wire.read(&accumulated))
    });
}

/// The text of the deltas: all texts, all reasoning, all refusals, and the calls in the order in which they begin.
#[derive(Default)]
struct Displayed {
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<(CallId, String, String)>,
    ended: Vec<CallId>,
}

impl Displayed {
    fn of(deltas: &[Delta]) -> Self {
        let mut displayed = Self::default();
        for delta in deltas {
            match delta {
                Delta::TextDelta { text, .. } => displayed.text.push_str(text),
                Delta::ReasoningDelta { text, .. } => displayed.reasoning.push_str(text),
                Delta::RefusalDelta { text, .. } => displayed.refusal.push_str(text),
                Delta::ToolCallStart { call_id, name } => {
                    displayed.calls.push((call_id.clone(), name.clone(), String::new()));
                }
                Delta::ToolCallArgsDelta { call_id, arguments } => {
                    let call = displayed.calls.iter_mut().find(|(id, ..)| id == call_id);
                    call.expect("a fragment of a call that began").2.push_str(arguments);
                }
                Delta::ToolCallEnd { call_id } => displayed.ended.push(call_id.clone()),
                _ => {}
            }
        }
        displayed
    }
}

#[test]
fn the_deltas_of_a_stream_add_up_to_its_turn() {
    check_all(|wire, sample| {
        let Some((_, sse)) = both(sample) else { return Vec::new() };
        let deltas = wire.read_stream(sse).unwrap();
        let (displayed, turn) = (Displayed::of(&deltas), turn_of(&deltas));
        let mut complaints = Vec::new();
        let mut ensure = |holds: bool, complaint: String| complaints.extend((!holds).then_some(complaint));
        ensure(displayed.text == turn.text(), format!("text {:?}", displayed.text));
        ensure(displayed.refusal == turn.refusal().unwrap_or_default(), format!("refusal {:?}", displayed.refusal));
        let words: String = turn.reasoning().split("\n\n").collect();
        // A model may disclose its reasoning and a summary of it: the turn returns the former.
        ensure(displayed.reasoning.ends_with(&words), format!("reasoning {:?}, {words:?}", displayed.reasoning));
        let calls = turn.tool_calls();
        ensure(displayed.calls.len() == calls.len(), format!("calls {:?}", displayed.calls));
        for (call, (id, name, arguments)) in calls.iter().zip(&displayed.calls) {
            ensure((&call.call_id, &call.name) == (id, name), format!("call {id} of {name}"));
            let json = |text: &str| serde_json::from_str::<Value>(text).ok();
            ensure(json(arguments) == json(&call.arguments), format!("arguments {arguments}, {}", call.arguments));
            ensure(turn.is_cut_off() || displayed.ended.contains(id), format!("the call {id} does not end"));
        }
        complaints
    });
}

#[test]
fn a_stream_that_is_cut_off_is_no_turn() {
    check_all(|wire, sample| {
        let Some((_, sse)) = both(sample) else { return Vec::new() };
        let events = events(sse);
        let complete = turn_of(&wire.read_events(&events).unwrap());
        let mut complaints = Vec::new();
        for length in 0..events.len() {
            // Everything but the usage may be there before the last event.
            let Ok(deltas) = wire.read_events(&events[..length]) else { continue };
            let turn = turn_of(&deltas);
            if length == 0 || (&turn.items, &turn.finish) != (&complete.items, &complete.finish) {
                complaints.push(format!("a turn after {length} of {} events", events.len()));
            }
        }
        complaints
    });
}

#[test]
fn an_error_in_a_response_is_the_error_of_the_provider() {
    let is_error = |result: Result<String, ReadError>| match result {
        Err(ReadError::Provider(_)) => None,
        other => Some(format!("{other:?}")),
    };
    check_all(|wire, sample| {
        let is_failed = FAILED.contains(&sample.name.as_str());
        if sample.body.is_some() && !is_failed {
            return Vec::new();
        }
        let streamed = sample.sse.as_deref().map(|sse| wire.read_stream(sse).map(|deltas| format!("{deltas:?}")));
        let read = |body: &Value| wire.wire.response(&body.to_string(), &wire.context());
        let whole = sample.body.as_ref().map(|body| read(body).map(|turn| format!("{turn:?}")));
        streamed.into_iter().chain(whole).filter_map(is_error).collect()
    });
}

/// The type of the items of the future in a sample, and of nothing else.
const FUTURE: &str = "telepathy";

#[test]
fn items_of_the_future_are_kept() {
    check_all(|wire, sample| {
        let Some((body, sse)) = both(sample) else { return Vec::new() };
        if !body.to_string().contains(FUTURE) {
            return Vec::new();
        }
        let turns = [wire.read(body), turn_of(&wire.read_stream(sse).unwrap())];
        let is_kept = |turn: &Turn| serde_json::to_string(turn).unwrap().contains(FUTURE) && turn.text() == "Hi.";
        turns.iter().filter(|turn| !is_kept(turn)).map(|turn| format!("{turn:?}")).collect()
    });
}

/// The turns of all samples, to be read: one file per wire.
#[test]
fn the_turns_of_the_samples_are_as_recorded() {
    for wire in &wires() {
        let mut turns = serde_json::Map::new();
        for sample in wire.samples() {
            let body = sample.body.as_ref().filter(|_| !FAILED.contains(&sample.name.as_str()));
            let Some(body) = body else { continue };
            let turn = wire.read(body);
            assert!(turn.items.iter().all(|item| !matches!(item, Item::ToolOutput(_))), "{}", sample.name);
            let data = turn.provider_data;
            let shown = json!({"items": turn.items, "usage": turn.usage, "finish": turn.finish, "provider_data": data});
            turns.insert(sample.name.clone(), shown);
        }
        let name = format!("turns_{}", wire.name.as_str());
        insta::assert_snapshot!(name, serde_json::to_string_pretty(&turns).unwrap());
    }
}
