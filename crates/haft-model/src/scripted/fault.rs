//! What went otherwise than its script.

use std::fmt;

/// Everything that went otherwise than its script: requests it did not expect, and turns nobody asked for.
///
/// The same is told to whoever asked, as [`ModelError::OffScript`](crate::ModelError::OffScript); but a loop may take
/// that for one more failure of a model, so a test asks for it again in the end, with
/// [`ScriptedModel::finish`](crate::ScriptedModel::finish).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFault {
    pub(super) faults: Vec<TurnFault>,
    pub(super) unasked: Vec<usize>,
    pub(super) turns: usize,
}

/// One request that a script did not expect. Turns and requests are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnFault {
    /// The request for a turn was not as the turn expected.
    #[error("turn {turn} of the script was asked something else: {}", .faults.join("; "))]
    Unexpected {
        /// The turn.
        turn: usize,
        /// What was expected and what came, one sentence each.
        faults: Vec<String>,
    },
    /// There was no turn left.
    #[error(
        "request {request} comes after the end of the script, which has {turns} turns; the history ends in {last}; \
         add a turn to the script, or see why the model is asked once more"
    )]
    PastEnd {
        /// The request.
        request: usize,
        /// How many turns the script has.
        turns: usize,
        /// The last item of the request's history, shortened.
        last: String,
    },
}

impl ScriptFault {
    /// The requests that were not as expected, in the order they came.
    #[must_use]
    pub fn faults(&self) -> &[TurnFault] {
        &self.faults
    }

    /// The turns nobody asked for, counted from 1.
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
            sentences.push(format!("{left} of {turns} turns were never asked for, from turn {first} on"));
        }
        f.write_str(&sentences.join("; "))
    }
}

impl std::error::Error for ScriptFault {}
