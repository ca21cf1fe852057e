//! Verdicts that can't be used.
//!
//! A verdict is refused for a reason, and whoever sent it or takes care of it is told; it is never dropped in silence.

use super::record::ApprovalOutcome;
#[cfg(feature = "approval")]
use super::signing::SignatureError;
use crate::issue::{Issues, REASON_CAP};
use crate::item::ApprovalResponse;

/// A verdict that was not used, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the verdict on `{}` was refused: {fault}", .response.request_id)]
#[non_exhaustive]
pub struct RefusedVerdict {
    /// The verdict.
    pub response: Box<ApprovalResponse>,
    /// Why it was not used.
    #[source]
    pub fault: VerdictFault,
}

/// Why a verdict can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerdictFault {
    /// Nobody asked this question here.
    #[error("no such question is open here")]
    UnknownRequest,
    /// The question was answered before: the first verdict counts.
    #[error("the question was answered before, and the first verdict counts")]
    AlreadyDecided,
    /// It was given for another call, other arguments or another definition of the tool.
    #[error("it was given for other arguments or another definition of the tool")]
    OtherDigest,
    /// It came after the question's end.
    #[error("the question lapsed before the verdict came")]
    Lapsed,
    /// The [clock](crate::RunOptions::approval_clock) of the approvals panicked, so nobody knows whether the question has
    /// lapsed.
    #[error("the approval clock failed, so it is unknown whether the question has lapsed")]
    ClockFailed,
    /// Its decision is not one that can be acted on.
    #[error(
        "the decision `{word}` can't be acted on: it must be `approved`, `denied`, `edited` with `arguments`, or `answered` \
         with an `answer`"
    )]
    UnusableDecision {
        /// The decision.
        word: String,
    },
    /// The arguments or the answer that it brings do not pass the tool's checks. The question stays open.
    #[error("the arguments or the answer it brings are invalid: {}", .issues.reason(REASON_CAP))]
    Invalid {
        /// Every problem, place by place.
        issues: Issues,
    },
    /// It does not prove that its question was asked here.
    #[cfg(feature = "approval")]
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// It had to make room for later verdicts that nobody waited for either.
    #[error("too many verdicts came after it for questions that nobody has asked")]
    Full,
    /// Nobody takes verdicts any more.
    #[error("no more verdicts are taken here")]
    Closed,
}

impl VerdictFault {
    /// What becomes of a question that got such a verdict.
    pub(crate) fn outcome(&self) -> ApprovalOutcome {
        match self {
            Self::Lapsed => ApprovalOutcome::Lapsed,
            #[cfg(feature = "approval")]
            Self::Signature(_) => ApprovalOutcome::Refused,
            Self::UnknownRequest
            | Self::AlreadyDecided
            | Self::OtherDigest
            | Self::UnusableDecision { .. }
            | Self::Invalid { .. }
            | Self::ClockFailed
            | Self::Full
            | Self::Closed => ApprovalOutcome::Refused,
        }
    }

    /// Reports whether it is the content that is wrong, and other content would do.
    pub(crate) fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid { .. })
    }

    /// Returns the reason as it goes into a record, which holds nothing of arguments and results.
    pub(crate) fn recorded(&self) -> String {
        match self {
            Self::Invalid { issues } => {
                format!("the arguments or the answer it brings are invalid, with {} issues", issues.len())
            }
            other => other.to_string(),
        }
    }
}

impl RefusedVerdict {
    pub(crate) fn new(response: ApprovalResponse, fault: VerdictFault) -> Self {
        Self { response: Box::new(response), fault }
    }
}
