//! The four wires judged by the official SDKs: their types accept our requests, and we read their responses as they do.

mod continuation;
mod request;
mod result;
mod round_trip;
mod sample;

use haft_core::{Delta, Item, ToolDescriptor, Turn, TurnRequest};
use haft_parts::{Judge, RequestFault, Sample, WireName};
use haft_schema::Schema;
use haft_wire::{
    AnthropicMessages, Delivery, GeminiContent, OpenAiChat, OpenAiResponses, ReadContext, ReadError, Wire, WireEvent,
    WireRequest,
};
use serde_json::{Value, json};

/// A wire, and the SDK that judges it.
struct JudgedWire {
    name: WireName,
    wire: Box<dyn Wire>,
    /// A model that can do everything.
    model: &'static str,
    server: JudgedServer,
}

/// The servers that a wire is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JudgedServer {
    /// Those of the provider.
    Own,
    /// Others, which have rules of their own.
    Compatible,
    /// One of the others, by its name.
    Named(&'static str),
}

/// The other servers that the judge has rules for.
const SERVERS: [&str; 8] = ["mistral", "openrouter", "groq", "deepseek", "xai", "ollama", "vllm", "llama.cpp"];

/// The wire of one of the other servers of Chat Completions.
fn server(name: &'static str) -> JudgedWire {
    let wire = JudgedWire::new(WireName::OpenAiChat, OpenAiChat::compatible(name), "a-model");
    JudgedWire { server: JudgedServer::Named(name), ..wire }
}

/// Models that reject what others accept.
const LIMITED: [(WireName, &str); 15] = [
    (WireName::OpenAiResponses, "gpt-4.1"),
    (WireName::OpenAiResponses, "o3"),
    (WireName::OpenAiResponses, "gpt-5.4"),
    (WireName::OpenAiResponses, "ft:gpt-4.1-mini:acme::7p4l"),
    (WireName::OpenAiChat, "gpt-4-0613"),
    (WireName::OpenAiChat, "gpt-4.1"),
    (WireName::OpenAiChat, "o4-mini"),
    (WireName::Anthropic, "claude-opus-4-8"),
    (WireName::Anthropic, "claude-opus-5-5"),
    (WireName::Anthropic, "claude-sonnet-5-5"),
    (WireName::Anthropic, "claude-opus-4-20250514"),
    (WireName::Anthropic, "claude-3-5-haiku-20241022"),
    (WireName::Anthropic, "claude-haiku-4-5"),
    (WireName::Gemini, "gemini-2.0-flash"),
    (WireName::Gemini, "gemini-2.5-flash"),
];

fn limited() -> impl Iterator<Item = JudgedWire> {
    LIMITED.into_iter().map(|(name, model)| JudgedWire { model, ..wire(name) })
}

fn wires() -> [JudgedWire; 4] {
    [
        JudgedWire::new(WireName::OpenAiResponses, OpenAiResponses::new(), "gpt-6-sol"),
        JudgedWire::new(WireName::OpenAiChat, OpenAiChat::new(), "a-model"),
        JudgedWire::new(WireName::Anthropic, AnthropicMessages::new(), "a-model"),
        // Models from Gemini 3 on require signatures.
        JudgedWire::new(WireName::Gemini, GeminiContent::new(), "gemini-3-a-model"),
    ]
}

/// The wire of other servers of Chat Completions.
fn compatible() -> JudgedWire {
    let wire = JudgedWire::new(WireName::OpenAiChat, OpenAiChat::compatible("vllm"), "a-model");
    JudgedWire { server: JudgedServer::Compatible, ..wire }
}

fn wire(name: WireName) -> JudgedWire {
    wires().into_iter().find(|wire| wire.name == name).unwrap()
}

impl JudgedWire {
    fn new(name: WireName, wire: impl Wire + 'static, model: &'static str) -> Self {
        Self { name, wire: Box::new(wire), model, server: JudgedServer::Own }
    }

