//! Requests: the settings, and the body as a whole.

mod choice;
mod content;
mod input;
mod item;
mod output;

use std::borrow::Cow;

use haft_core::{Item, OutputFormat, ToolChoice, ToolResult, Turn, TurnRequest};
use serde_json::Value;
use serde_json::value::RawValue;

use self::choice::WrittenChoice;
use self::input::InputWriter;
use self::item::InputItem;
use super::OpenAiResponses;
use crate::capability::{Capabilities, EncryptedReasoning, Thinking};
use crate::profile::rendered_tools::{ToolMode, loaded};
use crate::profile::tool_name::NameRule;
use crate::profile::{RenderTools, RenderedOutput};
use crate::seal;
use crate::wire::openai::metadata_pair::Pairs;
use crate::wire::openai::prompt_key;
use crate::wire::request::body;
use crate::wire::request::result_history::ResultHistory;
use crate::wire::{Delivery, Dropped, ReadContext, Wire, WireRequest, WireResults};
use crate::wire_error::RequestError;

const PATH: &str = "/responses";
/// The options that refer to input which the provider already has.
const ELSEWHERE: [&str; 4] = ["previous_response_id", "conversation", "prompt", "input"];
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";
/// The lowest `max_output_tokens` that the API accepts.
const LEAST_OUTPUT_TOKENS: u64 = 16;
/// The type of OpenAI's tool that searches for others.
const TOOL_SEARCH: &str = "tool_search";
/// The provider that reads only encrypted reasoning, and only from its own reasoning models.
const OPENAI: &str = "openai";

/// The state that the provider keeps, according to the request's options.
#[derive(Clone, Copy, Debug)]
struct State {
    /// The provider stores responses, so ids can name items.
    stored: bool,
    /// The request continues what the provider stored, so the history may be only a part.
    continued: bool,
    /// The model reasons, so that it accepts reasoning.
    reasons: bool,
}

/// A request body.
#[derive(serde::Serialize)]
struct ResponsesBody<'r> {
    model: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'r str>,
    input: Vec<InputItem<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'r RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<WrittenChoice<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextSetting<'r>>,
    #[serde(skip_serializing_if = "Pairs::is_empty")]
    metadata: Pairs<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'r [&'static str],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

/// The member `text`.
#[derive(serde::Serialize)]
struct TextSetting<'r> {
    format: Format<'r>,
}

/// The answer format.
#[derive(serde::Serialize)]
struct Format<'r> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: Cow<'r, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'r str>,
    schema: &'r Value,
    strict: bool,
}

pub(super) fn write(
    wire: &OpenAiResponses,
    request: &TurnRequest,
    delivery: Delivery,
) -> Result<WireRequest, RequestError> {
    let (capabilities, profile) = wire.profile.for_model(&request.model);
    let accepted = capabilities.accept(request, Thinking::Unset)?;
    let given = request.provider_options.get(wire.provider());
    let opened = given.map(|given| seal::open_options(wire.provider(), given)).transpose()?;
    let options = opened.as_ref().map(|opened| &*opened.value);
    let state = State::of(options).reasons(reasons(wire.provider(), capabilities, options));
    if request.history.is_empty() && !state_is_elsewhere(options) {
        let message = "it has no message that can be sent; add a message of the user".to_owned();
        return Err(RequestError::Invalid { param: "history".to_owned(), message });
    }
    let tools = request.render_tools(profile);
    tools.ensure_sendable()?;
    let output = request.output_format.as_ref().map(|format| profile.render_output(format)).transpose()?;
    let asks_reasoning = !state.stored && capabilities.encrypted_reasoning == EncryptedReasoning::Available;
    let names = profile.name_rule();

    // A choice names tools, and has no member for a namespace.
    let offered = match &request.tool_choice {
        ToolChoice::Tool(_) | ToolChoice::OneOf { .. } => tools.raw_flat(),
        _ => Cow::Borrowed(tools.raw_list()),
    };
    let mut dropped = accepted.dropped;
    let is_searched = tools.iter().any(|tool| tool.mode == ToolMode::BuiltIn && tool.wire_name == TOOL_SEARCH);
    let offered = if tools.has_deferred() && !is_searched {
        let reason = "the API takes it only together with the tool `tool_search`; offer that as well";
        dropped.push(Dropped::setting("defer_loading", reason));
        Cow::Owned(loaded(&offered).into_owned())
    } else {
        offered
    };
    let body = ResponsesBody {
        model: &request.model,
        instructions: request.instructions.as_deref(),
        input: InputWriter::new(wire.provider(), &tools, state, &mut dropped).write(&request.history)?,
        tools: (!tools.is_empty()).then_some(&*offered),
        tool_choice: choice::write(&request.tool_choice, &tools, &mut dropped)?,
        parallel_tool_calls: accepted.parallel_tool_calls.filter(|_| !tools.is_empty()),
        temperature: accepted.temperature,
        top_p: accepted.top_p,
        max_output_tokens: request.max_output_tokens.map(|tokens| tokens.max(LEAST_OUTPUT_TOKENS)),
        text: request.output_format.as_ref().zip(output.as_deref()).map(|both| TextSetting::of(names, both)),
        metadata: Pairs::of(&request.metadata, &mut dropped),
        prompt_cache_key: wire.keys_prompts.then(|| prompt_key::of(request, tools.raw_list().get())),
        store: false,
        include: if asks_reasoning { &[ENCRYPTED_REASONING] } else { &[] },
        stream: delivery == Delivery::Streamed,
    };
    if let Some(asked) = request.max_output_tokens.filter(|asked| *asked < LEAST_OUTPUT_TOKENS) {
        let reason = format!("the API accepts no limit below {LEAST_OUTPUT_TOKENS}, which is sent in place of {asked}");
        dropped.push(Dropped::setting("max_output_tokens", reason));
    }
    if !accepted.stop.is_empty() {
        dropped.push(Dropped::setting("stop", "the Responses API has no sequences that end the answer"));
    }
    let options = merged_options(options, &body, &mut dropped);
    let text = body::write(&body, wire.provider(), options.as_deref())?;
    drop(options);
    drop(body);
    drop(offered);
    let mut context = ReadContext::new(tools).turn(request.history.len());
    if let Some(output) = output {
        context = context.output(output.codec.clone());
    }
    let mut sent = WireRequest::new(PATH, text, context).secrets(opened);
    sent.dropped = dropped;
    sent.warnings = accepted.warnings;
    Ok(sent)
}

