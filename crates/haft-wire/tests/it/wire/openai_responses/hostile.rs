//! Hostile responses and streams: an error at most.

use haft_wire::{ErrorResponse, OpenAiResponses, Wire, WireEvent};
use serde_json::{Value, json};

use super::served::events;
use super::stream::{deltas_of, turn_of};
use super::{context, response, rich, said};
use crate::wire::mutation::mutations;

#[test]
fn a_response_that_is_cut_anywhere_is_an_error() {
    let (wire, context, body) = (OpenAiResponses::new(), context(), rich().to_string());
    for end in (0..body.len()).filter(|end| body.is_char_boundary(*end)) {
        assert!(wire.response(&body[..end], &context).is_err(), "{end}");
        assert!(!wire.error(&ErrorResponse::new(500, &body[..end])).message.is_empty());
    }
}

#[test]
fn events_that_are_cut_anywhere_are_errors() {
    let (wire, context) = (OpenAiResponses::new(), context());
    for event in events(&response(json!([said("msg_1", "hé"), super::called("c1", "t", "{}")])), 9) {
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
    let (wire, context) = (OpenAiResponses::new(), context());
    for item in [
        format!(r#"{{"type":"telepathy","thought":{deep}}}"#),
        format!(r#"{{"type":"web_search_call","id":"a","action":{deep}}}"#),
        format!(r#"{{"type":"function_call","call_id":"a","name":"b","arguments":{deep}}}"#),
        format!(r#"{{"type":"message","content":{deep}}}"#),
    ] {
        let body = format!(r#"{{"output":[{item}]}}"#);
        assert!(wire.response(&body, &context).is_err());
        let last = format!(r#"{{"type":"response.completed","response":{body}}}"#);
        let added = format!(r#"{{"type":"response.output_item.added","output_index":0,"item":{item}}}"#);
        for event in [last, added] {
            assert!(wire.stream(&context).event(WireEvent::new(None, &event), &mut Vec::new()).is_err());
        }
    }
    let error = format!(r#"{{"error":{{"message":"m","x":{deep}}}}}"#);
    assert!(!wire.error(&ErrorResponse::new(400, &error)).message.is_empty());
}

#[test]
fn members_of_the_wrong_type_do_not_panic() {
    let (wire, context) = (OpenAiResponses::new(), context());
    let mut readable = 0;
    for body in mutations(&rich()) {
        if let Ok(turn) = wire.response(&body.to_string(), &context) {
            readable += 1;
            let request = haft_core::TurnRequest::new(super::MODEL, turn.items);
            let _ = super::send(&request);
        }
    }
    assert!(readable > 100, "{readable}");
}

#[test]
fn events_with_members_of_the_wrong_type_do_not_panic() {
    let (wire, context) = (OpenAiResponses::new(), context());
    let mut ended = 0;
    let all = events(&rich(), 30);
    for event in &all[1..all.len() - 1] {
        for mutated in mutations(event) {
            let mut reader = wire.stream(&context);
            let (mut deltas, text) = (Vec::new(), mutated.to_string());
            let _ = reader.event(WireEvent::new(None, &text), &mut deltas);
            let _ = reader.event(WireEvent::new(None, &text), &mut deltas);
            ended += usize::from(reader.end(&mut deltas).is_ok());
        }
    }
    assert_eq!(ended, 0, "none of these events ends a response");
}

#[test]
fn a_member_of_the_wrong_type_in_the_stream_does_not_shorten_the_turn() {
    let body = response(json!([said("msg_1", "hi"), super::called("c1", "t", "{}")]));
    let all = events(&body, 30);
    let whole = super::read(&body);
    for at in 0..all.len() - 1 {
        for mutated in mutations(&all[at]) {
            let mut events = all.clone();
            events[at] = mutated;
            if let Ok(deltas) = deltas_of(&events) {
                assert_eq!(turn_of(&deltas), &whole, "{}", events[at]);
            }
        }
    }
}

#[test]
fn huge_positions_do_no_harm() {
    for index in [u64::MAX, u64::MAX - 1, (1 << 43) - 1, 1 << 43, 1 << 44, 1 << 63] {
        let mut all = events(&response(json!([said("msg_1", "hi"), super::called("c1", "t", "{}")])), 1);
        for event in &mut all {
            for member in ["output_index", "content_index", "summary_index"] {
                if event.get(member).is_some() {
                    event[member] = json!(index);
                }
            }
        }
        for with_output in [true, false] {
            if !with_output {
                all.last_mut().unwrap()["response"]["output"] = json!([]);
            }
            let deltas = deltas_of(&all).unwrap();
            assert_eq!((turn_of(&deltas).text().as_str(), turn_of(&deltas).items.len()), ("hi", 2), "{index}");
        }
    }
}

#[test]
fn many_items_are_read() {
    let many: Vec<Value> = (0..5_000).map(|_| json!({"type": "telepathy"})).collect();
    let body = response(many.into());
    assert_eq!(super::read(&body).items.len(), 5_000);
    let last = json!({"type": "response.completed", "response": body});
    assert_eq!(turn_of(&deltas_of(&[last]).unwrap()).items.len(), 5_000);
}

#[test]
fn duplicate_members_do_not_panic() {
    let (wire, context) = (OpenAiResponses::new(), context());
    for body in [
        r#"{"output":[],"output":[]}"#,
        r#"{"output":[{"type":"function_call","call_id":"a","call_id":"b","name":"t"}]}"#,
        r#"{"status":"completed","status":"failed","output":[]}"#,
    ] {
        let turn = wire.response(body, &context);
        assert!(turn.is_err() || turn.is_ok_and(|turn| turn.items.len() == 1), "{body}");
    }
    let mut deltas = Vec::new();
    let event = r#"{"type":"response.output_text.delta","delta":"a","delta":"b"}"#;
    wire.stream(&context).event(WireEvent::new(None, event), &mut deltas).unwrap();
    assert_eq!(deltas.len(), 1);
}
