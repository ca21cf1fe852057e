//! A body's wire, and bodies without one.

use haft_wire::KnownWire;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::seeded::for_all;

fn bodies() -> [(KnownWire, Vec<Value>); 4] {
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"});
    [
        (
            KnownWire::OpenAi,
            vec![
                json!({"id": "resp_1", "object": "response", "status": "completed", "output": []}),
                json!({"id": "resp_1", "status": "completed", "output": []}),
                json!({"error": {"message": "Incorrect API key", "type": "invalid_request_error", "param": null, "code": null}}),
                json!({"error": "no such route"}),
            ],
        ),
        (
            KnownWire::OpenAiChat,
            vec![
                json!({"id": "c", "object": "chat.completion", "choices": [choice]}),
                json!({"choices": [choice], "model": "llama"}),
                json!({"object": "chat.completion", "error": {"message": "overloaded", "code": 502}}),
            ],
        ),
        (
            KnownWire::Anthropic,
            vec![
                json!({
                    "model": "claude", "id": "msg_1", "type": "message", "role": "assistant", "content": [],
                    "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1},
                }),
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"}),
            ],
        ),
        (
            KnownWire::Gemini,
            vec![
                json!({"candidates": [{"content": {"parts": []}}], "usageMetadata": {}, "modelVersion": "gemini"}),
                json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}),
                json!({"error": {"code": 429, "message": "Resource exhausted", "status": "RESOURCE_EXHAUSTED"}}),
            ],
        ),
    ]
}

#[test]
fn whole_bodies_are_recognised_in_any_order_of_members() {
    for (wire, bodies) in bodies() {
        for body in bodies {
            assert_eq!(KnownWire::recognise(&body.to_string()), Some(wire), "{body}");
            let pretty = format!("\u{feff}\n{body:#}\n");
            assert_eq!(KnownWire::recognise(&pretty), Some(wire), "{pretty}");
            let mut members: Vec<_> = body.as_object().unwrap().clone().into_iter().collect();
            members.reverse();
            let reversed = Value::Object(members.into_iter().collect());
            assert_eq!(KnownWire::recognise(&reversed.to_string()), Some(wire), "{reversed}");
        }
    }
}

#[test]
fn events_are_recognised() {
    for (wire, events) in [
        (
            KnownWire::OpenAi,
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{},\"sequence_number\":0}\n\n",
        ),
        (KnownWire::OpenAi, "data:{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}"),
        (
            KnownWire::OpenAi,
            "event: error\ndata: {\"type\":\"error\",\"code\":\"x\",\"message\":\"y\",\"sequence_number\":1}\n\n",
        ),
        (KnownWire::OpenAi, "data: {\"error\":{\"message\":\"no\"}}\n\n"),
        (
            KnownWire::OpenAiChat,
            "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{}}]}\n\n",
        ),
        (KnownWire::OpenAiChat, ": PROCESSING\n\n: PROCESSING\n\ndata: {\"choices\":[]}\r\n\r\n"),
        (
            KnownWire::Anthropic,
            "event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\nevent: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{}}\r\n",
        ),
        (
            KnownWire::Anthropic,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
        ),
        (KnownWire::Gemini, "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"a\"}]}}]}\r\n\r\n"),
        (KnownWire::Gemini, "data: {\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}\n\n"),
        // The Messages API behind an API that names no types of events.
        (KnownWire::Anthropic, "id: 1\nretry: 10\ndata: {\"type\":\"content_block_delta\",\"index\":0}\n\n"),
    ] {
        assert_eq!(KnownWire::recognise(events), Some(wire), "{events}");
    }
    assert_eq!(KnownWire::recognise("event: ping\ndata: {\"type\":\"ping\"}\n\ndata: [DONE]\n\n"), None);
}

#[test]
fn the_list_that_gemini_streams_is_recognised() {
    for list in [
        "[{\n  \"candidates\": [{\"content\": {}}]\n}\n,\n{\"candidates\": []}]",
        "[{\"error\": {\"code\": 400, \"message\": \"no\", \"status\": \"INVALID_ARGUMENT\"}}]",
    ] {
        assert_eq!(KnownWire::recognise(list), Some(KnownWire::Gemini), "{list}");
    }
}

