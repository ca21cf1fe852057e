//! The record of an approval: who decided what about which digest, when, and under which rule.
//!
//! Every question that a run asks, or that a memory answers in its place, ends in exactly one record that closes it. Before
//! that there may be others: that it was put off, and one for each verdict that reached the run and did not count. A verdict
//! that is handed back where it is handed in, by a queue or by a loop, leaves none. Records go to the run's auditor and to
//! tracing; they hold no arguments and no results.

use serde::{Deserialize, Serialize};

use crate::call::CallId;
use crate::cx::Caller;
use crate::executor::isolated;
use crate::item::{ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalResponse, ApprovalRule, ApprovalScope};
use crate::timestamp::Timestamp;
use crate::version::FormatVersion;

/// What became of one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRecord {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The question.
    pub request_id: ApprovalId,
    /// The call it is about.
    pub call_id: CallId,
    /// The name of the tool.
    pub tool: String,
    /// What the question was bound to.
    pub digest: String,
    /// What demanded that somebody is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
    /// Who asked for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
    /// What became of it.
    pub outcome: ApprovalOutcome,
    /// What else the verdict holds for.
    #[serde(default)]
    pub scope: ApprovalScope,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// When they say they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Why, in the words of whoever decided, or of whatever went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The digest of the arguments that were put in the place of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_digest: Option<String>,
    /// The time at which this was written, by the [clock](crate::RunOptions::approval_clock) of the approvals; the Unix epoch if that
    /// failed.
    pub recorded_at: Timestamp,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalOutcome {
    /// Somebody agreed.
    Approved,
    /// Somebody did not.
    Denied,
    /// Somebody agreed to other arguments.
    Edited,
    /// Somebody answered in the tool's place.
    Answered,
    /// A verdict from before holds for this call too, and it was a yes, an edit or an answer.
    Remembered,
    /// A verdict from before holds for this call too, and it was a no.
    RememberedDenied,
    /// What came back could not be used.
    Refused,
    /// The question lapsed.
    Lapsed,
    /// The call was over before anybody had answered.
    Unanswered,
    /// Nobody was there to be asked.
    NobodyAsked,
    /// The question was put off: the call waits, and this is no decision yet.
    Suspended,
}

impl ApprovalRecord {
    /// What became of a question, without a verdict.
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

    /// With what a verdict says.
    pub(crate) fn by(mut self, response: &ApprovalResponse) -> Self {
        self.scope = response.scope.clone();
        self.who.clone_from(&response.who);
        self.at = response.at;
        self.reason.clone_from(&response.reason);
        self
    }

    /// Adds what went wrong, unless that is blank. An error of user code may panic when it is written.
    pub(crate) fn because(mut self, reason: &(impl ToString + ?Sized)) -> Self {
        let written = isolated(|| reason.to_string()).unwrap_or_else(|panicked| panicked.to_string());
        self.reason = Some(written).filter(|reason| !reason.trim().is_empty());
        self
    }
}

impl ApprovalOutcome {
    /// What a verdict came to.
    pub(crate) fn of(decision: &ApprovalDecision) -> Self {
        match decision {
            ApprovalDecision::Approved => Self::Approved,
            ApprovalDecision::Denied => Self::Denied,
            ApprovalDecision::Edited(_) => Self::Edited,
            ApprovalDecision::Answered(_) => Self::Answered,
            ApprovalDecision::Other(_) => Self::Refused,
        }
    }

    /// What a remembered verdict came to.
    pub(crate) fn remembered(decision: &ApprovalDecision) -> Self {
        match decision {
            ApprovalDecision::Denied | ApprovalDecision::Other(_) => Self::RememberedDenied,
            ApprovalDecision::Approved | ApprovalDecision::Edited(_) | ApprovalDecision::Answered(_) => {
                Self::Remembered
            }
        }
    }

    /// The name, as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Edited => "edited",
            Self::Answered => "answered",
            Self::Remembered => "remembered",
            Self::RememberedDenied => "remembered_denied",
            Self::Refused => "refused",
            Self::Lapsed => "lapsed",
            Self::Unanswered => "unanswered",
            Self::NobodyAsked => "nobody_asked",
            Self::Suspended => "suspended",
        }
    }
}
