//! Chat Completions streams.

use haft_core::Delta;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, AnswerReader};
use super::error::ErrorBody;
use super::lenient::{LenientCount, LenientList, LenientObject, LenientText};
use super::response::{ChatUsage, finish};
use crate::wire::response::depth;
use crate::wire::{ReadContext, StreamReader, WireEvent};
use crate::wire_error::ReadError;

pub(super) struct ChatStream {
    /// Absent when the turn is complete.
    answer: Option<AnswerReader>,
    finish_reason: Option<String>,
    named: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk<'e> {
    #[serde(borrow)]
    id: LenientText<'e>,
    #[serde(borrow)]
    model: LenientText<'e>,
    #[serde(borrow)]
    choices: LenientList<ChunkChoice<'e>>,
    usage: LenientObject<ChatUsage>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChunkChoice<'e> {
    index: LenientCount,
    #[serde(borrow)]
    delta: LenientObject<Answer<'e>>,
    #[serde(borrow)]
    finish_reason: LenientText<'e>,
}

impl Chunk<'_> {
    fn is_unknown(&self) -> bool {
        let Self { id: _, model: _, choices, usage, error } = self;
        choices.0.is_none() && usage.0.is_none() && error.is_none()
    }
}

/// Keeps an event that is no chunk.
fn unknown(data: &str) -> Option<Delta> {
    let event: Value = serde_json::from_str(data).ok()?;
    serde_json::from_value(json!({"type": "chat_event", "event": event})).ok()
}

impl ChatStream {
    pub(super) fn new(provider: &str, context: &ReadContext) -> Self {
        Self { answer: Some(AnswerReader::new(provider, context)), finish_reason: None, named: false }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        if let Some(error) = ErrorBody::of(chunk.error) {
            return Err(ReadError::Provider(error.unannounced()));
        }
        let Some(answer) = &mut self.answer else { return Ok(()) };
        if !self.named {
            answer.named(chunk.id.get(), chunk.model.get());
            self.named = true;
        }
        if let Some(usage) = chunk.usage.0 {
            deltas.push(answer.usage(usage.into()));
        }
        // Several answers are possible, but a turn is one: the first.
        for choice in chunk.choices.into_objects().into_iter().filter(|choice| choice.index.0.unwrap_or(0) == 0) {
            if let Some(delta) = choice.delta.0 {
                answer.add(delta, deltas);
            }
            self.finish_reason = choice.finish_reason.into_string().or_else(|| self.finish_reason.take());
        }
        Ok(())
    }

    fn complete(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let Some(answer) = self.answer.take() else { return Ok(()) };
        if self.finish_reason.is_none() {
            return Err(ReadError::Incomplete);
        }
        let turn = answer.finish(|turn| finish(self.finish_reason.as_deref(), turn), deltas);
        deltas.push(Delta::complete(turn));
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
