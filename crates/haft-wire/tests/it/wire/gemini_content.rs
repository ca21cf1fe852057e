//! The wire of Gemini's `generateContent`.

mod choice;
mod content;
mod echo;
mod error;
mod hostile;
mod parts;
mod placement;
mod request;
mod response;
mod result;
mod setting;
mod stream;
mod tool;

use std::sync::LazyLock;

use haft_core::{Item, ToolDescriptor, Turn, TurnRequest};
use haft_schema::Schema;
use haft_wire::{Delivery, GeminiContent, ReadContext, RequestError, Wire, WireRequest};
use serde_json::{Value, json};

/// A model of the current generation.
const MODEL: &str = "gemini-3-pro";
/// A model of the generation before.
const OLD_MODEL: &str = "gemini-2.5-flash";

fn send(request: &TurnRequest) -> Result<WireRequest, RequestError> {
    GeminiContent::new().request(request, Delivery::Whole)
}

fn body_of(sent: &WireRequest) -> Value {
    serde_json::from_str(&sent.body).unwrap()
}

/// Sends a history, and returns the contents.
fn contents(history: Vec<Item>) -> Value {
    body_of(&send(&TurnRequest::new(MODEL, history)).unwrap())["contents"].take()
}

/// Sends a history, and returns what was left out.
fn dropped(history: Vec<Item>) -> Vec<String> {
    let sent = send(&TurnRequest::new(MODEL, history)).unwrap();
    sent.dropped.iter().map(ToString::to_string).collect()
}

/// A tool whose name and one of whose parameters Gemini does not accept.
fn weather() -> ToolDescriptor {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city."},
            "day-count": {"type": "integer", "description": "The number of days."},
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
    static CONTEXT: LazyLock<ReadContext> = LazyLock::new(|| {
        let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[weather()]);
        send(&request).unwrap().context
    });
    CONTEXT.clone()
}

fn read(body: &Value) -> Turn {
    GeminiContent::new().response(&body.to_string(), &context()).unwrap()
}

/// A response with these parts.
#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn response(parts: Value, finish_reason: &str) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish_reason, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 20,
            "thoughtsTokenCount": 30, "toolUsePromptTokenCount": 5, "totalTokenCount": 155,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
        },
        "modelVersion": "gemini-3-pro-001", "responseId": "resp_1",
    })
}

/// A response with parts of every kind.
fn rich() -> Value {
    let mut body = response(
        json!([
            {"text": "Search first.", "thought": true},
            {"text": "Then look.", "thought": true, "thoughtSignature": "dGhv"},
            {"text": "I'll search."},
            {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["oslo"]}}, "thoughtSignature": "c2Vh"},
            {"toolResponse": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"n": 1}}},
            {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
            {"text": "Running."},
            {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "boom"}},
            {"text": "Sunny all day"},
            {"text": " there.", "thoughtSignature": "dGV4"},
            {"inlineData": {"mimeType": "image/png", "data": "aQ=="}, "thoughtSignature": "aW1n"},
            {"text": "noted", "partMetadata": {"a": [1, null]}},
            {"telepathy": {"deep": [1, null]}},
            {"functionCall": {"id": "f1", "name": "acme--weather", "args": {"city": "Oslo", "day_count": 3}}, "thoughtSignature": "Y2Fs"},
            {"functionCall": {"name": "gone", "args": {}}},
        ]),
        "STOP",
    );
    body["candidates"][0]["groundingMetadata"] = json!({
        "webSearchQueries": ["oslo"],
        "groundingChunks": [{"web": {"uri": "https://a.example", "title": "A"}}],
        "groundingSupports": [{"segment": {"startIndex": 0, "endIndex": 5, "text": "Sunny"}, "groundingChunkIndices": [0]}],
    });
    body
}

/// The parts of a response.
fn parts_of(response: &Value) -> &Vec<Value> {
    response["candidates"][0]["content"]["parts"].as_array().unwrap()
}
