//! A history's items as messages.
//!
//! User and assistant messages alternate. All results for one assistant message must start the next message, so results
//! are placed by their calls, wherever the history has them. Assistant blocks that only the provider understands stay
//! in their places.

use std::borrow::Cow;

use haft_core::{
    CallOutputBody, ContentPart, Item, Message, ProviderCall, Reasoning, Role, TextPart, ToolCall, ToolCallOutput,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::block::{
    SentBlock, SentCall, SentCitation, SentInput, SentMessage, SentOutput, SentResult, SentRole, SentText, object,
};
use super::history_index::{HistoryIndex, own_blocks, server_call, server_result, unreconciled};
use super::part::{self, LeftOut};
use super::tool_reference::OfferedTools;
use crate::capability::Capabilities;
use crate::profile::rendered_tools::RenderedTools;
use crate::profile::tool_name::NameRule;
use crate::wire::Dropped;
use crate::wire::anthropic_messages::LaterSystem;
use crate::wire::anthropic_messages::response::CONTAINER;
use crate::wire::request::foreign_data;
use crate::wire_error::RequestError;

/// The call ids that the API accepts.
const ID_RULE: NameRule = NameRule::new("_-", 64);
/// The replacement for an empty id or name. No encoded id looks like this.
const EMPTY: &str = "_x5F_empty";
/// The text before a conversation that the assistant begins: the API requires a user message first.
const START: &str = "(The assistant begins the conversation.)";
/// The text after a conversation that ends with the assistant, for a model that does not continue its own message.
const CONTINUE: &str = "Continue.";
/// The content for an error without text: the API requires one.
const NO_MESSAGE: &str = "The call failed without a message.";

/// A request's conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation<'r> {
    /// The texts that precede the messages.
    pub(super) system: Vec<SentBlock<'r>>,
    pub(super) messages: Vec<SentMessage<'r>>,
    /// The container that the last turn's calls run in.
    pub(super) container: Option<&'r str>,
    pub(super) dropped: Vec<Dropped>,
}

impl Conversation<'_> {
    /// Reports whether thinking is sent back.
    pub(super) fn has_thinking(&self) -> bool {
        self.messages.iter().flat_map(|message| &message.content).any(SentBlock::is_thinking)
    }
}

/// Converts a history. The instructions precede it.
pub(super) fn write<'r>(
    items: &'r [Item],
    instructions: Option<&'r str>,
    (provider, capabilities): (&'r str, Capabilities),
    offered: OfferedTools<'r>,
    later_system: LaterSystem,
) -> Result<Conversation<'r>, RequestError> {
    let mut writer = ConversationWriter::new(items, provider, offered, later_system)?;
    writer.may_reason = capabilities.may_reason();
    writer.may_prefill = capabilities.prefill;
    let instructions = instructions.filter(|text| !text.trim().is_empty());
    writer.conversation.system.extend(instructions.map(SentBlock::text));
    writer.items(items)?;
    writer.finish()
}

/// Converts call outputs alone. The history has the calls and their outputs.
pub(super) fn write_results<'r>(
    items: &'r [Item],
    provider: &'r str,
    tools: &'r RenderedTools,
) -> Result<Conversation<'r>, RequestError> {
    let offered = OfferedTools { tools, narrowed: None };
    let mut writer = ConversationWriter::new(items, provider, offered, LaterSystem::Tagged)?;
    writer.items(items)?;
    writer.place_results();
    writer.conversation.messages.retain(|message| message.role == SentRole::User);
    Ok(writer.conversation)
}

struct ConversationWriter<'r> {
    provider: &'r str,
    tools: &'r RenderedTools,
    offered: OfferedTools<'r>,
    later_system: LaterSystem,
    index: HistoryIndex<'r>,
    conversation: Conversation<'r>,
    /// The results for the calls in the last message, which is the assistant's.
    results: Vec<SentBlock<'r>>,
    /// The images and documents that failed calls among them returned.
    behind_results: Vec<SentBlock<'r>>,
    /// Set unless the model is known not to reason.
    may_reason: bool,
    /// Set if the conversation may end with the assistant's text.
    may_prefill: bool,
    /// The position of the last reasoning written.
    last_reasoning: usize,
}

