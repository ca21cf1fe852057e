//! Hostile responses and streams: an error at most.

use haft_wire::{AnthropicMessages, ErrorResponse, Wire, WireEvent};
use serde_json::{Value, json};

use super::stream::events;
use super::{context, message, rich};
use crate::wire::mutation::mutations;

#[test]
fn a_response_that_is_cut_anywhere_is_an_error() {
    let (wire, context, body) = (AnthropicMessages::new(), context(), rich().to_string());
    for end in (0..body.len()).filter(|end| body.is_char_boundary(*end)) {
        assert!(wire.response(&body[..end], &context).is_err(), "{end}");
        assert!(!wire.error(&ErrorResponse::new(500, &body[..end])).message.is_empty());
    }
}

#[test]
fn events_that_are_cut_anywhere_do_not_panic() {
    let (wire, context) = (AnthropicMessages::new(), context());
    for event in events(&rich(), 9) {
        let text = event.to_string();
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let mut reader = wire.stream(&context);
            let read = reader.event(WireEvent::new(None, &text[..end]), &mut Vec::new());
            assert_eq!(read.is_ok(), end == 0, "{}", &text[..end]);
        }
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let wire = AnthropicMessages::new();
    for block in [
        format!(r#"{{"type":"telepathy","thought":{deep}}}"#),
        format!(r#"{{"type":"server_tool_use","id":"a","name":"b","input":{deep}}}"#),
        format!(r#"{{"type":"text","text":"a","citations":[{deep}]}}"#),
    ] {
        let body = format!(r#"{{"content":[{block}]}}"#);
        assert!(wire.response(&body, &context()).is_err());
        let event = format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#);
        assert!(wire.stream(&context()).event(WireEvent::new(None, &event), &mut Vec::new()).is_err());
    }
}

#[test]
fn members_of_the_wrong_type_do_not_panic() {
    let (wire, context) = (AnthropicMessages::new(), context());
    let mut readable = 0;
    for body in mutations(&rich()) {
        readable += usize::from(wire.response(&body.to_string(), &context).is_ok());
    }
    assert!(readable > 0);
    for event in events(&rich(), 30) {
        for mutated in mutations(&event) {
            let mut reader = wire.stream(&context);
            let (mut deltas, text) = (Vec::new(), mutated.to_string());
            let _ = reader.event(WireEvent::new(None, &text), &mut deltas);
            let _ = reader.event(WireEvent::new(None, &text), &mut deltas);
            let _ = reader.end(&mut deltas);
        }
    }
}

#[test]
fn one_index_for_all_blocks_does_no_harm() {
    let mut all = events(&rich(), 7);
    for event in &mut all {
        if event.get("index").is_some() {
            event["index"] = json!(0);
        }
    }
    let texts: Vec<String> = all.iter().map(Value::to_string).collect();
    super::stream::feed(texts.iter().map(String::as_str)).unwrap();
    let many: Vec<Value> = (0..5_000).map(|_| json!({"type": "telepathy"})).collect();
    assert_eq!(super::read(&message(many.into(), "end_turn")).items.len(), 5_000);
}
