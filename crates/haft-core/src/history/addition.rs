//! The items that a turn adds to a history.

use super::append::matched;
use super::append_error::AppendError;
use super::arrangement::Arrangement;
use super::fresh_id::{Past, Renames};
use super::layout::Layout;
use crate::item::Item;
use crate::result::ToolResult;
use crate::turn::Turn;

/// A turn to be added to a history, and the new ids of its calls.
#[derive(Debug)]
pub(super) struct Addition {
    layout: Layout,
    renames: Renames,
}

impl Addition {
    pub(super) fn of(past: Past<'_>, turn: &Turn) -> Self {
        let layout = Layout::of(&turn.items);
        let renames = Renames::of(past, &turn.items, &layout);
        Self { layout, renames }
    }

    /// Returns the items of the turn with the outputs of its calls.
    pub(super) fn complete(
        &self,
        mut turn: Turn,
        results: impl IntoIterator<Item = ToolResult>,
    ) -> Result<Vec<Item>, AppendError> {
        let mut answers = match matched(&turn.items, &self.layout, results) {
            Ok(answers) => answers,
            Err(error) => return Err(error.with_turn(turn)),
        };
        self.renames.apply(&mut turn.items, &self.layout, &mut answers);
        Ok(Arrangement::adding(&self.layout, answers).apply(turn.items))
    }
}
