//! Streams of the Chat Completions API.
//!
//! Only the `index` of a call is sent with every fragment. The first id and the first name of an index win, and
//! fragments that arrive before the name wait for it.

use haft_core::{CallId, Delta};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::ErrorBody;
use super::response::{Annotation, AnswerReader, Audio, ChatUsage, Content, add_text, finish};
use crate::depth;
use crate::text::Text;
use crate::turn_builder::TurnBuilder;
use crate::wire::{ReadContext, StreamReader, WireEvent};
use crate::wire_error::{ErrorCause, ReadError};

pub(super) struct ChatStream {
    reader: AnswerReader,
    /// Absent when the turn is complete.
    turn: Option<TurnBuilder>,
    calls: Vec<StreamedCall>,
    audio: Audio,
    annotations: Vec<Annotation>,
    finish_reason: Option<String>,
    named: bool,
}

struct StreamedCall {
    index: u64,
    id: Option<String>,
    /// The id under which the call was begun.
    begun: Option<CallId>,
    /// Arguments that arrived before the name.
    waiting: String,
}

#[derive(Deserialize)]
struct Chunk<'e> {
    #[serde(borrow, default)]
    id: Option<Text<'e>>,
    #[serde(borrow, default)]
    model: Option<Text<'e>>,
    #[serde(borrow, default)]
    choices: Option<Vec<ChunkChoice<'e>>>,
    #[serde(default)]
    usage: Option<ChatUsage>,
    #[serde(default)]
    error: Option<ErrorBody>,
}

#[derive(Deserialize)]
struct ChunkChoice<'e> {
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    delta: Option<ChunkDelta<'e>>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct ChunkDelta<'e> {
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
    tool_calls: Option<Vec<ChunkCall<'e>>>,
}

#[derive(Deserialize)]
struct ChunkCall<'e> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    id: Option<Text<'e>>,
    #[serde(borrow, default)]
    function: Option<ChunkFunction<'e>>,
    #[serde(default)]
    extra_content: Option<Value>,
}

#[derive(Default, Deserialize)]
struct ChunkFunction<'e> {
    #[serde(borrow, default)]
    name: Option<Text<'e>>,
    #[serde(default)]
    arguments: Option<String>,
}

impl Chunk<'_> {
    fn is_unknown(&self) -> bool {
        let Self { id: _, model: _, choices, usage, error } = self;
        choices.is_none() && usage.is_none() && error.is_none()
    }
}

/// Keeps an event that is no chunk.
fn unknown(data: &str) -> Option<Delta> {
    let event: Value = serde_json::from_str(data).ok()?;
    serde_json::from_value(json!({"type": "chat_event", "event": event})).ok()
}

