//! Approval facts that a call comes with.
//!
//! A call may come approved, with an approval request that is still pending, or with a verdict whose request was not kept.
//! None of it is trusted: it must match this call and the current definition of its tool.

use haft_core::{ApprovalRequest, ApprovalRule, Decider, ToolCall, ToolFailure, Verdict};

use super::approval::{Gated, rejection};
use super::verdict::judge;
use super::{Advance, CallPhase, CallState, StepCx, Transition};
use crate::approval::{PriorApproval, VerdictFault};

/// The reason that a pending approval request can't be answered any more.
enum Unrecognised {
    /// It is about this call, but no verdict on it counts any more: the call needs a new request, for this reason.
    Stale(VerdictFault, ApprovalRule),
    /// It is not about this call, was not sent from here, or has expired.
    Void(VerdictFault),
}

/// The result of applying approval facts: a decision, or the call to be decided by its policies.
type Decided = Result<Transition, Box<Gated>>;

impl From<Unrecognised> for VerdictFault {
    fn from(unrecognised: Unrecognised) -> Self {
        match unrecognised {
            Unrecognised::Stale(fault, _) | Unrecognised::Void(fault) => fault,
        }
    }
}

impl CallState {
    /// Decides by the approval facts that the call came with, if they decide anything.
    pub(super) fn apply_prior_approval(
        &mut self,
        prior: PriorApproval,
        mut gated: Box<Gated>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Decided, ToolFailure> {
        gated.bind_digest(call, step_cx);
        match prior {
            // A person wrote these arguments, and they were just checked.
            PriorApproval::Edited => Ok(Ok(gated.into_cleared(call, step_cx))),
            PriorApproval::Approved { digest, verdict } if gated.digest == digest => {
                let Gated { tool, ready, digest, .. } = *gated;
                Ok(Ok((
                    CallPhase::Cleared { tool, ready, digest },
                    Advance::Answered { response: verdict, edited: None },
                )))
            }
            PriorApproval::Approved { verdict, .. } => {
                let request = ApprovalRequest::answered_by(call, &verdict);
                self.reject(step_cx, &request, Some(verdict), VerdictFault::OtherDigest);
                Err(rejection(VerdictFault::OtherDigest))
            }
            // It required no approval when it was planned: the current policies decide again.
            PriorApproval::Planned { digest } if gated.digest == digest => Ok(Err(gated)),
            PriorApproval::Planned { .. } => Err(rejection(VerdictFault::OtherDigest)),
            PriorApproval::Open { request, verdict } => self.reopen(gated, call, step_cx, request, verdict).map(Ok),
            PriorApproval::Claimed { verdict } => self.claim(gated, call, step_cx, verdict),
            PriorApproval::Waiting { wait, questions } => self.rejoin(&gated, call, step_cx, *wait, questions).map(Ok),
            PriorApproval::Finished(outcome) => Ok(Ok((CallPhase::Resolved(Box::new(outcome)), Advance::Moved))),
        }
    }

    /// Resumes an approval request that is pending from before the run. It must be exactly the request that was sent,
    /// and a rejected verdict leaves it pending. When the tool has changed since, or the request is not bound to its run,
    /// the verdict is rejected and a new request is sent.
    fn reopen(
        &mut self,
        gated: Box<Gated>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        mut request: Box<ApprovalRequest>,
        verdict: Option<Box<Verdict>>,
    ) -> Result<Transition, ToolFailure> {
        request.rule.get_or_insert(ApprovalRule::StillOpen);
        match recognise(&gated, call, step_cx, &request) {
            Ok(()) => {}
            Err(Unrecognised::Stale(fault, rule)) => {
                if let Err(fault) = step_cx.options.gate().ensure_open(&request) {
                    self.reject(step_cx, &request, verdict, fault.clone());
                    return Err(rejection(fault));
                }
                self.reject(step_cx, &request, verdict, fault);
                return self.ask_instead(gated, call, step_cx, rule, request.decider);
            }
            Err(Unrecognised::Void(fault)) => {
                self.reject(step_cx, &request, verdict, fault.clone());
                return Err(rejection(fault));
            }
        }
        let mut is_objection = false;
        if let Some(verdict) = verdict {
            match judge(&gated, step_cx, &request, *verdict) {
                Ok(verdict) => return Ok(self.take_verdict(*gated, call, step_cx, &request, verdict)),
                Err((verdict, fault)) => {
                    // A person wants the call to be changed: a remembered approval must not override that.
                    is_objection = fault.is_invalid();
                    self.reject(step_cx, &request, Some(verdict), fault);
                }
            }
        }
        if !is_objection && let Some(recalled) = self.recall(&gated, call, step_cx, &request) {
            return Ok(self.take_verdict(*gated, call, step_cx, &request, recalled));
        }
        self.ask(gated, step_cx, request)
    }

    /// Sends a new request in the place of one that is stale.
    fn ask_instead(
        &mut self,
        gated: Box<Gated>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        rule: ApprovalRule,
        decider: Option<Decider>,
    ) -> Result<Transition, ToolFailure> {
        let mut request = Box::new(step_cx.options.gate().new_request(gated.at_gate(call, step_cx), rule));
        request.decider = decider;
        match self.recall(&gated, call, step_cx, &request) {
            Some(recalled) => Ok(self.take_verdict(*gated, call, step_cx, &request, recalled)),
            None => self.ask_signed(gated, step_cx, request),
        }
    }

    /// Decides by a verdict whose request was not kept: the parts of the request that it repeats are checked instead. A
    /// rejected verdict is ignored, except that a call which a person wants changed does not run without approval.
    fn claim(
        &mut self,
        gated: Box<Gated>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        verdict: Box<Verdict>,
    ) -> Result<Decided, ToolFailure> {
        let mut request = ApprovalRequest::answered_by(call, &verdict);
        request.rule = Some(ApprovalRule::StillOpen);
        let gate = step_cx.options.gate();
        let recognised = gate
            .check_claimed_expiry(&request)
            .and_then(|()| recognise(&gated, call, step_cx, &request).map_err(VerdictFault::from));
        let (verdict, fault) = match recognised {
            Ok(()) => match judge(&gated, step_cx, &request, *verdict) {
                Ok(verdict) => return Ok(Ok(self.take_verdict(*gated, call, step_cx, &request, verdict))),
                Err(rejected) => rejected,
            },
            Err(fault) => (verdict, fault),
        };
        let is_objection = fault.is_invalid();
        self.reject(step_cx, &request, Some(verdict), fault);
        if !is_objection {
            return Ok(Err(gated));
        }
        let request = Box::new(gate.new_request(gated.at_gate(call, step_cx), ApprovalRule::StillOpen));
        self.ask_signed(gated, step_cx, request).map(Ok)
    }

    /// Signs a new request and sends it. A request that can't be signed can't be answered, so the call is denied.
    fn ask_signed(
        &mut self,
        gated: Box<Gated>,
        step_cx: StepCx<'_>,
        mut request: Box<ApprovalRequest>,
    ) -> Result<Transition, ToolFailure> {
        if let Err(fault) = step_cx.options.gate().sign(&mut request, &gated.cx) {
            self.reject(step_cx, &request, None, fault.clone());
            return Err(rejection(fault));
        }
        self.ask_anew(gated, step_cx, request)
    }
}

/// Checks that a pending request is about this very call, was sent from here and has not expired.
fn recognise(
    gated: &Gated,
    call: &ToolCall,
    step_cx: StepCx<'_>,
    request: &ApprovalRequest,
) -> Result<(), Unrecognised> {
    let gate = step_cx.options.gate();
    let shows_call =
        (&request.call_id, &request.tool, &request.arguments) == (&call.call_id, &call.name, &call.arguments);
    // A question is asked by a call that has run; its state is not here.
    if !shows_call || request.question.is_some() {
        return Err(Unrecognised::Void(VerdictFault::OtherDigest));
    }
    if gated.digest != request.digest {
        return Err(Unrecognised::Stale(VerdictFault::OtherDigest, ApprovalRule::DefinitionChanged));
    }
    gate.verify_request(request, || Some(gated.cx.run_id())).map_err(|fault| {
        if fault.is_outdated() {
            Unrecognised::Stale(fault, ApprovalRule::StillOpen)
        } else {
            Unrecognised::Void(fault)
        }
    })?;
    gate.ensure_open(request).map_err(Unrecognised::Void)
}
