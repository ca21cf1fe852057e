//! Requests to the Messages API.
//!
//! The body is written member by member, so that the tools' text is copied and never parsed, and a member in the
//! provider options can replace ours.

mod base64_text;
mod binding;
mod block;
mod cache_mark;
mod conversation;
mod history_index;
mod mcp_server;
mod part;
mod tool_reference;

use std::borrow::Cow;

use haft_core::{OutputFormat, ToolChoice, ToolDemand, ToolResult, Turn, TurnRequest};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use self::block::SentBlock;
use self::cache_mark::MarkedPrompt;
use self::tool_reference::OfferedTools;
use super::{AnthropicMessages, PromptCache};
use crate::capability::{AcceptedSettings, Capabilities, Thinking};
use crate::profile::rendered_tools::{RenderedTool, RenderedTools, loaded};
use crate::profile::{RenderTools, RenderedOutput};
use crate::seal;
use crate::wire::request::format_instruction;
use crate::wire::request::result_history::ResultHistory;
use crate::wire::{Delivery, Dropped, ReadContext, Wire, WireRequest, WireResults};
use crate::wire_error::RequestError;

const PATH: &str = "/v1/messages";
/// The header that enables features in preview.
const BETA_HEADER: &str = "anthropic-beta";
/// The feature that lets a model think between its calls.
const INTERLEAVED: &str = "interleaved-thinking-";
/// The option that adds features to the header.
const BETAS: &str = "betas";

/// The lowest `top_p` that the API accepts together with thinking.
const LEAST_TOP_P: f64 = 0.95;

/// A tool choice.
#[derive(Serialize)]
struct SentChoice<'r> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'r, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_parallel_tool_use: Option<bool>,
}

pub(super) fn write(
    wire: &AnthropicMessages,
    request: &TurnRequest,
    delivery: Delivery,
) -> Result<WireRequest, RequestError> {
    let provider = wire.provider();
    let given = options(request, provider)?;
    let opened = given.map(|given| seal::open_options(provider, given)).transpose()?;
    let none = Map::new();
    let options = opened.as_ref().and_then(|opened| opened.value.as_object()).unwrap_or(&none);
    let (capabilities, profile) = wire.profile.for_model(&request.model);
    let thinking = thinking(options);
    let accepted = capabilities.accept(request, thinking)?;
    let tools = request.render_tools(profile);
    tools.ensure_sendable()?;
    let history: &[haft_core::Item] = &request.history;
    let mut conversation = conversation::write(
        history,
        request.instructions.as_deref(),
        (provider, with_thinking(capabilities, thinking)),
        OfferedTools { tools: &tools, narrowed: narrowing(&request.tool_choice, &tools) },
        wire.later_system,
    )?;
    let output = request.output_format.as_ref().map(|format| profile.render_output(format)).transpose()?;
    let mut dropped = std::mem::take(&mut conversation.dropped);
    dropped.extend(accepted.dropped.iter().cloned());
    if let (Some(rendered), Some(format)) = (output.as_deref(), &request.output_format)
        && !rendered.strict
    {
        dropped.push(Dropped::setting("output_format", "the API can't enforce its schema; the model reads it instead"));
        conversation.system.push(SentBlock::text(format_instruction::of(rendered, format)));
    }
    let list = listed(&request.tool_choice, &tools, &mut dropped);

    let mut body = MessagesBody::new(options);
    body.member("model", &request.model)?;
    body.member("max_tokens", &max_tokens(wire, request, capabilities, options)?)?;
    // The API places a mark for the whole request itself.
    if wire.prompt_cache == PromptCache::Marked && !options.contains_key("cache_control") {
        let prompt = MarkedPrompt {
            tools: values("tools", list.get())?,
            system: values("system", &json_text("system", &conversation.system)?)?,
            messages: values("messages", &json_text("messages", &conversation.messages)?)?,
        };
        let prompt = prompt.mark();
        write_prompt(&mut body, &prompt.system, &prompt.messages)?;
        let list = json_text("tools", &prompt.tools)?;
        write_tools(&mut body, request, (&tools, &list), accepted.parallel_tool_calls, &mut dropped)?;
    } else {
        write_prompt(&mut body, &conversation.system, &conversation.messages)?;
        write_tools(&mut body, request, (&tools, list.get()), accepted.parallel_tool_calls, &mut dropped)?;
    }
    write_settings(&mut body, request, (&accepted, thinking), &mut dropped)?;
    if let Some(container) = conversation.container {
        body.member("container", container)?;
    }
    write_output(&mut body, output.as_deref().zip(request.output_format.as_ref()))?;
    if delivery == Delivery::Streamed {
        body.member("stream", &true)?;
    }
    write_servers(&mut body, request, &tools)?;
    let bound = binding::thinking(options, capabilities, &conversation, &mut dropped);
    if let Some(thinking) = &bound {
        body.append(binding::THINKING, &json_text(binding::THINKING, thinking)?);
        body.written.push(binding::THINKING);
    }
    drop(conversation);
    drop(list);
    let headers = beta_header(options, &tools, binding::beta(options, bound.as_ref()))?;
    let text = body.finish()?;
    let mut context = ReadContext::new(tools).turn(history.len());
    if let Some(output) = output {
        context = context.output(output.codec.clone());
    }
    let mut sent = WireRequest::new(PATH, text, context).secrets(opened);
    sent.headers.extend(headers);
    sent.dropped = dropped;
    sent.warnings = accepted.warnings;
    Ok(sent)
}