impl<'r> ConversationWriter<'r> {
    fn new(
        items: &'r [Item],
        provider: &'r str,
        offered: OfferedTools<'r>,
        later_system: LaterSystem,
    ) -> Result<Self, RequestError> {
        Ok(Self {
            provider,
            tools: offered.tools,
            offered,
            later_system,
            index: HistoryIndex::of(items, provider)?,
            conversation: Conversation::default(),
            results: Vec::new(),
            behind_results: Vec::new(),
            may_reason: true,
            may_prefill: true,
            last_reasoning: 0,
        })
    }

    fn items(&mut self, items: &'r [Item]) -> Result<(), RequestError> {
        items.iter().enumerate().try_for_each(|(at, item)| self.item(at, item))
    }

    fn item(&mut self, at: usize, item: &'r Item) -> Result<(), RequestError> {
        foreign_data::report(self.provider, at, item, &mut self.conversation.dropped);
        match item {
            Item::Message(message) => self.message(at, message),
            Item::Reasoning(reasoning) => self.reasoning(at, reasoning),
            Item::ToolCall(call) if call.provider_executed => {
                self.drop(at, "provider call", "another provider executed the call");
            }
            Item::ToolCall(call) => self.call(at, call)?,
            Item::ToolOutput(output) => self.output(at, output),
            Item::ProviderCall(call) => self.provider_call(at, call),
            Item::ApprovalRequest(request) if !request.provider_data.is_empty() => {
                self.drop(at, "approval request", "another provider requested the approval");
            }
            // The application's requests and verdicts are not for the model.
            Item::ApprovalRequest(_) | Item::Verdict(_) => {}
            _ => self.drop(at, "item", "the API has no item of this type"),
        }
        Ok(())
    }

    fn message(&mut self, at: usize, message: &'r Message) {
        match message.role {
            Role::Assistant => self.assistant(at, message),
            Role::System | Role::Developer => self.system(at, message),
            _ => {
                for part in &message.content {
                    let block = part::block(part, self.provider);
                    if let Some(block) = self.taken(at, block) {
                        self.user(block);
                    }
                }
            }
        }
    }

    fn assistant(&mut self, at: usize, message: &'r Message) {
        for part in &message.content {
            match part {
                ContentPart::Text(text) if text.text.trim().is_empty() => {}
                ContentPart::Text(text) => {
                    let block = self.assistant_text(at, text);
                    self.push(SentRole::Assistant, block);
                }
                // The provider's explanation for a refusal is not the model's text.
                ContentPart::Refusal(refusal) if refusal.provider_data.contains_key(self.provider) => {}
                ContentPart::Refusal(refusal) if refusal.text.trim().is_empty() => {}
                ContentPart::Refusal(refusal) => self.push(SentRole::Assistant, SentBlock::text(&refusal.text)),
                ContentPart::Image(_) => self.drop(at, "image", "a message of the assistant has no images"),
                ContentPart::Audio(_) => self.drop(at, "audio", "the API takes no audio"),
                ContentPart::ResourceLink(_) => {
                    if let Ok(Some(block)) = part::block(part, self.provider) {
                        self.push(SentRole::Assistant, block);
                    }
                }
                _ => self.drop(at, "content", "a message of the assistant has text only"),
            }
        }
    }

