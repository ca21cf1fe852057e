//! Responses of the Chat Completions API.

use std::fmt;

use haft_core::{CallId, Citation, ContentPart, Delta, Finish, MediaData, MediaPart, ReasoningForm, Turn, Usage};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::error::ErrorBody;
use crate::kept_item;
use crate::turn_builder::TurnBuilder;
use crate::wire::ReadContext;
use crate::wire_error::{ErrorCause, ReadError};

#[derive(Deserialize)]
struct Completion<'b> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(borrow, default)]
    choices: Vec<Choice<'b>>,
    #[serde(default)]
    usage: Option<ChatUsage>,
    #[serde(default)]
    error: Option<ErrorBody>,
}

#[derive(Deserialize)]
struct Choice<'b> {
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(borrow)]
    message: Answer<'b>,
}

#[derive(Deserialize)]
struct Answer<'b> {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    reasoning_details: Option<Value>,
    #[serde(default)]
    annotations: Option<Vec<Annotation>>,
    #[serde(default)]
    audio: Option<Audio>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<AnswerCall<'b>>>,
}

/// The content of an answer: text, or a list of parts, as some servers send.
pub(super) enum Content {
    Text(String),
    Parts(Vec<Value>),
}

#[derive(Deserialize)]
struct AnswerCall<'b> {
    #[serde(default)]
    id: Option<String>,
    #[serde(borrow, default)]
    function: Option<AnswerFunction<'b>>,
    #[serde(default)]
    custom: Option<AnswerCustom>,
    #[serde(default)]
    extra_content: Option<Value>,
}

#[derive(Deserialize)]
struct AnswerFunction<'b> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct AnswerCustom {
    name: String,
    #[serde(default)]
    input: String,
}

#[derive(Deserialize)]
pub(super) struct Annotation {
    #[serde(default)]
    url_citation: Option<UrlCitation>,
}

#[derive(Deserialize)]
struct UrlCitation {
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    start_index: Option<u64>,
    #[serde(default)]
    end_index: Option<u64>,
}

#[derive(Default, Deserialize)]
pub(super) struct Audio {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) data: Option<String>,
    #[serde(default)]
    pub(super) transcript: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct ChatUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    total_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Clone, Copy, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    cache_write_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

/// The reasons why an answer ended. All others are kept by their name.
const FINISHES: [(&str, Finish); 8] = [
    ("stop", Finish::Stop),
    ("eos", Finish::Stop),
    ("tool_calls", Finish::ToolCalls),
    ("function_call", Finish::ToolCalls),
    ("length", Finish::Length),
    ("model_length", Finish::Length),
    ("content_filter", Finish::ContentFilter),
    ("error", Finish::Error),
];

pub(super) fn read(provider: &str, body: &str, context: &ReadContext) -> Result<Turn, ReadError> {
    let completion: Completion<'_> =
        serde_json::from_str(body).map_err(|error| ReadError::json("the chat completion", error))?;
    if let Some(error) = completion.error {
        return Err(ReadError::Provider(error.report(ErrorCause::Unavailable)));
    }
    let Some(choice) = completion.choices.into_iter().next() else {
        return Err(ReadError::invalid("the chat completion has no choices"));
    };
    let mut turn = TurnBuilder::new(context);
    completion.id.filter(|id| !id.is_empty()).into_iter().for_each(|id| turn.response_id(id));
    completion.model.filter(|model| !model.is_empty()).into_iter().for_each(|model| turn.model(model));
    if let Some(usage) = completion.usage {
        turn.usage(usage.into());
    }
    let reader = AnswerReader::new(provider, context);
    let Answer { content, refusal, reasoning_content, reasoning, reasoning_details, annotations, audio, tool_calls } =
        choice.message;
    let reasoning = [("reasoning_content", reasoning_content), ("reasoning", reasoning)];
    for (member, text) in reasoning {
        reader.reasoning(&mut turn, member, text.unwrap_or_default());
    }
    reader.reasoning_details(&mut turn, reasoning_details);
    match content {
        None => {}
        Some(Content::Text(text)) => drop(add_text(&mut turn, text)),
        Some(Content::Parts(parts)) => parts.into_iter().for_each(|part| drop(reader.part(&mut turn, part))),
    }
    if let Some(refusal) = refusal.filter(|text| !text.is_empty()) {
        turn.refusal(refusal);
    }
    for citation in annotations.into_iter().flatten().filter_map(Annotation::citation) {
        turn.citation(citation);
    }
    if let Some(audio) = audio {
        reader.audio(&mut turn, audio);
    }
    for (at, call) in tool_calls.into_iter().flatten().enumerate() {
        reader.call(&mut turn, at, call);
    }
    let finish = finish(choice.finish_reason.as_deref(), &turn);
    Ok(turn.finish(finish))
}

/// Returns the reason why an answer ended. Without one it counts as cut off.
pub(super) fn finish(reason: Option<&str>, turn: &TurnBuilder) -> Finish {
    let reason = reason.unwrap_or("missing");
    let known = FINISHES.iter().find(|(name, _)| *name == reason).map(|(_, finish)| finish.clone());
    match known.unwrap_or_else(|| Finish::Other(reason.to_owned())) {
        Finish::Stop if turn.has_calls() => Finish::ToolCalls,
        Finish::Stop if turn.has_refusal() => Finish::Refusal,
        finish => finish,
    }
}

/// The steps that whole and streamed answers have in common.
pub(super) struct AnswerReader {
    provider: String,
    turn: usize,
}

/// The key of reasoning, of which an answer has one piece.
const REASONING: u64 = 0;

impl AnswerReader {
    pub(super) fn new(provider: &str, context: &ReadContext) -> Self {
        Self { provider: provider.to_owned(), turn: context.turn }
    }