/// Writes only the results of a turn's calls: one user message.
pub(super) fn write_results(
    wire: &AnthropicMessages,
    turn: &Turn,
    results: &[ToolResult],
    context: &ReadContext,
) -> Result<WireResults, RequestError> {
    let paired = ResultHistory::new(turn, results)?;
    let mut conversation = conversation::write_results(paired.history(), wire.provider(), &context.tools)?;
    let dropped = std::mem::take(&mut conversation.dropped);
    let json = json_text("messages", &conversation.messages)?;
    drop(conversation);
    Ok(paired.finish("messages", json, dropped))
}

/// Returns the request's options for this provider, which must be an object.
fn options<'r>(request: &'r TurnRequest, provider: &str) -> Result<Option<&'r Value>, RequestError> {
    match request.provider_options.get(provider) {
        None | Some(Value::Null) => Ok(None),
        Some(options @ Value::Object(_)) => Ok(Some(options)),
        Some(_) => Err(invalid(&format!("provider_options.{provider}"), "it must be an object")),
    }
}

/// Returns whether the model is asked to think. Without the option a model may still think, and can still be forced to
/// call.
fn thinking(options: &Map<String, Value>) -> Thinking {
    let kind = options.get("thinking").and_then(|thinking| thinking.get("type")).and_then(Value::as_str);
    match kind {
        None | Some("disabled") => Thinking::Unset,
        Some(_) => Thinking::Requested,
    }
}

/// Returns the model's capabilities in this request. With thinking, no model continues a message of its own.
fn with_thinking(capabilities: Capabilities, thinking: Thinking) -> Capabilities {
    Capabilities { prefill: capabilities.prefill && thinking == Thinking::Unset, ..capabilities }
}

/// Returns the answer's token limit, which must exceed the thinking limit before it. Our default makes room for the
/// thinking. If the application states both limits, it has to decide.
fn max_tokens(
    wire: &AnthropicMessages,
    request: &TurnRequest,
    capabilities: Capabilities,
    options: &Map<String, Value>,
) -> Result<u64, RequestError> {
    let most = capabilities.max_output_tokens.unwrap_or(u64::MAX);
    let budget = thinking_budget(request, options);
    let stated = options.get("max_tokens").and_then(Value::as_u64).or(request.max_output_tokens);
    let limit = stated.unwrap_or_else(|| wire.default_max_tokens.saturating_add(budget).min(most));
    if budget > 0 && budget >= limit {
        let message = format!(
            "{budget} tokens of thinking leave nothing of the {limit} that the whole answer may have; raise \
             `max_output_tokens` above the budget, or lower the budget"
        );
        return Err(invalid("thinking.budget_tokens", &message));
    }
    Ok(limit)
}

/// Returns the thinking tokens that count towards the answer's limit. Thinking between calls is limited for the whole
/// turn, which has several answers.
fn thinking_budget(request: &TurnRequest, options: &Map<String, Value>) -> u64 {
    let betas = options.get(BETAS).and_then(Value::as_array).into_iter().flatten();
    let is_interleaved = betas.filter_map(Value::as_str).any(|beta| beta.starts_with(INTERLEAVED));
    let counts = !is_interleaved || request.tools.is_empty();
    match options.get("thinking") {
        Some(thinking) if counts && thinking["type"] == "enabled" => thinking["budget_tokens"].as_u64().unwrap_or(0),
        _ => 0,
    }
}

fn write_prompt<S: Serialize, M: Serialize>(
    body: &mut MessagesBody<'_>,
    system: &[S],
    messages: &[M],
) -> Result<(), RequestError> {
    if !system.is_empty() {
        body.member("system", system)?;
    }
    body.member("messages", messages)
}

/// Reads what was written, to be changed.
fn values(key: &str, json: &str) -> Result<Vec<Value>, RequestError> {
    serde_json::from_str(json).map_err(|error| invalid(key, &format!("it is no list: {error}")))
}

