//! The promises of a wire about what a provider, or somebody in its place, sends: any response, stream and error body is
//! read without a panic and within bounds, and what was read can be stored and sent back.
//!
//! An input is read as the body of a response, as the body of an error, and as a stream: a JSON array is a list of
//! events, and any other text has one event per line.

use std::sync::OnceLock;

use haft_core::{Delta, History, Item, ToolCall, ToolDescriptor, ToolResult, Turn, TurnRequest};
use haft_schema::Schema;
use haft_wire::{
    AnthropicMessages, Delivery, ErrorResponse, GeminiContent, OpenAiChat, OpenAiResponses, ReadContext, ReadError,
    Wire, WireEvent,
};
use serde_json::{Value, json};

use super::Outcome;
use crate::meter;

/// The work that reading may take, in plain checks of an input of the same length.
const CHECKS: u32 = 8;
const STATUSES: [u16; 6] = [400, 401, 404, 429, 500, 529];

/// One event of a stream.
struct FuzzEvent {
    name: Option<String>,
    data: String,
}

/// Reads an input in all ways, and returns the kind of the outcome. The context is made once.
pub(super) fn run(wire: &dyn Wire, context: &OnceLock<ReadContext>, input: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(input) else { return Outcome::of(&"no text") };
    let context = context.get_or_init(|| self::context(wire));
    let bytes = meter::Input::value(text.len(), CHECKS);
    let (whole, _) = meter::bounded("reading a response", bytes, || (), |()| wire.response(text, context));
    let events = events(text);
    let (streamed, _) = meter::bounded("reading a stream", bytes, || (), |()| stream(wire, context, &events));
    let causes = STATUSES.map(|status| {
        let report = |()| wire.error(&ErrorResponse::new(status, text));
        let (report, _) = meter::bounded("reading an error", bytes, || (), report);
        report.cause
    });
    let kinds = streamed.as_ref().map(|deltas| check_deltas(deltas)).map_err(error_kind);
    let turns = [whole.as_ref().ok(), streamed.as_ref().ok().and_then(|deltas| turn_of(deltas))];
    turns.into_iter().flatten().for_each(check_turn);
    Outcome::of(&(whole.map(|turn| shape(&turn)).map_err(|error| error_kind(&error)), kinds, causes))
}

fn context(wire: &dyn Wire) -> ReadContext {
    let request = TurnRequest::new("a-model", vec![Item::user("hi")]).tools(&tools());
    let sent = wire.request(&request, Delivery::Streamed);
    sent.unwrap_or_else(|error| panic!("a plain request is rejected: {error}")).context
}

/// A tool whose arguments have another shape on most wires.
fn tools() -> Vec<ToolDescriptor> {
    let schema = Schema::json(json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "labels": {"type": "object", "additionalProperties": {"type": "string"}}},
        "required": ["city"],
        "additionalProperties": false,
    }));
    schema.map(|schema| vec![ToolDescriptor::new("get_weather", schema)]).unwrap_or_default()
}

fn events(text: &str) -> Vec<FuzzEvent> {
    let named = |value: &Value| value.get("type").and_then(Value::as_str).map(str::to_owned);
    match serde_json::from_str(text) {
        Ok(Value::Array(list)) => {
            list.iter().map(|event| FuzzEvent { name: named(event), data: event.to_string() }).collect()
        }
        _ => text.lines().map(|line| FuzzEvent { name: None, data: line.to_owned() }).collect(),
    }
}

fn stream(wire: &dyn Wire, context: &ReadContext, events: &[FuzzEvent]) -> Result<Vec<Delta>, ReadError> {
    let mut reader = wire.stream(context);
    let mut deltas = Vec::new();
    for event in events {
        reader.event(WireEvent::new(event.name.as_deref(), &event.data), &mut deltas)?;
    }
    reader.end(&mut deltas)?;
    Ok(deltas)
}

fn turn_of(deltas: &[Delta]) -> Option<&Turn> {
    deltas.iter().find_map(|delta| if let Delta::TurnComplete(turn) = delta { Some(&**turn) } else { None })
}

/// Checks the order of deltas, and returns their kinds.
fn check_deltas(deltas: &[Delta]) -> Vec<&'static str> {
    let mut begun = Vec::new();
    let mut kinds = Vec::new();
    for delta in deltas {
        let kind = match delta {
            Delta::TextDelta { .. } => "text",
            Delta::ReasoningDelta { .. } => "reasoning",
            Delta::RefusalDelta { .. } => "refusal",
            Delta::CitationDelta { .. } => "citation",
            Delta::ToolCallStart { call_id, .. } | Delta::ProviderCallStart { call_id, .. } => {
                begun.push(call_id);
                "start"
            }
            Delta::ToolCallArgsDelta { call_id, .. } | Delta::ToolCallEnd { call_id } => {
                assert!(begun.contains(&call_id), "a delta of the call {call_id}, which has not begun");
                "arguments"
            }
            Delta::UsageUpdate(_) => "usage",
            Delta::TurnComplete(_) => "turn",
            _ => "other",
        };
        if kinds.last() != Some(&kind) && kinds.len() < 8 {
            kinds.push(kind);
        }
    }
    let complete = deltas.iter().filter(|delta| matches!(delta, Delta::TurnComplete(_))).count();
    assert_eq!(complete, 1, "a stream that was read to its end has one turn");
    kinds
}

/// Checks that a turn can be stored, read again, and sent back on every wire.
fn check_turn(turn: &Turn) {
    let text = serde_json::to_string(turn).unwrap_or_else(|error| panic!("the turn can't be stored: {error}"));
    match serde_json::from_str::<Turn>(&text) {
        Ok(read) => assert_eq!(read, *turn, "the turn changes when it is stored"),
        Err(error) => panic!("the stored turn can't be read: {error}\n{text}"),
    }
    let mut turn = turn.clone();
    let mut history = History::from(vec![Item::user("hi")]);
    history.fresh_ids(&mut turn);
    let mut results = turn.interrupted_results();
    if !turn.is_cut_off() {
        results = turn.tool_calls().iter().map(result).collect();
    }
    if turn.append_to_history(&mut history, results).is_err() {
        return;
    }
    for wire in wires() {
        let mut request = TurnRequest::new("a-model", Vec::new()).tools(&tools());
        request.history = history.clone();
        if let Ok(sent) = wire.request(&request, Delivery::Whole) {
            let body = serde_json::from_str::<serde::de::IgnoredAny>(&sent.body);
            assert!(body.is_ok(), "the body of the next request is no JSON: {}", sent.body);
        }
    }
}

fn result(call: &ToolCall) -> ToolResult {
    ToolResult::ok(call, json!("done"))
}

fn wires() -> [Box<dyn Wire>; 4] {
    [
        Box::new(OpenAiResponses::new()),
        Box::new(OpenAiChat::compatible("openai")),
        Box::new(AnthropicMessages::new()),
        Box::new(GeminiContent::new()),
    ]
}

/// Returns the kind of a turn.
fn shape(turn: &Turn) -> (Vec<String>, String) {
    let kind = |item: &Item| {
        let json = serde_json::to_value(item).unwrap_or_default();
        json.get("type").and_then(Value::as_str).unwrap_or_default().chars().take(24).collect()
    };
    (turn.items.iter().take(4).map(kind).collect(), turn.finish.as_str().chars().take(16).collect())
}

fn error_kind(error: &ReadError) -> &'static str {
    match error {
        ReadError::Invalid { .. } => "invalid",
        ReadError::Provider(_) => "provider",
        ReadError::Incomplete => "incomplete",
        _ => "other",
    }
}