    pub(super) fn reasoning(&self, turn: &mut TurnBuilder, member: &'static str, text: String) -> Option<Delta> {
        if text.is_empty() {
            return None;
        }
        let reasoning = turn.reasoning_mut(REASONING);
        if reasoning.provider.is_none() {
            reasoning.provider = Some(self.provider.clone());
            reasoning.provider_data.insert(self.provider.clone(), json!({"member": member}));
        } else if reasoning.provider_data.get(&self.provider).is_some_and(|data| data["member"] != member) {
            // Some servers send the same text in both members.
            return None;
        }
        Some(turn.reasoning_at(REASONING, ReasoningForm::Text, text))
    }

    pub(super) fn reasoning_details(&self, turn: &mut TurnBuilder, details: Option<Value>) {
        let Some(Value::Array(details)) = details.filter(|details| *details != json!([])) else { return };
        let reasoning = turn.reasoning_mut(REASONING);
        reasoning.provider = Some(self.provider.clone());
        let data = reasoning.provider_data.entry(&*self.provider).or_insert_with(|| json!({"member": "details"}));
        match &mut data["details"] {
            Value::Array(known) => known.extend(details),
            empty => *empty = Value::Array(details),
        }
    }

    /// Adds a part of a content that is a list.
    pub(super) fn part(&self, turn: &mut TurnBuilder, mut part: Value) -> Option<Delta> {
        match part["type"].as_str() {
            Some("text") => add_text(turn, take_text(&mut part["text"])),
            Some("refusal") => Some(turn.refusal(take_text(&mut part["refusal"]))),
            Some("thinking") => {
                let pieces = part["thinking"].as_array().map(Vec::as_slice).unwrap_or_default();
                let text = pieces.iter().filter_map(|piece| piece["text"].as_str()).collect();
                self.reasoning(turn, "reasoning_content", text)
            }
            _ => {
                let part = match part {
                    Value::Object(part) => part,
                    other => Map::from_iter([("value".to_owned(), other)]),
                };
                turn.content(ContentPart::Unknown(kept_item::keep(&self.provider, &part)));
                None
            }
        }
    }

    pub(super) fn audio(&self, turn: &mut TurnBuilder, audio: Audio) {
        if let Some(data) = audio.data.filter(|data| !data.is_empty()) {
            let mut part = MediaPart::new(MediaData::Base64(data));
            part.provider_data.extend(audio.id.map(|id| (self.provider.clone(), json!({"id": id}))));
            turn.content(ContentPart::Audio(part));
        }
        if let Some(transcript) = audio.transcript.filter(|text| !text.is_empty()) {
            turn.text(transcript);
        }
    }

    fn call(&self, turn: &mut TurnBuilder, at: usize, call: AnswerCall<'_>) {
        let id = self.call_id(call.id.as_deref(), at);
        if let Some(function) = call.function {
            turn.call_start(id.clone(), &function.name);
            let arguments = function.arguments.map(|raw| {
                // Text that holds JSON by the specification, and JSON itself on some servers.
                serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
            });
            turn.call_arguments(id.clone(), arguments.unwrap_or_default());
        } else if let Some(custom) = call.custom {
            turn.call_start(id.clone(), &custom.name);
            // The text as a JSON string, as the Responses API has it.
            turn.call_arguments(id.clone(), Value::from(custom.input.as_str()).to_string());
            self.keep(turn, &id, "custom_input", custom.input.into());
        } else {
            return;
        }
        if let Some(extra) = call.extra_content {
            self.keep(turn, &id, "extra_content", extra);
        }
    }

    /// Keeps data of a call that the server demands back.
    pub(super) fn keep(&self, turn: &mut TurnBuilder, id: &CallId, member: &str, value: Value) {
        if let Some(call) = turn.call_mut(id) {
            let data = call.provider_data.entry(&*self.provider).or_insert_with(|| json!({}));
            data[member] = value;
        }
    }

    /// Returns the id of a call. A server that sends none gets ids that occur nowhere else in the history.
    pub(super) fn call_id(&self, id: Option<&str>, at: usize) -> CallId {
        match id.filter(|id| !id.is_empty()) {
            Some(id) => CallId::from(id),
            None => CallId::from(format!("call_{}_{at}", self.turn)),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;

        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a list of parts")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Content, E> {
                Ok(Content::Text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(parts)).map(Content::Parts)
            }
        }

        deserializer.deserialize_any(ContentVisitor)
    }
}

impl Annotation {
    pub(super) fn citation(self) -> Option<Citation> {
        let UrlCitation { url, title, start_index, end_index } = self.url_citation?;
        let mut citation = Citation::default();
        citation.url = url;
        citation.title = title;
        citation.start = start_index;
        citation.end = end_index;
        Some(citation)
    }
}

impl From<ChatUsage> for Usage {
    fn from(usage: ChatUsage) -> Self {
        let prompt = usage.prompt_tokens_details;
        let mut counted = Self::new(usage.prompt_tokens, usage.completion_tokens)
            .cache_read(prompt.and_then(|details| details.cached_tokens).unwrap_or(0))
            .cache_write(prompt.and_then(|details| details.cache_write_tokens).unwrap_or(0))
            .reasoning(usage.completion_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or(0));
        if let Some(total) = usage.total_tokens {
            counted = counted.total(total);
        }
        counted
    }
}

/// Adds text. Servers send empty pieces of it, which begin no part.
pub(super) fn add_text(turn: &mut TurnBuilder, text: String) -> Option<Delta> {
    (!text.is_empty()).then(|| turn.text(text))
}

fn take_text(value: &mut Value) -> String {
    match value.take() {
        Value::String(text) => text,
        _ => String::new(),
    }
}
