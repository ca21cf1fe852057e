//! What was known about the approval of a call before its run began.
//!
//! A call may come approved, with a question that was asked before, or with a verdict whose question was not kept. None of
//! it is taken on trust: it has to be about this very call, as it is now.

use super::consent::refusal;
use super::{Flight, Phase, Step, Tower};
use crate::approval::{ApprovalOutcome, RefusedVerdict, Standing, VerdictFault};
use crate::call::ToolCall;
use crate::failure::ToolFailure;
use crate::item::{ApprovalRequest, ApprovalResponse, ApprovalRule};

impl Flight {
    /// Goes by what was known before the run began, if that says anything.
    pub(super) fn stand(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        standing: Standing,
    ) -> Result<Option<Step>, ToolFailure> {
        self.bind_digest(call, tower);
        match standing {
            // A person wrote these arguments, and they were just checked.
            Standing::Edited => Ok(Some(self.cleared(call, tower))),
            Standing::Approved { digest, verdict } if self.digest() == Some(&digest) => {
                self.phase = Phase::Cleared;
                Ok(Some(Step::Answered { response: verdict, edited: None }))
            }
            Standing::Approved { verdict, .. } => {
                let request = ApprovalRequest::answered_by(call, &verdict);
                self.refuse(tower, &request, Some(verdict), VerdictFault::OtherDigest);
                Err(refusal(VerdictFault::OtherDigest))
            }
            // Nobody approved it: whether somebody has to is decided by the policies that hold now.
            Standing::Planned { digest, .. } if self.digest() == Some(&digest) => Ok(None),
            Standing::Planned { .. } => Err(refusal(VerdictFault::OtherDigest)),
            Standing::Open { request, verdict } => self.reopen(call, tower, request, verdict).map(Some),
            Standing::Claimed { verdict } => Ok(self.claim(call, tower, verdict)),
            // Such a call never gets here.
            Standing::Settled(_) => Ok(Some(Step::Moved)),
        }
    }

    /// A question that was asked before. It is taken only as it was asked; a verdict on it that does not count leaves it
    /// open.
    fn reopen(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        mut request: Box<ApprovalRequest>,
        verdict: Option<Box<ApprovalResponse>>,
    ) -> Result<Step, ToolFailure> {
        let gate = tower.options.gate();
        request.rule.get_or_insert(ApprovalRule::StillOpen);
        if let Err(fault) = self.recognise(call, tower, &request) {
            self.refuse(tower, &request, verdict, fault.clone());
            return Err(refusal(fault));
        }
        if let Some(verdict) = verdict {
            match gate.examine(&request, &verdict) {
                Ok(()) => {
                    let outcome = ApprovalOutcome::of(&verdict.decision);
                    return Ok(self.take_verdict(call, tower, &request, *verdict, outcome));
                }
                Err(fault) => self.refuse(tower, &request, Some(verdict), fault),
            }
        }
        if let Some(response) = self.at_gate(call, tower).and_then(|at| gate.recall(at)) {
            let outcome = ApprovalOutcome::remembered(&response.decision);
            return Ok(self.take_verdict(call, tower, &request, response, outcome));
        }
        self.ask(tower, request)
    }

    /// A verdict whose question was not kept: what it gives back of that is checked instead. One that does not count is
    /// as good as none.
    fn claim(&mut self, call: &ToolCall, tower: Tower<'_>, verdict: Box<ApprovalResponse>) -> Option<Step> {
        let mut request = ApprovalRequest::answered_by(call, &verdict);
        request.rule = Some(ApprovalRule::StillOpen);
        let gate = tower.options.gate();
        let counts = gate
            .believe_end(&request)
            .and_then(|()| self.recognise(call, tower, &request))
            .and_then(|()| gate.examine(&request, &verdict));
        match counts {
            Ok(()) => {
                let outcome = ApprovalOutcome::of(&verdict.decision);
                Some(self.take_verdict(call, tower, &request, *verdict, outcome))
            }
            Err(fault) => {
                self.refuse(tower, &request, Some(verdict), fault);
                None
            }
        }
    }

    /// Whether a question from before is about this very call, was asked here and is still open.
    fn recognise(&self, call: &ToolCall, tower: Tower<'_>, request: &ApprovalRequest) -> Result<(), VerdictFault> {
        let gate = tower.options.gate();
        let shows_call =
            (&request.call_id, &request.tool, &request.arguments) == (&call.call_id, &call.name, &call.arguments);
        if !shows_call || self.digest() != Some(&request.digest) {
            return Err(VerdictFault::OtherDigest);
        }
        gate.recognise(request)?;
        gate.ensure_open(request)
    }

    /// Writes down that a question, or a verdict on it, does not count, and keeps the verdict for whoever sent it.
    pub(super) fn refuse(
        &mut self,
        tower: Tower<'_>,
        request: &ApprovalRequest,
        verdict: Option<Box<ApprovalResponse>>,
        fault: VerdictFault,
    ) {
        let (gate, caller) = (tower.options.gate(), tower.options.caller_ref());
        gate.record(|| {
            let record = gate.outcome(request, caller, fault.outcome());
            verdict.iter().fold(record, |record, verdict| record.by(verdict)).because(&fault)
        });
        if let Some(verdict) = verdict {
            self.consent_mut().refused.push(RefusedVerdict::new(*verdict, fault));
        }
    }
}
