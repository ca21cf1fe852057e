//! Deviations from a script.

use std::fmt;

/// All deviations from a script: unexpected requests, and turns that were never requested.
///
/// The caller receives the same as [`ModelError::OffScript`](crate::ModelError::OffScript); but a loop may handle
/// that like any other error of a model, so a test checks for it at the end with
/// [`ScriptedModel::finish`](crate::ScriptedModel::finish).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFault {
    pub(super) faults: Vec<TurnFault>,
    pub(super) unasked: Vec<usize>,
    pub(super) turns: usize,
}

/// One unexpected request. Turns and requests are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnFault {
    /// The request was not the one that the turn expects.
    #[error("turn {turn} of the script received an unexpected request: {}", .faults.join("; "))]
    Unexpected {
        /// The turn.
        turn: usize,
        /// The differences, one sentence each.
        faults: Vec<String>,
    },
    /// The script has no turn left.
    #[error(
        "request {request} comes after the end of the script ({} in total); the last item of the history is {last}; add a \
         turn to the script, or check why another turn is requested",
        counted(*.turns, "turn")
    )]
    PastEnd {
        /// The request.
        request: usize,
        /// The number of turns of the script.
        turns: usize,
        /// The last item of the request's history, shortened.
        last: String,
    },
}

/// Returns a number with its noun: "1 turn", "2 turns".
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

impl ScriptFault {
    /// Returns the unexpected requests, in order.
    #[must_use]
    pub fn faults(&self) -> &[TurnFault] {
        &self.faults
    }

    /// Returns the turns that were never requested, counted from 1.
    #[must_use]
    pub fn unasked(&self) -> &[usize] {
        &self.unasked
    }
}

impl fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sentences: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        if let Some(first) = self.unasked.first() {
            let (left, turns) = (self.unasked.len(), self.turns);
            sentences.push(format!("{left} of {turns} turns were never requested, from turn {first} on"));
        }
        f.write_str(&sentences.join("; "))
    }
}

impl std::error::Error for ScriptFault {}