/// Returns the choice if only the tools that it permits are sent. A choice of one tool names it and keeps the others in
/// the list, so that a prompt cache stays valid.
fn narrowing<'c>(choice: &'c ToolChoice, tools: &RenderedTools) -> Option<&'c ToolChoice> {
    let is_narrow = matches!(choice, ToolChoice::OneOf { .. });
    (is_narrow && tools.iter().any(|tool| choice.permits(&tool.name))).then_some(choice)
}

/// Returns the tool list.
fn listed<'t>(choice: &ToolChoice, tools: &'t RenderedTools, dropped: &mut Vec<Dropped>) -> Cow<'t, RawValue> {
    let narrowed = narrowing(choice, tools);
    let list = match narrowed {
        Some(choice) => tools.raw_permitted(choice),
        None => Cow::Borrowed(tools.raw_list()),
    };
    let is_sent = |tool: &&RenderedTool| narrowed.is_none_or(|choice| choice.permits(&tool.name));
    if !tools.has_deferred() || tools.iter().filter(is_sent).any(|tool| !tool.deferred) {
        return list;
    }
    let reason = "the API rejects a request whose tools are all deferred; offer a tool that searches for them";
    dropped.push(Dropped::setting("defer_loading", reason));
    Cow::Owned(loaded(&list).into_owned())
}

/// Writes the MCP servers for the toolsets that are sent.
fn write_servers(
    body: &mut MessagesBody<'_>,
    request: &TurnRequest,
    tools: &RenderedTools,
) -> Result<(), RequestError> {
    let narrowed = narrowing(&request.tool_choice, tools);
    let is_sent = |tool: &&RenderedTool| narrowed.is_none_or(|choice| choice.permits(&tool.name));
    if let Some(servers) = mcp_server::written(body.options, tools.iter().filter(is_sent))? {
        body.append(mcp_server::MEMBER, &servers);
        body.written.push(mcp_server::MEMBER);
    }
    Ok(())
}

fn write_tools(
    body: &mut MessagesBody<'_>,
    request: &TurnRequest,
    (tools, list): (&RenderedTools, &str),
    parallel: Option<bool>,
    dropped: &mut Vec<Dropped>,
) -> Result<(), RequestError> {
    let choice = &request.tool_choice;
    let may_call = tools.iter().any(|tool| choice.permits(&tool.name));
    if choice.requires_call() && !may_call {
        let message = "it requires a call, and none of the tools that it permits can be sent; offer one of them";
        return Err(invalid("tool_choice", message));
    }
    if tools.is_empty() {
        return Ok(());
    }
    let (kind, name) = match choice {
        ToolChoice::None => ("none", None),
        _ if !may_call => ("none", None),
        ToolChoice::Required | ToolChoice::OneOf { demand: ToolDemand::Required, .. } => ("any", None),
        ToolChoice::Tool(name) => ("tool", Some(tools.wire_name(name))),
        _ => ("auto", None),
    };
    body.text_member("tools", list);
    let mut disable_parallel_tool_use = (parallel == Some(false) && kind != "none").then_some(true);
    let is_sent = |name: &str| !matches!(choice, ToolChoice::OneOf { .. }) || choice.permits(name);
    if let Some(program) = tools.iter().find(|tool| tool.called_by_programs && is_sent(&tool.name))
        && disable_parallel_tool_use.take().is_some()
    {
        let reason = format!("the API rejects it together with tools that programs call, such as `{}`", program.name);
        dropped.push(Dropped::setting("parallel_tool_calls", reason));
    }
    if kind != "auto" || disable_parallel_tool_use.is_some() {
        body.member("tool_choice", &SentChoice { kind, name, disable_parallel_tool_use })?;
    }
    Ok(())
}

fn write_settings(
    body: &mut MessagesBody<'_>,
    request: &TurnRequest,
    (accepted, thinking): (&AcceptedSettings, Thinking),
    dropped: &mut Vec<Dropped>,
) -> Result<(), RequestError> {
    for (name, setting, least) in [("temperature", accepted.temperature, 1.0), ("top_p", accepted.top_p, LEAST_TOP_P)] {
        match setting {
            Some(value) if thinking == Thinking::Requested && value < least => {
                dropped.push(Dropped::setting(name, format!("with thinking, the API accepts no value below {least}")));
            }
            Some(value) => body.member(name, &value)?,
            None => {}
        }
    }
    let is_sent = |text: &&String| !text.trim().is_empty();
    let stop: Vec<&String> = accepted.stop.iter().filter(is_sent).collect();
    if stop.len() < accepted.stop.len() {
        dropped.push(Dropped::setting("stop", "a sequence of white space only is rejected by the API"));
    }
    if !stop.is_empty() {
        body.member("stop_sequences", &stop)?;
    }
    for (key, value) in &request.metadata {
        match value {
            Value::String(id) if key == "user_id" => body.member("metadata", &json!({"user_id": id}))?,
            _ => dropped.push(Dropped::setting(format!("metadata.{key}"), "the API takes the text `user_id` only")),
        }
    }
    Ok(())
}

