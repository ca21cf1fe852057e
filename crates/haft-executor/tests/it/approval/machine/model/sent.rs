//! Verdicts that are sent one by one, to calls that wait for them.

use haft_core::Verdict;
use haft_executor::{ApprovalOutcome, Receipt, VerdictFault};

use super::{Call, Met, Model, Place, State};
use crate::approval::machine::script::{LIFETIME, PATIENCE};

impl Model {
    /// Sends a verdict. One that does not count for an awaited request changes nothing.
    pub(in crate::approval::machine) fn send(&mut self, verdict: &Verdict) -> Met {
        let id = &verdict.request_id;
        if let Some((question, place)) = self.question(id)
            && let Call { state: State::Waits(_), asked: Some(asked), .. } = *self.call(place)
        {
            if let Some(fault) = self.fault_of(&question, asked, verdict) {
                return Err(fault);
            }
            self.over.insert(id.clone(), VerdictFault::AlreadyDecided);
            self.decide(place, verdict);
            return Ok(Receipt::Delivered);
        }
        if self.is_over {
            return Err(VerdictFault::Closed);
        }
        if let Some(fault) = self.over.get(id) {
            return Err(fault.clone());
        }
        if self.parked.iter().any(|parked| parked.request_id == *id) {
            return Err(VerdictFault::AlreadyDecided);
        }
        self.parked.push(verdict.clone());
        Ok(Receipt::Parked)
    }

    /// Resumes a stored round, which waits for its verdicts on the queue.
    pub(in crate::approval::machine) fn await_again(&mut self, round: usize) {
        for place in self.places(round) {
            if self.call(place).state != State::Stored {
                continue;
            }
            let is_changed = self.close_changed(place, None).is_some();
            if self.call(place).state != State::Stored {
                continue;
            }
            if is_changed {
                // A request that was never delivered can't have a verdict yet.
                self.call(place).state = State::Waits(self.now);
            } else if let Some(fate) = self.remembered(place) {
                self.call(place).state = State::Done(fate);
                continue;
            } else {
                self.call(place).state = State::Waits(self.now);
                self.unpark(place);
            }
            if self.is_over && matches!(self.call(place).state, State::Waits(_)) {
                self.ends(place, "cancelled", ApprovalOutcome::Unanswered);
            }
        }
    }

    /// Makes a request for which a verdict may already be parked. A verdict that does not count leaves it pending.
    fn unpark(&mut self, place: Place) {
        let (Some(question), Some(asked)) = (self.question_about(place), self.call(place).asked) else { return };
        let parked = self.parked.iter().position(|parked| parked.request_id == question.request_id);
        let Some(verdict) = parked.map(|parked| self.parked.remove(parked)) else { return };
        if let Some(fault) = self.fault_of(&question, asked, &verdict) {
            self.unusable.push((verdict.request_id, fault));
        } else {
            self.over.insert(question.request_id, VerdictFault::AlreadyDecided);
            self.decide(place, &verdict);
        }
    }

    /// Ends the queue: no more verdicts arrive.
    pub(in crate::approval::machine) fn end(&mut self) {
        self.is_over = true;
        self.cancel(|_| true);
    }

    /// Advances time: requests expire, and waits time out.
    pub(in crate::approval::machine) fn pass(&mut self, now: u64) {
        self.now = now;
        let lapses = self.questions_lapse;
        let has_lapsed = |call: &Call| lapses && call.asked.is_some_and(|(at, _)| at + LIFETIME <= now);
        self.stop_waiting(has_lapsed, ApprovalOutcome::Expired);
        self.cancel(|call| match call.state {
            State::Waits(since) => call.has_timeout && since + PATIENCE <= now,
            _ => false,
        });
    }

    /// Cancels calls that wait.
    pub(in crate::approval::machine) fn cancel(&mut self, which: impl Fn(&Call) -> bool) {
        self.stop_waiting(which, ApprovalOutcome::Unanswered);
    }

    fn stop_waiting(&mut self, which: impl Fn(&Call) -> bool, outcome: ApprovalOutcome) {
        for place in (0..self.rounds.len()).flat_map(|round| self.places(round)).collect::<Vec<_>>() {
            let call = self.call(place);
            if matches!(call.state, State::Waits(_)) && which(call) {
                self.ends(place, "cancelled", outcome);
                let question = self.question_about(place);
                self.over.extend(question.map(|question| (question.request_id, VerdictFault::UnknownRequest)));
            }
        }
    }
}
