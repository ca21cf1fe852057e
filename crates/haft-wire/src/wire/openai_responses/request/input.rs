//! The history as `input` items.
//!
//! Items keep their order. Reasoning is held back until the item that it led to is written, because the API rejects it
//! alone. Calls are remembered, so that each output is written with its call's matching type.

use std::borrow::Cow;
use std::collections::HashMap;

use haft_core::{
    ApprovalDecision, ApprovalId, ApprovalRequest, CallId, ContentPart, History, Item, Message, ProviderCall,
    Reasoning, Role, ToolCall, ToolCallOutput, Verdict, history,
};
use serde_json::{Map, Value};

use super::content::{OutputPart, input_part, part_name, spoken};
use super::item::{
    AnswerItem, ApprovalRequestItem, ApprovalResponseItem, CallItem, Echo, InputItem, MessageContent, MessageItem,
    OwnMembers, Parts, ReasoningItem, ReasoningText, sent_id,
};
use super::output::WrittenCall;
use super::{OPENAI, State};
use crate::catalogue::{self, CallForm, ItemForm, Vendor};
use crate::profile::rendered_tools::RenderedTools;
use crate::wire::Dropped;
use crate::wire::openai::kept_item;
use crate::wire::openai_responses::response::belongs_to_no_call;
use crate::wire::request::answer::Answers;
use crate::wire::request::foreign_data;
use crate::wire_error::RequestError;

/// The members of a call's data that are not sent: those written from the call itself, those that the same provider's
/// Chat API keeps there, the status that custom tool calls do not take, and the id.
const UNSENT: &[&str] =
    &["type", "call_id", "name", "arguments", "input", "custom_input", "extra_content", "status", "id"];
/// Calls whose items are invalid without an id.
const CALLS_WITH_ID: [&str; 2] = ["local_shell_call", "computer_call"];

const ALONE: &str = "the reasoning before it can't be sent, and the API rejects it alone";
const TEXT_ONLY: &str = "the Responses API takes only text in messages of the model";

/// Writes `input`.
pub(super) struct InputWriter<'r, 'd> {
    pub(super) provider: &'r str,
    tools: &'r RenderedTools,
    state: State,
    items: Vec<InputItem<'r>>,
    pub(super) dropped: &'d mut Vec<Dropped>,
    /// Reasoning, with its position, that waits for the item it led to.
    reasoning: Vec<(usize, &'r Reasoning)>,
    /// True while items follow reasoning that could not be sent. With their ids the API would look for it.
    lost_reasoning: bool,
    /// The calls so far, by id.
    calls: HashMap<&'r CallId, WrittenCall<'r>>,
    /// The provider's approval requests; true once the response is written.
    requests: HashMap<&'r ApprovalId, bool>,
}

impl<'r, 'd> InputWriter<'r, 'd> {
    pub(super) fn new(
        provider: &'r str,
        tools: &'r RenderedTools,
        state: State,
        dropped: &'d mut Vec<Dropped>,
    ) -> Self {
        Self {
            provider,
            tools,
            state,
            items: Vec::new(),
            dropped,
            reasoning: Vec::new(),
            lost_reasoning: false,
            calls: HashMap::new(),
            requests: HashMap::new(),
        }
    }

