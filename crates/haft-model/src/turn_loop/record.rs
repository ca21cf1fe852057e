//! Adding results to a history.
//!
//! The loop knows which calls are open, so a result without an open call means that the history was changed from
//! outside. Such a result is left out and reported by an event; the others must not be lost with it.

use std::collections::HashSet;

use haft_core::history::{self, AppendError, Staged};
use haft_core::{History, Item, ToolResult, Turn};

use super::event::LoopEvent;

/// Adds a turn with the results of its calls, and returns the event of results that can't be added. The items of a
/// staged turn are in the history already.
#[must_use = "results that can't be added must be reported"]
pub(super) fn append(
    items: &mut History,
    staged: Option<&Staged>,
    turn: Turn,
    results: Vec<ToolResult>,
) -> Option<LoopEvent> {
    let mut add = |turn, results| match staged {
        Some(staged) => items.complete(staged, turn, results),
        None => items.append(turn, results),
    };
    let split = SplitResults::of(add(turn, results).err()?);
    if let Some(turn) = split.turn {
        drop(add(turn, split.fitting));
    }
    Some(split.event)
}

/// Adds results of open calls, and returns the event of results that can't be added.
#[must_use = "results that can't be added must be reported"]
pub(super) fn answer(items: &mut Vec<Item>, results: Vec<ToolResult>) -> Option<LoopEvent> {
    let split = SplitResults::of(history::answer(items, results).err()?);
    drop(history::answer(items, split.fitting));
    Some(split.event)
}

/// A rejected addition, split into the results that can be added and the event of those that can't.
struct SplitResults {
    turn: Option<Turn>,
    fitting: Vec<ToolResult>,
    event: LoopEvent,
}

impl SplitResults {
    fn of(error: AppendError) -> Self {
        let reason = error.to_string();
        let strays: HashSet<usize> = error.strays().iter().map(|stray| stray.index).collect();
        let (turn, results) = error.into_parts();
        let (mut fitting, mut unplaced) = (Vec::new(), Vec::new());
        for (index, result) in results.into_iter().enumerate() {
            if strays.contains(&index) { unplaced.push(result) } else { fitting.push(result) }
        }
        Self { turn, fitting, event: LoopEvent::Unplaced { results: unplaced, reason } }
    }
}
