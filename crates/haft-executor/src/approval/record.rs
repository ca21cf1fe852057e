//! Audit records of approvals: the decision, its author, its time, the digest it covers and the rule that required it.
//!
//! Every approval request, including one that a remembered verdict resolves, ends with exactly one closing record.
//! Other records may precede it: one when the call is suspended, and one for each rejected verdict that reached the
//! run. A verdict that a queue or a loop rejects when it is submitted leaves no record. Records are passed to the
//! auditors of the run and emitted as tracing events. They contain no arguments and no results.

use haft_core::{
    ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalRule, ApprovalScope, CallId, Caller, FormatVersion,
    Timestamp, Verdict,
};
use haft_schema::isolation::isolated;
use serde::{Deserialize, Serialize};

/// The outcome of one approval request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRecord {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The id of the approval request.
    pub request_id: ApprovalId,
    /// The id of the call.
    pub call_id: CallId,
    /// The name of the tool.
    pub tool: String,
    /// The digest that the request was bound to.
    pub digest: String,
    /// The rule that required approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
    /// The caller on whose behalf the call was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
    /// The outcome.
    pub outcome: ApprovalOutcome,
    /// The scope of the verdict.
    #[serde(default)]
    pub scope: ApprovalScope,
    /// The author of the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// The time of the decision, as the verdict states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The reason: that of the verdict, or a description of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The digest of the arguments that replaced those of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_digest: Option<String>,
    /// The time at which the record was created, by the [approval clock](crate::RunOptions::approval_clock); the Unix
    /// epoch if the clock failed.
    pub recorded_at: Timestamp,
}

/// The outcome of an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalOutcome {
    /// Approved.
    Approved,
    /// Denied.
    Denied,
    /// Approved with other arguments.
    Edited,
    /// Answered in place of the tool.
    Answered,
    /// Resolved by a remembered approval, edit or answer.
    Remembered,
    /// Resolved by a remembered denial.
    RememberedDenied,
    /// The verdict was rejected.
    Rejected,
    /// The request expired.
    Expired,
    /// The call ended before a verdict arrived.
    Unanswered,
    /// No approver is configured.
    NoApprover,
    /// The call was suspended: it waits, and no decision was made yet.
    Suspended,
}

impl ApprovalRecord {
    /// Creates a record without a verdict.
    pub(crate) fn new(request: &ApprovalRequest, outcome: ApprovalOutcome, recorded_at: Timestamp) -> Self {
        Self {
            v: FormatVersion::default(),
            request_id: request.request_id.clone(),
            call_id: request.call_id.clone(),
            tool: request.tool.clone(),
            digest: request.digest.clone(),
            rule: request.rule.clone(),
            caller: None,
            outcome,
            scope: ApprovalScope::default(),
            who: None,
            at: None,
            reason: None,
            edited_digest: None,
            recorded_at,
        }
    }

    /// Adds the author, time, scope and reason of a verdict.
    pub(crate) fn with_response(mut self, response: &Verdict) -> Self {
        self.scope = response.scope.clone();
        self.who.clone_from(&response.who);
        self.at = response.at;
        self.reason.clone_from(&response.reason);
        self
    }

    /// Adds the reason for a rejection, unless it is blank. Errors are user code, and formatting one may panic.
    pub(crate) fn with_reason(mut self, reason: &(impl ToString + ?Sized)) -> Self {
        let written = isolated(|| reason.to_string()).unwrap_or_else(|panicked| panicked.to_string());
        self.reason = Some(written).filter(|reason| !reason.trim().is_empty());
        self
    }
}

impl ApprovalOutcome {
    /// Returns the outcome of a decision.
    pub(crate) fn of(decision: &ApprovalDecision) -> Self {
        match decision {
            ApprovalDecision::Approved => Self::Approved,
            ApprovalDecision::Denied => Self::Denied,
            ApprovalDecision::Edited(_) => Self::Edited,
            ApprovalDecision::Answered(_) => Self::Answered,
            ApprovalDecision::Other(_) => Self::Rejected,
        }
    }

    /// Returns the outcome of a remembered decision.
    pub(crate) fn remembered(decision: &ApprovalDecision) -> Self {
        match decision {
            ApprovalDecision::Denied | ApprovalDecision::Other(_) => Self::RememberedDenied,
            ApprovalDecision::Approved | ApprovalDecision::Edited(_) | ApprovalDecision::Answered(_) => {
                Self::Remembered
            }
        }
    }

    /// Returns the name that is used in serialised records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Edited => "edited",
            Self::Answered => "answered",
            Self::Remembered => "remembered",
            Self::RememberedDenied => "remembered_denied",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Unanswered => "unanswered",
            Self::NoApprover => "no_approver",
            Self::Suspended => "suspended",
        }
    }
}