    pub(super) fn write(mut self, history: &'r History) -> Result<Vec<InputItem<'r>>, RequestError> {
        ensure_answered(history, self.state)?;
        self.items.reserve(history.len());
        for (at, item) in history.iter().enumerate() {
            self.item(at, item);
        }
        self.drop_reasoning();
        Ok(self.items)
    }

    /// Writes call outputs alone. The calls are the first items, and decide the output types.
    pub(super) fn write_outputs(mut self, history: &'r History, calls: usize) -> Vec<InputItem<'r>> {
        for (at, item) in history.iter().enumerate() {
            if at == calls {
                self.items.clear();
            }
            self.item(at, item);
        }
        self.items
    }

    fn item(&mut self, at: usize, item: &'r Item) {
        foreign_data::report(self.provider, at, item, self.dropped);
        match item {
            Item::Message(message) => self.message(at, message),
            Item::Reasoning(reasoning) => self.reasoning(at, reasoning),
            Item::ToolCall(call) => self.call(at, call),
            Item::ToolOutput(output) => self.output(at, output),
            Item::ApprovalRequest(request) => self.approval_request(at, request),
            Item::Verdict(response) => self.verdict(response),
            Item::ProviderCall(call) => self.provider_call(at, call),
            Item::Unknown(unknown) => match kept_item::kept_for(self.provider, unknown) {
                Some(item) if self.requires_lost_reasoning(item) => self.drop_item(at, "item", ALONE),
                Some(item) => self.push_of_model(InputItem::Echo(Echo(item))),
                None => self.drop_item(at, "item", "its type is unknown, and it is not of this provider"),
            },
            _ => self.drop_item(at, "item", "its type is unknown"),
        }
    }

    /// Writes a model's item after the reasoning that led to it.
    fn push_of_model(&mut self, item: InputItem<'r>) {
        for (_, reasoning) in std::mem::take(&mut self.reasoning) {
            let item = reasoning_item(self.provider, reasoning);
            self.items.push(InputItem::Reasoning(item));
        }
        self.items.push(item);
    }

    /// Writes another author's item.
    pub(super) fn push_of_other(&mut self, item: InputItem<'r>) {
        self.drop_reasoning();
        self.lost_reasoning = false;
        self.items.push(item);
    }

    pub(super) fn drop_item(&mut self, at: usize, part: &'static str, reason: impl Into<String>) {
        self.dropped.push(Dropped::item(at, part, reason));
    }

    /// Drops reasoning that no model item follows.
    fn drop_reasoning(&mut self) {
        for (at, _) in std::mem::take(&mut self.reasoning) {
            self.drop_item(at, "reasoning", "no item of the model follows it, and the API rejects it alone");
        }
    }

    fn message(&mut self, at: usize, message: &'r Message) {
        let role = match message.role {
            Role::Assistant => return self.answer(at, message),
            Role::System => "system",
            Role::Developer => "developer",
            _ => "user",
        };
        let mut parts = Vec::with_capacity(message.content.len());
        for part in &message.content {
            match input_part(self.provider, part) {
                Ok(part) => parts.push(part),
                Err(unsendable) => self.drop_item(at, unsendable.part, unsendable.reason),
            }
        }
        if let Some(content) = MessageContent::of(parts) {
            let item = MessageItem { item_type: "message", role, content, phase: None };
            self.push_of_other(InputItem::Message(item));
        }
    }

    /// Writes a model message: with its id if it comes from this provider, and otherwise as text.
    fn answer(&mut self, at: usize, message: &'r Message) {
        let data = own(&message.provider_data, self.provider);
        let has_id = data.is_some_and(|data| data.get("id").is_some_and(Value::is_string));
        if has_id && !self.lost_reasoning {
            return self.own_answer(at, message, data);
        }
        let mut text = Cow::Borrowed("");
        for part in &message.content {
            if matches!(part, ContentPart::Text(text) if !text.citations.is_empty()) {
                self.drop_item(at, "citations", "the API takes them only in messages that it sent");
            }
            match spoken(part) {
                Some(spoken) if text.is_empty() => text = spoken,
                Some(spoken) => text.to_mut().push_str(&spoken),
                None => self.drop_item(at, part_name(part), TEXT_ONLY),
            }
        }
        if !text.is_empty() {
            let phase = data.and_then(|data| data.get("phase")).and_then(Value::as_str);
            let content = MessageContent::Text(text);
            let item = MessageItem { item_type: "message", role: "assistant", content, phase };
            self.push_of_model(InputItem::Message(item));
        }
    }

    fn own_answer(&mut self, at: usize, message: &'r Message, data: Option<&'r Map<String, Value>>) {
        let mut content = Vec::with_capacity(message.content.len());
        for part in &message.content {
            match part {
                ContentPart::Text(text) => {
                    let mut annotations = Vec::with_capacity(text.citations.len());
                    for citation in &text.citations {
                        match citation.provider_data.get(self.provider) {
                            Some(annotation) => annotations.push(annotation),
                            None => self.drop_item(at, "citation", "it is not of this provider"),
                        }
                    }
                    content.push(OutputPart::Text { part_type: "output_text", text: &text.text, annotations });
                }
                ContentPart::Refusal(refusal) => {
                    content.push(OutputPart::Refusal { part_type: "refusal", refusal: &refusal.text });
                }
                other => match kept_part(self.provider, other) {
                    Some(part) => content.push(OutputPart::Echo(part)),
                    None => self.drop_item(at, part_name(other), TEXT_ONLY),
                },
            }
        }
        if content.is_empty() {
            return;
        }
        let status = data.and_then(|data| data.get("status")).and_then(Value::as_str).unwrap_or("completed");
        let data = OwnMembers::of(data, &["type", "role", "status", "content"]);
        let item = AnswerItem { item_type: "message", role: "assistant", status, content, data };
        self.push_of_model(InputItem::Answer(item));
    }

    fn reasoning(&mut self, at: usize, reasoning: &'r Reasoning) {
        if reasoning.provider.as_deref() != Some(self.provider) {
            return self.drop_item(at, "reasoning", "it is of another provider, which alone can read it");
        }
        if !self.state.reasons {
            self.lost_reasoning = true;
            return self.drop_item(
                at,
                "reasoning",
                "the model is not known to reason, and one that does not would reject it; if it does, set `reasoning` in \
                 the options of the provider, or add a row for the model to the table of models",
            );
        }
        // Servers for open models read their reasoning as text.
        let is_readable = reasoning.text.is_some() && self.provider != OPENAI;
        let is_kept_there = self.state.stored || self.state.continued || is_readable;
        if reasoning.encrypted.is_some() || (reasoning.id.is_some() && is_kept_there) {
            self.reasoning.push((at, reasoning));
            return;
        }
        self.lost_reasoning = true;
        self.drop_item(
            at,
            "reasoning",
            "it has no encrypted form and the provider does not store it; request `reasoning.encrypted_content`, or \
             set `store` in the options of the provider",
        );
    }

    fn call(&mut self, at: usize, call: &'r ToolCall) {
        let data = own(&call.provider_data, self.provider);
        let caller = data.and_then(|data| data.get("caller"));
        let item_type = data.and_then(|data| data.get("type")).and_then(Value::as_str);
        if call.provider_executed {
            self.calls.insert(&call.call_id, WrittenCall::Foreign);
            return self.drop_item(at, "call", "another provider executed it");
        }
        if let Some(form) = item_type.and_then(item_form) {
            let mut item = item_call(call, form, data);
            if self.lost_reasoning && !CALLS_WITH_ID.contains(&form.call) {
                item.shift_remove("id");
            }
            self.push_of_model(InputItem::Members(item));
            self.calls.insert(&call.call_id, WrittenCall::Items { form, caller });
            return;
        }
        let input = custom_input(call, item_type, data);
        let is_custom = input.is_some();
        let arguments = if is_custom { None } else { Some(self.tools.encode(call)) };
        self.push_of_model(InputItem::Call(CallItem {
            item_type: if is_custom { "custom_tool_call" } else { "function_call" },
            call_id: sent_id(call.call_id.as_str()),
            name: self.tools.wire_name(&call.name),
            namespace: self.namespace(call, data),
            arguments,
            input,
            data: OwnMembers::of(data, self.unsent(is_custom)),
        }));
        let written = if is_custom { WrittenCall::Custom { caller } } else { WrittenCall::Function { caller } };
        self.calls.insert(&call.call_id, written);
    }

    /// Returns the namespace for another provider's call. This provider's calls have it in their data.
    fn namespace(&self, call: &ToolCall, data: Option<&Map<String, Value>>) -> Option<&'r str> {
        let tool = self.tools.get(&call.name).filter(|_| data.is_none())?;
        tool.namespace.as_ref().map(|namespace| namespace.name.as_str())
    }

    /// Returns the members of a call's data that are not sent.
    fn unsent(&self, is_custom: bool) -> &'static [&'static str] {
        match (self.lost_reasoning, is_custom) {
            (true, _) => UNSENT,
            (false, true) => &UNSENT[..UNSENT.len() - 1],
            (false, false) => &UNSENT[..UNSENT.len() - 2],
        }
    }

