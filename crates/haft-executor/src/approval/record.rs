//! Audit records of a run: the outcomes of approval requests, and the calls that a permit denied.
//!
//! Every approval request, including one that a remembered verdict resolves, ends with exactly one closing record.
//! Other records may precede it: one when the call is suspended, and one for each rejected verdict that reached the
//! run. A verdict that a queue or a loop rejects when it is submitted leaves no record. The run passes records to its
//! auditors and emits them as tracing events. They contain no arguments and no results.
//!
//! In JSON the `type` is `approval` or `denial`. Records without one are about approvals: earlier versions wrote no other.

use haft_core::{
    ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalRule, ApprovalScope, CallId, Caller, FormatVersion,
    Timestamp, ToolCall, Verdict,
};
use haft_schema::isolation::isolated;
use serde::{Deserialize, Serialize};

/// A record for the auditors of a run, see [`RunOptions::audit`](crate::RunOptions::audit): an approval request's outcome,
/// or a call that a permit denied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The outcome.
    #[serde(flatten, with = "outcome_form")]
    pub outcome: ApprovalOutcome,
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The id of the approval request. Unset if a permit denied the call, before approval could be requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<ApprovalId>,
    /// The id of the call.
    pub call_id: CallId,
    /// The name of the tool.
    pub tool: String,
    /// The digest that the request was bound to. Unset if a permit denied the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The rule that required approval, or the one that the permit [named](crate::Permission::by_rule).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
    /// The caller on whose behalf the call was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
    /// The scope of the verdict.
    #[serde(default)]
    pub scope: ApprovalScope,
    /// The author of the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// The time of the decision, as the verdict states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The reason: the verdict's, the permit's, or a description of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The digest of the arguments that replaced those of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_digest: Option<String>,
    /// The time at which the record was created, by the [approval clock](crate::RunOptions::approval_clock); the Unix
    /// epoch if the clock failed.
    pub recorded_at: Timestamp,
}

/// The outcome of an approval request, or of the permits before it.
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
    /// Approval was not requested: a permit denied the call, failed to decide, or [hides](crate::Permit::sees) the tool.
    Forbidden,
}

impl AuditRecord {
    /// Creates a record without a verdict.
    pub(crate) fn new(request: &ApprovalRequest, outcome: ApprovalOutcome, recorded_at: Timestamp) -> Self {
        Self {
            request_id: Some(request.request_id.clone()),
            digest: Some(request.digest.clone()),
            rule: request.rule.clone(),
            ..Self::of_call(&request.call_id, &request.tool, outcome, recorded_at)
        }
    }

    /// Creates the record of a call that a permit denied.
    pub(crate) fn forbidden(call: &ToolCall, rule: Option<&str>, reason: &str, recorded_at: Timestamp) -> Self {
        Self {
            rule: rule.map(ApprovalRule::from),
            reason: Some(reason.to_owned()),
            ..Self::of_call(&call.call_id, &call.name, ApprovalOutcome::Forbidden, recorded_at)
        }
    }

    fn of_call(call_id: &CallId, tool: &str, outcome: ApprovalOutcome, recorded_at: Timestamp) -> Self {
        Self {
            outcome,
            v: FormatVersion::default(),
            request_id: None,
            call_id: call_id.clone(),
            tool: tool.to_owned(),
            digest: None,
            rule: None,
            caller: None,
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
            Self::Forbidden => "forbidden",
        }
    }
}

/// The outcome in JSON: the record's type, and the outcome of an approval request.
mod outcome_form {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::ApprovalOutcome;

    #[derive(Serialize, Deserialize)]
    struct OutcomeForm {
        #[serde(rename = "type", default)]
        record: RecordType,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<ApprovalOutcome>,
    }

    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum RecordType {
        #[default]
        Approval,
        Denial,
    }

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(super) fn serialize<S: Serializer>(outcome: &ApprovalOutcome, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match outcome {
            ApprovalOutcome::Forbidden => OutcomeForm { record: RecordType::Denial, outcome: None },
            outcome => OutcomeForm { record: RecordType::Approval, outcome: Some(*outcome) },
        };
        form.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ApprovalOutcome, D::Error> {
        match OutcomeForm::deserialize(deserializer)? {
            OutcomeForm { record: RecordType::Denial, .. } => Ok(ApprovalOutcome::Forbidden),
            OutcomeForm { record: RecordType::Approval, outcome } => {
                outcome.ok_or_else(|| D::Error::missing_field("outcome"))
            }
        }
    }
}
