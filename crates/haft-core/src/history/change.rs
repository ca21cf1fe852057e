//! The changes of a repair, one value each.
//!
//! An application that stores or audits a conversation must be able to report what was changed, where and why, and to
//! undo it. Removed items are therefore kept in full. Positions and ids are those of the original history.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::fresh_id::Renamed;
use crate::call::CallId;
use crate::item::ToolCallOutput;
use crate::tagged::{self, ReadVariant, TaggedEnum};

/// One change of a repair. The `change` field is the tag when serialised.
///
/// ```
/// use haft_core::history::{self, Change};
/// use haft_core::{Item, ToolCall};
///
/// let history = vec![ToolCall::new("c1", "pay", "{}").into(), Item::user("never mind")];
/// let repaired = history::repair(history, "the user moved on");
/// assert!(matches!(&repaired.changes[..], [Change::Cancelled(_)]));
/// assert_eq!(
///     repaired.changes[0].to_string(),
///     "the call 'c1' of 'pay' at 0 had no output and was answered as cancelled: the user moved on"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// A misplaced output was moved to directly after the group of its call.
    Moved(MovedOutput),
    /// The outputs of a group that needed other changes were sorted in the order of its calls.
    Reordered(ReorderedOutputs),
    /// An output that answers no call was removed.
    Removed(RemovedOutput),
    /// A call without output was answered as cancelled.
    Cancelled(CancelledCall),
    /// A call whose id was already used got a fresh id.
    Renamed(Renamed),
    /// An output that named another tool than its call got the name of the call.
    Relabelled(RelabelledOutput),
}

/// A misplaced output that was moved to directly after the group of its call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MovedOutput {
    /// The position of the output.
    pub index: usize,
    /// The position of its call.
    pub call_index: usize,
    /// The id of the call.
    pub call_id: CallId,
}

/// Outputs of one group that were sorted in the order of its calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReorderedOutputs {
    /// The position of the first output.
    pub index: usize,
    /// The ids of the calls, in the new order of the outputs.
    pub call_ids: Vec<CallId>,
}

/// A removed output that answers no call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RemovedOutput {
    /// The position of the output.
    pub index: usize,
    /// The reason why it answers no call.
    pub reason: RemovalReason,
    /// The complete output.
    pub output: ToolCallOutput,
}

/// The reason why an output answers no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RemovalReason {
    /// No call has its id.
    NoCall,
    /// All calls with its id come after it.
    CallComesLater,
    /// All earlier calls with its id have an output.
    AlreadyAnswered,
}

/// A call without output that was answered as cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CancelledCall {
    /// The position of the call.
    pub index: usize,
    /// The id of the call.
    pub call_id: CallId,
    /// The name of the tool, as the call spells it.
    pub tool: String,
    /// The reason that the model reads.
    pub reason: String,
}

/// An output that named another tool than its call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RelabelledOutput {
    /// The position of the output.
    pub index: usize,
    /// The id of the call.
    pub call_id: CallId,
    /// The name it had.
    pub from: String,
    /// The name that the call has.
    pub to: String,
}

impl Change {
    /// Returns the position in the original history at which the change begins.
    #[must_use]
    pub fn index(&self) -> usize {
        match self {
            Self::Moved(moved) => moved.index,
            Self::Reordered(reordered) => reordered.index,
            Self::Removed(removed) => removed.index,
            Self::Cancelled(cancelled) => cancelled.index,
            Self::Renamed(renamed) => renamed.index,
            Self::Relabelled(relabelled) => relabelled.index,
        }
    }
}

