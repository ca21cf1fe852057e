//! A model's answer: a whole response's message, or a stream's deltas.
//!
//! Both have the same members, and the same [`AnswerReader`] reads them, so they can't differ: a whole response is a
//! stream with one delta.

mod call;

use std::fmt;

use haft_core::{Citation, ContentPart, Delta, Finish, MediaData, MediaPart, ReasoningForm, Turn, Usage};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use self::call::{AnswerCall, CallList};
use super::lenient::{LenientCount, LenientList, LenientObject, LenientText};
use super::reasoning_detail::ReasoningDetails;
use crate::wire::ReadContext;
use crate::wire::openai::kept_item;
use crate::wire::response::turn_builder::TurnBuilder;

/// The key for reasoning; an answer has only one such part.
const REASONING: u64 = 0;

/// A message, or a delta.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer<'b> {
    content: Option<Content>,
    #[serde(borrow)]
    refusal: LenientText<'b>,
    #[serde(borrow)]
    reasoning_content: LenientText<'b>,
    #[serde(borrow)]
    reasoning: LenientText<'b>,
    reasoning_details: LenientList<Map<String, Value>>,
    annotations: LenientList<Annotation>,
    audio: LenientObject<Audio>,
    #[serde(borrow)]
    tool_calls: LenientList<AnswerCall<'b>>,
}

