//! A response's items.
//!
//! Calls that the application runs become calls with arguments, whatever their type. Calls that the provider ran are
//! kept whole, and items with unknown types are kept for their provider. Only a call that can't be answered is an
//! error.

use haft_core::{ApprovalRequest, CallId, Item, ProviderCall, Reasoning, ToolCall};
use serde_json::{Map, Value};

use super::message::message;
use crate::catalogue::{self, CallForm, CatalogueEntry, ItemForm, Vendor};
use crate::profile::rendered_tools::RenderedTools;
use crate::wire::ReadContext;
use crate::wire::openai::kept_item;
use crate::wire::openai_responses::tool::MCP_SERVER;
use crate::wire::response::turn_builder::TurnBuilder;
use crate::wire_error::ReadError;

/// Provider items that belong to no call, with the names under which they are kept.
const OF_PROVIDER: [(&str, &str); 3] =
    [("mcp_list_tools", "mcp"), ("compaction", "compaction"), ("additional_tools", "additional_tools")];

/// A pointer to nothing, for items that report a call without its result, or a result without its call.
const NOTHING: &str = "/-";

/// Reads items.
pub(in crate::wire::openai_responses) struct ItemReader<'c> {
    provider: &'c str,
    context: &'c ReadContext,
}

/// An item's kind.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire::openai_responses) enum OutputKind {
    Message,
    Reasoning,
    /// A function call.
    Function,
    /// A custom tool call, whose arguments are one text.
    Custom,
    /// A call to a provider's tool that the application runs, with the tool's name there.
    Local(ItemForm, &'static str),
    /// A request to approve a call that the provider runs.
    Approval,
    /// A call that the provider ran, with the tool's name there.
    Provider(&'static str),
    Unknown,
}

impl OutputKind {
    /// Returns an item's kind.
    pub(in crate::wire::openai_responses) fn of(item: &Map<String, Value>, tools: &RenderedTools) -> Self {
        let Some(item_type) = item.get("type").and_then(Value::as_str) else { return Self::Unknown };
        match item_type {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Function,
            "custom_tool_call" => Self::Custom,
            "mcp_approval_request" => Self::Approval,
            _ => {
                if let Some((_, name)) = OF_PROVIDER.iter().find(|(own_type, _)| *own_type == item_type) {
                    return Self::Provider(name);
                }
                Self::of_catalogue(item_type, item, tools)
            }
        }
    }

    /// Returns the kind of a provider tool's item. If two tools have the same items, it belongs to the tool that was
    /// sent.
    fn of_catalogue(item_type: &str, item: &Map<String, Value>, tools: &RenderedTools) -> Self {
        let matching = || catalogue::entries_of(Vendor::OpenAi).iter().filter(|entry| has_item(entry, item_type));
        let sent = matching().find(|entry| tools.get_by_wire_name(entry.provider_name).is_some());
        let Some(entry) = sent.or_else(|| matching().next()) else { return Self::Unknown };
        match entry.call {
            CallForm::Items(form) if form.call == item_type && !is_hosted(item_type, item) => {
                Self::Local(form, entry.provider_name)
            }
            _ => Self::Provider(entry.provider_name),
        }
    }
}

impl<'c> ItemReader<'c> {
    pub(in crate::wire::openai_responses) fn new(provider: &'c str, context: &'c ReadContext) -> Self {
        Self { provider, context }
    }

    /// Reads an item into a turn.
    pub(in crate::wire::openai_responses) fn read(&self, turn: &mut TurnBuilder, json: &str) -> Result<(), ReadError> {
        let mut item: Map<String, Value> =
            serde_json::from_str(json).map_err(|error| ReadError::json("an item of the output", error))?;
        match OutputKind::of(&item, &self.context.tools) {
            OutputKind::Message => {
                if let Some(message) = message(self.provider, self.context, item) {
                    turn.item(message);
                }
            }
            OutputKind::Reasoning => turn.item(self.reasoning(item)),
            OutputKind::Function => {
                let arguments = match item.shift_remove("arguments") {
                    Some(Value::String(text)) => text,
                    None | Some(Value::Null) => String::new(),
                    Some(other) => other.to_string(),
                };
                self.call(turn, item, None, arguments, &["type"])?;
            }
            OutputKind::Custom => {
                let input = item.get("input").filter(|input| input.is_string());
                let arguments = input.map_or_else(|| r#""""#.to_owned(), Value::to_string);
                self.call(turn, item, None, arguments, &["input"])?;
            }
            OutputKind::Local(form, name) => {
                let arguments = Value::Object(form.arguments_of(&item)).to_string();
                self.call(turn, item, Some(name), arguments, form.arguments)?;
            }
            OutputKind::Approval => turn.item(self.approval(item)?),
            OutputKind::Provider(name) => turn.item(self.provider_call(name, item)),
            OutputKind::Unknown => turn.item(Item::Unknown(kept_item::keep(self.provider, &item))),
        }
        Ok(())
    }

    /// Adds a call, and keeps its item's other members.
    fn call(
        &self,
        turn: &mut TurnBuilder,
        mut item: Map<String, Value>,
        name: Option<&str>,
        arguments: String,
        written: &[&str],
    ) -> Result<(), ReadError> {
        let call_id = CallId::from(required(&item, "call_id")?);
        let name = match name {
            Some(name) => name,
            None => required(&item, "name")?,
        };
        turn.call_start(call_id.clone(), name);
        item.retain(|key, value| {
            !matches!(key.as_str(), "call_id" | "name") && !written.contains(&key.as_str()) && !value.is_null()
        });
        if let Some(call) = turn.call_mut(&call_id) {
            call.arguments = arguments;
            if !item.is_empty() {
                call.provider_data.insert(self.provider.to_owned(), Value::Object(item));
            }
        }
        Ok(())
    }

    fn reasoning(&self, mut item: Map<String, Value>) -> Reasoning {
        let mut reasoning = Reasoning::default();
        reasoning.provider = Some(self.provider.to_owned());
        reasoning.id = take_text(&mut item, "id");
        reasoning.encrypted = take_text(&mut item, "encrypted_content");
        item.shift_remove("type");
        if let Some(summary) = texts(item.get("summary"), "summary_text") {
            reasoning.summary = summary;
            item.shift_remove("summary");
        }
        match texts(item.get("content"), "reasoning_text") {
            Some(texts) if texts.len() < 2 => {
                reasoning.text = texts.into_iter().next();
                item.shift_remove("content");
            }
            // The boundaries between several texts are kept beside the whole.
            Some(texts) => reasoning.text = Some(texts.concat()),
            None => {}
        }
        item.retain(|_, value| !value.is_null());
        if !item.is_empty() {
            reasoning.provider_data.insert(self.provider.to_owned(), Value::Object(item));
        }
        reasoning
    }

    fn approval(&self, mut item: Map<String, Value>) -> Result<ApprovalRequest, ReadError> {
        let id = required(&item, "id")?.to_owned();
        let name = required(&item, "name")?.to_owned();
        let arguments = take_text(&mut item, "arguments").unwrap_or_default();
        let mut request = ApprovalRequest::new(id.as_str(), &ToolCall::new(id.as_str(), name, arguments));
        item.shift_remove("name");
        request.provider_data.insert(self.provider.to_owned(), Value::Object(item));
        Ok(request)
    }

    fn provider_call(&self, name: &str, item: Map<String, Value>) -> ProviderCall {
        let id = item.get("id").and_then(Value::as_str).map(CallId::from);
        let is_error = is_failed(&item);
        let (input_at, holds_output) = content_of(&item);
        let mut call = ProviderCall::new(self.provider, name, Value::Object(item));
        call.call_id = id;
        call.is_error = is_error;
        call.input_at = input_at.map(ToOwned::to_owned);
        call.output_at = (!holds_output).then(|| NOTHING.to_owned());
        if let Some(server) = call.payload.get(MCP_SERVER).cloned() {
            call.settings.insert(MCP_SERVER.to_owned(), server);
        }
        call
    }
}

/// Reports whether items with this type are the provider's own, independent of any call and of the reasoning before it.
pub(in crate::wire::openai_responses) fn belongs_to_no_call(item_type: &str) -> bool {
    OF_PROVIDER.iter().any(|(own_type, _)| *own_type == item_type)
}

/// Returns where the input is in an item for a call that the provider ran, and whether the item holds the output.
fn content_of(item: &Map<String, Value>) -> (Option<&'static str>, bool) {
    let item_type = item.get("type").and_then(Value::as_str).unwrap_or_default();
    let entry = catalogue::entries_of(Vendor::OpenAi).iter().find(|entry| has_item(entry, item_type));
    let (is_call, has_outputs) = match entry.map(|entry| entry.call) {
        Some(CallForm::Items(form)) => (form.call == item_type, true),
        Some(CallForm::Executed(form)) => (form.call == item_type, !form.outputs.is_empty()),
        // An item that belongs to no call.
        _ => return (Some(NOTHING), false),
    };
    let input_at = match item.get("arguments") {
        _ if !is_call => Some(NOTHING),
        // An MCP tool's arguments are a text. Everything else that was run is among the item's members.
        Some(Value::String(_)) => Some("/arguments"),
        _ => None,
    };
    (input_at, !(is_call && has_outputs))
}

/// Reports whether the item of a call that the provider ran states a failure.
pub(in crate::wire::openai_responses) fn is_failed(item: &Map<String, Value>) -> bool {
    let failed = item.get("status").is_some_and(|status| status == "failed");
    failed || item.get("error").is_some_and(|error| !error.is_null())
}

/// Reports whether the provider runs a call to a tool that the application may run too.
fn is_hosted(item_type: &str, item: &Map<String, Value>) -> bool {
    match item_type {
        "shell_call" => {
            let environment = item.get("environment").and_then(|environment| environment.get("type"));
            environment.and_then(Value::as_str).is_some_and(|environment| environment != "local")
        }
        "tool_search_call" => item.get("execution").and_then(Value::as_str) != Some("client"),
        _ => false,
    }
}

fn has_item(entry: &CatalogueEntry, item_type: &str) -> bool {
    match entry.call {
        CallForm::Items(form) => form.call == item_type || form.output == item_type,
        CallForm::Executed(form) => form.call == item_type || form.outputs.contains(&item_type),
        _ => false,
    }
}

/// Returns a member without which a call can't be answered.
pub(in crate::wire::openai_responses) fn required<'i>(
    item: &'i Map<String, Value>,
    member: &str,
) -> Result<&'i str, ReadError> {
    item.get(member).and_then(Value::as_str).filter(|text| !text.is_empty()).ok_or_else(|| {
        let item_type = item.get("type").and_then(Value::as_str).unwrap_or("call");
        ReadError::invalid(format!("a `{item_type}` of the response has no `{member}`"))
    })
}

/// Takes a member's text, or returns `None` if it is absent or not text.
fn take_text(item: &mut Map<String, Value>, member: &str) -> Option<String> {
    match item.get_mut(member)? {
        Value::String(text) => {
            let text = std::mem::take(text);
            item.shift_remove(member);
            Some(text)
        }
        _ => None,
    }
}

/// Returns the parts' texts if all have this type and nothing else.
fn texts(parts: Option<&Value>, part_type: &str) -> Option<Vec<String>> {
    let parts = match parts {
        None | Some(Value::Null) => return Some(Vec::new()),
        Some(parts) => parts.as_array()?,
    };
    let text = |part: &Value| {
        let part = part.as_object().filter(|part| part.len() == 2)?;
        part.get("type").filter(|own_type| *own_type == part_type)?;
        part.get("text")?.as_str().map(ToOwned::to_owned)
    };
    parts.iter().map(text).collect()
}