    fn label(&self) -> &'static str {
        match self.server {
            JudgedServer::Own => self.name.as_str(),
            JudgedServer::Compatible => "compatible-chat",
            JudgedServer::Named(name) => name,
        }
    }

    /// Returns what the SDK rejects in a request. Preview features must have their header.
    fn faults(&self, sent: &WireRequest) -> Vec<RequestFault> {
        let has_header = sent.headers.iter().any(|(name, _)| *name == "anthropic-beta");
        let compatible = match self.server {
            JudgedServer::Own => json!(false),
            JudgedServer::Compatible => json!(true),
            JudgedServer::Named(name) => json!(name),
        };
        let options = json!({"model": self.model, "beta": has_header, "compatible": compatible});
        Judge::shared().validate_with(self.name, &body_of(sent), options)
    }

    /// Returns the data to read the response to a request with the samples' tools.
    fn context(&self) -> ReadContext {
        let request = TurnRequest::new(self.model, vec![Item::user("hi")]).tools(&sample_tools());
        self.wire.request(&request, Delivery::Streamed).unwrap().context
    }

    fn read(&self, body: &Value) -> Turn {
        let turn = self.wire.response(&body.to_string(), &self.context());
        turn.unwrap_or_else(|error| panic!("{}: {error}\n{body:#}", self.name.as_str()))
    }

    /// Reads a stream, and returns its deltas.
    fn read_stream(&self, sse: &str) -> Result<Vec<Delta>, ReadError> {
        self.read_events(&events(sse))
    }

    fn read_events(&self, events: &[SampleEvent]) -> Result<Vec<Delta>, ReadError> {
        let mut reader = self.wire.stream(&self.context());
        let mut deltas = Vec::new();
        for event in events {
            reader.event(WireEvent::new(event.name.as_deref(), &event.data), &mut deltas)?;
        }
        reader.end(&mut deltas)?;
        Ok(deltas)
    }

    fn samples(&self) -> Vec<Sample> {
        let samples = Judge::shared().samples(self.name);
        assert!(samples.len() > 10);
        samples
    }
}

fn body_of(sent: &WireRequest) -> Value {
    serde_json::from_str(&sent.body).unwrap()
}

/// Returns the turn that ends a stream. No other delta is a turn.
fn turn_of(deltas: &[Delta]) -> Turn {
    let turns: Vec<_> = deltas.iter().filter(|delta| matches!(delta, Delta::TurnComplete(_))).collect();
    assert_eq!(turns.len(), 1, "{deltas:#?}");
    match deltas.last() {
        Some(Delta::TurnComplete(turn)) => (**turn).clone(),
        other => panic!("the stream ends with {other:?}"),
    }
}

/// One server-sent event of a sample.
struct SampleEvent {
    name: Option<String>,
    data: String,
}

/// Splits a sample's stream, whose events have at most a name and one data line.
fn events(sse: &str) -> Vec<SampleEvent> {
    let sse = sse.replace("\r\n", "\n");
    let event = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        SampleEvent { name: field("event: "), data: field("data: ").unwrap() }
    };
    sse.split("\n\n").filter(|block| !block.is_empty()).map(event).collect()
}

fn tool(name: &str, description: &str, schema: Value) -> ToolDescriptor {
    let mut tool = ToolDescriptor::new(name, Schema::json(schema).unwrap());
    tool.description = Some(description.to_owned());
    tool
}

/// The tools that the samples call.
fn sample_tools() -> Vec<ToolDescriptor> {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let number = json!({"type": "number", "description": "A number."});
    vec![
        tool(
            "get_weather",
            "Returns the weather.",
            object(json!({"city": {"type": "string", "description": "A city."}}), json!(["city"])),
        ),
        tool("add", "Adds numbers.", object(json!({"a": number, "b": number}), json!(["a", "b"]))),
        tool("now", "Returns the time.", object(json!({}), json!([]))),
    ]
}

/// Removes nulls and empty lists, which stand for absent members.
fn pruned(value: &Value) -> Value {
    let is_kept = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    match value {
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), pruned(value))).filter(|(_, value)| is_kept(value)).collect()
        }
        Value::Array(list) => list.iter().map(pruned).collect(),
        other => other.clone(),
    }
}
