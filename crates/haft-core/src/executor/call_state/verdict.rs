//! Acting on verdicts.
//!
//! A verdict is examined against its question and what it brings along against the tool; only a [`Ruling`], which both have
//! passed, changes what becomes of a call.

use super::consent::Consent;
use super::{CallState, Phase, Step, StepCx};
use crate::approval::{ApprovalOutcome, Ruling, VerdictFault};
use crate::call::ToolCall;
use crate::executor::isolation::drop_isolated;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::item::{ApprovalDecision, ApprovalRequest, ApprovalResponse};
use crate::output::ToolOutput;
use crate::result::Outcome;

impl CallState {
    /// Finds out whether a verdict counts for a question, and what it comes to.
    pub(super) fn judge(
        &self,
        step_cx: StepCx<'_>,
        request: &ApprovalRequest,
        response: &ApprovalResponse,
    ) -> Result<Ruling, VerdictFault> {
        step_cx.options.gate().examine(request, response)?;
        self.rule(step_cx, request, &response.decision)
    }

    fn rule(
        &self,
        step_cx: StepCx<'_>,
        request: &ApprovalRequest,
        decision: &ApprovalDecision,
    ) -> Result<Ruling, VerdictFault> {
        let tool = self.tool(step_cx.set).ok_or(VerdictFault::UnknownRequest)?;
        Ruling::of(tool, &step_cx.options.decode, request, decision)
    }

    /// Does what a verdict from before says, if there is one that holds for this call too and passes its checks.
    pub(super) fn recalled(&mut self, call: &ToolCall, step_cx: StepCx<'_>, request: &ApprovalRequest) -> Option<Step> {
        let response = self.at_gate(call, step_cx).and_then(|at| step_cx.options.gate().recall(at))?;
        match self.rule(step_cx, request, &response.decision) {
            Ok(ruling) => {
                let outcome = ApprovalOutcome::remembered(&response.decision);
                Some(self.take_verdict(call, step_cx, request, response, ruling, outcome))
            }
            Err(fault) => {
                self.refuse(step_cx, request, None, fault);
                None
            }
        }
    }

    /// Does what a verdict says. It counts for the question, or holds from before.
    pub(super) fn take_verdict(
        &mut self,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        request: &ApprovalRequest,
        response: ApprovalResponse,
        ruling: Ruling,
        outcome: ApprovalOutcome,
    ) -> Step {
        let gate = step_cx.options.gate();
        let (mut edited, mut edited_digest) = (None, None);
        self.phase = match ruling {
            Ruling::Approved => Phase::Cleared,
            Ruling::Denied => settled(ToolFailure::new(FailureKind::Denied, said(&response))),
            Ruling::Answered(value) => Phase::Settled(Box::new(Outcome::Ok(ToolOutput { value, model: None }))),
            Ruling::Edited { arguments, digest } => {
                (edited, edited_digest) = (Some(arguments), Some(digest));
                Phase::Fresh
            }
        };
        gate.record(|| {
            let mut record = gate.outcome(request, step_cx.options.caller_ref(), outcome).by(&response);
            record.edited_digest = edited_digest;
            record
        });
        // One that was remembered is there already, or was taken out meanwhile.
        let is_new = !matches!(outcome, ApprovalOutcome::Remembered | ApprovalOutcome::RememberedDenied);
        if let Some(at) = self.at_gate(call, step_cx).filter(|_| is_new) {
            gate.remember(at, &response);
        }
        drop_isolated(self.cx.take());
        if edited.is_some() {
            drop_isolated(self.prepared.take());
            self.meta = None;
            let refused = self.take_refused();
            self.consent = Some(Box::new(Consent::edited(refused)));
        }
        Step::Answered { response: Box::new(response), edited }
    }
}

fn settled(failure: ToolFailure) -> Phase {
    Phase::Settled(Box::new(failure.into()))
}

fn said(response: &ApprovalResponse) -> String {
    response.reason.clone().unwrap_or_default()
}
