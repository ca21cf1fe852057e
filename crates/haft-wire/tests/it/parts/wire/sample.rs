//! Responses and streams that are built with the SDKs' types.

use haft_core::{CallId, Delta, Turn};
use haft_parts::{Judge, Sample, WireName};
use haft_wire::ReadError;
use serde_json::{Value, json};

use super::{JudgedWire, events, turn_of, wire};

/// The samples whose response is an error of the provider.
const FAILED: [&str; 2] = ["failed", "blocked_prompt"];

/// The Gemini samples that are not turns: the request is to be sent again.
const NO_TURN: [&str; 2] = ["empty", "malformed_call"];

/// Reports whether a wire reads a sample as an error.
fn is_failed(wire: &JudgedWire, sample: &Sample) -> bool {
    let name = sample.name.as_str();
    FAILED.contains(&name) || wire.name == WireName::Gemini && NO_TURN.contains(&name)
}

/// A check of a sample, which returns its complaints.
type SampleCheck = fn(&JudgedWire, &Sample) -> Vec<String>;

const CHECKS: [(&str, SampleCheck); 6] = [
    ("a stream is read like the whole response", streamed_is_whole),
    ("a stream is read like what the SDK makes of it", streamed_is_accumulated),
    ("the deltas of a stream add up to its turn", deltas_add_up),
    ("a stream that is cut off is no turn", cut_off_is_no_turn),
    ("an error in a response is the error of the provider", failure_is_error),
    ("items of the future are kept", future_is_kept),
];

/// Runs all checks for every sample of a wire, and compares the turns with the recorded ones.
fn check_all(name: WireName) {
    let wire = wire(name);
    let samples = wire.samples();
    let mut complaints = Vec::new();
    let mut turns = serde_json::Map::new();
    for sample in &samples {
        for (rule, check) in CHECKS {
            let found = check(&wire, sample);
            complaints.extend(found.iter().map(|complaint| format!("{}: {rule}: {complaint}", sample.name)));
        }
        if let Some(body) = sample.body.as_ref().filter(|_| !is_failed(&wire, sample)) {
            turns.insert(sample.name.clone(), recorded(&wire.read(body)));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    insta::assert_snapshot!(format!("turns_{}", name.as_str()), serde_json::to_string_pretty(&turns).unwrap());
}

/// Returns what is recorded of a turn.
fn recorded(turn: &Turn) -> Value {
    json!({
        "items": turn.items, "usage": turn.usage, "finish": turn.finish, "response_id": turn.response_id,
        "model": turn.model, "provider_data": turn.provider_data,
    })
}

#[test]
fn openai_responses() {
    check_all(WireName::OpenAiResponses);
}

#[test]
fn openai_chat() {
    check_all(WireName::OpenAiChat);
}

#[test]
fn anthropic() {
    check_all(WireName::Anthropic);
}

#[test]
fn gemini() {
    check_all(WireName::Gemini);
}

/// Returns the body and the stream of a sample that has both, and that is a turn.
fn both<'s>(wire: &JudgedWire, sample: &'s Sample) -> Option<(&'s Value, &'s str)> {
    if is_failed(wire, sample) {
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
        // The white space and the order of arguments that are no text on a wire are the writer's.
        (Value::String(one), Value::String(other)) if at.ends_with("/arguments") && json(one) == json(other) => {}
        _ => found.push(format!("{at}: {left} is not {right}")),
    }
}

/// Reads arguments; those that are no JSON are a text.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn streamed_is_whole(wire: &JudgedWire, sample: &Sample) -> Vec<String> {
    let Some((body, sse)) = both(wire, sample) else { return Vec::new() };
    match wire.read_stream(sse) {
        Ok(deltas) => differences(&turn_of(&deltas), &wire.read(body)),
        Err(error) => vec![error.to_string()],
    }
}

fn streamed_is_accumulated(wire: &JudgedWire, sample: &Sample) -> Vec<String> {
    let Some((_, sse)) = both(wire, sample) else { return Vec::new() };
    // Gemini's SDK returns no future parts.
    if wire.name == WireName::Gemini && sample.name.starts_with("unknown") {
        return Vec::new();
    }
    let accumulated = Judge::shared().accumulate(wire.name, sse).unwrap();
    match wire.read_stream(sse) {
        Ok(deltas) => differences(&turn_of(&deltas), &wire.read(&accumulated)),
        Err(error) => vec![error.to_string()],
    }
}

/// The deltas' text: all texts, all reasoning, all refusals, and the calls in the order they begin.
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
                    call.unwrap().2.push_str(arguments);
                }
                Delta::ToolCallEnd { call_id } => displayed.ended.push(call_id.clone()),
                _ => {}
            }
        }
        displayed
    }
}

fn deltas_add_up(wire: &JudgedWire, sample: &Sample) -> Vec<String> {
    let Some((_, sse)) = both(wire, sample) else { return Vec::new() };
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
        ensure(json(arguments) == json(&call.arguments), format!("arguments {arguments}, {}", call.arguments));
        ensure(turn.is_cut_off() || displayed.ended.contains(id), format!("the call {id} does not end"));
    }
    complaints
}

fn cut_off_is_no_turn(wire: &JudgedWire, sample: &Sample) -> Vec<String> {
    let Some((_, sse)) = both(wire, sample) else { return Vec::new() };
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
}

fn failure_is_error(wire: &JudgedWire, sample: &Sample) -> Vec<String> {
    let is_error = |result: Result<String, ReadError>| match result {
        Err(ReadError::Provider(_)) => None,
        other => Some(format!("{other:?}")),
    };
    if sample.body.is_some() && !is_failed(wire, sample) {
        return Vec::new();
    }
    let streamed = sample.sse.as_deref().map(|sse| wire.read_stream(sse).map(|deltas| format!("{deltas:?}")));
    let read = |body: &Value| wire.wire.response(&body.to_string(), &wire.context());
    let whole = sample.body.as_ref().map(|body| read(body).map(|turn| format!("{turn:?}")));
    streamed.into_iter().chain(whole).filter_map(is_error).collect()
}

/// The type of the samples' future items, and of nothing else.
const FUTURE: &str = "telepathy";

fn future_is_kept(wire: &JudgedWire, sample: &Sample) -> Vec<String> {
    let Some((body, sse)) = both(wire, sample) else { return Vec::new() };
    // Members of the future are no items.
    if !body.to_string().contains(FUTURE) || sample.name == "unknown_field" {
        return Vec::new();
    }
    let turns = [wire.read(body), turn_of(&wire.read_stream(sse).unwrap())];
    let is_kept = |turn: &Turn| serde_json::to_string(turn).unwrap().contains(FUTURE) && turn.text() == "Hi.";
    turns.iter().filter(|turn| !is_kept(turn)).map(|turn| format!("{turn:?}")).collect()
}
