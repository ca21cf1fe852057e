//! Verdicts that are delivered all at once, for calls that no run waits for.

use haft_core::{ApprovalRequest, Verdict};
use haft_executor::{ApprovalOutcome, VerdictFault};

use super::{Call, Fate, Model, Place, Refusals, State, names};
use crate::approval::machine::bench::GONE;

impl Model {
    /// Resumes a stored round with these verdicts, and stores the rest. A valid request stays pending when a verdict
    /// on it does not count.
    pub(in crate::approval::machine) fn resume(&mut self, round: usize, verdicts: &[Verdict]) -> Refusals {
        let (given, mut refused) = self.sorted_by_question(round, verdicts);
        for place in self.places(round) {
            let Call { state: State::Stored, asked: Some(asked), .. } = *self.call(place) else { continue };
            let verdict = given.iter().find(|(known, _)| *known == place).map(|(_, verdict)| *verdict);
            let refuse = |fault| verdict.map(|verdict| (verdict.request_id.clone(), fault));
            if let Some(fault) = self.close_changed(place, verdict) {
                refused.extend(refuse(fault));
                continue;
            }
            if let (Some(verdict), Some(question)) = (verdict, self.question_about(place)) {
                let Some(fault) = self.fault_of(&question, asked, verdict) else {
                    self.decide(place, verdict);
                    continue;
                };
                self.call(place).written.push(ApprovalOutcome::Rejected);
                let is_objection = matches!(fault, VerdictFault::Invalid { .. });
                refused.extend(refuse(fault));
                if is_objection {
                    continue;
                }
            }
            if let Some(fate) = self.remembered(place) {
                self.call(place).state = State::Done(fate);
            }
        }
        refused
    }

    /// Resumes a stored round without verdicts, and cancels it while it waits.
    pub(in crate::approval::machine) fn cancel_resumed(&mut self, round: usize) {
        self.resume(round, &[]);
        for place in self.places(round) {
            if self.call(place).state == State::Stored {
                self.ends(place, "cancelled", ApprovalOutcome::Unanswered);
            }
        }
    }

    /// Plans a round with these verdicts and runs it. A verdict that does not count is ignored. Also returns the calls
    /// for which approval is requested again.
    pub(in crate::approval::machine) fn plan(&mut self, round: usize, verdicts: &[Verdict]) -> (Refusals, Vec<String>) {
        let (given, mut refused) = self.sorted_by_call(round, verdicts);
        let mut raised = Vec::new();
        for place in self.places(round) {
            if let Some((_, verdict)) = given.iter().find(|(known, _)| *known == place) {
                let Some(fault) = self.fault_of_claim(place, verdict) else {
                    self.decide(place, verdict);
                    continue;
                };
                let has_lapsed = fault == VerdictFault::Expired;
                let outcome = if has_lapsed { ApprovalOutcome::Expired } else { ApprovalOutcome::Rejected };
                self.call(place).written.push(outcome);
                let is_objection = matches!(fault, VerdictFault::Invalid { .. });
                refused.push((verdict.request_id.clone(), fault));
                if is_objection {
                    // The verdict would have changed the call, so approval is requested, whatever the policies.
                    raised.push(self.call(place).id.clone());
                    self.call(place).state = State::Done(Fate::Fails("cancelled"));
                    continue;
                }
            }
            let fate = self.without_request(place).unwrap_or_else(|| {
                raised.push(self.call(place).id.clone());
                Fate::Fails("cancelled")
            });
            self.call(place).state = State::Done(fate);
        }
        (refused, raised)
    }

    /// Runs a plan where the tools have changed: nothing of it is valid there.
    pub(in crate::approval::machine) fn run_elsewhere(&mut self, round: usize) {
        for call in &mut self.rounds[round] {
            if let State::Done(Fate::Runs(_)) = call.state {
                let kind = if call.tool == GONE { "unknown_tool" } else { "denied" };
                call.state = State::Done(Fate::Fails(kind));
            }
        }
    }

    /// Returns the reason why a verdict that names a call, and whose request was not stored, does not count. Its
    /// claims about its request are accepted unless requests are signed.
    fn fault_of_claim(&mut self, place: Place, verdict: &Verdict) -> Option<VerdictFault> {
        let (tools, call) = (self.tools, self.call(place));
        let (is_swapped, asked) = (call.is_swapped, call.asked?);
        let question = self.question_about(place)?;
        if self.is_gone(place) {
            Some(VerdictFault::UnknownRequest)
        } else if asked.1 != tools || is_swapped || !names(&question, verdict) {
            Some(VerdictFault::OtherDigest)
        } else if self.is_signed && verdict.signature.is_none() {
            Some(VerdictFault::Unsigned)
        } else if self.is_signed && !is_signed_as(&question, verdict) {
            Some(VerdictFault::Forged)
        } else if self.has_lapsed(asked) {
            Some(VerdictFault::Expired)
        } else {
            self.fault_of(&question, asked, verdict)
        }
    }

    /// Returns the first verdict on each pending request of a round, and the verdicts that match none.
    fn sorted_by_question<'a>(&mut self, round: usize, verdicts: &'a [Verdict]) -> (Given<'a>, Refusals) {
        let (mut given, mut refused) = (Given::new(), Refusals::new());
        for verdict in verdicts {
            let question = self.question(&verdict.request_id);
            let question = question.filter(|(_, place)| place.0 == round && self.call(*place).state == State::Stored);
            let fault = match question {
                None => VerdictFault::UnknownRequest,
                Some((_, place)) if given.iter().any(|(known, _)| *known == place) => VerdictFault::AlreadyDecided,
                Some((question, _)) if !names(&question, verdict) => VerdictFault::OtherDigest,
                Some((_, place)) => {
                    given.push((place, verdict));
                    continue;
                }
            };
            refused.push((verdict.request_id.clone(), fault));
        }
        (given, refused)
    }

    /// Returns the first verdict on each call of a round, and the verdicts that match none.
    fn sorted_by_call<'a>(&mut self, round: usize, verdicts: &'a [Verdict]) -> (Given<'a>, Refusals) {
        let (mut given, mut refused) = (Given::new(), Refusals::new());
        for verdict in verdicts {
            let place = verdict.call_id.as_ref().and_then(|call_id| self.place_of(call_id.as_str()));
            let is_taken =
                |place| given.iter().any(|(known, other)| *known == place || other.request_id == verdict.request_id);
            let fault = match place.filter(|(of, _)| *of == round) {
                None => VerdictFault::UnknownRequest,
                Some(place) if is_taken(place) => VerdictFault::AlreadyDecided,
                Some(place) => {
                    given.push((place, verdict));
                    continue;
                }
            };
            refused.push((verdict.request_id.clone(), fault));
        }
        (given, refused)
    }
}

/// Verdicts, and the calls they are meant for.
type Given<'a> = Vec<(Place, &'a Verdict)>;

/// Returns whether a verdict repeats all signed fields of its request.
fn is_signed_as(question: &ApprovalRequest, verdict: &Verdict) -> bool {
    verdict.request_id == question.request_id
        && verdict.expires_at == question.expires_at
        && verdict.signature == question.signature
}
