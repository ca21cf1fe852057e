//! The conversation as Gemini takes it: user and model contents in turn.
//!
//! ```text
//! user messages               one content of the user
//! messages, thoughts, calls   one content of the model
//! outputs of those calls      one content of the user, in the order of the calls, wherever the history has them, and behind
//!                             all of them the media that the model takes in no result
//! ```
//!
//! Every item type is decided about: sent, dropped with a report, or not for the model.

use std::borrow::Cow;

use haft_core::{ContentPart, History, Item, Message, Reasoning, Role, ToolCall, ToolCallOutput, TurnRequest};
use serde::Serialize;
use serde_json::{Map, Value};

use super::function_response::{self, MediaPlace};
use super::media;
use super::part::{PartContent, SentArguments, SentFunctionCall, SentPart};
use crate::capability::Capabilities;
use crate::profile::rendered_tools::RenderedTools;
use crate::wire::gemini_content::model::Generation;
use crate::wire::gemini_content::tool::split_function;
use crate::wire::gemini_content::turn::{CALL_ID, MEMBERS, SIGNATURE, UNKNOWN_PART};
use crate::wire::gemini_content::{GeminiContent, SentIds};
use crate::wire::request::answer::Answers;
use crate::wire::request::foreign_data;
use crate::wire::{Dropped, Wire};
use crate::wire_error::RequestError;

/// The signature that Gemini's documentation names for calls that no Gemini model made. Without one, models from Gemini
/// 3 on reject the current turn's calls.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

/// The text before a conversation that the model begins.
const START: &str = "(The assistant begins the conversation.)";

/// A conversation to be sent.
pub(super) struct SentConversation<'a> {
    pub(super) system: Vec<SentPart<'a>>,
    pub(super) contents: Vec<SentContent<'a>>,
}

#[derive(Serialize)]
pub(super) struct SentContent<'a> {
    #[serde(rename = "role", serialize_with = "role_name")]
    kind: ContentKind,
    parts: Vec<SentPart<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentKind {
    User,
    Model,
    /// Call results, which have the user role and their own content.
    Results,
}

/// Writes a conversation.
pub(super) struct ContentWriter<'a, 'd> {
    provider: &'a str,
    call_ids: SentIds,
    tools: &'a RenderedTools,
    generation: Generation,
    media_place: MediaPlace,
    /// Set unless the model is known not to reason.
    may_reason: bool,
    answers: Answers<'a>,
    written: SentConversation<'a>,
    /// The last content's calls whose results are not written yet.
    pending: Vec<PendingCall<'a>>,
    /// The number of contents before the current turn, which begins after the last user message.
    before_turn: usize,
    dropped: &'d mut Vec<Dropped>,
}

struct PendingCall<'a> {
    id: Option<&'a str>,
    name: Cow<'a, str>,
    output: (usize, &'a ToolCallOutput),
}

impl<'a, 'd> ContentWriter<'a, 'd> {
    pub(super) fn new(
        wire: &'a GeminiContent,
        history: &'a History,
        tools: &'a RenderedTools,
        (generation, capabilities): (Generation, &Capabilities),
        dropped: &'d mut Vec<Dropped>,
    ) -> Result<Self, RequestError> {
        Ok(Self {
            provider: wire.provider(),
            call_ids: wire.call_ids,
            tools,
            generation,
            media_place: if capabilities.image_results { MediaPlace::Inside } else { MediaPlace::Behind },
            may_reason: capabilities.may_reason(),
            answers: Answers::new(history)?,
            written: SentConversation { system: Vec::new(), contents: Vec::new() },
            pending: Vec::new(),
            before_turn: 0,
            dropped,
        })
    }