/// Writes only the results of a turn's calls.
pub(super) fn write_results(
    wire: &OpenAiResponses,
    turn: &Turn,
    results: &[ToolResult],
    context: &ReadContext,
) -> Result<WireResults, RequestError> {
    let provider = wire.provider();
    let paired = ResultHistory::new(turn, results)?;
    let mut dropped = Vec::new();
    let writer = InputWriter::new(provider, &context.tools, State::of(None), &mut dropped);
    let json = body::write(&writer.write_outputs(paired.history(), paired.calls()), provider, None)?;
    let mut written = paired.finish("input", json, dropped);
    // A verdict is not a call's result, and the provider answers nothing before it has one.
    for item in &turn.items {
        if let Item::ApprovalRequest(request) = item
            && request.provider_data.contains_key(provider)
        {
            let reason = format!("the provider requires a verdict on `{:.80}` as well", request.request_id);
            written.dropped.push(Dropped::setting("approval_request", reason));
        }
    }
    Ok(written)
}

/// Reports whether the options refer to input that the provider has.
fn state_is_elsewhere(options: Option<&Value>) -> bool {
    let options = options.and_then(Value::as_object);
    options.is_some_and(|options| ELSEWHERE.iter().any(|member| options.contains_key(*member)))
}

/// Reports whether the model reasons, by the model table or else by the request's options. Providers other than OpenAI,
/// whose models the table does not know, read the reasoning that they sent.
fn reasons(provider: &str, capabilities: Capabilities, options: Option<&Value>) -> bool {
    let option = |name: &str| options.and_then(|options| options.get(name));
    match capabilities.encrypted_reasoning {
        EncryptedReasoning::Available => true,
        EncryptedReasoning::Unavailable => false,
        EncryptedReasoning::Unknown => {
            let included = option("include").and_then(Value::as_array);
            let is_included = included.is_some_and(|entries| entries.iter().any(|entry| entry == ENCRYPTED_REASONING));
            provider != OPENAI || is_included || option("reasoning").is_some_and(Value::is_object)
        }
    }
}

/// Merges what both options and request state: the members of `text` and the entries of `include`.
fn merged_options<'o>(
    options: Option<&'o Value>,
    body: &ResponsesBody<'_>,
    dropped: &mut Vec<Dropped>,
) -> Option<Cow<'o, Value>> {
    let options = options?;
    let Some(members) = options.as_object() else { return Some(Cow::Borrowed(options)) };
    let mut merged = Cow::Borrowed(members);
    if members.contains_key("stream") {
        merged.to_mut().shift_remove("stream");
        dropped.push(Dropped::setting("provider_options.stream", "the delivery decides whether to stream"));
    }
    if let (Some(Value::Object(given)), Some(own)) = (members.get("text"), &body.text)
        && !given.contains_key("format")
        && let Ok(Value::Object(mut text)) = serde_json::to_value(own)
    {
        text.extend(given.clone());
        merged.to_mut().insert("text".to_owned(), Value::Object(text));
    }
    // An empty list asks for nothing, not even for what is requested anyway.
    if let Some(Value::Array(given)) = members.get("include").filter(|include| **include != Value::Array(Vec::new())) {
        let own = body.include.iter().map(|entry| Value::from(*entry)).filter(|entry| !given.contains(entry));
        let include = own.chain(given.iter().cloned()).collect();
        merged.to_mut().insert("include".to_owned(), Value::Array(include));
    }
    Some(match merged {
        Cow::Borrowed(_) => Cow::Borrowed(options),
        Cow::Owned(members) => Cow::Owned(Value::Object(members)),
    })
}

impl State {
    fn of(options: Option<&Value>) -> Self {
        let option = |name: &str| options.and_then(|options| options.get(name));
        let is_given = |name: &str| option(name).is_some_and(|value| !value.is_null());
        // Without the option the member is sent as false. A null leaves it to the API, which stores.
        let stored = option("store").is_some_and(|store| *store == Value::Bool(true) || store.is_null());
        Self { stored, continued: is_given("previous_response_id") || is_given("conversation"), reasons: true }
    }

    fn reasons(self, reasons: bool) -> Self {
        Self { reasons, ..self }
    }
}

impl<'r> TextSetting<'r> {
    fn of(names: NameRule, (format, output): (&'r OutputFormat, &'r RenderedOutput)) -> Self {
        let name = if format.name.is_empty() { Cow::Borrowed("output") } else { names.encode(&format.name) };
        Self {
            format: Format {
                kind: "json_schema",
                name,
                description: format.description.as_deref(),
                schema: &output.schema,
                strict: output.strict,
            },
        }
    }
}
