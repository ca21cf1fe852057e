//! The check of the final answer, in loops that end with a value.
//!
//! A loop that is about to stop checks the last answer of the model first. An invalid one is sent back with its issues,
//! as often as the loop allows over the life of a state; each of these requests is a turn like any other, so the limits
//! of the loop apply to it. The type's own code reads the answer, so it must not run while the state is locked.

use haft_schema::Issues;

use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::machine::Machine;
use super::state::{LoopPhase, LoopState};
use crate::answer_format::{AnswerFormat, NoAnswer, correction, final_answer};

/// The value that a loop ends with.
#[derive(Clone, Debug)]
pub(super) struct TypedAnswer {
    pub(super) format: AnswerFormat,
    /// The number of requests for a corrected answer over the life of a state.
    pub(super) re_asks: u32,
}

/// The outcome of a check.
pub(super) enum CheckedAnswer {
    /// The answer is valid, or the loop needs none.
    Accepted,
    /// The answer is invalid, and the model is asked for another one.
    ReAsked(Issues),
    /// The loop ends without a value.
    Missing(LoopPhase, LoopError),
}

impl Machine {
    /// Checks the answer of the open turn, after which the loop would stop.
    pub(super) fn check_answer(&self) -> CheckedAnswer {
        if self.settings.answer.is_none() {
            return CheckedAnswer::Accepted;
        }
        // A turn without an answer is no end: the model can be asked again.
        match self.state.read(|state| state.phase.open().and_then(|open| NoAnswer::of(&open.turn))) {
            Some(NoAnswer::Refused(text)) => {
                CheckedAnswer::Missing(LoopPhase::Ready, LoopError::AnswerRefused { text })
            }
            Some(NoAnswer::CutOff(finish)) => {
                CheckedAnswer::Missing(LoopPhase::Ready, LoopError::AnswerCutOff { finish })
            }
            None => self.check_text(),
        }
    }

    /// Checks the answer of a state that is done, which may be that of a loop without a type. Returns the issues if the
    /// model is asked for another one.
    pub(super) fn check_stored_answer(&self) -> Result<Issues, LoopEnd> {
        match self.check_text() {
            CheckedAnswer::Accepted => Err(LoopEnd::Stopped),
            CheckedAnswer::ReAsked(issues) => Ok(issues),
            CheckedAnswer::Missing(_, error) => Err(error.into()),
        }
    }

    /// Closes the turn, if one is open, and adds the request for a corrected answer in the same step.
    pub(super) async fn re_ask(&mut self, issues: Issues) {
        let correction = correction(&issues);
        let change = |state: &mut LoopState| {
            state.phase = LoopPhase::Ready;
            state.request.history.push(correction);
            state.re_asks = state.re_asks.saturating_add(1);
            state.re_asks
        };
        let re_asks = self.close_turn_with(LoopPhase::Ready, change).await;
        self.event_slot.emit(LoopEvent::AnswerRejected { issues, re_asks }).await;
    }

    fn check_text(&self) -> CheckedAnswer {
        let Some(answer) = &self.settings.answer else { return CheckedAnswer::Accepted };
        let (text, re_asks) = self.state.read(|state| (final_answer(&state.request.history), state.re_asks));
        match answer.format.check(&text) {
            Ok(()) => CheckedAnswer::Accepted,
            Err(issues) if re_asks < answer.re_asks => CheckedAnswer::ReAsked(issues),
            // Started again, the state ends with the same error, unless the loop allows more or something is added.
            Err(issues) => CheckedAnswer::Missing(LoopPhase::Done, LoopError::AnswerInvalid { issues, text }),
        }
    }
}