    fn output(&mut self, at: usize, output: &'r ToolCallOutput) {
        // A call that is missing here is in the part of the conversation that the provider stores.
        let written = self.calls.get(&output.call_id).copied().unwrap_or(WrittenCall::Function { caller: None });
        self.written_output(at, output, written);
    }

    fn provider_call(&mut self, at: usize, call: &'r ProviderCall) {
        if let Some(id) = &call.call_id {
            self.calls.insert(id, WrittenCall::Foreign);
        }
        let payload = call.payload.as_object().filter(|item| item.get("type").is_some_and(Value::is_string));
        match payload.filter(|_| call.provider == self.provider) {
            Some(item) if self.requires_lost_reasoning(item) => {
                self.drop_item(at, "provider_call", ALONE);
            }
            Some(item) => self.push_of_model(InputItem::Echo(Echo(item))),
            None if call.provider == self.provider => {
                self.drop_item(at, "provider_call", "its payload is no item of the Responses API");
            }
            None => self.drop_item(at, "provider_call", "another provider executed it, which alone can read it"),
        }
    }

    /// Reports whether the provider would look for reasoning before an item that could not be sent.
    fn requires_lost_reasoning(&self, item: &Map<String, Value>) -> bool {
        let item_type = item.get("type").and_then(Value::as_str).unwrap_or_default();
        self.lost_reasoning && self.provider == OPENAI && !belongs_to_no_call(item_type)
    }

