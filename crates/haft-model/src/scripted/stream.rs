//! The stream of a scripted answer.
//!
//! Unless the script has deltas of its own, they are created from the turn, so that they always add up to it. The turn
//! itself comes last.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use futures_core::Stream;
use haft_core::{Delta, TurnRequest};
use tokio::time::Sleep;

use super::ScriptedModel;
use super::turn::{End, ScriptedTurn};
use crate::error::ModelError;
use crate::turn_delta::{DeltaSize, deltas_of};

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
        let mut deltas = scripted.unwrap_or_else(|| deltas_of(&turn, DeltaSize::Piece));
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
