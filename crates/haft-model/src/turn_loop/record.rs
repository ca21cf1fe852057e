//! Writing results into a history.
//!
//! Whoever runs calls knows which ones are open, so a result that answers none is a mistake of the model's (a turn that
//! answers itself) or of whoever wrote the history. It is left out; the others must not be lost with it.

use haft_core::history::{self, AppendError};
use haft_core::{Item, ToolResult, Turn};

/// Adds a turn with the results of its calls.
pub(super) fn append(items: &mut Vec<Item>, turn: Turn, results: Vec<ToolResult>) {
    let Err(error) = history::append(items, turn, results) else { return };
    if let (Some(turn), fitting) = fitting(error) {
        drop(history::append(items, turn, fitting));
    }
}

/// Adds results of calls that were left open.
pub(super) fn answer(items: &mut Vec<Item>, results: Vec<ToolResult>) {
    let Err(error) = history::answer(items, results) else { return };
    drop(history::answer(items, fitting(error).1));
}

fn fitting(error: AppendError) -> (Option<Turn>, Vec<ToolResult>) {
    let strays: Vec<usize> = error.strays().iter().map(|stray| stray.index).collect();
    let (turn, results) = error.into_parts();
    let fitting = results.into_iter().enumerate().filter(|(index, _)| !strays.contains(index));
    (turn, fitting.map(|(_, result)| result).collect())
}