    pub(super) fn write(mut self, request: &'a TurnRequest) -> Result<SentConversation<'a>, RequestError> {
        if let Some(instructions) = request.instructions.as_deref().filter(|text| !text.is_empty()) {
            self.written.system.push(SentPart::text(instructions));
        }
        self.items(&request.history);
        if self.written.contents.is_empty() {
            let message = "there is nothing to send; add a message of the user".to_owned();
            return Err(RequestError::Invalid { param: "history".to_owned(), message });
        }
        if self.generation == Generation::From3 {
            self.sign_calls();
        }
        self.begin_with_user();
        Ok(self.written)
    }

    /// Writes call results alone. The history has the calls and their outputs.
    pub(super) fn write_results(mut self, history: &'a History) -> Vec<SentContent<'a>> {
        self.items(history);
        self.written.contents.retain(|content| content.kind == ContentKind::Results);
        self.written.contents
    }

    fn items(&mut self, history: &'a History) {
        for (at, item) in history.iter().enumerate() {
            self.item(at, item);
        }
        self.end_calls();
    }

    fn item(&mut self, at: usize, item: &'a Item) {
        foreign_data::report(self.provider, at, item, self.dropped);
        match item {
            Item::Message(message) => self.message(at, message),
            Item::Reasoning(reasoning) => self.reasoning(at, reasoning),
            Item::ToolCall(call) => self.call(at, call),
            // Written with the calls.
            Item::ToolOutput(_) => self.end_calls(),
            Item::ProviderCall(call) if call.provider == self.provider => match &call.payload {
                Value::Array(parts) => {
                    for part in parts {
                        self.push(ContentKind::Model, SentPart::Verbatim(part));
                    }
                }
                _ => self.report(at, "provider call", "its payload is no list of parts"),
            },
            Item::ProviderCall(call) => {
                self.report(at, "provider call", format!("`{}` was executed by {}", call.name, call.provider));
            }
            // Decisions about local calls are made here, and Gemini requests none.
            Item::ApprovalRequest(_) | Item::Verdict(_) => {}
            _ => self.report(at, "item", "it is of an unknown kind"),
        }
    }

    fn message(&mut self, at: usize, message: &'a Message) {
        match message.role {
            Role::Assistant => message.content.iter().for_each(|part| self.assistant_part(at, part)),
            Role::System | Role::Developer if self.written.contents.is_empty() => {
                for part in &message.content {
                    match part.as_text() {
                        Some("") => {}
                        Some(text) => self.written.system.push(SentPart::text(text)),
                        None => self.report(at, "content", "instructions are text"),
                    }
                }
            }
            role => {
                if role != Role::User {
                    let reason = "sent as a message of the user: Gemini takes instructions at the beginning only";
                    self.report(at, "role", reason);
                }
                self.end_calls();
                message.content.iter().for_each(|part| self.user_part(at, part));
            }
        }
    }

    fn user_part(&mut self, at: usize, part: &'a ContentPart) {
        if let Some(content) = self.content(at, part) {
            self.push(ContentKind::User, content.into());
            self.before_turn = self.written.contents.len();
        }
    }

    fn assistant_part(&mut self, at: usize, part: &'a ContentPart) {
        if let ContentPart::Unknown(json) = part
            && json["type"] == UNKNOWN_PART
            && json["provider"] == self.provider
        {
            self.push(ContentKind::Model, SentPart::Verbatim(&json["part"]));
            return;
        }
        let data = match part {
            ContentPart::Text(part) => Some(&part.provider_data),
            ContentPart::Image(part) | ContentPart::Audio(part) | ContentPart::File(part) => Some(&part.provider_data),
            _ => None,
        };
        if let ContentPart::Text(text) = part
            && !text.citations.is_empty()
        {
            self.report(at, "citations", "Gemini takes no citations from a model");
        }
        let signature = data.and_then(|data| self.own_text(data, SIGNATURE));
        let content = match part.as_text() {
            // A signature may come with an empty text.
            Some("") => signature.map(|_| PartContent::Text("".into())),
            _ => self.content(at, part),
        };
        if let Some(content) = content {
            let members = data.and_then(|data| self.own_members(data));
            self.push(ContentKind::Model, SentPart::from(content).signed(signature).with_members(members));
        }
    }

    /// Converts a message part. An empty text is skipped, and a part that can't be sent is reported.
    fn content(&mut self, at: usize, part: &'a ContentPart) -> Option<PartContent<'a>> {
        let (name, content) = match part {
            ContentPart::Text(part) => ("text", Ok(PartContent::Text(part.text.as_str().into()))),
            ContentPart::Refusal(part) => ("refusal", Ok(PartContent::Text(part.text.as_str().into()))),
            ContentPart::Image(part) => ("image", media::media(part)),
            ContentPart::Audio(part) => ("audio", media::media(part)),
            ContentPart::File(part) => ("file", media::media(part)),
            ContentPart::Resource(part) => ("resource", media::resource(part)),
            ContentPart::ResourceLink(part) => ("link", Ok(PartContent::Text(media::link(part).into()))),
            ContentPart::Unknown(_) => ("content", Err("it is of an unknown kind")),
        };
        match content {
            Ok(PartContent::Text(text)) if text.is_empty() => None,
            Ok(content) => Some(content),
            Err(reason) => {
                self.report(at, name, reason);
                None
            }
        }
    }

    fn reasoning(&mut self, at: usize, reasoning: &'a Reasoning) {
        if reasoning.provider.as_deref() != Some(self.provider) {
            let owner = reasoning.provider.as_deref().unwrap_or("another model");
            return self.report(at, "reasoning", format!("it belongs to {owner}"));
        }
        if !self.may_reason {
            return self.report(at, "reasoning", "the model does not reason");
        }
        let text = match (&reasoning.text, reasoning.summary.as_slice()) {
            (Some(text), _) => Cow::Borrowed(text.as_str()),
            (None, [one]) => Cow::Borrowed(one.as_str()),
            (None, several) => Cow::Owned(several.join("\n\n")),
        };
        if !text.is_empty() || reasoning.signature.is_some() {
            let members = self.own_members(&reasoning.provider_data);
            let part = SentPart::text(text).thought().signed(reasoning.signature.as_deref());
            self.push(ContentKind::Model, part.with_members(members));
        } else {
            self.report(at, "reasoning", "it has neither text nor a signature");
        }
    }

    fn call(&mut self, at: usize, call: &'a ToolCall) {
        if call.provider_executed {
            return self.report(at, "provider call", format!("`{}` was executed by another provider", call.name));
        }
        // `Answers` has an output for every call.
        let Some(output) = self.answers.get(&call.call_id) else { return };
        let encoded = self.tools.encode(call);
        let (name, arguments) = match split_function(self.tools, &call.name, &encoded) {
            Some((function, arguments)) => (Cow::Owned(function), Cow::Owned(arguments)),
            None => (self.tools.wire_name(&call.name), encoded),
        };
        let args = SentArguments::of(arguments);
        if let SentArguments::Wrapped { .. } = &args {
            self.report(at, "arguments", "sent as text, because they are no JSON object");
        }
        let id = match self.call_ids {
            SentIds::Assigned => self.own_text(&call.provider_data, CALL_ID),
            SentIds::None => None,
        };
        let signature = self.own_text(&call.provider_data, SIGNATURE);
        self.pending.push(PendingCall { id, name: name.clone(), output });
        let members = self.own_members(&call.provider_data);
        let part = SentPart::from(PartContent::FunctionCall(SentFunctionCall { id, name, args })).signed(signature);
        self.push(ContentKind::Model, part.with_members(members));
    }

    /// Writes the results for the calls so far. What follows belongs to another content.
    fn end_calls(&mut self) {
        let mut behind = Vec::new();
        for PendingCall { id, name, output } in std::mem::take(&mut self.pending) {
            let (called, before) = (name.clone(), behind.len());
            let place = (self.media_place, &mut behind);
            let response = function_response::write(id, name, output, place, self.dropped);
            self.push(ContentKind::Results, PartContent::FunctionResponse(response).into());
            if behind.len() > before {
                behind.insert(before, PartContent::Text(format!("Returned by the call of `{called}`:").into()));
            }
        }
        for media in behind {
            self.push(ContentKind::Results, media.into());
        }
    }

    /// Signs the first call in each of the current turn's answers, which must be signed. Others need not be.
    fn sign_calls(&mut self) {
        for content in self.written.contents.iter_mut().skip(self.before_turn) {
            if let Some(first) = content.parts.iter_mut().find_map(SentPart::call_mut) {
                first.thought_signature.get_or_insert(FOREIGN_SIGNATURE);
            }
        }
    }

    /// Lets the user begin: calls are accepted only after user content.
    fn begin_with_user(&mut self) {
        if self.written.contents.first().is_some_and(|first| first.kind == ContentKind::Model) {
            let reason = "a conversation begins with the user, so a text of the user is sent before it";
            self.dropped.push(Dropped::setting("history", reason));
            let parts = vec![SentPart::text(START)];
            self.written.contents.insert(0, SentContent { kind: ContentKind::User, parts });
        }
    }

    fn push(&mut self, kind: ContentKind, part: SentPart<'a>) {
        match self.written.contents.last_mut() {
            Some(last) if last.kind == kind => last.parts.push(part),
            _ => self.written.contents.push(SentContent { kind, parts: vec![part] }),
        }
    }

    /// Returns a text from this provider's data.
    fn own_text(&self, data: &'a Map<String, Value>, member: &str) -> Option<&'a str> {
        data.get(self.provider)?.get(member)?.as_str()
    }

    /// Returns the members that this provider's part has beside its content.
    fn own_members(&self, data: &'a Map<String, Value>) -> Option<&'a Map<String, Value>> {
        data.get(self.provider)?.get(MEMBERS)?.as_object()
    }

    /// Reports a history part that is not sent.
    fn report(&mut self, at: usize, part: &'static str, reason: impl Into<String>) {
        self.dropped.push(Dropped::item(at, part, reason));
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn role_name<S: serde::Serializer>(kind: &ContentKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match kind {
        ContentKind::User | ContentKind::Results => "user",
        ContentKind::Model => "model",
    })
}
