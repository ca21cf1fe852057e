//! The approval of a call, as far as it was known before its run began.
//!
//! A call may come approved, with a question that was asked before, or with a verdict whose question was not kept. None of
//! it is taken on trust: it has to be about this very call, as it is now.

use super::consent::refusal;
use super::{CallState, Phase, Step, StepCx};
use crate::approval::{ApprovalOutcome, PriorApproval, RefusedVerdict, VerdictFault};
use crate::call::ToolCall;
use crate::failure::ToolFailure;
use crate::item::{ApprovalRequest, ApprovalResponse, ApprovalRule};

/// The message about a question from before that can't be answered any more.
enum Unrecognised {
    /// It shows this call, and the tool is another than was shown.
    Changed,
    /// It is no question about this call, was not asked here, or has lapsed.
    Void(VerdictFault),
}

impl From<Unrecognised> for VerdictFault {
    fn from(unrecognised: Unrecognised) -> Self {
        match unrecognised {
            Unrecognised::Changed => Self::OtherDigest,
            Unrecognised::Void(fault) => fault,
        }
    }
}

impl CallState {
    /// Goes by what was known before the run began, if that says anything.
    pub(super) fn stand(
        &mut self,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        prior_approval: PriorApproval,
    ) -> Result<Option<Step>, ToolFailure> {
        self.bind_digest(call, step_cx);
        match prior_approval {
            // A person wrote these arguments, and they were just checked.
            PriorApproval::Edited => Ok(Some(self.cleared(call, step_cx))),
            PriorApproval::Approved { digest, verdict } if self.digest() == Some(&digest) => {
                self.phase = Phase::Cleared;
                Ok(Some(Step::Answered { response: verdict, edited: None }))
            }
            PriorApproval::Approved { verdict, .. } => {
                let request = ApprovalRequest::answered_by(call, &verdict);
                self.refuse(step_cx, &request, Some(verdict), VerdictFault::OtherDigest);
                Err(refusal(VerdictFault::OtherDigest))
            }
            // Nobody approved it: whether somebody has to is decided by the policies that hold now.
            PriorApproval::Planned { digest } if self.digest() == Some(&digest) => Ok(None),
            PriorApproval::Planned { .. } => Err(refusal(VerdictFault::OtherDigest)),
            PriorApproval::Open { request, verdict } => self.reopen(call, step_cx, request, verdict).map(Some),
            PriorApproval::Claimed { verdict } => self.claim(call, step_cx, verdict),
            // Such a call never gets here.
            PriorApproval::Settled(_) => Ok(Some(Step::Moved)),
        }
    }

    /// Goes on with a question that was asked before. It is taken only as it was asked, and a verdict on it that does not
    /// count leaves it open. When the tool has changed since, nobody can agree by it any more: the verdict is rejected,
    /// and a new question is asked about the tool as it is now.
    fn reopen(
        &mut self,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        mut request: Box<ApprovalRequest>,
        verdict: Option<Box<ApprovalResponse>>,
    ) -> Result<Step, ToolFailure> {
        let gate = step_cx.options.gate();
        request.rule.get_or_insert(ApprovalRule::StillOpen);
        match self.recognise(call, step_cx, &request) {
            Ok(()) => {}
            Err(Unrecognised::Changed) => {
                if let Err(fault) = gate.ensure_open(&request) {
                    self.refuse(step_cx, &request, verdict, fault.clone());
                    return Err(refusal(fault));
                }
                self.refuse(step_cx, &request, verdict, VerdictFault::OtherDigest);
                let Some(at) = self.at_gate(call, step_cx) else { return Ok(Step::Moved) };
                let request = Box::new(gate.question(at, ApprovalRule::DefinitionChanged));
                return match self.recalled(call, step_cx, &request) {
                    Some(step) => Ok(step),
                    None => self.ask_sealed(step_cx, request),
                };
            }
            Err(Unrecognised::Void(fault)) => {
                self.refuse(step_cx, &request, verdict, fault.clone());
                return Err(refusal(fault));
            }
        }
        let Some(verdict) = verdict else {
            return self.recalled(call, step_cx, &request).map_or_else(|| self.ask(step_cx, request), Ok);
        };
        let fault = match self.judge(step_cx, &request, &verdict) {
            Ok(ruling) => {
                let outcome = ApprovalOutcome::of(&verdict.decision);
                return Ok(self.take_verdict(call, step_cx, &request, *verdict, ruling, outcome));
            }
            Err(fault) => fault,
        };
        // Somebody wants the call to be other than it is: a yes from before is no answer to that.
        let is_objection = fault.is_invalid();
        self.refuse(step_cx, &request, Some(verdict), fault);
        if !is_objection && let Some(step) = self.recalled(call, step_cx, &request) {
            return Ok(step);
        }
        self.ask(step_cx, request)
    }

