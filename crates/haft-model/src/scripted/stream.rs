//! The stream of a scripted answer.
//!
//! Unless the script has deltas of its own, they are created from the turn, so that they always add up to it: text in
//! several pieces, calls started, filled and ended, the usage, and the turn itself last.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use futures_core::Stream;
use haft_core::{
    CallId, ContentPart, Delta, Item, JsonText, Reasoning, ReasoningForm, Role, ToolCall, Turn, TurnRequest, Usage,
};
use serde::Serialize;
use tokio::time::Sleep;

use super::ScriptedModel;
use super::turn::{End, ScriptedTurn};
use crate::error::ModelError;

/// The stream of one scripted answer.
pub(super) enum ScriptedStream {
    /// Not polled yet, so no turn is taken yet.
    Unpolled { model: ScriptedModel, request: Box<TurnRequest> },
    /// Waiting for the delay before the answer.
    Delayed { sleep: Pin<Box<Sleep>>, then: ScriptedDeltas },
    /// The deltas are being streamed.
    Streaming(ScriptedDeltas),
    /// The stream is over.
    Ended,
}

/// The deltas that are left, and the end of the stream.
pub(super) struct ScriptedDeltas {
    deltas: vec::IntoIter<Delta>,
    end: End,
}

impl ScriptedStream {
    fn new(turn: ScriptedTurn) -> Self {
        let ScriptedTurn { turn, deltas: scripted, end, delay, checks: _ } = turn;
        let mut deltas = scripted.unwrap_or_else(|| deltas(&turn));
        if matches!(end, End::Complete) {
            deltas.push(Delta::complete(turn));
        }
        let rest = ScriptedDeltas { deltas: deltas.into_iter(), end };
        if delay.is_zero() {
            Self::Streaming(rest)
        } else {
            Self::Delayed { sleep: Box::pin(tokio::time::sleep(delay)), then: rest }
        }
    }
}

impl Stream for ScriptedStream {
    type Item = Result<Delta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match std::mem::replace(&mut *self, Self::Ended) {
                Self::Unpolled { model, request } => match model.take(&request) {
                    Ok(turn) => *self = Self::new(turn),
                    Err(fault) => return Poll::Ready(Some(Err(ModelError::OffScript { message: fault.to_string() }))),
                },
                Self::Delayed { mut sleep, then } => {
                    if sleep.as_mut().poll(task).is_pending() {
                        *self = Self::Delayed { sleep, then };
                        return Poll::Pending;
                    }
                    *self = Self::Streaming(then);
                }
                Self::Streaming(mut rest) => {
                    if let Some(delta) = rest.deltas.next() {
                        *self = Self::Streaming(rest);
                        return Poll::Ready(Some(Ok(delta)));
                    }
                    match rest.end {
                        End::Complete | End::Incomplete => {}
                        End::Failed(error) => return Poll::Ready(Some(Err(error))),
                        End::Pending => {
                            *self = Self::Streaming(rest);
                            return Poll::Pending;
                        }
                    }
                }
                Self::Ended => return Poll::Ready(None),
            }
        }
    }
}

/// Returns the deltas that a provider would stream before the turn is complete.
fn deltas(turn: &Turn) -> Vec<Delta> {
    let mut draft = DeltaDraft::default();
    for item in &turn.items {
        match item {
            Item::Message(message) if message.role == Role::Assistant => {
                message.content.iter().for_each(|part| draft.add_part(part));
            }
            Item::Reasoning(reasoning) => draft.add_reasoning(reasoning),
            Item::ToolCall(call) if call.provider_executed => {
                draft.add_provider_call(&call.call_id, &call.name, &call.arguments);
            }
            Item::ToolCall(call) => draft.add_call(call),
            Item::ProviderCall(call) => {
                let count = draft.deltas.len();
                let call_id = call.call_id.clone().unwrap_or_else(|| format!("provider_call_{count}").into());
                draft.add_provider_call(&call_id, &call.name, "");
                draft.add_provider_output(call_id, &call.payload, call.is_error);
            }
            Item::ToolOutput(output) => {
                draft.add_provider_output(output.call_id.clone(), &output.output, output.is_error);
            }
            _ => {}
        }
    }
    if turn.usage != Usage::default() {
        draft.deltas.push(Delta::UsageUpdate(turn.usage));
    }
    draft.deltas
}

