//! The stream of a scripted answer.
//!
//! The deltas are created from the turn, so that they always add up to it: text in several pieces, calls started,
//! filled and ended, the usage, and the turn itself last.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use futures_core::Stream;
use haft_core::{CallId, ContentPart, Delta, Item, Reasoning, ReasoningForm, Role, ToolCall, Turn, TurnRequest, Usage};
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
        let ScriptedTurn { turn, end, delay, .. } = turn;
        let mut deltas = deltas(&turn);
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
    let mut deltas = Vec::new();
    for item in &turn.items {
        match item {
            Item::Message(message) if message.role == Role::Assistant => {
                deltas.extend(message.content.iter().flat_map(of_part));
            }
            Item::Reasoning(reasoning) => deltas.extend(of_reasoning(reasoning)),
            Item::ToolCall(call) => deltas.extend(of_call(call)),
            _ => {}
        }
    }
    if turn.usage != Usage::default() {
        deltas.push(Delta::UsageUpdate(turn.usage));
    }
    deltas
}

fn of_part(part: &ContentPart) -> Vec<Delta> {
    match part {
        ContentPart::Text(part) => pieces(&part.text).map(|text| Delta::TextDelta { text }).collect(),
        ContentPart::Refusal(part) => pieces(&part.text).map(|text| Delta::RefusalDelta { text }).collect(),
        _ => Vec::new(),
    }
}

fn of_reasoning(reasoning: &Reasoning) -> Vec<Delta> {
    let delta = |form: ReasoningForm| move |text: String| Delta::ReasoningDelta { text, form };
    match &reasoning.text {
        Some(text) => pieces(text).map(delta(ReasoningForm::Text)).collect(),
        None => reasoning.summary.iter().flat_map(|text| pieces(text).map(delta(ReasoningForm::Summary))).collect(),
    }
}

fn of_call(call: &ToolCall) -> Vec<Delta> {
    let id = || CallId::clone(&call.call_id);
    let start = Delta::ToolCallStart { call_id: id(), name: call.name.clone() };
    let arguments = pieces(&call.arguments).map(|arguments| Delta::ToolCallArgsDelta { call_id: id(), arguments });
    std::iter::once(start).chain(arguments).chain([Delta::ToolCallEnd { call_id: id() }]).collect()
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
