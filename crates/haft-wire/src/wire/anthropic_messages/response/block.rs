//! One response block.
//!
//! Text, reasoning and calls become parts of the turn. Everything else belongs to the provider. A server tool call and
//! its result become one [`ProviderCall`] if they are neighbours, and two otherwise, so that each block keeps its
//! place. A block with an unknown type becomes a [`ProviderCall`] too, and goes back to this provider only.

use haft_core::{CallId, Delta, ProviderCall, ReasoningForm};
use haft_schema::JsonText;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{MessageReader, tree};
use crate::catalogue::{self, CallForm, ExecutedForm, Vendor};
use crate::wire::anthropic_messages::tool::{MCP_SERVER, function_member};
use crate::wire::response::depth;
use crate::wire::response::text::Text;
use crate::wire_error::ReadError;

/// The ending of block types that are server tool results.
const RESULT: &str = "_tool_result";

/// A block that has begun.
#[derive(Debug)]
pub(in super::super) enum OpenBlock {
    Text,
    Thinking,
    /// A tool call, with the arguments from its start.
    Call {
        id: CallId,
        started_with: String,
        has_fragments: bool,
    },
    /// A toolset function call. Its arguments are converted when they are complete.
    ToolsetCall(ToolsetCall),
    /// A call that the provider executes.
    ServerCall {
        id: CallId,
        input: String,
    },
    /// Any other block, which is kept as it is.
    Other(Map<String, Value>),
    /// A block that is read.
    Read,
}

/// A toolset function call.
#[derive(Debug)]
pub(in super::super) struct ToolsetCall {
    id: CallId,
    /// The argument that names the function.
    member: &'static str,
    function: String,
    input: String,
}

#[derive(Deserialize)]
struct BlockType<'b> {
    #[serde(borrow, rename = "type")]
    kind: Text<'b>,
}

#[derive(Deserialize)]
struct ReadText<'b> {
    #[serde(borrow, default)]
    text: Option<Text<'b>>,
    #[serde(borrow, default)]
    citations: Option<Vec<&'b RawValue>>,
}

#[derive(Deserialize)]
struct ReadThinking<'b> {
    #[serde(borrow, default)]
    thinking: Option<Text<'b>>,
    #[serde(borrow, default)]
    signature: Option<Text<'b>>,
    #[serde(borrow, default)]
    data: Option<Text<'b>>,
}

#[derive(Deserialize)]
struct ReadCall<'b> {
    #[serde(borrow, default)]
    id: Option<Text<'b>>,
    #[serde(borrow, default)]
    name: Option<Text<'b>>,
    #[serde(borrow, default)]
    input: Option<&'b RawValue>,
    #[serde(borrow, default)]
    caller: Option<&'b RawValue>,
    #[serde(borrow, default)]
    toolset_name: Option<Text<'b>>,
}

impl MessageReader {
    /// Reads a block's start, which is all of it in a whole response.
    pub(in super::super) fn start_block(
        &mut self,
        key: u64,
        raw: &RawValue,
        deltas: &mut Vec<Delta>,
    ) -> Result<OpenBlock, ReadError> {
        let BlockType { kind } = parse("a block", raw)?;
        let previous = self.last_server_call.take();
        match kind.as_str() {
            "text" => {
                let block: ReadText<'_> = parse("a block of text", raw)?;
                self.text(key, block.text.as_ref().map_or("", Text::as_str), deltas);
                for citation in block.citations.unwrap_or_default() {
                    self.citation(key, citation, deltas)?;
                }
                Ok(OpenBlock::Text)
            }
            "thinking" => {
                let block: ReadThinking<'_> = parse("a block of reasoning", raw)?;
                self.thinking(key, block.thinking.as_ref().map_or("", Text::as_str), deltas);
                self.signature(key, block.signature.as_ref().map_or("", Text::as_str));
                Ok(OpenBlock::Thinking)
            }
            "redacted_thinking" => {
                let block: ReadThinking<'_> = parse("a block of reasoning", raw)?;
                let reasoning = self.turn.reasoning_mut(key);
                reasoning.provider = Some(self.provider.clone());
                reasoning.encrypted = block.data.map(|data| data.0.into_owned());
                Ok(OpenBlock::Read)
            }
            "tool_use" => self.start_call(raw, deltas),
            kind if kind.ends_with("_tool_use") => self.start_server_call(kind, raw, deltas),
            kind if kind.ends_with(RESULT) => self.server_result(kind, raw, previous.as_ref(), deltas),
            _ => match tree("a block", raw)? {
                Value::Object(block) => Ok(OpenBlock::Other(block)),
                _ => Err(ReadError::invalid("a block of the response is no object")),
            },
        }
    }

    pub(in super::super) fn text(&mut self, key: u64, text: &str, deltas: &mut Vec<Delta>) {
        if !text.is_empty() {
            deltas.push(self.turn.text_at(key, text));
        }
    }