/// Formats a sentence: what was changed, where and why. Ids and names come from a model, so each is cut at 80
/// characters.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved(MovedOutput { index, call_index, call_id }) => write!(
                f,
                "the output of the call '{call_id:.80}' at {index} was moved to directly after the turn of its call at \
                 {call_index}, where providers expect it"
            ),
            Self::Reordered(ReorderedOutputs { index, call_ids }) => {
                write!(f, "the outputs from {index} on were sorted in the order of their calls:")?;
                for (position, id) in call_ids.iter().enumerate() {
                    write!(f, "{} '{id:.80}'", if position == 0 { "" } else { "," })?;
                }
                Ok(())
            }
            Self::Removed(RemovedOutput { index, reason, output }) => {
                write!(f, "the output for the call '{:.80}' at {index} was removed: {reason}", output.call_id)
            }
            Self::Cancelled(CancelledCall { index, call_id, tool, reason }) => write!(
                f,
                "the call '{call_id:.80}' of '{tool:.80}' at {index} had no output and was answered as cancelled: {reason}"
            ),
            Self::Renamed(renamed) => write!(f, "{renamed}"),
            Self::Relabelled(RelabelledOutput { index, call_id, from, to }) => write!(
                f,
                "the output of the call '{call_id:.80}' at {index} named the tool '{from:.80}' and now names \
                 '{to:.80}', as the call does"
            ),
        }
    }
}

impl fmt::Display for RemovalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCall => "no call has this id",
            Self::CallComesLater => "it precedes the call, so it can't answer it",
            Self::AlreadyAnswered => "the call already has an output",
        })
    }
}

impl TaggedEnum for Change {
    const TAG: &'static str = "change";
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("moved", |members| members.take_all().map(Self::Moved)),
        ("reordered", |members| members.take_all().map(Self::Reordered)),
        ("removed", |members| members.take_all().map(Self::Removed)),
        ("cancelled", |members| members.take_all().map(Self::Cancelled)),
        ("renamed", |members| members.take_all().map(Self::Renamed)),
        ("relabelled", |members| members.take_all().map(Self::Relabelled)),
    ];
}

impl<'de> Deserialize<'de> for Change {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one_of_each() -> Vec<Change> {
        let id = CallId::from("c1");
        vec![
            Change::Moved(MovedOutput { index: 4, call_index: 1, call_id: id.clone() }),
            Change::Reordered(ReorderedOutputs { index: 2, call_ids: vec![id.clone(), CallId::from("c2")] }),
            Change::Removed(RemovedOutput {
                index: 3,
                reason: RemovalReason::AlreadyAnswered,
                output: ToolCallOutput::new("c1", "5"),
            }),
            Change::Cancelled(CancelledCall {
                index: 1,
                call_id: id.clone(),
                tool: "add".to_owned(),
                reason: "gone".to_owned(),
            }),
            Change::Renamed(Renamed { index: 6, tool: "add".to_owned(), from: id.clone(), to: CallId::from("c1_2") }),
            Change::Relabelled(RelabelledOutput {
                index: 5,
                call_id: id,
                from: "sub".to_owned(),
                to: "add".to_owned(),
            }),
        ]
    }

    #[test]
    fn each_change_is_described_in_a_sentence() {
        let sentences: Vec<_> = one_of_each().iter().map(ToString::to_string).collect();
        assert_eq!(
            sentences,
            [
                "the output of the call 'c1' at 4 was moved to directly after the turn of its call at 1, where \
                 providers expect it",
                "the outputs from 2 on were sorted in the order of their calls: 'c1', 'c2'",
                "the output for the call 'c1' at 3 was removed: the call already has an output",
                "the call 'c1' of 'add' at 1 had no output and was answered as cancelled: gone",
                "the call 'c1' of 'add' at 6 was renamed to 'c1_2' because an earlier call has the same id",
                "the output of the call 'c1' at 5 named the tool 'sub' and now names 'add', as the call does",
            ]
        );
    }

    #[test]
    fn each_change_round_trips() {
        for change in one_of_each() {
            let written = serde_json::to_value(&change).unwrap();
            assert_eq!(serde_json::from_value::<Change>(written.clone()).unwrap(), change, "{written}");
        }
        let removed = serde_json::to_value(&one_of_each()[2]).unwrap();
        assert_eq!(
            removed,
            json!({"change": "removed", "index": 3, "reason": "already_answered", "output": {"call_id": "c1", "output": "5"}})
        );
        let unknown = serde_json::from_value::<Change>(json!({"change": "improved"})).unwrap_err();
        assert!(unknown.to_string().contains("improved"), "{unknown}");
    }

    #[test]
    fn long_ids_are_cut() {
        let call_id = CallId::from("é".repeat(10_000));
        let sentence = Change::Moved(MovedOutput { index: 1, call_index: 0, call_id }).to_string();
        assert!(sentence.len() < 400, "{sentence}");
    }
}
