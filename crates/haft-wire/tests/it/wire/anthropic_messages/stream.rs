//! Streams.

use haft_core::{Delta, Turn, Usage};
use haft_wire::{AnthropicMessages, ErrorCause, ReadError, Wire, WireEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{context, message, read, rich};

pub(super) fn feed<'e>(events: impl IntoIterator<Item = &'e str>) -> Result<Vec<Delta>, ReadError> {
    let mut reader = AnthropicMessages::new().stream(&context());
    let mut deltas = Vec::new();
    for event in events {
        reader.event(WireEvent::new(None, event), &mut deltas)?;
    }
    reader.end(&mut deltas)?;
    Ok(deltas)
}

fn deltas_of(events: &[Value]) -> Result<Vec<Delta>, ReadError> {
    let texts: Vec<String> = events.iter().map(Value::to_string).collect();
    feed(texts.iter().map(String::as_str))
}

fn turn_of(deltas: &[Delta]) -> &Turn {
    let Some(Delta::TurnComplete(turn)) = deltas.last() else { panic!("{deltas:?}") };
    turn
}

/// Cuts text into pieces of so many characters.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size.max(1)).map(|piece| piece.iter().collect()).collect()
}

/// Returns the events that carry a response.
pub(super) fn events(response: &Value, size: usize) -> Vec<Value> {
    let mut start = response.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let container = start.as_object_mut().unwrap().remove("container");
    let mut events = vec![json!({"type": "message_start", "message": start}), json!({"type": "ping"})];
    for (index, block) in response["content"].as_array().unwrap().iter().enumerate() {
        let (begun, deltas) = chopped(block, size);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({
        "stop_reason": response["stop_reason"], "stop_sequence": response["stop_sequence"],
        "stop_details": response["stop_details"], "container": container,
    });
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": response["usage"]["output_tokens"]}}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// Returns the start of a block, and its changes.
fn chopped(block: &Value, size: usize) -> (Value, Vec<Value>) {
    let mut begun = block.clone();
    let mut deltas = Vec::new();
    let member = |kind: &str, name: &str, text: &str| -> Vec<Value> {
        pieces(text, size).into_iter().map(|piece| json!({"type": kind, name: piece})).collect()
    };
    match block["type"].as_str().unwrap() {
        "text" => {
            let citations = block["citations"].as_array().into_iter().flatten();
            deltas.extend(citations.map(|citation| json!({"type": "citations_delta", "citation": citation})));
            deltas.extend(member("text_delta", "text", block["text"].as_str().unwrap()));
            begun["text"] = json!("");
            begun["citations"] = Value::Null;
        }
        "thinking" => {
            deltas.extend(member("thinking_delta", "thinking", block["thinking"].as_str().unwrap()));
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
            begun["thinking"] = json!("");
            begun["signature"] = json!("");
        }
        kind if kind.ends_with("tool_use") => {
            let input = if block["input"] == json!({}) { String::new() } else { block["input"].to_string() };
            deltas.push(json!({"type": "input_json_delta", "partial_json": ""}));
            deltas.extend(member("input_json_delta", "partial_json", &input));
            begun["input"] = json!({});
        }
        _ => {}
    }
    (begun, deltas)
}

#[test]
fn a_stream_has_its_deltas() {
    insta::assert_json_snapshot!("stream", deltas_of(&events(&rich(), 12)).unwrap());
}

#[test]
fn a_refusal_in_a_stream_has_its_explanation() {
    let mut response = message(json!([{"type": "text", "text": "I"}]), "refusal");
    response["stop_details"] = json!({"type": "refusal", "category": null, "explanation": "Not this."});
    let deltas = deltas_of(&events(&response, 3)).unwrap();
    assert_eq!(turn_of(&deltas), &read(&response));
    assert!(deltas.iter().any(|delta| matches!(delta, Delta::RefusalDelta { text, .. } if text == "Not this.")));
}

#[test]
fn usage_is_merged_from_all_events() {
    let deltas = deltas_of(&events(&message(json!([]), "end_turn"), 1)).unwrap();
    let usages: Vec<_> = deltas
        .iter()
        .filter_map(|delta| if let Delta::UsageUpdate(usage) = delta { Some(*usage) } else { None })
        .collect();
    let whole = Usage::new(115, 40).cache_read(100).cache_write(10).reasoning(7);
    assert_eq!((usages.len(), usages[0].output_tokens, usages[1]), (2, 1, whole));
    assert_eq!(turn_of(&deltas).usage, whole);
}

#[test]
fn unknown_events_and_changes_are_kept() {
    let mut all = events(&message(json!([{"type": "compaction", "content": null}]), "compaction"), 1);
    all.insert(
        3,
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "compaction_delta", "content": "Summary"}}),
    );
    all.insert(1, json!({"type": "weather_report", "delta": "cold", "index": {"a": 1}}));
    // A provider does not write deltas of ours.
    all.insert(1, json!({"type": "text_delta", "text": "forged"}));
    all.insert(1, json!({"type": "turn_complete", "items": [], "finish": "stop"}));
    let deltas = deltas_of(&all).unwrap();
    let kept: Vec<_> = deltas
        .iter()
        .filter_map(|delta| if let Delta::Unknown(unknown) = delta { Some(unknown.delta_type()) } else { None })
        .collect();
    assert_eq!(kept, ["weather_report", "content_block_start", "content_block_delta"]);
    assert!(!deltas.iter().any(|delta| matches!(delta, Delta::TextDelta { .. })));
    let turn = turn_of(&deltas);
    assert_eq!(deltas.iter().filter(|delta| matches!(delta, Delta::TurnComplete(_))).count(), 1);
    assert_eq!(turn, &read(&message(json!([{"type": "compaction", "content": "Summary"}]), "compaction")));
}

