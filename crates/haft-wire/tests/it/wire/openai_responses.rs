//! The wire of the Responses API.

mod choice;
mod content;
mod echo;
mod error;
mod hostile;
mod item;
mod parts;
mod placement;
mod request;
mod response;
mod result;
mod served;
mod setting;
mod stream;
mod tool;

use std::sync::OnceLock;

use haft_core::{Item, ToolDescriptor, Turn, TurnRequest};
use haft_schema::Schema;
use haft_wire::{Delivery, OpenAiResponses, ReadContext, RequestError, Wire, WireRequest};
use serde_json::{Value, json};

/// A model that reasons and that the table of models forbids nothing.
const MODEL: &str = "gpt-6-sol";

fn send(request: &TurnRequest) -> Result<WireRequest, RequestError> {
    OpenAiResponses::new().request(request, Delivery::Whole)
}

fn body_of(sent: &WireRequest) -> Value {
    serde_json::from_str(&sent.body).unwrap()
}

/// Sends a history, and returns the items.
fn input(history: Vec<Item>) -> Value {
    body_of(&send(&TurnRequest::new(MODEL, history)).unwrap())["input"].take()
}

/// Sends a history, and returns what was left out.
fn dropped(history: Vec<Item>) -> Vec<String> {
    let sent = send(&TurnRequest::new(MODEL, history)).unwrap();
    sent.dropped.iter().map(ToString::to_string).collect()
}

fn weather() -> ToolDescriptor {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city."},
            "labels": {"type": "object", "description": "Labels.", "additionalProperties": {"type": "string"}},
        },
        "required": ["city"],
        "additionalProperties": false,
    });
    let mut tool = ToolDescriptor::new("acme/weather", Schema::json(schema).unwrap());
    tool.description = Some("Returns the weather.".to_owned());
    tool
}

/// The data for reading the response to a request with the weather tool.
fn context() -> ReadContext {
    static CONTEXT: OnceLock<ReadContext> = OnceLock::new();
    let rendered = || {
        let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[weather()]);
        send(&request).unwrap().context
    };
    CONTEXT.get_or_init(rendered).clone()
}

fn read(body: &Value) -> Turn {
    OpenAiResponses::new().response(&body.to_string(), &context()).unwrap()
}

/// A response with this output.
#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn response(output: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5-2026",
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {}, "output": output,
        "parallel_tool_calls": true, "service_tier": "default", "temperature": 1.0, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": 115, "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 10},
            "output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 7}, "total_tokens": 155,
        },
    })
}

/// A message of the model with one text.
fn said(id: &str, text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": [part]})
}

/// A call of a function.
fn called(id: &str, name: &str, arguments: &str) -> Value {
    let item_id = format!("fc_{id}");
    json!({
        "type": "function_call", "id": item_id, "call_id": id, "name": name, "arguments": arguments,
        "status": "completed",
    })
}

/// A response with items of every kind.
fn rich() -> Value {
    response(json!([
        {
            "type": "reasoning", "id": "rs_1", "encrypted_content": "ZW5j",
            "summary": [{"type": "summary_text", "text": "Search"}, {"type": "summary_text", "text": "first."}],
        },
        {
            "type": "web_search_call", "id": "ws_1", "status": "completed",
            "action": {"type": "search", "query": "oslo weather"},
        },
        {
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
            "content": [
                {
                    "type": "output_text", "text": "Sunny there.", "annotations": [{
                        "type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0,
                        "end_index": 5,
                    }],
                },
                {"type": "output_text", "text": " Mild, too.", "annotations": []},
            ],
        },
        {"type": "reasoning", "id": "rs_2", "encrypted_content": "ZW5jMg==", "summary": []},
        called("call_1", "acme--weather", r#"{"city":"Oslo","labels":[{"key":"a","value":"b"}]}"#),
        called("call_2", "gone", "{}"),
        {
            "type": "custom_tool_call", "id": "ctc_1", "call_id": "call_3", "name": "grep", "input": "say \"hi\"\n",
        },
        {
            "type": "shell_call", "id": "sh_1", "call_id": "call_4", "status": "completed",
            "action": {"commands": ["ls"], "timeout_ms": 1000}, "environment": {"type": "local"},
        },
        {
            "type": "code_interpreter_call", "id": "ci_1", "status": "failed", "code": "1/0", "container_id": "cntr_1",
            "outputs": [{"type": "logs", "logs": "division by zero"}],
        },
        {
            "type": "mcp_call", "id": "mcp_1", "server_label": "s", "name": "echo", "arguments": "{\"a\":1}",
            "output": "1", "error": null, "status": "completed",
        },
        {"type": "telepathy", "id": "tp_1", "thought": {"deep": [1, null]}},
    ]))
}