#[test]
fn bodies_that_were_cut_off_are_recognised() {
    for (wire, body) in [
        (KnownWire::OpenAi, "{\"id\":\"resp_1\",\"object\":\"response\",\"output\":[{\"type\":\"mess"),
        (KnownWire::OpenAiChat, "{\"choices\":[{\"message\":{\"con"),
        (KnownWire::Anthropic, "{\"model\":\"claude\",\"id\":\"m\",\"type\":\"message\",\"content\":[{\"te"),
        (KnownWire::Gemini, "{\"candidates\":[{\"content\":{\"par"),
        (KnownWire::Gemini, "[{\"candidates\":[{\"content\":{\"par"),
        (KnownWire::Gemini, "data: {\"candidates\":[{\"content\":{\"par"),
    ] {
        assert_eq!(KnownWire::recognise(body), Some(wire), "{body}");
    }
}

#[test]
fn other_documents_are_of_no_wire() {
    let items = json!([
        {"type": "message", "role": "assistant", "content": []},
        {"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"},
    ]);
    for body in [
        "",
        " \n",
        "hello",
        "<html></html>",
        "null",
        "1",
        "\"object\"",
        "{}",
        "[]",
        "[[]]",
        "[1]",
        "{",
        "data:",
        "data: \n\n",
        "event: x",
        "{\"object\":\"list\",\"data\":[]}",
        "{\"object\":\"text_completion\",\"choices\":[]}",
        "{\"object\":\"embedding\",\"usage\":{}}",
        "{\"choices\":null,\"candidates\":null,\"error\":null}",
        "{\"output\":[]}",
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}",
        "{\"output\":[],\"status\":\"completed\"}\n{\"output\":[],\"status\":\"completed\"}",
        &items.to_string(),
    ] {
        assert_eq!(KnownWire::recognise(body), None, "{body}");
    }
}

/// A call of a plain file, with members that responses have too.
fn plain_call() -> impl Strategy<Value = Value> {
    let member = prop::sample::select(vec![
        ("id", json!("call_1")),
        ("call_id", json!("call_1")),
        ("type", json!("message")),
        ("type", json!("response.created")),
        ("type", json!("error")),
        ("object", json!("response")),
        ("object", json!("chat.completion")),
        ("status", json!("completed")),
        ("output", json!([])),
        ("model", json!("gpt")),
        ("usage", json!({})),
        ("choices", json!([])),
        ("candidates", json!([])),
        ("usageMetadata", json!({})),
        ("error", json!({"code": 1, "status": "X"})),
    ]);
    let arguments = prop::sample::select(vec![json!({}), json!("{}"), json!({"choices": [], "object": "response"})]);
    (prop::collection::vec(member, 0..4), arguments, prop::bool::ANY).prop_map(|(members, arguments, is_first)| {
        let own = [("name", json!("t")), ("arguments", arguments)];
        let (first, last) = if is_first { (own.to_vec(), members) } else { (members, own.to_vec()) };
        Value::Object(first.into_iter().chain(last).map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

#[test]
fn plain_calls_are_of_no_wire() {
    for_all(500, prop::collection::vec(plain_call(), 1..4), |calls| {
        let lines: Vec<_> = calls.iter().map(Value::to_string).collect();
        for body in [
            lines[0].clone(),
            lines.join("\n"),
            format!("[{}]", lines.join(",\n")),
            format!("{:#}", Value::from(calls)),
            format!("data: {}\n\n", lines[0]),
        ] {
            prop_assert_eq!(KnownWire::recognise(&body), None, "{}", body);
        }
        Ok(())
    });
}

#[test]
fn hostile_text_is_skipped_without_recursion() {
    let deep = "[".repeat(300_000);
    let objects = "{\"a\":".repeat(200_000);
    for body in [
        deep.clone(),
        objects.clone(),
        format!("{{\"a\":{deep}"),
        format!("{{\"error\":{{\"code\":{deep}"),
        format!("[{objects}"),
        format!("data: {objects}\n\n"),
        "data: {}\n".repeat(50_000),
        "\n".repeat(100_000),
    ] {
        let wire = KnownWire::recognise(&body);
        assert!(matches!(wire, None | Some(KnownWire::OpenAi)), "{wire:?}");
    }
    assert_eq!(KnownWire::recognise(&format!("{{\"candidates\":{deep}")), Some(KnownWire::Gemini));
}
