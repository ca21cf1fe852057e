//! How a loop ended.

use haft_core::ApprovalRequest;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::budget::Spent;
use super::error::LoopError;
use super::interaction::Interaction;
use super::reading;
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
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LoopError> for LoopEnd {
    fn from(error: LoopError) -> Self {
        Self::Failed(error)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn spent<S: serde::Serializer>(spent: &Spent, serializer: S) -> Result<S::Ok, S::Error> {
    OutOf { spent: *spent }.serialize(serializer)
}

#[derive(Serialize, Deserialize)]
struct OutOf {
    spent: Spent,
}

impl<'de> Deserialize<'de> for LoopEnd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Waiting {
            interactions: Vec<Interaction>,
            approvals: Vec<ApprovalRequest>,
        }
        #[derive(Deserialize)]
        struct MaxTurns {
            turns: u32,
        }
        let end = Value::deserialize(deserializer)?;
        match reading::tag::<D::Error>(&end)? {
            "stopped" => Ok(Self::Stopped),
            "waiting" => {
                reading::body(end).map(|Waiting { interactions, approvals }| Self::Waiting { interactions, approvals })
            }
            "max_turns" => reading::body(end).map(|MaxTurns { turns }| Self::MaxTurns { turns }),
            "budget" => reading::body(end).map(|OutOf { spent }| Self::Budget(spent)),
            "repeated_calls" => Ok(Self::RepeatedCalls),
            "cancelled" => Ok(Self::Cancelled),
            "failed" => reading::body(end).map(Self::Failed),
            other => Err(serde::de::Error::unknown_variant(
                other,
                &["stopped", "waiting", "max_turns", "budget", "repeated_calls", "cancelled", "failed"],
            )),
        }
    }
}
