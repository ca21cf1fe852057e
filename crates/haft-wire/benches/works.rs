//! The wires' cost compared with any wire's minimum work, measured in one run.
//!
//! `cargo xtask bench` runs this and compares the ratios with the bars; name works to run only those.

#![allow(clippy::unwrap_used, reason = "a benchmark that can't be set up should stop")]

#[path = "../../haft-executor/benches/meter.rs"]
mod meter;

use std::hint::black_box;
use std::sync::Arc;

use haft_core::{Delta, Item, ToolDescriptor, TurnRequest};
use haft_wire::{AnthropicMessages, Delivery, GeminiContent, OpenAiChat, OpenAiResponses, Wire, WireEvent};
use serde_json::{Value, json};

use self::meter::{Figures, Meter, Work};

const TOOLS: usize = 100;
const DELTAS: usize = 1000;

const WORKS: [Work; 8] = [
    ("W5", 40, |meter| request_body(meter, &OpenAiResponses::new())),
    ("W5-chat", 40, |meter| request_body(meter, &OpenAiChat::new())),
    ("W5-anthropic", 40, |meter| request_body(meter, &AnthropicMessages::new())),
    ("W5-gemini", 40, |meter| request_body(meter, &GeminiContent::new())),
    ("W11", 40, |meter| stream(meter, &OpenAiResponses::new(), &responses_events())),
    ("W11-chat", 40, |meter| stream(meter, &OpenAiChat::new(), &chat_events())),
    ("W11-anthropic", 40, |meter| stream(meter, &AnthropicMessages::new(), &anthropic_events())),
    ("W11-gemini", 40, |meter| stream(meter, &GeminiContent::new(), &gemini_events())),
];

fn main() {
    meter::run(&WORKS);
}

/// W5: writes a request body with tools that were rendered before, compared with writing the same tool list again.
fn request_body(meter: Meter, wire: &dyn Wire) -> Figures {
    let tools: Vec<_> = (0..TOOLS).map(|at| Arc::new(tool(at))).collect();
    let request = TurnRequest::new("a-model", vec![Item::user("What is the weather?")]).tools(&tools);
    let sent = wire.request(&request, Delivery::Streamed).unwrap();
    let list: Value = serde_json::from_str(sent.context.tools.list()).unwrap();
    assert!(list.as_array().is_some_and(|list| !list.is_empty()));
    let ours = || {
        let request = black_box(&request);
        drop(black_box(wire.request(request, Delivery::Streamed).unwrap()));
    };
    meter.compare(ours, || drop(black_box(serde_json::to_string(black_box(&list)).unwrap())))
}

/// W11: reads a streamed answer's events to deltas and a turn, compared with parsing each event; figures are per delta.
fn stream(meter: Meter, wire: &dyn Wire, events: &[(&'static str, String)]) -> Figures {
    let request = TurnRequest::new("a-model", vec![Item::user("What is the weather?")]);
    let context = wire.request(&request, Delivery::Streamed).unwrap().context;
    let ours = || {
        let mut reader = wire.stream(black_box(&context));
        let (mut deltas, mut count) = (Vec::new(), 0);
        for (name, data) in events {
            reader.event(WireEvent::new(Some(name), black_box(data)), &mut deltas).unwrap();
            count += deltas.len();
            let is_last = matches!(deltas.last(), Some(Delta::TurnComplete(_)));
            black_box(&deltas);
            deltas.clear();
            if is_last {
                break;
            }
        }
        reader.end(&mut deltas).unwrap();
        assert!(count + deltas.len() > DELTAS, "{count}");
    };
    let floor = || {
        for (_, data) in events.iter().filter(|(_, data)| data.starts_with('{')) {
            drop(black_box(serde_json::from_str::<Value>(black_box(data)).unwrap()));
        }
    };
    meter.compare(ours, floor).per_run_of(DELTAS)
}

fn tool(at: usize) -> ToolDescriptor {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The name of the city."},
            "units": {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "The unit of temperatures."},
            "days": {"type": "integer", "minimum": 1, "maximum": 14, "description": "The number of days."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags to filter by."},
        },
        "required": ["city", "units", "days", "tags"],
        "additionalProperties": false,
    });
    ToolDescriptor::new(format!("forecast_{at}"), schema).describe("Returns the forecast of a city.")
}

/// The text of the answer, a word per delta.
fn words() -> impl Iterator<Item = String> {
    (0..DELTAS).map(|at| format!(" word{at}"))
}

fn responses_events() -> Vec<(&'static str, String)> {
    let mut events = Vec::new();
    let mut push = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        data["sequence_number"] = json!(events.len());
        events.push((name, data.to_string()));
    };
    let text: String = words().collect();
    let message = json!({
        "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    });
    let response = |status: &str, output: Value| {
        json!({"response": {
            "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "a-model", "output": output,
            "usage": {"input_tokens": 9, "output_tokens": 1000, "total_tokens": 1009},
        }})
    };
    push("response.created", response("in_progress", json!([])));
    let open = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []});
    push("response.output_item.added", json!({"output_index": 0, "item": open}));
    let part = json!({"type": "output_text", "text": "", "annotations": []});
    push(
        "response.content_part.added",
        json!({"item_id": "msg_1", "output_index": 0, "content_index": 0, "part": part}),
    );
    for word in words() {
        let delta = json!({"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": word, "logprobs": []});
        push("response.output_text.delta", delta);
    }
    push("response.output_item.done", json!({"output_index": 0, "item": message}));
    push("response.completed", response("completed", json!([message])));
    events
}

fn chat_events() -> Vec<(&'static str, String)> {
    let chunk = |delta: Value, finish_reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason});
        let chunk = json!({
            "id": "chatcmpl_1", "object": "chat.completion.chunk", "created": 1, "model": "a-model", "choices": [choice],
        });
        ("message", chunk.to_string())
    };
    let mut events: Vec<_> = words().map(|word| chunk(json!({"content": word}), Value::Null)).collect();
    events.push(chunk(json!({}), json!("stop")));
    events.push(("message", "[DONE]".to_owned()));
    events
}

fn anthropic_events() -> Vec<(&'static str, String)> {
    let event = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        (name, data.to_string())
    };
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "a-model", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 1},
    });
    let mut events = vec![
        event("message_start", json!({"message": message})),
        event("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}})),
    ];
    events.extend(
        words().map(|word| {
            event("content_block_delta", json!({"index": 0, "delta": {"type": "text_delta", "text": word}}))
        }),
    );
    let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
    events.push(event("content_block_stop", json!({"index": 0})));
    events.push(event("message_delta", json!({"delta": delta, "usage": {"output_tokens": 1000}})));
    events.push(event("message_stop", json!({})));
    events
}

fn gemini_events() -> Vec<(&'static str, String)> {
    let chunk = |text: String, finish: Option<&str>| {
        let mut candidate = json!({"content": {"parts": [{"text": text}], "role": "model"}, "index": 0});
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        let chunk = json!({
            "candidates": [candidate], "modelVersion": "a-model", "responseId": "r1",
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 10, "totalTokenCount": 19},
        });
        ("message", chunk.to_string())
    };
    let mut events: Vec<_> = words().map(|word| chunk(word, None)).collect();
    events.push(chunk(".".to_owned(), Some("STOP")));
    events
}
