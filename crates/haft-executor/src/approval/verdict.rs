//! Rejected verdicts.
//!
//! Every rejected verdict is returned to its sender or to the application, together with the reason. None is dropped
//! silently.

use haft_core::Verdict;
use haft_schema::{Issues, REASON_CAP};

use super::record::ApprovalOutcome;

/// A verdict that was rejected, and the reason.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the verdict on `{}` was rejected: {fault}", .response.request_id)]
#[non_exhaustive]
pub struct RejectedVerdict {
    /// The verdict.
    pub response: Box<Verdict>,
    /// The reason for the rejection.
    #[source]
    pub fault: VerdictFault,
}

/// The reason why a verdict was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerdictFault {
    /// No such approval request is pending here.
    #[error("no such approval request is pending here")]
    UnknownRequest,
    /// The request already has a verdict: only the first one is used.
    #[error("the approval request already has a verdict")]
    AlreadyDecided,
    /// The verdict was given for another call, other arguments or another definition of the tool.
    #[error(
        "it was given for other arguments or another definition of the tool: decide on the approval request that is pending \
         now"
    )]
    OtherDigest,
    /// The verdict arrived after the request had expired.
    #[error("the approval request expired before the verdict arrived")]
    Expired,
    /// The [approval clock](crate::RunOptions::approval_clock) panicked, so it is unknown whether the request has
    /// expired.
    #[error("the approval clock failed, so it is unknown whether the approval request has expired")]
    ClockFailed,
    /// The decision is not one of the known ones.
    #[error(
        "the decision `{word}` can't be acted on: it must be `approved`, `denied`, `edited` with `arguments`, or `answered` \
         with an `answer`"
    )]
    UnusableDecision {
        /// The decision.
        word: String,
    },
    /// The provider executes the call, so neither its arguments nor its result can be replaced.
    #[error("the provider executes the call, so the verdict must be `approved` or `denied`, not `{word}`")]
    ProviderCall {
        /// The decision.
        word: String,
    },
    /// The arguments or the answer in the verdict do not pass the checks of the tool. The request stays pending.
    #[error("the arguments or the answer in the verdict are invalid: {}", .issues.reason(REASON_CAP))]
    Invalid {
        /// Every problem, with its location.
        issues: Issues,
    },
    /// The verdict has no signature, and keys are set.
    #[error("the verdict does not contain the signature of its approval request")]
    Unsigned,
    /// The signature was made with a key that is not accepted, or no longer accepted.
    #[error("the approval request was signed with the key `{key_id}`, which is not accepted here")]
    UnknownKey {
        /// The id of the key.
        key_id: String,
    },
    /// An earlier version made the signature, which does not cover the call's run.
    #[error("the approval request was signed by an earlier version, which did not bind it to its run")]
    OutdatedSignature,
    /// The signature does not match the approval request.
    #[error("the signature does not match the approval request, which was modified after it was signed")]
    Forged,
    /// The verdict was removed because too many later ones arrived for unknown requests.
    #[error("too many later verdicts arrived for unknown approval requests")]
    Full,
    /// The queue is closed.
    #[error("no more verdicts are accepted here")]
    Closed,
}

impl VerdictFault {
    /// Returns the outcome of a request that received such a verdict.
    pub(crate) fn outcome(&self) -> ApprovalOutcome {
        match self {
            Self::Expired => ApprovalOutcome::Expired,
            Self::UnknownRequest
            | Self::AlreadyDecided
            | Self::OtherDigest
            | Self::UnusableDecision { .. }
            | Self::ProviderCall { .. }
            | Self::Invalid { .. }
            | Self::ClockFailed
            | Self::Unsigned
            | Self::UnknownKey { .. }
            | Self::OutdatedSignature
            | Self::Forged
            | Self::Full
            | Self::Closed => ApprovalOutcome::Rejected,
        }
    }

    /// Reports whether only the content is invalid, so that a verdict with other content could be accepted.
    pub(crate) fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid { .. })
    }

    /// Reports whether the request was signed by an earlier version, so that the call needs a new one.
    pub(crate) fn is_outdated(&self) -> bool {
        matches!(self, Self::OutdatedSignature)
    }

    /// Returns the reason for an audit record, which contains nothing of arguments and results.
    pub(crate) fn recorded(&self) -> String {
        match self {
            Self::Invalid { issues } => {
                let issues = if issues.len() == 1 { "1 issue".to_owned() } else { format!("{} issues", issues.len()) };
                format!("the arguments or the answer in the verdict are invalid, with {issues}")
            }
            other => other.to_string(),
        }
    }
}

impl RejectedVerdict {
    pub(crate) fn new(response: Verdict, fault: VerdictFault) -> Self {
        Self { response: Box::new(response), fault }
    }
}
