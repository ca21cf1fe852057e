//! Acting on verdicts.
//!
//! A verdict is examined against its question and what it brings along against the tool; only a [`Ruling`], which both have
//! passed, changes what becomes of a call.

use super::consent::Consent;
use super::{CallState, Phase, Step, Tower};
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
        tower: Tower<'_>,
        request: &ApprovalRequest,
        response: &ApprovalResponse,
    ) -> Result<Ruling, VerdictFault> {
        tower.options.gate().examine(request, response)?;
        self.rule(tower, request, &response.decision)
    }

    fn rule(
        &self,
        tower: Tower<'_>,
        request: &ApprovalRequest,
        decision: &ApprovalDecision,
    ) -> Result<Ruling, VerdictFault> {
        let tool = self.tool(tower.set).ok_or(VerdictFault::UnknownRequest)?;
        Ruling::of(tool, &tower.options.decode, request, decision)
    }

    /// Does what a verdict from before says, if there is one that holds for this call too and passes its checks.
    pub(super) fn recalled(&mut self, call: &ToolCall, tower: Tower<'_>, request: &ApprovalRequest) -> Option<Step> {
        let response = self.at_gate(call, tower).and_then(|at| tower.options.gate().recall(at))?;
        match self.rule(tower, request, &response.decision) {
            Ok(ruling) => {
                let outcome = ApprovalOutcome::remembered(&response.decision);
                Some(self.take_verdict(call, tower, request, response, ruling, outcome))
            }
            Err(fault) => {
                self.refuse(tower, request, None, fault);
                None
            }
        }
    }

    /// Does what a verdict says. It counts for the question, or holds from before.
    pub(super) fn take_verdict(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        request: &ApprovalRequest,
        response: ApprovalResponse,
        ruling: Ruling,
        outcome: ApprovalOutcome,
    ) -> Step {
        let gate = tower.options.gate();
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
            let mut record = gate.outcome(request, tower.options.caller_ref(), outcome).by(&response);
            record.edited_digest = edited_digest;
            record
        });
        // One that was remembered is there already, or was taken out meanwhile.
        let is_new = !matches!(outcome, ApprovalOutcome::Remembered | ApprovalOutcome::RememberedDenied);
        if let Some(at) = self.at_gate(call, tower).filter(|_| is_new) {
            gate.remember(at, &response);
        }
        drop_isolated(self.cx.take());
        if edited.is_some() {
            drop_isolated(self.prepared.take());
            self.aside = None;
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
