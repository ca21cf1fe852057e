//! Calls as they are passed to a run: plain, or together with the state of their approval.

use std::sync::Arc;

use haft_core::{ApprovalRequest, Outcome, ToolCall, ToolResult, Verdict};

use super::waiting::StoredWait;
use crate::executor::RunOptions;

/// A call as it is passed to a run: a [`ToolCall`], or a call that a plan decided about.
///
/// A plan's call that may run carries the [digest](Self::digest) that its approval is bound to. A run accepts it only if
/// the tool, its definition and the arguments still have that digest. It can't be cloned, so one approval runs one call.
/// With a [verdict](Self::verdict) it runs without another approval request. Without one, the run evaluates its policies
/// again. It belongs to the plan that created it: a run of one plan's calls uses that plan's options, policies included,
/// and its events carry the plan's indexes.
#[derive(Debug)]
#[must_use = "a call does nothing unless it is run"]
pub struct RequestedCall {
    pub(crate) call: ToolCall,
    pub(crate) prior: Option<Box<PriorState>>,
}

/// The state of a call before its run begins.
#[derive(Debug)]
pub(crate) struct PriorState {
    pub(crate) prior_approval: PriorApproval,
    /// The verdict that the run has yet to emit as an event.
    pub(crate) verdict: Option<Box<Verdict>>,
    pub(crate) origin: Option<Origin>,
}

/// The plan that a call is part of, and its index in the plan.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) plan: Arc<Planned>,
    pub(crate) index: usize,
}

/// The options and calls that a run of planned calls needs to behave as planned.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) options: RunOptions,
    pub(crate) calls: Vec<ToolCall>,
}

/// The state of a call's approval before its run begins.
#[derive(Debug)]
pub(crate) enum PriorApproval {
    /// The call is approved for this digest.
    Approved { digest: String, verdict: Box<Verdict> },
    /// The call required no approval when it was planned, with this digest. It is not approved.
    Planned { digest: String },
    /// The call has the arguments that a verdict put in place of the model's.
    Edited,
    /// Approval was requested earlier, and a verdict may have arrived.
    Open { request: Box<ApprovalRequest>, verdict: Option<Box<Verdict>> },
    /// A verdict names a request for this call, but the request was not kept.
    Claimed { verdict: Box<Verdict> },
    /// The call has run, and waits for the answers to its questions.
    Waiting { wait: Box<StoredWait>, questions: Vec<PriorQuestion> },
    /// The call does not run and has this outcome.
    Finished(Outcome),
}

/// An open question of a call that waits, and the verdict on it, if one has arrived.
#[derive(Debug)]
pub(crate) struct PriorQuestion {
    pub(crate) request: ApprovalRequest,
    pub(crate) verdict: Option<Box<Verdict>>,
}

impl RequestedCall {
    /// Returns the call. An approved one has the arguments it was approved with, before its tool
    /// [refines](crate::ToolBuilder::refine) them.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns the digest that the plan's decision is bound to; `None` for a call that no plan allowed to run.
    #[must_use]
    pub fn digest(&self) -> Option<&str> {
        match &self.prior.as_deref()?.prior_approval {
            PriorApproval::Approved { digest, .. } | PriorApproval::Planned { digest } => Some(digest),
            PriorApproval::Edited
            | PriorApproval::Open { .. }
            | PriorApproval::Claimed { .. }
            | PriorApproval::Waiting { .. }
            | PriorApproval::Finished(_) => None,
        }
    }

    /// Returns the verdict that approved the call, if approval was requested.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        match &self.prior.as_deref()?.prior_approval {
            PriorApproval::Approved { verdict, .. } => Some(verdict),
            PriorApproval::Planned { .. }
            | PriorApproval::Edited
            | PriorApproval::Open { .. }
            | PriorApproval::Claimed { .. }
            | PriorApproval::Waiting { .. }
            | PriorApproval::Finished(_) => None,
        }
    }

    /// Creates a planned call that may run, with the digest that its approval is bound to.
    pub(super) fn approved(call: ToolCall, digest: String, verdict: Option<Box<Verdict>>, origin: Origin) -> Self {
        let prior_approval = match verdict {
            Some(verdict) => PriorApproval::Approved { digest, verdict },
            None => PriorApproval::Planned { digest },
        };
        Self { call, prior: Some(Box::new(PriorState { prior_approval, verdict: None, origin: Some(origin) })) }
    }

    /// Returns the plan that decided about the call, if one did, and the call's index in it.
    pub(super) fn origin(&self) -> Option<&Origin> {
        self.prior.as_ref()?.origin.as_ref()
    }

    pub(crate) fn with(call: ToolCall, prior_approval: PriorApproval) -> Self {
        Self { call, prior: Some(Box::new(PriorState { prior_approval, verdict: None, origin: None })) }
    }

    /// Creates a planned call that does not run because its result is already known.
    pub(super) fn finished(call: ToolCall, result: ToolResult, verdict: Option<Box<Verdict>>, origin: Origin) -> Self {
        let prior =
            PriorState { prior_approval: PriorApproval::Finished(result.outcome), verdict, origin: Some(origin) };
        Self { call, prior: Some(Box::new(prior)) }
    }
}

impl From<ToolCall> for RequestedCall {
    fn from(call: ToolCall) -> Self {
        Self { call, prior: None }
    }
}

impl From<&ToolCall> for RequestedCall {
    fn from(call: &ToolCall) -> Self {
        call.clone().into()
    }
}
