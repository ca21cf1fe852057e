//! Responses.

use haft_core::{Finish, Item, ToolDescriptor, Turn, TurnRequest};
use haft_wire::{Delivery, ErrorCause, OpenAiChat, ReadContext, ReadError, Wire};
use serde_json::{Value, json};

pub(super) fn context() -> ReadContext {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let request =
        TurnRequest::new("gpt-4o", vec![Item::user("hi")])
            .tools(&[ToolDescriptor::new("acme/weather", schema).describe("Gets the weather.")]);
    OpenAiChat::new().request(&request, Delivery::Whole).unwrap().context
}

#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
pub(super) fn completion(message: Value, finish_reason: &str) -> Value {
    json!({
        "id": "r1", "object": "chat.completion", "created": 1, "model": "gpt-4o-2024",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
        "usage": {
            "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2},
        },
    })
}

fn read(response: &Value) -> Turn {
    OpenAiChat::new().response(&response.to_string(), &context()).unwrap()
}

#[test]
fn a_rich_response_has_its_turn() {
    let message = json!({
        "role": "assistant",
        "content": "It rains.",
        "annotations": [{"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A", "start_index": 0, "end_index": 2}}],
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "acme--weather", "arguments": "{\"city\":\"Oslo\",\"unit\":null}"}},
            {"id": "c2", "type": "function", "function": {"name": "gone", "arguments": "{not json"}},
            {"id": "c3", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
        ],
        "unknown_member": {"deep": [1]},
    });
    insta::assert_json_snapshot!(read(&completion(message, "tool_calls")));
}

#[test]
fn every_finish_reason_has_its_meaning() {
    let text = json!({"role": "assistant", "content": "hi"});
    for (reason, finish) in [
        ("stop", Finish::Stop),
        ("length", Finish::Length),
        ("content_filter", Finish::ContentFilter),
        ("tool_calls", Finish::ToolCalls),
        ("function_call", Finish::ToolCalls),
        ("error", Finish::Error),
        ("sunspots", Finish::Other("sunspots".to_owned())),
    ] {
        assert_eq!(read(&completion(text.clone(), reason)).finish, finish);
    }
    let call = json!({"content": null, "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": "{}"}}]});
    assert_eq!(read(&completion(call, "stop")).finish, Finish::ToolCalls);
    let refused = json!({"content": null, "refusal": "no"});
    assert_eq!(read(&completion(refused, "stop")).finish, Finish::Refusal);
    let mut missing = completion(text, "stop");
    missing["choices"][0]["finish_reason"] = Value::Null;
    assert!(read(&missing).is_cut_off());
}

#[test]
fn servers_that_deviate_are_read() {
    let message = json!({
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "a"},
            {"type": "smell", "strength": 3},
        ],
        "tool_calls": [
            {"function": {"name": "t", "arguments": {"a": 1}}},
            {"id": "", "function": {"name": "t"}, "extra_content": {"google": {"thought_signature": "s"}}},
        ],
    });
    let response = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
    let turn = OpenAiChat::compatible("acme").response(&response.to_string(), &context()).unwrap();
    let calls = turn.tool_calls();
    assert_eq!((turn.text(), turn.reasoning()), ("a".to_owned(), "hm".to_owned()));
    assert_eq!((calls[0].call_id.as_str(), calls[0].arguments.as_str()), ("call_1_0", r#"{"a":1}"#));
    assert_eq!((calls[1].call_id.as_str(), calls[1].arguments.as_str()), ("call_1_1", ""));
    assert_eq!(calls[1].provider_data["acme"]["extra_content"]["google"]["thought_signature"], "s");
    assert!(serde_json::to_string(&turn).unwrap().contains("smell"));
}

#[test]
fn a_response_that_is_no_completion_is_an_error() {
    for body in ["", "{}", "[]", "<html>", r#"{"choices":[]}"#, r#"{"choices":[{"message":3}]}"#, r#"{"choices":"x"}"#]
    {
        let error = OpenAiChat::new().response(body, &context()).unwrap_err();
        assert!(matches!(error, ReadError::Invalid { .. }), "{body}: {error}");
    }
    let error = OpenAiChat::new()
        .response(r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#, &context())
        .unwrap_err();
    assert!(matches!(&error, ReadError::Provider(report) if report.cause == ErrorCause::RateLimited), "{error}");
}

#[test]
fn a_truncated_response_is_an_error_and_no_panic() {
    let message = json!({"content": "é\n", "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": "{}"}}]});
    let body = completion(message, "stop").to_string();
    let context = context();
    for end in (0..body.len()).filter(|end| body.is_char_boundary(*end)) {
        OpenAiChat::new().response(&body[..end], &context).unwrap_err();
    }
}

#[test]
fn an_answer_is_sent_back_unchanged() {
    let message = json!({
        "role": "assistant", "content": "It rains.",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "acme--weather", "arguments": "{ \"city\": \"Oslo\",\"unit\":null}"}}],
    });
    let turn = read(&completion(message.clone(), "tool_calls"));
    let mut history = vec![Item::user("hi")];
    history.extend(turn.items.clone());
    let call = turn.tool_calls().remove(0);
    assert_eq!(call.name, "acme/weather");
    history.push((&haft_core::ToolResult::ok(&call, json!("rain"))).into());
    let sent = OpenAiChat::new().request(&TurnRequest::new("gpt-4o", history), Delivery::Whole).unwrap();
    let body: Value = serde_json::from_str(&sent.body).unwrap();
    assert_eq!(body["messages"][1], message);
}

#[test]
fn parts_of_unknown_types_survive_storage() {
    let parts = json!([{"type": "text", "text": "a"}, {"type": "image", "x": 1}, {"type": "reference", "ids": [1]}, 7]);
    let turn = read(&completion(json!({"role": "assistant", "content": parts}), "stop"));
    let stored: Turn = serde_json::from_str(&serde_json::to_string(&turn).unwrap()).unwrap();
    assert_eq!(stored, turn);
    let text = serde_json::to_string(&turn).unwrap();
    assert!(text.contains(r#""item":{"type":"image","x":1}"#) && text.contains(r#""item":{"value":7}"#), "{text}");
}
