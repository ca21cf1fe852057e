//! Calls as they are handed to a run: as a model asked for them, or with what is known about their approval.

use std::fmt;

use crate::call::ToolCall;
use crate::item::{ApprovalRequest, ApprovalResponse};
use crate::result::{Outcome, ToolResult};
use crate::tool::ApprovalPolicy;

/// A call that may run: one that somebody approved, or one that required no approval when it was planned.
///
/// It carries what the approval is bound to: a run takes it only if the tool, its definition and the arguments are still
/// those. It can't be cloned, so one approval runs one call. With a [verdict](Self::verdict) it runs without being asked
/// about again. Without one nobody has approved it, and the policies of the tool and the run that runs it decide anew
/// whether it requires approval; only a tool's policy that the plan's options [replaced](crate::RunOptions::policy_instead)
/// stays replaced, as long as it is the same.
#[must_use = "an approved call does nothing unless it is run"]
pub struct ApprovedCall {
    pub(super) call: ToolCall,
    pub(super) digest: String,
    pub(super) verdict: Option<Box<ApprovalResponse>>,
    /// The tool's own policy, where the plan's options replaced it.
    replaced: Option<ApprovalPolicy>,
}

/// A call as it is handed to a run. Made from a [`ToolCall`], an [`ApprovedCall`], or a decision about one.
#[derive(Debug)]
#[must_use = "a call does nothing unless it is run"]
pub struct RequestedCall {
    pub(crate) call: ToolCall,
    pub(crate) standing: Option<Box<Standing>>,
    /// The verdict that the run has yet to show.
    pub(crate) verdict: Option<Box<ApprovalResponse>>,
}

/// What is known about a call's approval before its run begins.
#[derive(Debug)]
#[cfg_attr(not(feature = "approval"), allow(dead_code, reason = "without digests nothing is known ahead"))]
pub(crate) enum Standing {
    /// Somebody approved it for this digest.
    Approved { digest: String, verdict: Box<ApprovalResponse> },
    /// It required no approval when it was planned, with this digest. Nobody has approved it.
    Planned { digest: String, replaced: Option<ApprovalPolicy> },
    /// A person put the arguments there that it has now.
    Edited,
    /// Somebody was asked before, and perhaps has answered.
    Open { request: Box<ApprovalRequest>, verdict: Option<Box<ApprovalResponse>> },
    /// Somebody says to have answered a question about it, which was not kept.
    Claimed { verdict: Box<ApprovalResponse> },
    /// It does not run: this is its outcome.
    Settled(Outcome),
}

impl ApprovedCall {
    /// Creates a call that may run; `replaced` is its tool's own policy, where other options replaced it.
    pub(crate) fn new(call: ToolCall, digest: String, replaced: Option<ApprovalPolicy>) -> Self {
        Self { call, digest, verdict: None, replaced }
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
    pub(crate) fn with(call: ToolCall, standing: Standing) -> Self {
        Self { call, standing: Some(Box::new(standing)), verdict: None }
    }

    /// A call that does not run: its result is known.
    #[cfg_attr(not(feature = "approval"), allow(dead_code, reason = "without digests nothing is known ahead"))]
    pub(super) fn settled(call: ToolCall, result: ToolResult, verdict: Option<Box<ApprovalResponse>>) -> Self {
        Self { verdict, ..Self::with(call, Standing::Settled(result.outcome)) }
    }
}

impl From<ToolCall> for RequestedCall {
    fn from(call: ToolCall) -> Self {
        Self { call, standing: None, verdict: None }
    }
}

impl From<&ToolCall> for RequestedCall {
    fn from(call: &ToolCall) -> Self {
        call.clone().into()
    }
}

impl From<ApprovedCall> for RequestedCall {
    fn from(approved: ApprovedCall) -> Self {
        let ApprovedCall { call, digest, verdict, replaced } = approved;
        let standing = match verdict {
            Some(verdict) => Standing::Approved { digest, verdict },
            None => Standing::Planned { digest, replaced },
        };
        Self::with(call, standing)
    }
}

impl fmt::Debug for ApprovedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovedCall").field("call", &self.call).field("digest", &self.digest).finish_non_exhaustive()
    }
}
