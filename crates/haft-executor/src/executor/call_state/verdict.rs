//! Acting on verdicts.
//!
//! A verdict is examined against its request, and the arguments or the answer that it contains against the tool. Only a
//! [`Ruling`], which has passed both, changes anything about a call.

use haft_core::{ApprovalDecision, ApprovalRequest, FailureKind, Outcome, ToolCall, ToolFailure, ToolOutput, Verdict};

use super::approval::Gated;
use super::{Advance, CallPhase, CallState, StepCx, Transition, output_cap};
use crate::approval::{ApprovalOutcome, PriorApproval, Ruling, VerdictFault};
use crate::executor::cap::cap_outcome;

/// An accepted verdict and its consequences.
pub(super) struct AcceptedVerdict {
    response: Verdict,
    ruling: Ruling,
    outcome: ApprovalOutcome,
}

impl CallState {
    /// Returns a remembered verdict that also applies to this call and passes its checks.
    pub(super) fn recall(
        &mut self,
        gated: &Gated,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        request: &ApprovalRequest,
    ) -> Option<AcceptedVerdict> {
        let response = step_cx.options.gate().verdict_for(gated.at_gate(call, step_cx))?;
        match rule(gated, step_cx, request, &response.decision) {
            Ok(ruling) => {
                let outcome = ApprovalOutcome::remembered(&response.decision);
                Some(AcceptedVerdict { response, ruling, outcome })
            }
            Err(fault) => {
                self.reject(step_cx, request, None, fault);
                None
            }
        }
    }

    /// Carries out a verdict.
    pub(super) fn take_verdict(
        &mut self,
        gated: Gated,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        request: &ApprovalRequest,
        verdict: AcceptedVerdict,
    ) -> Transition {
        let AcceptedVerdict { response, ruling, outcome } = verdict;
        let gate = step_cx.options.gate();
        gate.record(|| {
            let mut record = gate.new_record(request, step_cx.options.caller_ref(), outcome).with_response(&response);
            if let Ruling::Edited { digest, .. } = &ruling {
                record.edited_digest = Some(digest.clone());
            }
            record
        });
        // A remembered verdict is in the memory already, or was removed from it meanwhile.
        let is_new = !matches!(outcome, ApprovalOutcome::Remembered | ApprovalOutcome::RememberedDenied);
        if is_new {
            gate.remember(gated.at_gate(call, step_cx), &response);
        }
        let Gated { tool, ready, digest, .. } = gated;
        let mut edited = None;
        let phase = match ruling {
            Ruling::Approved => CallPhase::Cleared { tool, ready, digest },
            Ruling::Denied => {
                let reason = response.reason.clone().unwrap_or_default();
                CallPhase::Resolved(Box::new(ToolFailure::new(FailureKind::Denied, reason).into()))
            }
            Ruling::Answered(value) => {
                let answer = Outcome::Ok(ToolOutput::new(value));
                let cap = output_cap(step_cx.tool(tool), step_cx.options);
                CallPhase::Resolved(Box::new(cap_outcome(answer, cap)))
            }
            Ruling::Edited { arguments, .. } => {
                edited = Some(arguments);
                self.repairs.clear();
                self.prior = Some(Box::new(PriorApproval::Edited));
                CallPhase::New
            }
        };
        (phase, Advance::Answered { response: Box::new(response), edited })
    }
}

/// Examines a verdict on a request. A rejected verdict is returned with the reason.
pub(super) fn judge(
    gated: &Gated,
    step_cx: StepCx<'_>,
    request: &ApprovalRequest,
    response: Verdict,
) -> Result<AcceptedVerdict, (Box<Verdict>, VerdictFault)> {
    let examined = step_cx.options.gate().check_verdict(request, &response);
    match examined.and_then(|()| rule(gated, step_cx, request, &response.decision)) {
        Ok(ruling) => {
            let outcome = ApprovalOutcome::of(&response.decision);
            Ok(AcceptedVerdict { response, ruling, outcome })
        }
        Err(fault) => Err((Box::new(response), fault)),
    }
}

fn rule(
    gated: &Gated,
    step_cx: StepCx<'_>,
    request: &ApprovalRequest,
    decision: &ApprovalDecision,
) -> Result<Ruling, VerdictFault> {
    Ruling::of(step_cx.tool(gated.tool), &step_cx.options.decode, request, decision)
}