impl ChatStream {
    pub(super) fn new(provider: &str, context: &ReadContext) -> Self {
        Self {
            reader: AnswerReader::new(provider, context),
            turn: Some(TurnBuilder::new(context)),
            calls: Vec::new(),
            audio: Audio::default(),
            annotations: Vec::new(),
            finish_reason: None,
            named: false,
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        if let Some(error) = chunk.error {
            return Err(ReadError::Provider(error.report(ErrorCause::Unavailable)));
        }
        let Some(turn) = &mut self.turn else { return Ok(()) };
        if !self.named {
            let stated = |text: &Option<Text<'_>>| {
                text.as_ref().map(|text| text.as_str().to_owned()).filter(|text| !text.is_empty())
            };
            if let Some(id) = stated(&chunk.id) {
                turn.response_id(id);
            }
            if let Some(model) = stated(&chunk.model) {
                turn.model(model);
            }
            self.named = true;
        }
        if let Some(usage) = chunk.usage {
            deltas.push(turn.usage(usage.into()));
        }
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index == 0) {
            if let Some(delta) = choice.delta {
                self.delta(delta, deltas);
            }
            self.finish_reason = choice.finish_reason.or_else(|| self.finish_reason.take());
        }
        Ok(())
    }

    fn delta(&mut self, delta: ChunkDelta<'_>, deltas: &mut Vec<Delta>) {
        let Some(turn) = &mut self.turn else { return };
        let reasoning = [("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)];
        for (member, text) in reasoning {
            deltas.extend(self.reader.reasoning(turn, member, text.unwrap_or_default()));
        }
        self.reader.reasoning_details(turn, delta.reasoning_details);
        match delta.content {
            None => {}
            Some(Content::Text(text)) => deltas.extend(add_text(turn, text)),
            Some(Content::Parts(parts)) => {
                deltas.extend(parts.into_iter().filter_map(|part| self.reader.part(turn, part)));
            }
        }
        if let Some(refusal) = delta.refusal.filter(|text| !text.is_empty()) {
            deltas.push(turn.refusal(refusal));
        }
        self.annotations.extend(delta.annotations.into_iter().flatten());
        if let Some(Audio { id, data, transcript }) = delta.audio {
            self.audio.id = self.audio.id.take().or(id);
            append(&mut self.audio.data, data);
            append(&mut self.audio.transcript, transcript);
        }
        for (at, call) in delta.tool_calls.into_iter().flatten().enumerate() {
            self.call(at, call, deltas);
        }
    }

    fn call(&mut self, at: usize, call: ChunkCall<'_>, deltas: &mut Vec<Delta>) {
        let Some(turn) = &mut self.turn else { return };
        let id = call.id.as_ref().map(Text::as_str).filter(|id| !id.is_empty());
        let function = call.function.unwrap_or_default();
        let name = function.name.as_ref().map(Text::as_str).filter(|name| !name.is_empty());
        let index = call.index.unwrap_or(at as u64);
        // Some servers send whole calls that all have the index zero.
        let is_other =
            |open: &StreamedCall| name.is_some() && id.is_some() && open.id.is_some() && open.id.as_deref() != id;
        let open = self.calls.iter().rposition(|open| open.index == index);
        let position = match open.filter(|at| !is_other(&self.calls[*at])) {
            Some(at) => at,
            None => {
                self.calls.push(StreamedCall { index, id: None, begun: None, waiting: String::new() });
                self.calls.len() - 1
            }
        };
        let open = &mut self.calls[position];
        if open.id.is_none() {
            open.id = id.map(ToOwned::to_owned);
        }
        if let (Some(name), None) = (name, &open.begun) {
            let id = self.reader.call_id(open.id.as_deref(), position);
            deltas.push(turn.call_start(id.clone(), name));
            if !open.waiting.is_empty() {
                deltas.push(turn.call_arguments(id.clone(), std::mem::take(&mut open.waiting)));
            }
            open.begun = Some(id);
        }
        let fragment = function.arguments.filter(|fragment| !fragment.is_empty());
        match (&open.begun, fragment) {
            (_, None) => {}
            (Some(id), Some(fragment)) => deltas.push(turn.call_arguments(id.clone(), fragment)),
            (None, Some(fragment)) => open.waiting.push_str(&fragment),
        }
        if let (Some(id), Some(extra)) = (&open.begun, call.extra_content) {
            self.reader.keep(turn, id, "extra_content", extra);
        }
    }

    fn complete(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let Some(mut turn) = self.turn.take() else { return Ok(()) };
        if self.finish_reason.is_none() {
            return Err(ReadError::Incomplete);
        }
        for citation in self.annotations.drain(..).filter_map(Annotation::citation) {
            deltas.extend(turn.citation(citation));
        }
        self.reader.audio(&mut turn, std::mem::take(&mut self.audio));
        deltas.extend(self.calls.iter().filter_map(|call| call.begun.clone()).map(|id| turn.call_end(id)));
        let finish = finish(self.finish_reason.as_deref(), &turn);
        deltas.push(Delta::complete(turn.finish(finish)));
        Ok(())
    }
}

impl StreamReader for ChatStream {
    fn event(&mut self, event: WireEvent<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        match event.data.trim() {
            "" => Ok(()),
            "[DONE]" => self.complete(deltas),
            data => {
                depth::check(data)?;
                let chunk: Chunk<'_> =
                    serde_json::from_str(data).map_err(|error| ReadError::json("an event", error))?;
                if chunk.is_unknown() {
                    deltas.extend(unknown(data));
                    return Ok(());
                }
                self.chunk(chunk, deltas)
            }
        }
    }

    fn end(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        self.complete(deltas)
    }
}

fn append(text: &mut Option<String>, more: Option<String>) {
    if let Some(more) = more {
        text.get_or_insert_default().push_str(&more);
    }
}