/// Writes the answer format, which the API always treats as strict.
fn write_output(
    body: &mut MessagesBody<'_>,
    output: Option<(&RenderedOutput, &OutputFormat)>,
) -> Result<(), RequestError> {
    let Some((output, asked)) = output.filter(|(output, _)| output.strict) else { return Ok(()) };
    let mut format = json!({"type": "json_schema", "schema": output.schema});
    // The format has no description besides its schema's.
    if let (Some(description), Value::Object(schema)) = (&asked.description, &mut format["schema"])
        && !schema.contains_key("$ref")
    {
        schema.entry("description").or_insert_with(|| description.as_str().into());
    }
    body.joined_member("output_config", "format", &format)
}

/// Returns the header with the features that tools, thinking and options require, without duplicates.
fn beta_header(
    options: &Map<String, Value>,
    tools: &RenderedTools,
    of_thinking: Option<&'static str>,
) -> Result<Option<(&'static str, String)>, RequestError> {
    let mut betas = tools.betas();
    betas.extend(of_thinking);
    let not_names = || invalid("provider_options", "`betas` must be a list of names");
    let asked = match options.get(BETAS) {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(names)) => names,
        Some(_) => return Err(not_names()),
    };
    for name in asked {
        let name = name.as_str().ok_or_else(not_names)?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(not_names());
        }
        if !betas.contains(&name) {
            betas.push(name);
        }
    }
    Ok((!betas.is_empty()).then(|| (BETA_HEADER, betas.join(","))))
}

fn invalid(param: &str, message: &str) -> RequestError {
    RequestError::Invalid { param: param.to_owned(), message: message.to_owned() }
}

/// A request body in progress.
struct MessagesBody<'r> {
    text: String,
    options: &'r Map<String, Value>,
    /// The options that were merged with our own members.
    written: Vec<&'static str>,
}

impl<'r> MessagesBody<'r> {
    fn new(options: &'r Map<String, Value>) -> Self {
        Self { text: String::from("{"), options, written: Vec::new() }
    }

    /// Writes a member, unless the options have it.
    fn member<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), RequestError> {
        if self.options.contains_key(key) {
            return Ok(());
        }
        self.text_member(key, &json_text(key, value)?);
        Ok(())
    }

    /// Writes a member whose value is JSON text, unless the options have it.
    fn text_member(&mut self, key: &str, json: &str) {
        if !self.options.contains_key(key) {
            self.append(key, json);
        }
    }

    /// Writes an object with our member and the options' members. The options win.
    fn joined_member(&mut self, key: &'static str, member: &str, value: &Value) -> Result<(), RequestError> {
        let Some(Value::Object(given)) = self.options.get(key) else {
            return self.member(key, &Map::from_iter([(member.to_owned(), value.clone())]));
        };
        let mut members = given.clone();
        members.entry(member).or_insert_with(|| value.clone());
        self.written.push(key);
        self.append(key, &json_text(key, &members)?);
        Ok(())
    }

    fn append(&mut self, key: &str, json: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push_str(&Value::from(key).to_string());
        self.text.push(':');
        self.text.push_str(json);
    }

    /// Adds the options, and ends the body.
    fn finish(mut self) -> Result<String, RequestError> {
        let written = std::mem::take(&mut self.written);
        let is_left = |key: &str| key != BETAS && !written.contains(&key);
        for (key, value) in self.options.iter().filter(|(key, _)| is_left(key)) {
            self.append(key, &json_text(key, value)?);
        }
        self.text.push('}');
        Ok(self.text)
    }
}

fn json_text<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<String, RequestError> {
    serde_json::to_string(value).map_err(|error| invalid(key, &format!("it can't be written as JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_take_the_place_of_members() {
        let options = json!({"a": 1, "betas": ["x"], "o": {"x": 1, "k": 0}, "z\"": null});
        let mut body = MessagesBody::new(options.as_object().unwrap());
        body.member("a", "ours").unwrap();
        body.member("b", "ours").unwrap();
        body.joined_member("o", "k", &json!("ours")).unwrap();
        body.joined_member("p", "k", &json!("ours")).unwrap();
        let text = body.finish().unwrap();
        assert_eq!(text, r#"{"b":"ours","o":{"x":1,"k":0},"p":{"k":"ours"},"a":1,"z\"":null}"#);
    }
}