    pub(in super::super) fn thinking(&mut self, key: u64, text: &str, deltas: &mut Vec<Delta>) {
        if !text.is_empty() {
            deltas.push(self.turn.reasoning_at(key, ReasoningForm::Text, text));
            self.turn.reasoning_mut(key).provider.get_or_insert_with(|| self.provider.clone());
        }
    }

    pub(in super::super) fn signature(&mut self, key: u64, signature: &str) {
        if !signature.is_empty() {
            let reasoning = self.turn.reasoning_mut(key);
            reasoning.provider = Some(self.provider.clone());
            reasoning.signature = Some(signature.to_owned());
        }
    }

    /// Reads a fragment of a call's arguments.
    pub(in super::super) fn input(&mut self, open: &mut OpenBlock, fragment: &str, deltas: &mut Vec<Delta>) {
        if fragment.is_empty() {
            return;
        }
        match open {
            OpenBlock::Call { id, has_fragments, .. } => {
                *has_fragments = true;
                deltas.push(self.turn.call_arguments(id.clone(), fragment));
            }
            OpenBlock::ServerCall { id, input } => {
                input.push_str(fragment);
                deltas.push(self.turn.provider_call_arguments(id.clone(), fragment));
            }
            OpenBlock::ToolsetCall(call) => call.input.push_str(fragment),
            OpenBlock::Text | OpenBlock::Thinking | OpenBlock::Other(_) | OpenBlock::Read => {}
        }
    }

    /// Reads a block's end.
    pub(in super::super) fn end_block(
        &mut self,
        open: &mut OpenBlock,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReadError> {
        match std::mem::replace(open, OpenBlock::Read) {
            OpenBlock::Text | OpenBlock::Thinking | OpenBlock::Read => {}
            OpenBlock::Call { id, started_with, has_fragments } => {
                if !has_fragments {
                    deltas.push(self.turn.call_arguments(id.clone(), started_with));
                }
                deltas.push(self.turn.call_end(id));
            }
            OpenBlock::ToolsetCall(call) => self.end_toolset_call(call, deltas),
            OpenBlock::ServerCall { id, input } => self.end_server_call(&id, &input)?,
            OpenBlock::Other(block) => {
                let name = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.turn.item(ProviderCall::new(&self.provider, name, vec![Value::Object(block)]));
            }
        }
        Ok(())
    }

    fn start_call(&mut self, raw: &RawValue, deltas: &mut Vec<Delta>) -> Result<OpenBlock, ReadError> {
        let block: ReadCall<'_> = parse("a call", raw)?;
        let (id, name) = block.identity()?;
        // An empty object at a stream's start stands for arguments that follow.
        let input = block.input.map_or("{}", RawValue::get);
        let toolset = block.toolset_name.as_ref().map(Text::as_str);
        deltas.push(self.turn.call_start(id.clone(), toolset.unwrap_or(name)));
        let mut data = Map::new();
        if let Some(caller) = block.caller {
            data.insert("caller".to_owned(), tree("a caller", caller)?);
        }
        if let Some(toolset) = toolset {
            data.insert("toolset_name".to_owned(), toolset.into());
            data.insert("name".to_owned(), name.into());
        }
        if let Some(call) = self.turn.call_mut(&id).filter(|_| !data.is_empty()) {
            call.provider_data.insert(self.provider.clone(), Value::Object(data));
        }
        Ok(match toolset {
            Some(toolset) => {
                let (member, function) = (function_member(toolset), name.to_owned());
                OpenBlock::ToolsetCall(ToolsetCall { id, member, function, input: nonempty(input) })
            }
            None => OpenBlock::Call { id, started_with: input.to_owned(), has_fragments: false },
        })
    }

    /// Converts a toolset function call to a call to the one tool, with the function as an argument.
    fn end_toolset_call(&mut self, call: ToolsetCall, deltas: &mut Vec<Delta>) {
        let ToolsetCall { id, member, function, input } = call;
        let written = if input.trim().is_empty() { "{}".to_owned() } else { input };
        let (member, function) = (Value::from(member), Value::from(function));
        let arguments = match written.trim().strip_prefix('{').map(str::trim_start) {
            Some("}") => format!("{{{member}:{function}}}"),
            Some(members) => format!("{{{member}:{function},{members}"),
            // Invalid arguments stay what they are, so that the tool rejects them.
            None => written.clone(),
        };
        deltas.push(self.turn.call_arguments(id.clone(), arguments));
        let call = self.turn.call_mut(&id);
        let data = call.and_then(|call| call.provider_data.get_mut(&self.provider)).and_then(Value::as_object_mut);
        if let Some(data) = data {
            data.insert("arguments".to_owned(), written.into());
        }
        deltas.push(self.turn.call_end(id));
    }

    fn start_server_call(
        &mut self,
        kind: &str,
        raw: &RawValue,
        deltas: &mut Vec<Delta>,
    ) -> Result<OpenBlock, ReadError> {
        let block: ReadCall<'_> = parse("a call of the provider", raw)?;
        let (id, name) = block.identity()?;
        // The payload has the name that was called: a tool may make calls under several names, or under a server's.
        deltas.push(self.turn.provider_call_start(id.clone(), &self.provider, tool_of_call(kind, name)));
        let input = nonempty(block.input.map_or("{}", RawValue::get));
        if !input.is_empty() {
            deltas.push(self.turn.provider_call_arguments(id.clone(), input));
        }
        let whole = tree("a call of the provider", raw)?;
        if let Some(call) = self.turn.provider_call_mut(&id) {
            if let Some(server) = whole.get("server_name").and_then(Value::as_str) {
                call.settings.insert(MCP_SERVER.to_owned(), server.into());
            }
            call.payload = vec![whole].into();
            // The result's block, if it follows directly.
            call.output_at = Some("/1/content".to_owned());
            call.input_at = Some("/0/input".to_owned());
        }
        self.last_server_call = Some(id.clone());
        Ok(OpenBlock::ServerCall { id, input: String::new() })
    }

    fn end_server_call(&mut self, id: &CallId, input: &str) -> Result<(), ReadError> {
        if input.trim().is_empty() {
            return Ok(());
        }
        depth::check(input)?;
        let read: Value = serde_json::from_str(input)
            .map_err(|error| ReadError::json("the arguments of a call of the provider", error))?;
        if let Some(use_block) = self.turn.provider_call_mut(id).and_then(|call| call.payload.get_mut(0)) {
            use_block["input"] = read;
        }
        Ok(())
    }

    fn server_result(
        &mut self,
        kind: &str,
        raw: &RawValue,
        previous: Option<&CallId>,
        deltas: &mut Vec<Delta>,
    ) -> Result<OpenBlock, ReadError> {
        let block = tree("a result of the provider", raw)?;
        let id = block.get("tool_use_id").and_then(Value::as_str).map(CallId::from);
        let content = block.get("content").unwrap_or(&Value::Null);
        let content_type = content.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_error = content_type.ends_with("_error") || block.get("is_error") == Some(&Value::Bool(true));
        if let Some(id) = &id {
            let output = JsonText::from(content);
            deltas.push(self.turn.provider_call_output(id.clone(), output, is_error));
        }
        let neighbour = id.as_ref().filter(|id| previous == Some(*id));
        let payload = neighbour.and_then(|id| self.turn.provider_call_mut(id)).map(|call| &mut call.payload);
        if let Some(Value::Array(blocks)) = payload {
            blocks.push(block);
            return Ok(OpenBlock::Read);
        }
        let earlier = id.as_ref().and_then(|id| self.turn.provider_call_mut(id));
        let earlier = earlier.map(|call| (call.name.clone(), call.settings.clone()));
        let (name, settings) = earlier.unwrap_or_else(|| (tool_of_result(kind).to_owned(), Map::new()));
        let mut call =
            ProviderCall::new(&self.provider, name, vec![block]).output_at("/0/content").input_at("/0/input");
        call.settings = settings;
        call.call_id = id;
        call.is_error = is_error;
        self.turn.item(call);
        Ok(OpenBlock::Read)
    }
}

impl ReadCall<'_> {
    /// Returns the id and the name, without which a call can neither be run nor answered.
    fn identity(&self) -> Result<(CallId, &str), ReadError> {
        let text = |text: &Option<Text<'_>>| text.as_ref().is_some_and(|text| !text.as_str().is_empty());
        match (&self.id, &self.name) {
            (Some(id), Some(name)) if text(&self.id) && text(&self.name) => {
                Ok((CallId::from(id.as_str()), name.as_str()))
            }
            _ => Err(ReadError::invalid("a call of the response has no `id` or no `name`")),
        }
    }
}