    /// Writes a provider's request. The application's own are not for the model.
    fn approval_request(&mut self, at: usize, request: &'r ApprovalRequest) {
        if request.provider_data.is_empty() {
            return;
        }
        let Some(data) = request.provider_data.get(self.provider) else {
            return self.drop_item(at, "approval_request", "it is of another provider");
        };
        if self.requests.insert(&request.request_id, false).is_some() {
            return self.drop_item(at, "approval_request", "it repeats the id of an earlier one");
        }
        self.push_of_model(InputItem::ApprovalRequest(ApprovalRequestItem {
            item_type: "mcp_approval_request",
            id: request.request_id.as_str(),
            name: &request.tool,
            arguments: &request.arguments,
            data: OwnMembers::of(data.as_object(), &["type", "id", "name", "arguments"]),
        }));
    }

    /// Writes the first response to a request that was written.
    fn verdict(&mut self, response: &'r Verdict) {
        match self.requests.get_mut(&response.request_id) {
            Some(is_answered @ false) => *is_answered = true,
            _ => return,
        }
        // A decision that the API can't express must not count as an approval.
        let (approve, reason) = match &response.decision {
            ApprovalDecision::Approved => (true, response.reason.as_deref()),
            ApprovalDecision::Denied => (false, response.reason.as_deref()),
            _ => (false, Some("the call was not approved as it is")),
        };
        self.push_of_other(InputItem::ApprovalResponse(ApprovalResponseItem {
            item_type: "mcp_approval_response",
            approval_request_id: response.request_id.as_str(),
            approve,
            reason,
        }));
    }
}

/// Returns a message part that the provider sent and that was kept as it is.
fn kept_part<'r>(provider: &str, part: &'r ContentPart) -> Option<&'r Map<String, Value>> {
    if let ContentPart::Unknown(part) = part { kept_item::kept_for(provider, part) } else { None }
}

