//! The wire of the Messages API.

mod choice;
mod content;
mod echo;
mod error;
mod hostile;
mod mcp_server;
mod placement;
mod request;
mod response;
mod result;
mod setting;
mod stream;
mod tool;

use haft_core::{Item, ToolDescriptor, Turn, TurnRequest};
use haft_schema::Schema;
use haft_wire::{AnthropicMessages, Delivery, ReadContext, RequestError, Wire, WireRequest};
use serde_json::{Value, json};

/// A model that the table of models does not know, and that can therefore do everything.
const MODEL: &str = "a-model";

fn send(request: &TurnRequest) -> Result<WireRequest, RequestError> {
    AnthropicMessages::new().request(request, Delivery::Whole)
}

fn body_of(sent: &WireRequest) -> Value {
    serde_json::from_str(&sent.body).unwrap()
}

/// Sends a history, and returns the messages.
fn messages(history: Vec<Item>) -> Value {
    body_of(&send(&TurnRequest::new(MODEL, history)).unwrap())["messages"].take()
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
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[weather()]);
    send(&request).unwrap().context
}

fn read(body: &Value) -> Turn {
    AnthropicMessages::new().response(&body.to_string(), &context()).unwrap()
}

/// A response with this content.
#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn message(content: Value, stop_reason: &str) -> Value {
    json!({
        "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-5-1", "content": content,
        "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {
            "input_tokens": 5, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 40,
            "output_tokens_details": {"thinking_tokens": 7}, "service_tier": "standard",
        },
    })
}

/// A response with blocks of every type.
fn rich() -> Value {
    let mut response = message(
        json!([
            {"type": "thinking", "thinking": "Search first.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "ZW5j"},
            {"type": "text", "text": "I'll search.", "citations": null},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "oslo weather"}},
            {
                "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{
                    "type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "eA==",
                    "page_age": null,
                }],
            },
            {
                "type": "text", "text": "Sunny", "citations": [{
                    "type": "web_search_result_location", "url": "https://a.example", "title": "A",
                    "encrypted_index": "aQ==", "cited_text": "Sunny all day",
                }],
            },
            {"type": "text", "text": " there."},
            {"type": "server_tool_use", "id": "srvtoolu_2", "name": "code_execution", "input": {"code": "1"}},
            {"type": "mcp_tool_use", "id": "mcptoolu_3", "name": "echo", "server_name": "s", "input": {}},
            {
                "type": "code_execution_tool_result", "tool_use_id": "srvtoolu_2",
                "content": {"type": "code_execution_tool_result_error", "error_code": "unavailable"},
            },
            {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_3", "is_error": false, "content": [{"type": "text", "text": "hi"}]},
            {"type": "telepathy", "thought": {"deep": [1, null]}},
            {
                "type": "tool_use", "id": "toolu_4", "name": "acme--weather",
                "input": {"city": "Oslo", "labels": [{"key": "a", "value": "b"}]},
                "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_2"},
            },
            {"type": "tool_use", "id": "toolu_5", "name": "gone", "input": {}},
        ]),
        "tool_use",
    );
    response["container"] = json!({"id": "container_1", "expires_at": "2026-11-16T00:00:00Z"});
    response
}