/// An answer's content: text, or a part list, as some servers send.
enum Content {
    Text(String),
    Parts(Vec<Value>),
    /// Other content, which is left out.
    Other,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Annotation {
    url_citation: LenientObject<UrlCitation>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UrlCitation {
    url: LenientOwned,
    title: LenientOwned,
    start_index: LenientCount,
    end_index: LenientCount,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Audio {
    id: LenientOwned,
    data: LenientOwned,
    transcript: LenientOwned,
}

/// A text that is kept, or nothing.
#[derive(Default)]
struct LenientOwned(Option<String>);

/// An answer in progress.
pub(super) struct AnswerReader {
    provider: String,
    turn: TurnBuilder,
    calls: CallList,
    details: ReasoningDetails,
    audio: Audio,
    annotations: Vec<Annotation>,
}

impl AnswerReader {
    pub(super) fn new(provider: &str, context: &ReadContext) -> Self {
        Self {
            provider: provider.to_owned(),
            turn: TurnBuilder::new(context),
            calls: CallList::new(provider, context.turn),
            details: ReasoningDetails::default(),
            audio: Audio::default(),
            annotations: Vec::new(),
        }
    }

    /// Sets the response's names, as far as they are stated.
    pub(super) fn named(&mut self, id: Option<&str>, model: Option<&str>) {
        if let Some(id) = id {
            self.turn.response_id(id);
        }
        if let Some(model) = model {
            self.turn.model(model);
        }
    }

    /// Sets the usage.
    pub(super) fn usage(&mut self, usage: Usage) -> Delta {
        self.turn.usage(usage)
    }

    /// Adds a delta.
    pub(super) fn add(&mut self, answer: Answer<'_>, deltas: &mut Vec<Delta>) {
        let Answer {
            content,
            refusal,
            reasoning_content,
            reasoning,
            reasoning_details,
            annotations,
            audio,
            tool_calls,
        } = answer;
        for (member, text) in [("reasoning_content", reasoning_content), ("reasoning", reasoning)] {
            deltas.extend(text.into_string().and_then(|text| self.reasoning(member, text)));
        }
        self.reasoning_details(reasoning_details.into_objects());
        match content {
            None | Some(Content::Other) => {}
            Some(Content::Text(text)) => deltas.extend(self.text(text)),
            Some(Content::Parts(parts)) => deltas.extend(parts.into_iter().filter_map(|part| self.part(part))),
        }
        if let Some(refusal) = refusal.into_string() {
            deltas.push(self.turn.refusal(refusal));
        }
        self.annotations.extend(annotations.into_objects());
        if let Some(audio) = audio.0 {
            self.audio.id.0 = self.audio.id.0.take().or(audio.id.0);
            append(&mut self.audio.data, audio.data);
            append(&mut self.audio.transcript, audio.transcript);
        }
        self.calls.add(&mut self.turn, tool_calls.into_objects(), deltas);
    }

    /// Adds a whole message, whose calls follow its content.
    pub(super) fn add_whole(&mut self, mut message: Answer<'_>, deltas: &mut Vec<Delta>) {
        let calls = std::mem::take(&mut message.tool_calls);
        self.add(message, deltas);
        self.end_content(deltas);
        self.calls.add(&mut self.turn, calls.into_objects(), deltas);
    }

    /// Ends the answer's text and adds its citations and the audio.
    fn end_content(&mut self, deltas: &mut Vec<Delta>) {
        for citation in self.annotations.drain(..).filter_map(Annotation::citation) {
            deltas.extend(self.turn.citation(citation));
        }
        let Audio { id, data, transcript } = std::mem::take(&mut self.audio);
        if let Some(data) = data.0.filter(|data| !data.is_empty()) {
            let mut part = MediaPart::new(MediaData::Base64(data));
            part.provider_data.extend(id.0.map(|id| (self.provider.clone(), json!({"id": id}))));
            self.turn.content(ContentPart::Audio(part));
        }
        if let Some(transcript) = transcript.0.filter(|text| !text.is_empty()) {
            self.turn.text(transcript);
        }
    }

    /// Completes the turn, which ended for this reason.
    pub(super) fn finish(mut self, reason: impl FnOnce(&TurnBuilder) -> Finish, deltas: &mut Vec<Delta>) -> Turn {
        self.end_content(deltas);
        self.calls.end(&mut self.turn, deltas);
        let details = std::mem::take(&mut self.details).into_list();
        if !details.is_empty()
            && let Some(data) = self.turn.reasoning_mut(REASONING).provider_data.get_mut(&self.provider)
        {
            data["details"] = Value::Array(details);
        }
        let finish = reason(&self.turn);
        self.turn.finish(finish)
    }

    fn reasoning(&mut self, member: &'static str, text: String) -> Option<Delta> {
        if text.is_empty() {
            return None;
        }
        let reasoning = self.turn.reasoning_mut(REASONING);
        if reasoning.provider.is_none() {
            reasoning.provider = Some(self.provider.clone());
            reasoning.provider_data.insert(self.provider.clone(), json!({"member": member}));
        } else if reasoning.provider_data.get(&self.provider).is_some_and(|data| data["member"] != member) {
            // Some servers send the same text in both members.
            return None;
        }
        Some(self.turn.reasoning_at(REASONING, ReasoningForm::Text, text))
    }

    /// Adds reasoning details. The turn gets them when all their fragments have arrived.
    fn reasoning_details(&mut self, details: Vec<Map<String, Value>>) {
        if details.is_empty() {
            return;
        }
        let reasoning = self.turn.reasoning_mut(REASONING);
        reasoning.provider = Some(self.provider.clone());
        reasoning.provider_data.entry(&*self.provider).or_insert_with(|| json!({"member": "details"}));
        for detail in details {
            self.details.add(detail);
        }
    }

    /// Adds text. Servers also send empty pieces, which begin no part.
    fn text(&mut self, text: String) -> Option<Delta> {
        (!text.is_empty()).then(|| self.turn.text(text))
    }

    /// Adds a part from a content list.
    fn part(&mut self, part: Value) -> Option<Delta> {
        let mut part = match part {
            Value::Object(part) => part,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        let text = |part: &mut Map<String, Value>, member: &str| match part.get_mut(member).map(Value::take) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        match part.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = text(&mut part, "text");
                self.text(text)
            }
            Some("refusal") => Some(self.turn.refusal(text(&mut part, "refusal"))),
            Some("thinking") => {
                let thinking = match part.get("thinking") {
                    Some(Value::Array(pieces)) => pieces.iter().filter_map(|piece| piece["text"].as_str()).collect(),
                    Some(Value::String(text)) => text.clone(),
                    _ => String::new(),
                };
                self.reasoning("thinking", thinking)
            }
            _ => {
                self.turn.content(ContentPart::Unknown(kept_item::keep(&self.provider, &part)));
                None
            }
        }
    }
}

impl Annotation {
    fn citation(self) -> Option<Citation> {
        let UrlCitation { url, title, start_index, end_index } = self.url_citation.0?;
        let mut citation = Citation::default();
        citation.url = url.0;
        citation.title = title.0;
        citation.start = start_index.0;
        citation.end = end_index.0;
        Some(citation)
    }
}

impl<'de> Deserialize<'de> for LenientOwned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        LenientText::deserialize(deserializer).map(|text| Self(text.into_string()))
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

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Content, A::Error> {
                while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::Other)
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Content, E> {
                Ok(Content::Other)
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Content, E> {
                Ok(Content::Other)
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Content, E> {
                Ok(Content::Other)
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Content, E> {
                Ok(Content::Other)
            }
        }

        deserializer.deserialize_any(ContentVisitor)
    }
}

fn append(text: &mut LenientOwned, more: LenientOwned) {
    if let Some(more) = more.0 {
        text.0.get_or_insert_default().push_str(&more);
    }
}