/// Returns a provider's data.
pub(super) fn own<'r>(data: &'r Map<String, Value>, provider: &str) -> Option<&'r Map<String, Value>> {
    data.get(provider).and_then(Value::as_object)
}

/// Rejects a history that the provider would reject: an open call or output, or a request without a response.
fn ensure_answered(history: &History, state: State) -> Result<(), RequestError> {
    // An output's call may be in the part of the conversation that the provider stores.
    if !state.continued {
        Answers::new(history)?;
    } else if let Some(call) = history::unanswered(history).first() {
        let message = format!("the call `{}` of `{}` has no output; add its result", call.call_id, call.name);
        return Err(RequestError::Invalid { param: "history".to_owned(), message });
    }
    if history.has_open_remote_request() {
        let message = "an approval request of the provider has no response; add one before the next request";
        return Err(RequestError::Invalid { param: "history".to_owned(), message: message.to_owned() });
    }
    Ok(())
}

/// Returns the item form for a tool whose calls have this type.
pub(super) fn item_form(item_type: &str) -> Option<ItemForm> {
    catalogue::entries_of(Vendor::OpenAi).iter().find_map(|entry| match entry.call {
        CallForm::Items(form) if form.call == item_type => Some(form),
        _ => None,
    })
}

/// Returns the item for a call to a tool with its own type: the arguments become members.
fn item_call(call: &ToolCall, form: ItemForm, data: Option<&Map<String, Value>>) -> Map<String, Value> {
    let mut item = Map::new();
    item.insert("type".to_owned(), form.call.into());
    item.insert("call_id".to_owned(), sent_id(call.call_id.as_str()).into());
    let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).unwrap_or_default();
    item.extend(arguments.into_iter().filter(|(key, _)| form.arguments.contains(&key.as_str())));
    for (key, value) in data.into_iter().flatten() {
        // The data's `arguments` member is the text that the model wrote.
        if key != "created_by" && key != "arguments" && !item.contains_key(key) {
            item.insert(key.clone(), value.clone());
        }
    }
    item
}

/// Returns the text that a custom tool was called with, or `None` for a function call. The arguments are that text as a
/// JSON string, or any other JSON that an approver wrote instead.
fn custom_input<'r>(
    call: &'r ToolCall,
    item_type: Option<&str>,
    data: Option<&'r Map<String, Value>>,
) -> Option<Cow<'r, str>> {
    let text = |member: &str| data.and_then(|data| data.get(member)).and_then(Value::as_str);
    if item_type == Some("custom_tool_call") {
        let written = text("arguments").unwrap_or(&call.arguments);
        return Some(serde_json::from_str(written).map_or(Cow::Borrowed(written), Cow::Owned));
    }
    text("custom_input").map(Cow::Borrowed)
}

fn reasoning_item<'r>(provider: &str, reasoning: &'r Reasoning) -> ReasoningItem<'r> {
    let data = own(&reasoning.provider_data, provider);
    let sent = |member: &str| data.and_then(|data| data.get(member)).map(Parts::Sent);
    let text = |part_type, text| ReasoningText { part_type, text };
    let summary = || Parts::Texts(reasoning.summary.iter().map(|paragraph| text("summary_text", paragraph)).collect());
    let content = || reasoning.text.as_ref().map(|content| Parts::Texts(vec![text("reasoning_text", content)]));
    ReasoningItem {
        item_type: "reasoning",
        id: reasoning.id.as_deref(),
        summary: sent("summary").unwrap_or_else(summary),
        content: sent("content").or_else(content),
        encrypted_content: reasoning.encrypted.as_deref(),
        data: OwnMembers::of(data, &["type", "id", "summary", "content", "encrypted_content"]),
    }
}