    /// Goes by a verdict whose question was not kept: what it gives back of that is checked instead. One that does not
    /// count is as good as none, except that a call that somebody wants to be other than it is does not run unasked.
    fn claim(
        &mut self,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        verdict: Box<ApprovalResponse>,
    ) -> Result<Option<Step>, ToolFailure> {
        let mut request = ApprovalRequest::answered_by(call, &verdict);
        request.rule = Some(ApprovalRule::StillOpen);
        let gate = step_cx.options.gate();
        let counts = gate
            .believe_end(&request)
            .and_then(|()| self.recognise(call, step_cx, &request).map_err(VerdictFault::from))
            .and_then(|()| self.judge(step_cx, &request, &verdict));
        let fault = match counts {
            Ok(ruling) => {
                let outcome = ApprovalOutcome::of(&verdict.decision);
                return Ok(Some(self.take_verdict(call, step_cx, &request, *verdict, ruling, outcome)));
            }
            Err(fault) => fault,
        };
        let is_objection = fault.is_invalid();
        self.refuse(step_cx, &request, Some(verdict), fault);
        let Some(at) = self.at_gate(call, step_cx).filter(|_| is_objection) else { return Ok(None) };
        let request = Box::new(gate.question(at, ApprovalRule::StillOpen));
        self.ask_sealed(step_cx, request).map(Some)
    }

    /// Seals a new question and asks it. One that can't be sealed can't be answered, so the call is denied.
    fn ask_sealed(&mut self, step_cx: StepCx<'_>, mut request: Box<ApprovalRequest>) -> Result<Step, ToolFailure> {
        if let Err(fault) = step_cx.options.gate().seal(&mut request) {
            self.refuse(step_cx, &request, None, fault.clone());
            return Err(refusal(fault));
        }
        self.ask_anew(step_cx, request)
    }

    /// Checks that a question from before is about this very call, was asked here and is still open.
    fn recognise(&self, call: &ToolCall, step_cx: StepCx<'_>, request: &ApprovalRequest) -> Result<(), Unrecognised> {
        let gate = step_cx.options.gate();
        let shows_call =
            (&request.call_id, &request.tool, &request.arguments) == (&call.call_id, &call.name, &call.arguments);
        if !shows_call {
            return Err(Unrecognised::Void(VerdictFault::OtherDigest));
        }
        if self.digest() != Some(&request.digest) {
            return Err(Unrecognised::Changed);
        }
        gate.recognise(request).map_err(Unrecognised::Void)?;
        gate.ensure_open(request).map_err(Unrecognised::Void)
    }

    /// Writes down that a question, or a verdict on it, does not count, and keeps the verdict for whoever sent it.
    pub(super) fn refuse(
        &mut self,
        step_cx: StepCx<'_>,
        request: &ApprovalRequest,
        verdict: Option<Box<ApprovalResponse>>,
        fault: VerdictFault,
    ) {
        let (gate, caller) = (step_cx.options.gate(), step_cx.options.caller_ref());
        gate.record(|| {
            let record = gate.outcome(request, caller, fault.outcome());
            verdict.iter().fold(record, |record, verdict| record.by(verdict)).because(&fault.recorded())
        });
        if let Some(verdict) = verdict {
            self.consent_mut().refused.push(RefusedVerdict::new(*verdict, fault));
        }
    }
}
