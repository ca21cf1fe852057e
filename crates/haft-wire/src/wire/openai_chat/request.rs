//! Chat Completions requests.

use std::borrow::Cow;

use haft_core::{OutputFormat, ToolChoice, ToolResult, Turn, TurnRequest};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::OpenAiChat;
use super::message::{ChatMessage, Messages};
use super::quirk::{ChatQuirks, ChoiceForms, FormatForms, MetadataRule, TokenLimit};
use crate::capability::Thinking;
use crate::profile::rendered_tools::RenderedTools;
use crate::profile::{RenderTools, RenderedOutput};
use crate::seal;
use crate::wire::openai::metadata_pair::Pairs;
use crate::wire::openai::prompt_key;
use crate::wire::request::body;
use crate::wire::request::format_instruction;
use crate::wire::request::result_history::ResultHistory;
use crate::wire::{Delivery, Dropped, ReadContext, Wire, WireRequest, WireResults};
use crate::wire_error::RequestError;

#[derive(Serialize)]
struct Body<'r> {
    model: &'r str,
    messages: Vec<ChatMessage<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'r RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ChatChoice<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Pairs<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheMark>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

/// The mark up to which a gateway to Anthropic caches a prompt.
#[derive(Serialize)]
struct CacheMark {
    r#type: &'static str,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ChatChoice<'r> {
    Mode(&'static str),
    Function(NamedFunction<'r>),
    Allowed { r#type: &'static str, allowed_tools: AllowedTools<'r> },
}

#[derive(Serialize)]
struct NamedFunction<'r> {
    r#type: &'static str,
    function: FunctionName<'r>,
}

#[derive(Serialize)]
struct FunctionName<'r> {
    name: Cow<'r, str>,
}

#[derive(Serialize)]
struct AllowedTools<'r> {
    mode: &'static str,
    tools: Vec<NamedFunction<'r>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'r> {
    JsonSchema { json_schema: JsonSchemaFormat<'r> },
    JsonObject,
}

#[derive(Serialize)]
struct JsonSchemaFormat<'r> {
    name: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'r str>,
    schema: &'r Value,
    strict: bool,
}

pub(super) fn write(wire: &OpenAiChat, request: &TurnRequest, delivery: Delivery) -> Result<WireRequest, RequestError> {
    let (capabilities, profile) = wire.profile.for_model(&request.model);
    let accepted = capabilities.accept(request, Thinking::Unset)?;
    check_stops(&accepted.stop, wire)?;
    let tools = request.render_tools(profile);
    tools.ensure_sendable()?;
    let output = request.output_format.as_ref().map(|format| profile.render_output(format)).transpose()?;
    let mut quirks = wire.quirks;
    if !capabilities.may_reason() {
        quirks.reasoning = &[];
    }
    let unenforced = output.as_deref().filter(|_| quirks.formats == FormatForms::JsonObject);
    let instruction = unenforced.zip(request.output_format.as_ref());
    let instruction = instruction.map(|(rendered, format)| format_instruction::of(rendered, format));
    let messages = Messages::write(request, (wire.provider(), quirks), &tools, instruction)?;
    let Messages { list, mut dropped, .. } = messages;
    dropped.extend(accepted.dropped);
    if list.is_empty() {
        let message = "it has no message that can be sent; add a message of the user".to_owned();
        return Err(RequestError::Invalid { param: "history".to_owned(), message });
    }
    // A server that does not know a choice only gets the tools it permits.
    let offered = if quirks.choices < needed_forms(&request.tool_choice) {
        tools.raw_permitted(&request.tool_choice)
    } else {
        Cow::Borrowed(tools.raw_list())
    };
    let has_tools = offered.get().len() > 2;
    let (max_completion_tokens, max_tokens) = match quirks.token_limit {
        TokenLimit::MaxCompletionTokens => (request.max_output_tokens, None),
        TokenLimit::MaxTokens => (None, request.max_output_tokens),
    };
    let parallel_tool_calls = accepted.parallel_tool_calls.filter(|_| has_tools);
    report_unknown_settings(request, quirks, parallel_tool_calls, &mut dropped);
    let is_streamed = delivery == Delivery::Streamed;
    let body = Body {
        model: &request.model,
        messages: list,
        tools: has_tools.then_some(&*offered),
        tool_choice: choice(quirks.choices, &request.tool_choice, &tools)?.filter(|_| has_tools),
        parallel_tool_calls: parallel_tool_calls.filter(|_| quirks.parallel_tool_calls),
        temperature: accepted.temperature,
        top_p: accepted.top_p,
        max_completion_tokens,
        max_tokens,
        stop: &accepted.stop,
        response_format: request.output_format.as_ref().zip(output.as_deref()).map(|output| format(quirks, output)),
        metadata: metadata(request, wire, &mut dropped),
        prompt_cache_key: (wire.caches_prompts && wire.provider() == "openai")
            .then(|| prompt_key::of(request, tools.raw_list().get())),
        cache_control: (wire.caches_prompts && is_claude_by_gateway(wire, &request.model))
            .then_some(CacheMark { r#type: "ephemeral" }),
        stream: is_streamed,
        stream_options: (is_streamed && quirks.stream_options).then_some(StreamOptions { include_usage: true }),
    };
    let given = request.provider_options.get(wire.provider());
    let opened = given.map(|given| seal::open_options(wire.provider(), given)).transpose()?;
    let text = body::write(&body, wire.provider(), opened.as_ref().map(|opened| &*opened.value))?;
    drop(body);
    drop(offered);
    let mut context = ReadContext::new(tools).after(&request.history);
    if let Some(output) = output {
        context = context.output(output.codec.clone());
    }
    let mut sent = WireRequest::new("/chat/completions", text, context).secrets(opened);
    sent.dropped = dropped;
    sent.warnings = accepted.warnings;
    Ok(sent)
}

/// Writes only the results of a turn's calls. Media follow in a user message.
pub(super) fn write_results(
    wire: &OpenAiChat,
    turn: &Turn,
    results: &[ToolResult],
    context: &ReadContext,
) -> Result<WireResults, RequestError> {
    let paired = ResultHistory::new(turn, results)?;
    let server = (wire.provider(), wire.quirks);
    let Messages { list, dropped, .. } = Messages::write_outputs(paired.history(), server, &context.tools)?;
    let json = body::write(&list, wire.provider(), None)?;
    drop(list);
    Ok(paired.finish("messages", json, dropped))
}

/// Returns the choice forms that a choice needs.
fn needed_forms(choice: &ToolChoice) -> ChoiceForms {
    match choice {
        ToolChoice::None | ToolChoice::Required => ChoiceForms::Modes,
        ToolChoice::Tool(_) => ChoiceForms::Named,
        ToolChoice::OneOf { .. } => ChoiceForms::Allowed,
        // `Auto` is what an absent choice stands for.
        _ => ChoiceForms::Ignored,
    }
}

/// Reports the settings that the server does not follow.
fn report_unknown_settings(
    request: &TurnRequest,
    quirks: ChatQuirks,
    parallel_tool_calls: Option<bool>,
    dropped: &mut Vec<Dropped>,
) {
    if quirks.choices == ChoiceForms::Ignored && request.tool_choice.requires_call() {
        let reason = "the server can't be required to call a tool; it is offered only those that the choice permits";
        dropped.push(Dropped::setting("tool_choice", reason));
    }
    if !quirks.parallel_tool_calls && parallel_tool_calls.is_some() {
        dropped.push(Dropped::setting("parallel_tool_calls", "the server does not know it"));
    }
    if quirks.formats == FormatForms::JsonObject && request.output_format.is_some() {
        let reason = "the server takes no schema and is asked for any JSON; the model reads the schema instead";
        dropped.push(Dropped::setting("output_format", reason));
    }
}

/// Returns the metadata, where the server takes it.
fn metadata<'r>(request: &'r TurnRequest, wire: &OpenAiChat, dropped: &mut Vec<Dropped>) -> Option<Pairs<'r>> {
    if request.metadata.is_empty() {
        return None;
    }
    let options = request.provider_options.get(wire.provider());
    let is_stored = || options.and_then(|options| options.get("store")) == Some(&Value::Bool(true));
    let reason = match wire.quirks.metadata {
        MetadataRule::Rejected => "the server rejects it",
        MetadataRule::WithStore if !is_stored() => {
            "the API takes it only with `store`; set it in the options of the provider"
        }
        MetadataRule::Sent | MetadataRule::WithStore => {
            return Some(Pairs::of(&request.metadata, dropped)).filter(|pairs| !pairs.is_empty());
        }
    };
    dropped.push(Dropped::setting("metadata", reason));
    None
}

/// Reports whether the request goes to an Anthropic model through a gateway that passes marks on. Such a model caches
/// nothing without them.
fn is_claude_by_gateway(wire: &OpenAiChat, model: &str) -> bool {
    wire.provider() == "openrouter" && model.contains("claude-")
}

/// Rejects more sequences than the API takes.
fn check_stops(stops: &[String], wire: &OpenAiChat) -> Result<(), RequestError> {
    match wire.quirks.max_stops {
        Some(most) if stops.len() > most => {
            let message = format!("the API accepts {most} stop sequences; remove the others");
            Err(RequestError::Invalid { param: "stop".to_owned(), message })
        }
        _ => Ok(()),
    }
}

fn choice<'r>(
    forms: ChoiceForms,
    choice: &'r ToolChoice,
    tools: &'r RenderedTools,
) -> Result<Option<ChatChoice<'r>>, RequestError> {
    if tools.is_empty() {
        return if choice.requires_call() {
            Err(no_tool("a call is required, and there are no tools"))
        } else {
            Ok(None)
        };
    }
    let named = |name: &'r str| {
        let name = tools.get(name).map(|tool| Cow::Borrowed(tool.wire_name.as_str()))?;
        Some(NamedFunction { r#type: "function", function: FunctionName { name } })
    };
    let written = match choice {
        ToolChoice::None => Some(ChatChoice::Mode("none")),
        ToolChoice::Required => Some(ChatChoice::Mode("required")),
        ToolChoice::Tool(name) => {
            let unknown = || no_tool(&format!("the required tool `{name}` is not among the tools of the request"));
            let function = named(name).ok_or_else(unknown)?;
            let is_known = forms >= ChoiceForms::Named;
            Some(if is_known { ChatChoice::Function(function) } else { ChatChoice::Mode("required") })
        }
        ToolChoice::OneOf { names, .. } => {
            let allowed: Vec<_> = names.iter().filter_map(|name| named(name)).collect();
            match (allowed.is_empty(), choice.requires_call(), forms) {
                (true, true, _) => return Err(no_tool("none of the required tools is among those of the request")),
                (true, false, _) => Some(ChatChoice::Mode("none")),
                (false, required, ChoiceForms::Allowed) => {
                    let mode = if required { "required" } else { "auto" };
                    Some(ChatChoice::Allowed {
                        r#type: "allowed_tools",
                        allowed_tools: AllowedTools { mode, tools: allowed },
                    })
                }
                (false, true, _) => Some(ChatChoice::Mode("required")),
                (false, false, _) => None,
            }
        }
        // `Auto` is what an absent choice stands for.
        _ => None,
    };
    Ok(written.filter(|_| forms > ChoiceForms::Ignored))
}

fn no_tool(what: &str) -> RequestError {
    RequestError::Invalid {
        param: "tool_choice".to_owned(),
        message: format!("{what}; offer the tool, or choose another one"),
    }
}

fn format<'r>(quirks: ChatQuirks, (format, rendered): (&'r OutputFormat, &'r RenderedOutput)) -> ResponseFormat<'r> {
    match quirks.formats {
        FormatForms::JsonObject => ResponseFormat::JsonObject,
        FormatForms::Schema => ResponseFormat::JsonSchema {
            json_schema: JsonSchemaFormat {
                name: &format.name,
                description: format.description.as_deref(),
                schema: &rendered.schema,
                strict: rendered.strict,
            },
        },
    }
}
