//! The end of a loop.

use haft_core::tagged::{self, ReadVariant, TaggedEnum};
use haft_core::{ApprovalRequest, Finish, ToolResult};
use serde::{Deserialize, Deserializer, Serialize};

use super::budget::Spent;
use super::error::LoopError;
use super::interaction::Interaction;
use super::state::LoopState;

/// The reason why a loop ended, tagged by `type`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoopEnd {
    /// The loop stopped: the model made no more calls, or the decide function stopped it.
    Stopped,
    /// The last answer was cut off, and it made no calls: by the output limit, by the end of the context, or for a reason
    /// that this version does not know. What there is of it is in the state. To go on, add a message and start the state
    /// again.
    Truncated {
        /// The reason why the answer ended.
        finish: Finish,
    },
    /// Calls wait for an answer or a verdict. Start the state again when it has them.
    Waiting {
        /// The calls that wait for an answer; see [`TurnLoop::answer`](crate::TurnLoop::answer).
        interactions: Vec<Interaction>,
        /// The calls that wait for a verdict, including those that the provider executes and requests approval of; see
        /// [`TurnLoop::verdict`](crate::TurnLoop::verdict).
        approvals: Vec<ApprovalRequest>,
    },
    /// The limit of turns is reached.
    MaxTurns {
        /// The number of turns.
        turns: u32,
    },
    /// A part of the budget is spent.
    #[serde(serialize_with = "spent")]
    Budget(Spent),
    /// A call of the last turn failed in a class that ends the loop; see
    /// [`TurnLoop::fail_on`](crate::TurnLoop::fail_on). The turn is complete, and the state can be started again.
    CallsFailed {
        /// The results of the calls that failed in one of the classes. Never empty.
        results: Vec<ToolResult>,
    },
    /// Every call of the last turn was beyond the limit of equal calls in a row, after the model was told so in an earlier
    /// turn; see [`TurnLoop::repeated_calls`](crate::TurnLoop::repeated_calls).
    RepeatedCalls,
    /// The loop was cancelled.
    Cancelled,
    /// The loop could not continue.
    Failed(LoopError),
}

/// The end of a loop, with its state.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoopOutcome {
    /// The reason why the loop ended.
    pub end: LoopEnd,
    /// The state: the conversation with everything that happened, and the calls that are open.
    pub state: LoopState,
}

impl LoopEnd {
    /// Reports whether the loop stopped regularly.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped)
    }

    /// Reports whether calls wait for an answer or a verdict.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting { .. })
    }

    /// Returns the error, if the loop could not continue.
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
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
        ("truncated", |members| Ok(Self::Truncated { finish: members.take("finish")? })),
        ("waiting", |members| {
            Ok(Self::Waiting { interactions: members.take("interactions")?, approvals: members.take("approvals")? })
        }),
        ("max_turns", |members| Ok(Self::MaxTurns { turns: members.take("turns")? })),
        ("budget", |members| members.take("spent").map(Self::Budget)),
        ("calls_failed", |members| Ok(Self::CallsFailed { results: members.take("results")? })),
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
