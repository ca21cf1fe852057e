//! A request as Gemini takes it.

mod content;
mod function_response;
mod media;
mod part;
mod structure;
mod tool_config;

use std::sync::Arc;

use haft_core::{OutputFormat, ToolResult, Turn, TurnRequest};
use haft_schema::Codec;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use self::content::{ContentWriter, SentContent, SentConversation};
use self::part::SentPart;
use super::model::{self, Generation};
use super::{GeminiContent, SentIds};
use crate::capability::{AcceptedSettings, Capabilities, Thinking};
use crate::profile::{Profile, RenderTools};
use crate::seal;
use crate::wire::request::body;
use crate::wire::request::result_history::ResultHistory;
use crate::wire::{Delivery, Dropped, ReadContext, Wire, WireRequest, WireResults};
use crate::wire_error::RequestError;

/// The most stop sequences in a request.
const MAX_STOPS: usize = 5;
/// The body members that options extend instead of replacing.
const EXTENDED: [&str; 2] = ["generationConfig", "toolConfig"];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody<'a> {
    contents: Vec<SentContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemInstruction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    tool_config: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    generation_config: Map<String, Value>,
}

#[derive(Serialize)]
struct SystemInstruction<'a> {
    parts: Vec<SentPart<'a>>,
}

pub(super) fn write(
    wire: &GeminiContent,
    request: &TurnRequest,
    delivery: Delivery,
) -> Result<WireRequest, RequestError> {
    let path = model::path(&wire.root, &request.model, delivery)?;
    let generation = Generation::of(&request.model);
    let (capabilities, profile) = wire.profile.for_model(&request.model);
    let given = request.provider_options.get(wire.provider());
    let opened = given.map(|given| seal::open_options(wire.provider(), given)).transpose()?;
    let options = opened.as_ref().map(|opened| &*opened.value);
    // For a model that reads no images in results, they are sent after the results.
    let accepted = Capabilities { image_results: true, ..capabilities }.accept(request, thinking(options))?;

    let tools = request.render_tools(profile);
    tools.ensure_sendable()?;
    let mut choice = tool_config::write(&request.tool_choice, &tools, generation, &capabilities)?;
    if wire.call_ids == SentIds::None {
        choice.config.remove(tool_config::SERVER_CALLS);
    }
    if choice.list.is_some() && request.output_format.is_some() && generation == Generation::Before3 {
        return Err(RequestError::Unsupported {
            capability: "an answer in a requested format together with tools".to_owned(),
            advice: "send the request without tools, or use a model from Gemini 3 on".to_owned(),
        });
    }
    let mut dropped = unsupported_settings(request);
    dropped.extend(accepted.dropped.iter().filter(|dropped| dropped.part != "parallel_tool_calls").cloned());
    let writer = ContentWriter::new(wire, &request.history, &tools, (generation, &capabilities), &mut dropped)?;
    let SentConversation { system, contents } = writer.write(request)?;
    let (generation_config, codec) = generation_config(request, &accepted, profile)?;
    let body = GeminiBody {
        contents,
        system_instruction: Some(SystemInstruction { parts: system }).filter(|system| !system.parts.is_empty()),
        tools: choice.list.as_deref(),
        tool_config: choice.config,
        generation_config,
    };
    let extended = options.map(|options| extended_options(options, &body));
    let body = body::write(&body, wire.provider(), extended.as_ref())?;

    let context = ReadContext::new(Arc::clone(&tools)).output(codec).after(&request.history);
    let mut sent = WireRequest::new(path, body, context).secrets(opened);
    sent.dropped = dropped;
    sent.warnings = accepted.warnings;
    Ok(sent)
}

/// Writes only the results of a turn's calls. The model that answered decides how media in them are sent.
pub(super) fn write_results(
    wire: &GeminiContent,
    turn: &Turn,
    results: &[ToolResult],
    context: &ReadContext,
) -> Result<WireResults, RequestError> {
    let model = turn.model.as_deref().unwrap_or_default();
    let (capabilities, _) = wire.profile.for_model(model);
    let paired = ResultHistory::new(turn, results)?;
    let mut dropped = Vec::new();
    let of_model = (Generation::of(model), &capabilities);
    let writer = ContentWriter::new(wire, paired.history(), &context.tools, of_model, &mut dropped)?;
    let json = body::write(&writer.write_results(paired.history()), wire.provider(), None)?;
    Ok(paired.finish("contents", json, dropped))
}

/// Reports whether the options ask for thinking. A zero budget turns it off.
fn thinking(options: Option<&Value>) -> Thinking {
    match options.and_then(|options| options.pointer("/generationConfig/thinkingConfig")) {
        Some(config) if config.is_object() && config["thinkingBudget"] != 0 => Thinking::Requested,
        _ => Thinking::Unset,
    }
}

fn unsupported_settings(request: &TurnRequest) -> Vec<Dropped> {
    let mut dropped = Vec::new();
    if request.parallel_tool_calls == Some(false) {
        let reason = "Gemini has no setting for it, and may make several calls at once";
        dropped.push(Dropped::setting("parallel_tool_calls", reason));
    }
    if !request.metadata.is_empty() {
        dropped.push(Dropped::setting("metadata", "the Gemini API has no member for it"));
    }
    dropped
}

fn generation_config(
    request: &TurnRequest,
    accepted: &AcceptedSettings,
    profile: &Profile,
) -> Result<(Map<String, Value>, Codec), RequestError> {
    let mut config = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            config.insert(name.to_owned(), value);
        }
    };
    set("temperature", accepted.temperature.map(Value::from));
    set("topP", accepted.top_p.map(Value::from));
    set("maxOutputTokens", request.max_output_tokens.map(Value::from));
    if accepted.stop.len() > MAX_STOPS {
        let message = format!("Gemini accepts {MAX_STOPS} stop sequences; remove the others");
        return Err(RequestError::Invalid { param: "stop".to_owned(), message });
    }
    set("stopSequences", Some(accepted.stop.as_slice()).filter(|stops| !stops.is_empty()).map(Value::from));
    let codec = match &request.output_format {
        None => Codec::identity(),
        Some(format) => {
            let rendered = profile.render_output(format)?;
            set("responseMimeType", Some("application/json".into()));
            set(profile.output_member(), Some(described(&rendered.schema, format)));
            rendered.codec.clone()
        }
    };
    Ok((config, codec))
}

/// Returns the answer schema, with the format's description if the schema has none.
fn described(schema: &Value, format: &OutputFormat) -> Value {
    let mut schema = schema.clone();
    if let (Value::Object(members), Some(description)) = (&mut schema, &format.description)
        && !members.contains_key("$ref")
    {
        members.entry("description").or_insert_with(|| description.as_str().into());
    }
    schema
}

/// Adds the body's members to the options that extend them.
fn extended_options(options: &Value, body: &GeminiBody<'_>) -> Value {
    let mut extended = options.clone();
    for (name, ours) in EXTENDED.into_iter().zip([&body.generation_config, &body.tool_config]) {
        if let Some(Value::Object(theirs)) = extended.get_mut(name) {
            let given = std::mem::replace(theirs, ours.clone());
            merge(theirs, given);
        }
    }
    extended
}

/// Adds members, which win; objects are merged.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (name, value) in from {
        match (into.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => merge(known, more),
            (_, value) => drop(into.insert(name, value)),
        }
    }
}
