//! Hostile responses and streams: an error at most.

use haft_wire::{ErrorResponse, GeminiContent, Wire, WireEvent};
use serde_json::{Value, json};

use super::stream::{chunks, feed};
use super::{context, read, response, rich};
use crate::wire::mutation::mutations;

#[test]
fn a_response_that_is_cut_anywhere_is_an_error() {
    let (wire, context, body) = (GeminiContent::new(), context(), rich().to_string());
    for end in (0..body.len()).filter(|end| body.is_char_boundary(*end)) {
        assert!(wire.response(&body[..end], &context).is_err(), "{end}");
        assert!(!wire.error(&ErrorResponse::new(500, &body[..end])).message.is_empty());
    }
}

#[test]
fn chunks_that_are_cut_anywhere_do_not_panic() {
    let (wire, context) = (GeminiContent::new(), context());
    for chunk in chunks(&rich(), 9) {
        let text = chunk.to_string();
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let mut reader = wire.stream(&context);
            let read = reader.event(WireEvent::new(None, &text[..end]), &mut Vec::new());
            assert_eq!(read.is_ok(), end == 0, "{}", &text[..end]);
        }
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let (wire, context) = (GeminiContent::new(), context());
    let body = |part: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}},"finishReason":"STOP"}}]}}"#);
    for document in [
        body(&format!(r#"{{"telepathy":{deep}}}"#)),
        body(&format!(r#"{{"functionCall":{{"name":"acme--weather","args":{{"city":{deep}}}}}}}"#)),
        body(&deep),
        format!(r#"{{"candidates":[{{"finishReason":"STOP","groundingMetadata":{deep}}}]}}"#),
        format!(r#"{{"new":{deep}}}"#),
        deep.clone(),
    ] {
        let whole = wire.response(&document, &context).unwrap_err().to_string();
        let event = wire.stream(&context).event(WireEvent::new(None, &document), &mut Vec::new()).unwrap_err();
        assert_eq!(event.to_string(), whole);
        assert!(whole.contains("nested more than 100 levels deep"), "{whole}");
    }
    assert!(!wire.error(&ErrorResponse::new(400, &format!(r#"{{"error":{deep}}}"#))).message.is_empty());
}

#[test]
fn members_of_the_wrong_type_do_not_panic() {
    let (wire, context) = (GeminiContent::new(), context());
    let mut readable = 0;
    for body in mutations(&rich()) {
        readable += usize::from(wire.response(&body.to_string(), &context).is_ok());
    }
    assert!(readable > 0);
    for chunk in chunks(&rich(), 30) {
        for mutated in mutations(&chunk) {
            let mut reader = wire.stream(&context);
            let (mut deltas, text) = (Vec::new(), mutated.to_string());
            let _ = reader.event(WireEvent::new(None, &text), &mut deltas);
            let _ = reader.event(WireEvent::new(None, &text), &mut deltas);
            let _ = reader.end(&mut deltas);
            assert!(wire.stream(&context).end(&mut deltas).is_err());
        }
    }
    let partial = json!({"candidates": [{"content": {"parts": [{"functionCall": {
        "name": "gone", "willContinue": true,
        "partialArgs": [{"jsonPath": "$.a[0]['b']", "stringValue": "x", "numberValue": 1, "willContinue": true}],
    }}]}, "finishReason": "STOP"}]});
    for mutated in mutations(&partial) {
        let text = mutated.to_string();
        let _ = feed([text.as_str(), text.as_str()]);
    }
}

#[test]
fn huge_indexes_reserve_no_memory() {
    for index in ["4294967295", "18446744073709551615", "99999999999999999999999"] {
        let path = format!("$.a[{index}]");
        let call = json!({"functionCall": {"name": "gone", "partialArgs": [{"jsonPath": path, "numberValue": 1}]}});
        let text = response(json!([call]), "STOP").to_string();
        assert!(feed([text.as_str()]).is_err(), "{index}");
    }
    let mut body = response(json!([{"text": "hi"}]), "STOP");
    body["candidates"][0]["index"] = json!(u64::MAX);
    let wire = GeminiContent::new();
    assert!(wire.response(&body.to_string(), &context()).is_err(), "it is not the first answer");
    body["candidates"][0]["index"] = json!(0);
    body["candidates"][0]["groundingMetadata"] = json!({
        "groundingChunks": [{"web": {"uri": "u"}}],
        "groundingSupports": [{"segment": {"startIndex": u64::MAX, "endIndex": u64::MAX}, "groundingChunkIndices": [0, u64::MAX]}],
    });
    assert_eq!(read(&body).text(), "hi");
}

#[test]
fn many_parts_are_read() {
    let many: Vec<Value> =
        (0..5_000).map(|at| json!({"functionCall": {"id": "same", "name": "gone", "args": {"n": at}}})).collect();
    let turn = read(&response(many.into(), "STOP"));
    let ids: std::collections::HashSet<_> = turn.tool_calls().iter().map(|call| call.call_id.clone()).collect();
    assert_eq!(ids.len(), 5_000);
    let unknown: Vec<Value> = (0..5_000).map(|_| json!({"telepathy": {}})).collect();
    assert_eq!(read(&response(unknown.into(), "STOP")).items.len(), 1);
}

#[test]
fn a_chunk_after_an_error_or_the_end_does_no_harm() {
    let mut reader = GeminiContent::new().stream(&context());
    let mut deltas = Vec::new();
    assert!(reader.event(WireEvent::new(None, "{"), &mut deltas).is_err());
    let text = response(json!([{"text": "hi"}]), "STOP").to_string();
    reader.event(WireEvent::new(None, &text), &mut deltas).unwrap();
    reader.end(&mut deltas).unwrap();
    let read = deltas.len();
    reader.event(WireEvent::new(None, &text), &mut deltas).unwrap();
    assert!(reader.end(&mut deltas).is_err());
    assert_eq!(deltas.len(), read);
}