    fn assistant_text(&mut self, at: usize, text: &'r TextPart) -> SentBlock<'r> {
        let own = |citation: &'r haft_core::Citation| citation.provider_data.get(self.provider);
        let citations: Vec<_> = text.citations.iter().filter_map(own).map(SentCitation).collect();
        if citations.len() < text.citations.len() {
            self.drop(at, "citations", "they are not in the form of this provider");
        }
        let extra = part::extra(&text.provider_data, self.provider);
        SentBlock::Text(SentText { text: Cow::Borrowed(&text.text), citations, extra })
    }

    fn system(&mut self, at: usize, message: &'r Message) {
        let is_start = self.conversation.messages.is_empty();
        let in_place = self.later_system == LaterSystem::InPlace && self.may_insert_system();
        for part in &message.content {
            let ContentPart::Text(text) = part else {
                self.drop(at, "content", "a system message has text only");
                continue;
            };
            if text.text.trim().is_empty() {
                continue;
            }
            let extra = part::extra(&text.provider_data, self.provider);
            let block = SentBlock::Text(SentText { text: Cow::Borrowed(&text.text), citations: Vec::new(), extra });
            if is_start {
                self.conversation.system.push(block);
            } else if in_place {
                self.push(SentRole::System, block);
            } else {
                self.drop(at, "system message", "it is sent as text of the user, in tags");
                self.user(SentBlock::text(format!("<system>\n{}\n</system>", text.text)));
            }
        }
    }

    /// Reports whether a system message may follow. It may follow anything that the user sent, including results.
    fn may_insert_system(&self) -> bool {
        let last = self.conversation.messages.last().map(|message| message.role);
        !self.results.is_empty() || matches!(last, Some(SentRole::User | SentRole::System))
    }

    fn reasoning(&mut self, at: usize, reasoning: &'r Reasoning) {
        if reasoning.provider.as_deref() != Some(self.provider) {
            self.drop(at, "reasoning", "it is not signed by this provider");
            return;
        }
        if !self.may_reason {
            self.drop(at, "reasoning", "the model does not reason");
            return;
        }
        let block = match reasoning {
            Reasoning { signature: Some(signature), text, .. } => {
                SentBlock::Thinking { thinking: text.as_deref().unwrap_or_default(), signature }
            }
            Reasoning { encrypted: Some(data), .. } => SentBlock::RedactedThinking { data },
            _ => return self.drop(at, "reasoning", "its signature is missing"),
        };
        self.last_reasoning = at;
        self.push(SentRole::Assistant, block);
    }

    fn call(&mut self, at: usize, call: &'r ToolCall) -> Result<(), RequestError> {
        let Some((output_at, output)) = self.index.outputs.remove(call.call_id.as_str()) else {
            let message = format!("the call `{:.80}` of `{:.80}` has no output", call.call_id, call.name);
            return Err(unreconciled(at, &message));
        };
        let data = call.provider_data.get(self.provider);
        let member = |name: &str| data.and_then(|data| data.get(name));
        // A toolset's function is called by its own name, not by the tool's.
        let toolset_name = member("toolset_name");
        let name = match member("name").and_then(Value::as_str).filter(|_| toolset_name.is_some()) {
            Some(name) => Cow::Borrowed(name),
            None => filled(self.tools.wire_name(&call.name)),
        };
        let input = self.input(at, call);
        let id = filled(ID_RULE.encode(call.call_id.as_str()));
        let result = self.result(output_at, output, (id.clone(), &name), toolset_name);
        let (caller, cache_control) = (member("caller"), member("cache_control"));
        let block = SentCall { id, name, input, caller, toolset_name, cache_control };
        self.push(SentRole::Assistant, SentBlock::ToolUse(block));
        self.results.push(result);
        self.find_container(at, data);
        Ok(())
    }

    fn input(&mut self, at: usize, call: &'r ToolCall) -> SentInput<'r> {
        let text = match self.tools.encode(call) {
            Cow::Borrowed(text) => match object(text) {
                Some(raw) => return SentInput::Object(raw),
                None => Cow::Borrowed(text),
            },
            Cow::Owned(text) => match RawValue::from_string(text) {
                Ok(raw) if raw.get().starts_with('{') => return SentInput::Converted(raw),
                Ok(raw) => Cow::Owned(raw.get().to_owned()),
                Err(_) => Cow::Borrowed(call.arguments.as_str()),
            },
        };
        let empty = object("{}").filter(|_| text.trim().is_empty());
        empty.map_or_else(
            || {
                self.drop(at, "arguments", "they are no JSON object, and are sent as the text `arguments` of one");
                SentInput::Text { arguments: text }
            },
            SentInput::Object,
        )
    }

    fn result(
        &mut self,
        at: usize,
        output: &'r ToolCallOutput,
        (tool_use_id, name): (Cow<'r, str>, &str),
        toolset_name: Option<&'r Value>,
    ) -> SentBlock<'r> {
        let is_error = output.is_error;
        let mut content = match &output.output {
            CallOutputBody::Text(text) => SentOutput::Text(text),
            CallOutputBody::Parts(parts) => {
                let blocks = parts.iter().filter_map(|part| self.returned(at, part)).collect();
                SentOutput::Blocks(if is_error { self.texts_of_failure(at, blocks, name) } else { blocks })
            }
        };
        if is_error && content.is_empty() {
            content = SentOutput::Text(NO_MESSAGE);
        }
        let cache_control = output.provider_data.get(self.provider).and_then(|data| data.get("cache_control"));
        SentBlock::ToolResult(SentResult { tool_use_id, content, is_error, toolset_name, cache_control })
    }

    fn returned(&mut self, at: usize, part: &'r ContentPart) -> Option<SentBlock<'r>> {
        if self.offered.lacks(part) {
            self.drop(at, "tool reference", "the request does not offer the tool");
            return None;
        }
        self.taken(at, part::block(part, self.provider))
    }

    /// Returns a failed result's texts, the only blocks that the API takes there. Images and documents follow all
    /// results.
    fn texts_of_failure(&mut self, at: usize, blocks: Vec<SentBlock<'r>>, name: &str) -> Vec<SentBlock<'r>> {
        let (texts, others): (Vec<_>, Vec<_>) =
            blocks.into_iter().partition(|block| matches!(block, SentBlock::Text(_)));
        let before = self.behind_results.len();
        for block in others {
            match block {
                SentBlock::Image(_) | SentBlock::Document(_) => self.behind_results.push(block),
                _ => self.drop(at, "content", "the API takes only text in the result of a failed call"),
            }
        }
        if self.behind_results.len() > before {
            let intro = SentBlock::text(format!("Returned by the call of `{name}`:"));
            self.behind_results.insert(before, intro);
        }
        texts
    }

    /// Ends an assistant message: its results were placed by their calls.
    fn output(&mut self, at: usize, output: &'r ToolCallOutput) {
        let id = output.call_id.as_str();
        if self.index.remote.contains(id) && !self.index.local.contains(id) {
            self.index.outputs.remove(id);
            self.drop(at, "output", "it belongs to a call that another provider executed");
            return;
        }
        self.place_results();
    }

    fn provider_call(&mut self, at: usize, call: &'r ProviderCall) {
        if call.provider != self.provider {
            let reason = "its payload is in the form of another provider";
            return self.drop(at, "provider call", reason);
        }
        let blocks = own_blocks(call, self.provider);
        if blocks.is_empty() {
            return self.drop(at, "provider call", "it has no payload");
        }
        for block in blocks {
            let is_open = |id: &str| !self.index.server_results.contains(id) && self.index.is_before_user(at);
            if server_call(block).is_some_and(is_open) {
                self.drop(at, "provider call", "the turn ended before the call had a result");
            } else if server_result(block).is_some_and(|id| !self.index.server_calls.contains(id)) {
                self.drop(at, "provider call", "the history has the result without the call");
            } else if let Some(changed) = self.offered.without_missing(block) {
                self.drop(at, "tool reference", "the request does not offer the tool");
                self.push(SentRole::Assistant, SentBlock::Changed(changed));
            } else {
                self.push(SentRole::Assistant, SentBlock::Own(block));
            }
        }
        self.find_container(at, call.provider_data.get(self.provider));
    }

    /// Keeps the id of the container that the last turn's call runs in, so that the turn continues there. Earlier
    /// containers may have expired.
    fn find_container(&mut self, at: usize, data: Option<&'r Value>) {
        let id = data.and_then(|data| data.get(CONTAINER)).and_then(Value::as_str);
        if id.is_some() && !self.index.is_before_user(at) {
            self.conversation.container = id;
        }
    }

    /// Adds a user block. A system message stays the last one before the answer.
    fn user(&mut self, block: SentBlock<'r>) {
        self.place_results();
        match self.conversation.messages.as_mut_slice() {
            [.., user, system] if system.role == SentRole::System && user.role == SentRole::User => {
                user.content.push(block);
            }
            _ => self.push(SentRole::User, block),
        }
    }

    fn push(&mut self, role: SentRole, block: SentBlock<'r>) {
        if role != SentRole::Assistant {
            self.place_results();
            self.end_assistant();
        }
        match self.conversation.messages.last_mut() {
            Some(last) if last.role == role => last.content.push(block),
            _ => self.conversation.messages.push(SentMessage { role, content: vec![block] }),
        }
    }

    /// Starts the next message with the results for the last message's calls.
    fn place_results(&mut self) {
        if !self.results.is_empty() {
            self.end_assistant();
            let mut content = std::mem::take(&mut self.results);
            content.append(&mut self.behind_results);
            self.conversation.messages.push(SentMessage { role: SentRole::User, content });
        }
    }

    /// Removes reasoning at the end of an assistant message, which the API rejects.
    fn end_assistant(&mut self) {
        let Some(last) = self.conversation.messages.last_mut() else { return };
        if last.role != SentRole::Assistant || !last.content.last().is_some_and(SentBlock::is_thinking) {
            return;
        }
        while last.content.pop_if(|block| block.is_thinking()).is_some() {}
        if last.content.is_empty() {
            self.conversation.messages.pop();
        }
        self.drop(self.last_reasoning, "reasoning", "nothing follows it, as the turn ended early");
    }

    fn taken(&mut self, at: usize, block: Result<Option<SentBlock<'r>>, LeftOut>) -> Option<SentBlock<'r>> {
        block.unwrap_or_else(|LeftOut { part, reason }| {
            self.drop(at, part, &reason);
            None
        })
    }

    fn drop(&mut self, at: usize, part: &'static str, reason: &str) {
        self.conversation.dropped.push(Dropped::item(at, part, reason));
    }

    fn finish(mut self) -> Result<Conversation<'r>, RequestError> {
        self.place_results();
        self.end_assistant();
        if let Some((at, output)) = self.index.outputs.values().min_by_key(|(at, _)| *at) {
            return Err(unreconciled(*at, &format!("the output for `{:.80}` answers no call", output.call_id)));
        }
        self.end_with_user();
        self.trim_end();
        if self.conversation.messages.first().is_some_and(|first| first.role == SentRole::Assistant) {
            let reason = "a conversation begins with the user, so a text of the user is sent before it";
            self.conversation.dropped.push(Dropped::setting("history", reason));
            let content = vec![SentBlock::text(START)];
            self.conversation.messages.insert(0, SentMessage { role: SentRole::User, content });
        }
        if self.conversation.messages.is_empty() {
            let message = "it has no message that can be sent; add a message of the user".to_owned();
            return Err(RequestError::Invalid { param: "history".to_owned(), message });
        }
        Ok(self.conversation)
    }

    /// Lets the user ask for more if the conversation ends with text that the model does not continue. The service
    /// itself continues what it runs.
    fn end_with_user(&mut self) {
        let last = self.conversation.messages.last().filter(|last| last.role == SentRole::Assistant);
        let is_text = last.is_some_and(|last| matches!(last.content.last(), Some(SentBlock::Text(_))));
        if is_text && !self.may_prefill {
            let reason = "the model does not continue its own message, so the user asks it to";
            self.conversation.dropped.push(Dropped::setting("history", reason));
            self.push(SentRole::User, SentBlock::text(CONTINUE));
        }
    }

    /// Removes white space at the end of a conversation that ends in assistant text, which the API rejects.
    fn trim_end(&mut self) {
        let last = self.conversation.messages.last_mut().filter(|last| last.role == SentRole::Assistant);
        if let Some(SentBlock::Text(block)) = last.and_then(|last| last.content.last_mut())
            && let Cow::Borrowed(text) = block.text
        {
            block.text = Cow::Borrowed(text.trim_end());
        }
    }
}

fn filled(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_empty() { Cow::Borrowed(EMPTY) } else { text }
}
