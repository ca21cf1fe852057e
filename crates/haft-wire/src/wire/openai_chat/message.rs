//! A request's messages.
//!
//! A turn's items become one assistant message: its text and its calls. The outputs follow right after it in the calls'
//! order, wherever the history has them. A tool message holds text only, so media that a tool returned follow in a user
//! message.

use std::borrow::Cow;

use haft_core::{
    CallOutputBody, ContentPart, History, Item, MediaData, MediaPart, Message, Reasoning, ResourceContents, Role,
    ToolCall, ToolCallOutput, TurnRequest,
};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::call_id::CallIds;
use super::quirk::ChatQuirks;
use crate::profile::rendered_tools::RenderedTools;
use crate::wire::Dropped;
use crate::wire::openai::failure_text;
use crate::wire::request::answer::Answers;
use crate::wire::request::foreign_data;
use crate::wire_error::RequestError;

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum ChatMessage<'r> {
    System { content: Cow<'r, str> },
    Developer { content: Cow<'r, str> },
    User { content: UserContent<'r> },
    Assistant(AssistantMessage<'r>),
    Tool { tool_call_id: Cow<'r, str>, content: Cow<'r, str> },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum UserContent<'r> {
    Text(Cow<'r, str>),
    Parts(Vec<UserPart<'r>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum UserPart<'r> {
    Text { text: Cow<'r, str> },
    ImageUrl { image_url: ImageUrl<'r> },
    InputAudio { input_audio: InputAudio<'r> },
    File { file: ChatFile<'r> },
}

#[derive(Serialize)]
pub(super) struct ImageUrl<'r> {
    url: Cow<'r, str>,
}

#[derive(Serialize)]
pub(super) struct InputAudio<'r> {
    data: &'r str,
    format: &'static str,
}

#[derive(Serialize)]
pub(super) struct ChatFile<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<Cow<'r, str>>,
}

#[derive(Default, Serialize)]
pub(super) struct AssistantMessage<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Cow<'r, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Cow<'r, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audio: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<&'r Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ChatCall<'r>>,
}

#[derive(Serialize)]
struct ChatCall<'r> {
    id: Cow<'r, str>,
    #[serde(flatten)]
    body: CallBody<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'r Value>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CallBody<'r> {
    Function { function: CallFunction<'r> },
    Custom { custom: CallCustom<'r> },
}

#[derive(Serialize)]
struct CallFunction<'r> {
    name: Cow<'r, str>,
    arguments: Cow<'r, str>,
}

#[derive(Serialize)]
struct CallCustom<'r> {
    name: Cow<'r, str>,
    input: &'r str,
}

/// A request's messages in progress.
pub(super) struct Messages<'r> {
    pub(super) list: Vec<ChatMessage<'r>>,
    pub(super) dropped: Vec<Dropped>,
    provider: &'r str,
    quirks: ChatQuirks,
    tools: &'r RenderedTools,
    answers: Answers<'r>,
    ids: CallIds,
    /// The position of the last message that is not the model's. Reasoning before it is no longer needed.
    last_input: usize,
    open: AssistantMessage<'r>,
    open_calls: Vec<&'r ToolCall>,
}

impl<'r> Messages<'r> {
    pub(super) fn write(
        request: &'r TurnRequest,
        server: (&'r str, ChatQuirks),
        tools: &'r RenderedTools,
        format_instruction: Option<String>,
    ) -> Result<Self, RequestError> {
        let mut messages = Self::new(&request.history, server, tools)?;
        let instructions = request.instructions.as_deref().filter(|text| !text.is_empty());
        let instructions = instructions.map(Cow::Borrowed).into_iter().chain(format_instruction.map(Cow::Owned));
        messages.list.extend(instructions.map(|content| ChatMessage::System { content }));
        messages.items(&request.history);
        messages.end_with_input();
        Ok(messages)
    }

    /// Writes call outputs alone. The history has the calls and their outputs.
    pub(super) fn write_outputs(
        history: &'r History,
        server: (&'r str, ChatQuirks),
        tools: &'r RenderedTools,
    ) -> Result<Self, RequestError> {
        let mut messages = Self::new(history, server, tools)?;
        messages.items(history);
        // The calls come before the outputs. A model message may have to follow them.
        let is_output = |message: &ChatMessage<'_>| matches!(message, ChatMessage::Tool { .. });
        let calls = messages.list.iter().position(is_output).unwrap_or(messages.list.len());
        messages.list.drain(..calls);
        Ok(messages)
    }

    fn new(
        history: &'r History,
        (provider, quirks): (&'r str, ChatQuirks),
        tools: &'r RenderedTools,
    ) -> Result<Self, RequestError> {
        let is_input = |item: &Item| matches!(item, Item::Message(message) if message.role != Role::Assistant);
        Ok(Self {
            list: Vec::new(),
            dropped: Vec::new(),
            provider,
            quirks,
            tools,
            answers: Answers::new(history)?,
            ids: CallIds::new(quirks.call_ids),
            last_input: history.iter().rposition(is_input).unwrap_or(0),
            open: AssistantMessage::default(),
            open_calls: Vec::new(),
        })
    }

    fn items(&mut self, history: &'r History) {
        for (at, item) in history.iter().enumerate() {
            self.item(at, item);
        }
        self.end_turn();
    }

    fn item(&mut self, at: usize, item: &'r Item) {
        foreign_data::report(self.provider, at, item, &mut self.dropped);
        match item {
            Item::Message(message) => self.message(at, message),
            Item::Reasoning(reasoning) => self.reasoning(at, reasoning),
            Item::ToolCall(call) if call.provider_executed => {
                self.drop_item(at, "provider call", "this API has no calls that a provider executes");
            }
            Item::ToolCall(call) => self.call(at, call),
            // Written with the calls that they answer. They end the turn: a later call belongs to the next one.
            Item::ToolOutput(output) if self.answers.get(&output.call_id).is_some() => self.end_turn(),
            Item::ToolOutput(_) => self.drop_item(at, "output", "it belongs to a call that a provider executed"),
            // Between the application and its approvers.
            Item::ApprovalRequest(_) | Item::Verdict(_) => {}
            Item::ProviderCall(_) => {
                self.drop_item(at, "provider call", "this API has no calls that a provider executes");
            }
            _ => self.drop_item(at, "unknown item", "this API has no such item"),
        }
    }

    fn message(&mut self, at: usize, message: &'r Message) {
        match message.role {
            Role::Assistant => self.answer(at, message),
            Role::User => {
                self.end_turn();
                let parts = self.user_parts(at, &message.content);
                let content = match <[_; 1]>::try_from(parts) {
                    Ok([UserPart::Text { text }]) => UserContent::Text(text),
                    Ok([part]) => UserContent::Parts(vec![part]),
                    Err(parts) if parts.is_empty() => return,
                    Err(parts) => UserContent::Parts(parts),
                };
                self.input(ChatMessage::User { content });
            }
            role => {
                self.end_turn();
                let content = self.text_of(at, &message.content);
                self.input(match role {
                    Role::Developer if self.quirks.developer_role => ChatMessage::Developer { content },
                    _ => ChatMessage::System { content },
                });
            }
        }
    }

    /// Adds a message that is not the model's. If it may not follow a tool's output, a model message goes between them.
    fn input(&mut self, message: ChatMessage<'r>) {
        if !self.quirks.input_after_tool && matches!(self.list.last(), Some(ChatMessage::Tool { .. })) {
            let content = Some(Cow::Borrowed("OK."));
            self.list.push(ChatMessage::Assistant(AssistantMessage { content, ..AssistantMessage::default() }));
        }
        self.list.push(message);
    }

    /// Lets the user ask for more if the server does not let the model continue its own message.
    fn end_with_input(&mut self) {
        let is_input = |last: &ChatMessage<'_>| matches!(last, ChatMessage::User { .. } | ChatMessage::Tool { .. });
        if !self.quirks.ends_with_input || self.list.last().is_none_or(is_input) {
            return;
        }
        let reason = "the server lets no model continue its own message, so the user asks it to";
        self.dropped.push(Dropped::setting("history", reason));
        self.list.push(ChatMessage::User { content: UserContent::Text(Cow::Borrowed("Continue.")) });
    }

    /// Adds a model message to the message in progress.
    fn answer(&mut self, at: usize, message: &'r Message) {
        for part in &message.content {
            match part {
                ContentPart::Text(text) => {
                    if !text.citations.is_empty() {
                        self.drop_item(at, "citations", "this API takes no citations from a model");
                    }
                    append(&mut self.open.content, &text.text);
                }
                ContentPart::Refusal(refusal) if refusal.text.is_empty() => {}
                ContentPart::Refusal(refusal) if self.quirks.refusal_member => {
                    append(&mut self.open.refusal, &refusal.text);
                }
                ContentPart::Refusal(refusal) => append(&mut self.open.content, &refusal.text),
                ContentPart::Audio(audio) => {
                    let data = audio.provider_data.get(self.provider);
                    self.open.audio = data.filter(|data| data.get("id").is_some());
                    if self.open.audio.is_none() {
                        self.drop_item(at, "audio", "this API takes back only audio that it sent");
                    }
                }
                _ => self.drop_item(at, part_name(part), "this API takes only text from a model"),
            }
        }
    }

    fn reasoning(&mut self, at: usize, reasoning: &'r Reasoning) {
        let data = reasoning.provider_data.get(self.provider);
        let member = data.and_then(|data| data.get("member")).and_then(Value::as_str);
        let own = reasoning.provider.as_deref() == Some(self.provider) && member.is_some();
        if !own {
            self.drop_item(at, "reasoning", "it is of another provider, or of another API");
        } else if at > self.last_input || self.quirks.reasoning_of_calls {
            let accepted = |member: &str| self.quirks.reasoning.contains(&member);
            let text = reasoning.text.as_deref().filter(|_| member.is_some_and(accepted));
            let details = data.and_then(|data| data.get("details")).filter(|_| accepted("details"));
            if text.is_none() && details.is_none() {
                self.drop_item(at, "reasoning", "this server, or this model, takes none back");
                return;
            }
            match member {
                Some("reasoning") => self.open.reasoning = text,
                Some("reasoning_content") => self.open.reasoning_content = text,
                _ => {}
            }
            self.open.reasoning_details = details;
        }
    }

    fn call(&mut self, at: usize, call: &'r ToolCall) {
        let data = call.provider_data.get(self.provider);
        let name = self.tools.wire_name(&call.name);
        let body = match data.and_then(|data| data.get("custom_input")).and_then(Value::as_str) {
            Some(input) => CallBody::Custom { custom: CallCustom { name, input } },
            None => CallBody::Function { function: CallFunction { name, arguments: self.arguments(at, call) } },
        };
        let extra_content = data.and_then(|data| data.get("extra_content"));
        let id = self.ids.sent(call.call_id.as_str());
        self.open.tool_calls.push(ChatCall { id, body, extra_content });
        self.open_calls.push(call);
    }

    /// Returns a call's arguments. Servers that fill a template with them fail on text that is not a JSON object, such
    /// as a truncated call's arguments, for the rest of the conversation.
    fn arguments(&mut self, at: usize, call: &'r ToolCall) -> Cow<'r, str> {
        let arguments = self.tools.encode(call);
        if !self.quirks.parses_arguments || is_object(&arguments) {
            return arguments;
        }
        if arguments.trim().is_empty() {
            return Cow::Borrowed("{}");
        }
        self.drop_item(at, "arguments", "they are no JSON object, and are sent as the text `arguments` of one");
        Cow::Owned(json!({"arguments": arguments}).to_string())
    }

    /// Ends the message in progress and adds its calls' outputs.
    fn end_turn(&mut self) {
        let mut message = std::mem::take(&mut self.open);
        if self.quirks.reasoning_of_calls && !message.tool_calls.is_empty() {
            message.reasoning_content.get_or_insert_default();
        }
        let has_content = message.content.is_some() || message.refusal.is_some() || message.audio.is_some();
        if has_content || !message.tool_calls.is_empty() {
            self.list.push(ChatMessage::Assistant(message));
        }
        let mut media = Vec::new();
        for call in std::mem::take(&mut self.open_calls) {
            if let Some((at, output)) = self.answers.get(&call.call_id) {
                self.output(at, call, output, &mut media);
            }
        }
        if !media.is_empty() {
            self.input(ChatMessage::User { content: UserContent::Parts(media) });
        }
    }

    fn output(&mut self, at: usize, call: &'r ToolCall, output: &'r ToolCallOutput, media: &mut Vec<UserPart<'r>>) {
        let content = match &output.output {
            CallOutputBody::Text(text) => Cow::Borrowed(text.as_str()),
            CallOutputBody::Parts(parts) => {
                let (mut text, before) = (String::new(), media.len());
                for part in self.user_parts(at, parts) {
                    match part {
                        UserPart::Text { text: line } => {
                            if !text.is_empty() {
                                text.push('\n');
                            }
                            text.push_str(&line);
                        }
                        other => {
                            if media.len() == before {
                                let intro = format!("Returned by the call of `{}`:", self.tools.wire_name(&call.name));
                                media.push(UserPart::Text { text: Cow::Owned(intro) });
                            }
                            media.push(other);
                        }
                    }
                }
                Cow::Owned(text)
            }
        };
        // The API has no flag for failures.
        let content = failure_text::marked(content, output.is_error);
        let tool_call_id = self.ids.sent(call.call_id.as_str());
        self.list.push(ChatMessage::Tool { tool_call_id, content });
    }

    fn user_parts(&mut self, at: usize, parts: &'r [ContentPart]) -> Vec<UserPart<'r>> {
        let mut sent = Vec::with_capacity(parts.len());
        for part in parts {
            match user_part(part) {
                Ok(part) => sent.push(part),
                Err(reason) => self.drop_item(at, part_name(part), reason),
            }
        }
        sent
    }

    fn text_of(&mut self, at: usize, parts: &'r [ContentPart]) -> Cow<'r, str> {
        let mut text: Option<Cow<'r, str>> = None;
        for part in parts {
            match part.as_text() {
                Some(more) => append(&mut text, more),
                None => self.drop_item(at, part_name(part), "a system message holds text only"),
            }
        }
        text.unwrap_or_default()
    }

    fn drop_item(&mut self, at: usize, part: &'static str, reason: &str) {
        self.dropped.push(Dropped::item(at, part, reason));
    }
}

/// Reports whether a text is a JSON object.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok()
}

fn append<'r>(text: &mut Option<Cow<'r, str>>, more: &'r str) {
    match text {
        None => *text = Some(Cow::Borrowed(more)),
        Some(text) => text.to_mut().push_str(more),
    }
}

fn user_part(part: &ContentPart) -> Result<UserPart<'_>, &'static str> {
    let text = |text: Cow<'_, str>| -> UserPart<'_> { UserPart::Text { text: Cow::Owned(text.into_owned()) } };
    match part {
        ContentPart::Text(part) => Ok(UserPart::Text { text: Cow::Borrowed(&part.text) }),
        ContentPart::Refusal(part) => Ok(UserPart::Text { text: Cow::Borrowed(&part.text) }),
        ContentPart::Image(media) => match &media.data {
            MediaData::Url(url) => Ok(UserPart::ImageUrl { image_url: ImageUrl { url: Cow::Borrowed(url) } }),
            MediaData::Base64(data) => {
                let url = data_url(media.media_type.as_deref().unwrap_or("image/png"), data);
                Ok(UserPart::ImageUrl { image_url: ImageUrl { url: Cow::Owned(url) } })
            }
            _ => Err("this API takes images as data or by URL, not by file id"),
        },
        ContentPart::Audio(media) => match (&media.data, audio_format(media)) {
            (MediaData::Base64(data), Some(format)) => {
                Ok(UserPart::InputAudio { input_audio: InputAudio { data, format } })
            }
            _ => Err("this API takes audio as WAV or MP3 data"),
        },
        ContentPart::File(media) => {
            let filename = media.name.as_deref().map(Cow::Borrowed);
            match &media.data {
                MediaData::FileId(id) => {
                    Ok(UserPart::File { file: ChatFile { file_data: None, file_id: Some(id), filename } })
                }
                MediaData::Base64(data) => {
                    let file_data = data_url(media.media_type.as_deref().unwrap_or("application/pdf"), data);
                    let filename = Some(filename.unwrap_or(Cow::Borrowed("file")));
                    Ok(UserPart::File { file: ChatFile { file_data: Some(file_data), file_id: None, filename } })
                }
                _ => Err("this API takes files as data or by file id, not by URL"),
            }
        }
        ContentPart::Resource(resource) => match &resource.contents {
            ResourceContents::Text(contents) => Ok(UserPart::Text { text: Cow::Borrowed(contents) }),
            ResourceContents::Blob(data) => {
                let file_data = data_url(resource.media_type.as_deref().unwrap_or("application/octet-stream"), data);
                let filename = Some(Cow::Borrowed(resource.uri.as_str()));
                Ok(UserPart::File { file: ChatFile { file_data: Some(file_data), file_id: None, filename } })
            }
            _ => Err("this API has no such resource"),
        },
        ContentPart::ResourceLink(link) => Ok(text(Cow::Owned(format!("[{}]({})", link.name, link.uri)))),
        ContentPart::Unknown(_) => Err("this API has no such part"),
    }
}

fn audio_format(media: &MediaPart) -> Option<&'static str> {
    match media.media_type.as_deref()? {
        "audio/wav" | "audio/x-wav" | "audio/wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}

fn part_name(part: &ContentPart) -> &'static str {
    match part {
        ContentPart::Text(_) => "text",
        ContentPart::Refusal(_) => "refusal",
        ContentPart::Image(_) => "image",
        ContentPart::Audio(_) => "audio",
        ContentPart::File(_) => "file",
        ContentPart::Resource(_) => "resource",
        ContentPart::ResourceLink(_) => "resource link",
        ContentPart::Unknown(_) => "unknown part",
    }
}
