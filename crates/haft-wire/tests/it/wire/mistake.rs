//! Model and application mistakes are answered with what is wrong, on every wire.

use std::collections::BTreeMap;

use haft_core::{FailureKind, Item, ToolCall, TurnRequest};
use haft_executor::Toolkit;
use haft_wire::{
    AnthropicMessages, Delivery, ErrorCause, ErrorResponse, GeminiContent, OpenAiChat, OpenAiResponses, Profile,
    ReadContext, RequestError, Strictness, Wire, WireEvent,
};
use serde_json::json;

fn wires() -> [Box<dyn Wire>; 4] {
    [
        Box::new(OpenAiResponses::new()),
        Box::new(OpenAiChat::new()),
        Box::new(AnthropicMessages::new()),
        Box::new(GeminiContent::new()),
    ]
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Route {
    start: (f64, f64),
    tags: BTreeMap<String, u8>,
}

/// Returns what the tool answers to arguments in the shape that a strict tool of OpenAI asks for.
fn answer(arguments: &str) -> Result<(), String> {
    let route = haft_executor::Tool::new("route").handler(|_: Route, _cx| async {}).unwrap();
    let kit: Toolkit = Toolkit::from_iter([route]);
    let wire = OpenAiChat::new().profile(Profile::openai_chat().strictness(Strictness::On));
    let request = TurnRequest::new("a-model", vec![Item::user("?")]).tools(&kit.descriptors());
    let sent = wire.request(&request, Delivery::Whole).unwrap();
    let call = json!({"id": "c1", "type": "function", "function": {"name": "route", "arguments": arguments}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    let body = json!({"id": "r", "object": "chat.completion", "model": "a-model", "choices": [choice]});
    let turn = wire.response(&body.to_string(), &sent.context).unwrap();
    let calls = turn.tool_calls();
    let call: &ToolCall = &calls[0];

    // The call is sent back as the model wrote it, also if it could not be converted.
    if arguments.contains("item_1") {
        assert_eq!(sent.context.tools.encode(call), arguments);
    }
    let read = kit.get("route").unwrap().decode_args::<Route>(call);
    read.map(drop).map_err(|failure| {
        assert_eq!(failure.kind, FailureKind::InputValidationError);
        failure.message
    })
}

#[test]
fn arguments_that_cannot_be_converted_are_rejected_in_the_shape_that_was_asked_for() {
    let start = r#"{"item_1":1,"item_2":2}"#;
    assert_eq!(answer(&format!(r#"{{"start":{start},"tags":[{{"key":"a","value":1}}]}}"#)), Ok(()));
    let twice = format!(r#"{{"start":{start},"tags":[{{"key":"a","value":1}},{{"key":"a","value":2}}]}}"#);
    let message = answer(&twice).unwrap_err();
    assert!(message.starts_with("/tags/1/key: ") && message.contains("occurs twice"), "{message}");
    assert!(!message.contains("must be an"), "{message}");
    // The tool's own shape is accepted, too.
    assert_eq!(answer(r#"{"start":[1,2],"tags":{"a":1}}"#), Ok(()));
    let message = answer("{").unwrap_err();
    assert!(message.contains("JSON"), "{message}");
}

/// Returns a response for each wire with an unknown item that nests this deep, and an event from its stream.
fn nested(levels: usize) -> [(String, String); 4] {
    let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let item = format!(r#"{{"type":"telepathy","x":{deep}}}"#);
    let message = format!(r#"{{"role":"assistant","content":[{item}]}}"#);
    [
        (
            format!(r#"{{"id":"r","status":"completed","output":[{item}]}}"#),
            format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
        ),
        (
            format!(r#"{{"id":"r","choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}]}}"#),
            format!(r#"{{"id":"r","choices":[{{"index":0,"delta":{message}}}]}}"#),
        ),
        (
            format!(r#"{{"type":"message","content":[{item}],"stop_reason":"end_turn"}}"#),
            format!(r#"{{"type":"content_block_start","index":0,"content_block":{item}}}"#),
        ),
        (
            format!(r#"{{"candidates":[{{"content":{{"parts":[{{"x":{deep}}}]}},"finishReason":"STOP"}}]}}"#),
            format!(r#"{{"candidates":[{{"content":{{"parts":[{{"x":{deep}}}]}}}}]}}"#),
        ),
    ]
}

#[test]
fn a_response_that_is_read_can_be_stored() {
    for (wire, (body, event)) in wires().iter().zip(nested(94)) {
        let context = context_of(&**wire);
        let turn = wire.response(&body, &context).unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        let stored = serde_json::to_string(&turn).unwrap();
        assert!(stored.contains(&"[".repeat(90)), "{wire:?}: the item is not kept: {stored}");
        assert_eq!(serde_json::from_str::<haft_core::Turn>(&stored).unwrap(), turn, "{wire:?}");
        wire.stream(&context).event(WireEvent::new(None, &event), &mut Vec::new()).unwrap();
    }
    for (wire, (body, event)) in wires().iter().zip(nested(101)) {
        let context = context_of(&**wire);
        let whole = wire.response(&body, &context).unwrap_err().to_string();
        let streamed = wire.stream(&context).event(WireEvent::new(None, &event), &mut Vec::new()).unwrap_err();
        assert_eq!(streamed.to_string(), whole, "{wire:?}");
        assert!(whole.contains("nested more than 100 levels deep"), "{wire:?}: {whole}");
    }
}

fn context_of(wire: &dyn Wire) -> ReadContext {
    wire.request(&TurnRequest::new("a-model", vec![Item::user("?")]), Delivery::Whole).unwrap().context
}

#[test]
fn a_path_that_does_not_exist_is_no_unknown_model() {
    for wire in wires() {
        for body in ["", "<html><title>The model railway</title></html>", r#"{"error":{"message":"Invalid URL"}}"#] {
            let report = wire.error(&ErrorResponse::new(404, body));
            assert_eq!(report.cause, ErrorCause::InvalidRequest, "{wire:?} {body}");
            assert!(report.message.ends_with("check the base URL"), "{}", report.message);
        }
        let known = wire.error(&ErrorResponse::new(404, r#"{"error":{"message":"The model `x` does not exist"}}"#));
        assert_eq!(known.cause, ErrorCause::UnknownModel, "{wire:?}");
    }
}

#[test]
fn a_request_without_messages_is_not_sent() {
    for wire in wires() {
        let request = TurnRequest::new("a-model", Vec::new());
        let error = wire.request(&request, Delivery::Whole).unwrap_err();
        let RequestError::Invalid { param, message } = &error else { panic!("{error}") };
        assert_eq!(param, "history", "{wire:?}");
        assert!(message.contains("add a message of the user"), "{message}");
    }
    let continued = TurnRequest::new("a-model", Vec::new())
        .provider_options("openai", json!({"previous_response_id": "resp_1", "store": true}));
    assert!(OpenAiResponses::new().request(&continued, Delivery::Whole).is_ok());
}

#[test]
fn a_tool_that_only_reads_destroys_nothing() {
    let read =
        haft_executor::Tool::new("read").annotate(haft_core::Readonly(true)).handler(|(), _cx| async {}).unwrap();
    let listed = Profile::mcp().render(&[read.descriptor()]);
    let json: serde_json::Value = serde_json::from_str(listed.list()).unwrap();
    let hints = json.pointer("/0/annotations").or_else(|| json.pointer("/tools/0/annotations")).unwrap();
    assert_eq!((&hints["readOnlyHint"], hints.get("destructiveHint")), (&json!(true), None));
}

#[test]
fn the_format_of_a_number_is_stated_only_if_it_tells_something() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["ratio", "small", "id"],
        "properties": {
            "ratio": {"type": "number", "format": "double"},
            "small": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255},
            "id": {"type": "integer", "format": "int32"},
        },
    });
    let schema = haft_schema::Schema::json(schema).unwrap();
    let rendered = haft_core::Dialect::render(&haft_wire::OpenAiDialect::Strict, &schema).unwrap();
    let pointers: Vec<_> = rendered.losses.iter().map(|loss| loss.pointer.as_str()).collect();
    assert_eq!(pointers, ["/properties/id/format"]);
    assert!(rendered.json.pointer("/properties/ratio/description").is_none());
}