/// The deltas of a turn while they are created.
#[derive(Default)]
struct DeltaDraft {
    deltas: Vec<Delta>,
    /// The number of parts so far.
    parts: usize,
}

impl DeltaDraft {
    fn add_part(&mut self, part: &ContentPart) {
        match part {
            ContentPart::Text(text) => {
                let part = self.next_part();
                self.deltas.extend(pieces(&text.text).map(|text| Delta::TextDelta { text, part }));
                let citations = text.citations.iter().cloned();
                self.deltas.extend(citations.map(|citation| Delta::CitationDelta { citation, part }));
            }
            ContentPart::Refusal(refusal) => {
                let part = self.next_part();
                self.deltas.extend(pieces(&refusal.text).map(|text| Delta::RefusalDelta { text, part }));
            }
            _ => {}
        }
    }

    fn add_reasoning(&mut self, reasoning: &Reasoning) {
        let (texts, form) = match &reasoning.text {
            Some(text) => (std::slice::from_ref(text), ReasoningForm::Text),
            None => (&*reasoning.summary, ReasoningForm::Summary),
        };
        for text in texts {
            let part = self.next_part();
            self.deltas.extend(pieces(text).map(|text| Delta::ReasoningDelta { text, form, part }));
        }
    }

    fn add_call(&mut self, call: &ToolCall) {
        let id = || CallId::clone(&call.call_id);
        self.deltas.push(Delta::ToolCallStart { call_id: id(), name: call.name.clone() });
        let arguments = pieces(&call.arguments).map(|arguments| Delta::ToolCallArgsDelta { call_id: id(), arguments });
        self.deltas.extend(arguments);
        self.deltas.push(Delta::ToolCallEnd { call_id: id() });
    }

    fn add_provider_call(&mut self, call_id: &CallId, name: &str, arguments: &str) {
        self.deltas.push(Delta::ProviderCallStart { call_id: call_id.clone(), name: name.to_owned() });
        let pieces = pieces(arguments);
        self.deltas
            .extend(pieces.map(|arguments| Delta::ProviderCallArgsDelta { call_id: call_id.clone(), arguments }));
    }

    fn add_provider_output(&mut self, call_id: CallId, output: &impl Serialize, is_error: bool) {
        // An output that can't be written as JSON can't be stored either; the turn still has it.
        if let Ok(output) = JsonText::encode(output) {
            self.deltas.push(Delta::ProviderCallOutput { call_id, output, is_error });
        }
    }

    fn next_part(&mut self) -> usize {
        self.parts += 1;
        self.parts - 1
    }
}

/// Splits a text into pieces: at least two if it has two characters, at most [`MOST_PIECES`].
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let length = text.chars().count();
    let size = length.div_ceil(2).min(USUAL_PIECE).max(length.div_ceil(MOST_PIECES));
    let mut rest = text.chars();
    std::iter::from_fn(move || Some(rest.by_ref().take(size).collect()).filter(|piece: &String| !piece.is_empty()))
}

/// The number of characters in a piece, unless the text is very short or very long.
const USUAL_PIECE: usize = 4;
/// The maximum number of pieces.
const MOST_PIECES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_pieces_that_add_up() {
        for (text, count) in [("", 0), ("a", 1), ("ab", 2), ("abc", 2), ("a€😀b€", 2), (&*"ü".repeat(1_000), 32)]
        {
            let pieces: Vec<String> = pieces(text).collect();
            assert_eq!(pieces.len(), count, "{text}");
            assert_eq!(pieces.concat(), text);
        }
    }
}