/// Returns the name of the tool that a call belongs to, from its block type and its own name.
fn tool_of_call<'n>(kind: &str, name: &'n str) -> &'n str {
    let is_made = |form: ExecutedForm| form.call == kind && (form.names.is_empty() || form.names.contains(&name));
    executed_tool(is_made).unwrap_or(name)
}

/// Returns the name of the tool that a result belongs to, from its block type.
fn tool_of_result(kind: &str) -> &str {
    executed_tool(|form| form.outputs.contains(&kind)).unwrap_or_else(|| kind.strip_suffix(RESULT).unwrap_or(kind))
}

fn executed_tool(is_form: impl Fn(ExecutedForm) -> bool) -> Option<&'static str> {
    let entry = catalogue::entries_of(Vendor::Anthropic).iter().find(|entry| match entry.call {
        CallForm::Executed(form) => is_form(form),
        CallForm::Function | CallForm::Functions(_) | CallForm::Items(_) => false,
    });
    entry.map(|entry| entry.provider_name)
}

/// Returns arguments, or nothing for the empty object.
fn nonempty(input: &str) -> String {
    let is_empty = input.strip_prefix('{').is_some_and(|rest| rest.trim() == "}");
    if is_empty || input == "null" { String::new() } else { input.to_owned() }
}

fn parse<'b, T: Deserialize<'b>>(part: &str, raw: &'b RawValue) -> Result<T, ReadError> {
    serde_json::from_str(raw.get()).map_err(|error| ReadError::json(part, error))
}
