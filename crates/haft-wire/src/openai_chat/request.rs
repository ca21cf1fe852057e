//! Requests of the Chat Completions API.

use std::borrow::Cow;

use haft_core::{OutputFormat, ToolChoice, ToolResult, Turn, TurnRequest};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::message::{ChatMessage, Messages};
use super::{OpenAiChat, Server};
use crate::body;
use crate::capability::Thinking;
use crate::metadata_pair::Pairs;
use crate::profile::{RenderTools, RenderedOutput};
use crate::rendered_tools::RenderedTools;
use crate::result_history::ResultHistory;
use crate::wire::{Delivery, Dropped, ReadContext, Wire, WireRequest, WireResults};
use crate::wire_error::RequestError;

/// The number of sequences that end an answer.
const MAX_STOPS: usize = 4;

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
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
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
struct ResponseFormat<'r> {
    r#type: &'static str,
    json_schema: JsonSchemaFormat<'r>,
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
    capabilities.check(request, Thinking::Unset)?;
    check_stops(request, wire)?;
    let tools = request.render_tools(profile);
    let output = request.output_format.as_ref().map(|format| profile.render_output(format)).transpose()?;
    let messages = Messages::write(request, (wire.provider(), wire.server, wire.call_ids), &tools)?;
    let Messages { list, mut dropped, .. } = messages;
    if list.is_empty() {
        let message = "it has no message that can be sent; add a message of the user".to_owned();
        return Err(RequestError::Invalid { param: "history".to_owned(), message });
    }
    // A server that does not know a choice among some tools is sent only those.
    let offered = match (&request.tool_choice, wire.server) {
        (ToolChoice::OneOf { .. }, Server::Compatible) => tools.raw_permitted(&request.tool_choice),
        _ => Cow::Borrowed(tools.raw_list()),
    };
    let has_tools = offered.get().len() > 2;
    let (max_completion_tokens, max_tokens) = match wire.server {
        Server::OpenAi => (request.max_output_tokens, None),
        Server::Compatible => (None, request.max_output_tokens),
    };
    let body = Body {
        model: &request.model,
        messages: list,
        tools: has_tools.then_some(&*offered),
        tool_choice: choice(wire.server, &request.tool_choice, &tools)?.filter(|_| has_tools),
        parallel_tool_calls: capabilities.parallel_setting(request).filter(|_| has_tools),
        temperature: request.temperature,
        top_p: request.top_p,
        max_completion_tokens,
        max_tokens,
        stop: &request.stop,
        response_format: request.output_format.as_ref().zip(output.as_deref()).map(format),
        metadata: metadata(request, wire, &mut dropped),
        stream: delivery == Delivery::Streamed,
        stream_options: (delivery == Delivery::Streamed).then_some(StreamOptions { include_usage: true }),
    };
    let text = body::write(&body, wire.provider(), request.provider_options.get(wire.provider()))?;
    drop(body);
    let mut context = ReadContext::new(tools).after(&request.history);
    if let Some(output) = output {
        context = context.output(output.codec.clone());
    }
    let mut sent = WireRequest::new("/chat/completions", text, context);
    sent.dropped = dropped;
    Ok(sent)
}

/// Writes the results of the calls of a turn alone. Media follows in a message of the user.
pub(super) fn write_results(
    wire: &OpenAiChat,
    turn: &Turn,
    results: &[ToolResult],
    context: &ReadContext,
) -> Result<WireResults, RequestError> {
    let paired = ResultHistory::new(turn, results)?;
    let server = (wire.provider(), wire.server, wire.call_ids);
    let Messages { list, dropped, .. } = Messages::write_outputs(paired.history(), server, &context.tools)?;
    let json = body::write(&list, wire.provider(), None)?;
    drop(list);
    Ok(paired.finish("messages", json, dropped))
}

/// Returns the metadata. OpenAI takes it only for completions that it stores.
fn metadata<'r>(request: &'r TurnRequest, wire: &OpenAiChat, dropped: &mut Vec<Dropped>) -> Option<Pairs<'r>> {
    if request.metadata.is_empty() {
        return None;
    }
    let options = request.provider_options.get(wire.provider());
    let is_stored = options.and_then(|options| options.get("store")) == Some(&Value::Bool(true));
    if wire.server == Server::OpenAi && !is_stored {
        let reason = "the API takes it only with `store`; set it in the options of the provider";
        dropped.push(Dropped::setting("metadata", reason));
        return None;
    }
    Some(Pairs::of(&request.metadata, dropped)).filter(|pairs| !pairs.is_empty())
}

/// Rejects more sequences than the API takes.
fn check_stops(request: &TurnRequest, wire: &OpenAiChat) -> Result<(), RequestError> {
    if wire.server == Server::OpenAi && request.stop.len() > MAX_STOPS {
        let message = format!("the API accepts {MAX_STOPS} stop sequences; remove the others");
        return Err(RequestError::Invalid { param: "stop".to_owned(), message });
    }
    Ok(())
}

fn choice<'r>(
    server: Server,
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
    Ok(match choice {
        ToolChoice::None => Some(ChatChoice::Mode("none")),
        ToolChoice::Required => Some(ChatChoice::Mode("required")),
        ToolChoice::Tool(name) => {
            let unknown = || no_tool(&format!("the required tool `{name}` is not among the tools of the request"));
            Some(ChatChoice::Function(named(name).ok_or_else(unknown)?))
        }
        ToolChoice::OneOf { names, .. } => {
            let allowed: Vec<_> = names.iter().filter_map(|name| named(name)).collect();
            match (allowed.is_empty(), choice.requires_call(), server) {
                (true, true, _) => return Err(no_tool("none of the required tools is among those of the request")),
                (true, false, _) => Some(ChatChoice::Mode("none")),
                (false, required, Server::OpenAi) => {
                    let mode = if required { "required" } else { "auto" };
                    Some(ChatChoice::Allowed {
                        r#type: "allowed_tools",
                        allowed_tools: AllowedTools { mode, tools: allowed },
                    })
                }
                (false, true, Server::Compatible) => Some(ChatChoice::Mode("required")),
                (false, false, Server::Compatible) => None,
            }
        }
        // `Auto` is what an absent choice stands for.
        _ => None,
    })
}

fn no_tool(what: &str) -> RequestError {
    RequestError::Invalid {
        param: "tool_choice".to_owned(),
        message: format!("{what}; offer the tool, or choose another one"),
    }
}

fn format<'r>((format, rendered): (&'r OutputFormat, &'r RenderedOutput)) -> ResponseFormat<'r> {
    ResponseFormat {
        r#type: "json_schema",
        json_schema: JsonSchemaFormat {
            name: &format.name,
            description: format.description.as_deref(),
            schema: &rendered.schema,
            strict: rendered.strict,
        },
    }
}
