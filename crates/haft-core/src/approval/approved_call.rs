//! Calls as they are handed to a run: as a model asked for them, or with what is known about their approval.

use std::fmt;
use std::sync::Arc;

use crate::call::ToolCall;
use crate::executor::RunOptions;
use crate::item::{ApprovalRequest, ApprovalResponse};
use crate::result::{Outcome, ToolResult};

/// A call that may run: one that somebody approved, or one that required no approval when it was planned.
///
/// It carries what the approval is bound to: a run takes it only if the tool, its definition and the arguments are still
/// those. It can't be cloned, so one approval runs one call. With a [verdict](Self::verdict) it runs without being asked
/// about again. Without one nobody has approved it, and the policies that hold when it runs decide anew whether it requires
/// approval. It belongs to the plan it came from: a run of calls of one plan has the options of the plan, its policies
/// included, and its events the indexes of the plan.
#[must_use = "an approved call does nothing unless it is run"]
pub struct ApprovedCall {
    pub(super) call: ToolCall,
    pub(super) digest: String,
    pub(super) verdict: Option<Box<ApprovalResponse>>,
    pub(super) origin: Option<Origin>,
}

/// A call as it is handed to a run. Made from a [`ToolCall`], an [`ApprovedCall`], or a decision about one.
#[derive(Debug)]
#[must_use = "a call does nothing unless it is run"]
pub struct RequestedCall {
    pub(crate) call: ToolCall,
    pub(crate) prior: Option<Box<PriorState>>,
}

/// Everything that is known about a call before its run begins.
#[derive(Debug)]
pub(crate) struct PriorState {
    pub(crate) prior_approval: PriorApproval,
    /// The verdict that the run has yet to show.
    pub(crate) verdict: Option<Box<ApprovalResponse>>,
    pub(crate) origin: Option<Origin>,
}

/// The plan that a call is part of, and its place there.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) plan: Arc<Planned>,
    pub(crate) index: usize,
}

/// The data that a run of planned calls needs to be the run that was planned.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) options: RunOptions,
    pub(crate) calls: Vec<ToolCall>,
}

/// What is known about a call's approval before its run begins.
#[derive(Debug)]
#[cfg_attr(not(feature = "approval"), allow(dead_code, reason = "without digests nothing is prior ahead"))]
pub(crate) enum PriorApproval {
    /// Somebody approved it for this digest.
    Approved { digest: String, verdict: Box<ApprovalResponse> },
    /// It required no approval when it was planned, with this digest. Nobody has approved it.
    Planned { digest: String },
    /// A person put the arguments there that it has now.
    Edited,
    /// Somebody was asked before, and perhaps has answered.
    Open { request: Box<ApprovalRequest>, verdict: Option<Box<ApprovalResponse>> },
    /// Somebody says to have answered a question about it, which was not kept.
    Claimed { verdict: Box<ApprovalResponse> },
    /// It does not run: this is its outcome.
    Finished(Outcome),
}

impl ApprovedCall {
    pub(crate) fn new(call: ToolCall, digest: String) -> Self {
        Self { call, digest, verdict: None, origin: None }
    }

    /// The call, with the arguments it was approved with.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// What the approval is bound to.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The verdict, when somebody was asked.
    #[must_use]
    pub fn verdict(&self) -> Option<&ApprovalResponse> {
        self.verdict.as_deref()
    }
}

impl RequestedCall {
    pub(crate) fn with(call: ToolCall, prior_approval: PriorApproval) -> Self {
        Self { call, prior: Some(Box::new(PriorState { prior_approval, verdict: None, origin: None })) }
    }

    /// A planned call that does not run: its result is known.
    #[cfg_attr(not(feature = "approval"), allow(dead_code, reason = "without digests nothing is prior ahead"))]
    pub(super) fn finished(
        call: ToolCall,
        result: ToolResult,
        verdict: Option<Box<ApprovalResponse>>,
        origin: Origin,
    ) -> Self {
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

impl From<ApprovedCall> for RequestedCall {
    fn from(approved: ApprovedCall) -> Self {
        let ApprovedCall { call, digest, verdict, origin } = approved;
        let prior_approval = match verdict {
            Some(verdict) => PriorApproval::Approved { digest, verdict },
            None => PriorApproval::Planned { digest },
        };
        Self { call, prior: Some(Box::new(PriorState { prior_approval, verdict: None, origin })) }
    }
}

impl fmt::Debug for ApprovedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovedCall").field("call", &self.call).field("digest", &self.digest).finish_non_exhaustive()
    }
}
