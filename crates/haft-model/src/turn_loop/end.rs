//! How a loop ended.

use haft_core::ApprovalRequest;
use haft_core::tagged::{self, ReadVariant, TaggedEnum};
use serde::{Deserialize, Deserializer, Serialize};

use super::budget::Spent;
use super::error::LoopError;
use super::interaction::Interaction;
use super::state::LoopState;

/// How a loop ended. Told apart by `type`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoopEnd {
    /// It was decided to stop.
    Stopped,
    /// Somebody outside has to answer first. The state is started again when they have.
    Waiting {
        /// The calls that wait for an answer; see [`LoopState::answer`].
        interactions: Vec<Interaction>,
        /// The calls that wait for a verdict; see [`TurnLoop::verdict`](crate::TurnLoop::verdict).
        approvals: Vec<ApprovalRequest>,
    },
    /// As many turns were taken as allowed.
    MaxTurns {
        /// How many.
        turns: u32,
    },
    /// Something the budget limits is spent.
    #[serde(serialize_with = "spent")]
    Budget(Spent),
    /// Every call of the last turn had been made too often.
    RepeatedCalls,
    /// The loop was called off.
    Cancelled,
    /// The loop could not go on.
    Failed(LoopError),
}

/// How a loop ended, and where it stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoopOutcome {
    /// How it ended.
    pub end: LoopEnd,
    /// Where it stands: the conversation with everything that happened, and what is still open.
    pub state: LoopState,
}

impl LoopEnd {
    /// Whether the loop ended because it was done.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped)
    }

    /// Whether somebody outside has to answer.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting { .. })
    }

    /// Why the loop could not go on, if it could not.
    #[must_use]
    pub fn error(&self) -> Option<&LoopError> {
        if let Self::Failed(error) = self { Some(error) } else { None }
    }
}

impl From<LoopError> for LoopEnd {
    fn from(error: LoopError) -> Self {
        Self::Failed(error)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn spent<S: serde::Serializer>(spent: &Spent, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct BudgetEnd {
        spent: Spent,
    }
    BudgetEnd { spent: *spent }.serialize(serializer)
}

impl TaggedEnum for LoopEnd {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("stopped", |_| Ok(Self::Stopped)),
        ("waiting", |members| {
            Ok(Self::Waiting { interactions: members.take("interactions")?, approvals: members.take("approvals")? })
        }),
        ("max_turns", |members| Ok(Self::MaxTurns { turns: members.take("turns")? })),
        ("budget", |members| members.take("spent").map(Self::Budget)),
        ("repeated_calls", |_| Ok(Self::RepeatedCalls)),
        ("cancelled", |_| Ok(Self::Cancelled)),
        ("failed", |members| members.take_all().map(Self::Failed)),
    ];
}

impl<'de> Deserialize<'de> for LoopEnd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}