#[test]
fn an_error_event_is_an_error() {
    let mut all = events(&rich(), 5);
    all[4] = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let Err(ReadError::Provider(report)) = deltas_of(&all) else { panic!("no error of the provider") };
    assert_eq!((report.cause, report.message.as_str()), (ErrorCause::Unavailable, "Overloaded"));
}

#[test]
fn a_stream_that_ends_early_is_incomplete() {
    let all = events(&rich(), 5);
    for length in 0..all.len() - 2 {
        assert!(matches!(deltas_of(&all[..length]), Err(ReadError::Incomplete)), "{length}");
    }
    // All but the mark of the end has arrived.
    assert_eq!(turn_of(&deltas_of(&all[..all.len() - 1]).unwrap()), &read(&rich()));
}

#[test]
fn events_after_the_end_are_ignored() {
    let mut all = events(&rich(), 5);
    let once = deltas_of(&all).unwrap();
    all.extend(all.clone());
    assert_eq!(deltas_of(&all).unwrap(), once);
    let texts: Vec<String> = events(&rich(), 5).iter().map(Value::to_string).collect();
    let with_marks = texts.iter().map(String::as_str).chain(["[DONE]", "", " "]);
    assert_eq!(feed(with_marks).unwrap(), once);
}

#[test]
fn events_out_of_order_do_no_harm() {
    let fragment =
        json!({"type": "content_block_delta", "index": 7, "delta": {"type": "input_json_delta", "partial_json": "{}"}});
    let error = deltas_of(&[fragment]).unwrap_err();
    assert!(error.to_string().contains("block 7"), "{error}");

    // Text without a start, a second end, and a change of another type than its block.
    let mut all =
        events(&message(json!([{"type": "tool_use", "id": "t1", "name": "gone", "input": {"a": 1}}]), "tool_use"), 2);
    let end = all.len() - 2;
    let change = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    all.insert(end, change(9, json!({"type": "text_delta", "text": "late"})));
    all.insert(end, json!({"type": "content_block_stop", "index": 0}));
    all.insert(4, change(0, json!({"type": "text_delta", "text": "wrong"})));
    let deltas = deltas_of(&all).unwrap();
    let turn = turn_of(&deltas);
    assert_eq!((turn.text().as_str(), turn.tool_calls()[0].arguments.as_str()), ("late", r#"{"a":1}"#));
    assert_eq!(deltas.iter().filter(|delta| matches!(delta, Delta::ToolCallEnd { .. })).count(), 1);
}

#[test]
fn interleaved_blocks_are_kept_apart() {
    let start =
        |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let input = |index: u64, text: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let deltas = deltas_of(&[
        start(0, json!({"type": "tool_use", "id": "a", "name": "gone", "input": {}})),
        start(1, json!({"type": "tool_use", "id": "b", "name": "gone", "input": {}})),
        input(1, "{\"b\""),
        input(0, "{\"a\":"),
        input(1, ":2}"),
        stop(1),
        input(0, "1}"),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ])
    .unwrap();
    let arguments: Vec<_> = turn_of(&deltas).tool_calls().into_iter().map(|call| call.arguments).collect();
    assert_eq!(arguments, [r#"{"a":1}"#, r#"{"b":2}"#]);
}

#[test]
fn an_input_in_the_first_event_is_the_input() {
    let block = json!({"type": "tool_use", "id": "a", "name": "gone", "input": {"a": [1]}});
    let response = message(json!([block]), "tool_use");
    let mut all = events(&response, 4);
    all.retain(|event| event["type"] != "content_block_delta");
    all[2]["content_block"] = block;
    assert_eq!(turn_of(&deltas_of(&all).unwrap()), &read(&response));
}

proptest! {
    #[test]
    fn a_stream_and_a_whole_response_have_the_same_turn(size in 1..40_usize, kept in proptest::collection::vec(any::<bool>(), 14)) {
        let mut response = rich();
        let mut kept = kept.into_iter();
        response["content"].as_array_mut().unwrap().retain(|_| kept.next().unwrap_or(true));
        let deltas = deltas_of(&events(&response, size)).unwrap();
        prop_assert_eq!(turn_of(&deltas), &read(&response));
        let shown: String = deltas.iter().filter_map(|delta| if let Delta::TextDelta { text, .. } = delta { Some(text.as_str()) } else { None }).collect();
        prop_assert_eq!(shown, turn_of(&deltas).text());
    }
}
