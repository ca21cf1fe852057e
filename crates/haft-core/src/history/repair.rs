//! Repairing a history.
//!
//! The result is accepted by every provider. A reconciled history is not changed, not even in the order of outputs
//! within a group. Nothing is removed without being returned to the caller. A repair never guesses: an output that
//! can't be matched with a call for certain answers nothing.

use super::arrangement::Arrangement;
use super::change::{CancelledCall, Change, MovedOutput, RelabelledOutput, RemovedOutput, ReorderedOutputs};
use super::fresh_id::{Past, Renames, call_at};
use super::layout::{Layout, Owner};
use crate::call::CallId;
use crate::item::{Item, ToolCallOutput};
use crate::result::ToolResult;

/// A repaired history and the changes that were made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Repaired {
    /// The reconciled history.
    pub history: Vec<Item>,
    /// The changes, in the order of the original history. Empty if that was reconciled.
    pub changes: Vec<Change>,
}

impl Repaired {
    /// Returns the history and the changes.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Item>, Vec<Change>) {
        (self.history, self.changes)
    }
}

/// Repairs a history, so that every provider accepts it, and returns the changes.
///
/// - Misplaced outputs are moved to directly after the group of their call; the outputs of such a group are sorted in
///   the order of its calls.
/// - Outputs without an earlier call, and second outputs of a call, are removed. The change contains them in full.
/// - Calls without output are answered as `cancelled`, with the reason.
/// - A call whose id an earlier call has gets a fresh one, together with its output and the approval requests for it.
/// - An output that names another tool than its call gets the name of the call.
///
/// Calls that the provider executes need no output, and their outputs stay where they are.
///
/// ```
/// use haft_core::{Item, ToolCall, ToolCallOutput, history};
///
/// let broken = vec![
///     Item::user("Is it raining?"),
///     ToolCall::new("c1", "look", "{}").into(),
///     Item::user("Well?"),
///     ToolCallOutput::new("c1", "yes").into(),
/// ];
/// let (history, changes) = history::repair(broken, "the program was restarted").into_parts();
/// assert!(matches!(history[2], Item::ToolOutput(_)));
/// assert_eq!(
///     changes[0].to_string(),
///     "the output of the call 'c1' at 3 was moved to directly after the turn of its call at 1, where providers expect it"
/// );
/// assert!(history::is_reconciled(&history));
/// ```
pub fn repair(mut history: Vec<Item>, reason: &str) -> Repaired {
    let layout = Layout::of(&history);
    if layout.is_reconciled() {
        return Repaired { history, changes: Vec::new() };
    }
    let mut changes = Vec::new();
    let mut answers = cancelled(&history, &layout, reason, &mut changes);
    let strays = removed(&history, &layout, &mut changes);
    report_moves(&history, &layout, &mut changes);
    relabel(&mut history, &layout, &mut changes);
    let renames = Renames::of(Past::Items(&[]), &history, &layout);
    changes.extend(renames.apply(&mut history, &layout, &mut answers).into_iter().map(Change::Renamed));
    changes.sort_by_key(Change::index);
    Repaired { history: Arrangement::repairing(&layout, answers, strays).apply(history), changes }
}

/// Reports whether a history is reconciled, which means that [`repair`] would change nothing.
///
/// ```
/// use haft_core::{Item, ToolCall, ToolCallOutput, history};
///
/// let mut history: Vec<Item> = vec![Item::user("Look!"), ToolCall::new("c1", "look", "{}").into()];
/// assert!(!history::is_reconciled(&history));
/// history.push(ToolCallOutput::new("c1", "dark").into());
/// assert!(history::is_reconciled(&history));
/// ```
#[must_use]
pub fn is_reconciled(history: &[Item]) -> bool {
    Layout::of(history).is_reconciled()
}

/// Returns the outputs for calls that have none, by index in the layout.
fn cancelled(
    history: &[Item],
    layout: &Layout,
    reason: &str,
    changes: &mut Vec<Change>,
) -> Vec<Option<ToolCallOutput>> {
    let mut answers = vec![None; layout.calls.len()];
    for (ordinal, place) in layout.unanswered() {
        let Some(call) = call_at(history, place.item) else { continue };
        let result = ToolResult::cancelled(call, reason);
        changes.push(Change::Cancelled(CancelledCall {
            index: place.item,
            call_id: call.call_id.clone(),
            tool: call.name.clone(),
            reason: result.failure().map(|failure| failure.message.clone()).unwrap_or_default(),
        }));
        answers[ordinal] = Some(result.to_call_output());
    }
    answers
}

/// Returns the positions of outputs that answer no call.
fn removed(history: &[Item], layout: &Layout, changes: &mut Vec<Change>) -> Vec<usize> {
    let mut strays = Vec::new();
    for &(index, owner) in &layout.outputs {
        if let (Owner::Unmatched(reason), Some(output)) = (owner, output_at(history, index)) {
            changes.push(Change::Removed(RemovedOutput { index, reason, output: output.clone() }));
            strays.push(index);
        }
    }
    strays
}

/// Reports which outputs are moved, and which groups are sorted.
fn report_moves(history: &[Item], layout: &Layout, changes: &mut Vec<Change>) {
    for group in layout.groups.iter().filter(|group| !layout.is_complete(group)) {
        let mut in_place: Vec<(usize, CallId)> = Vec::new();
        for call in &layout.calls[group.calls.clone()] {
            let (Some(answer), Some(item)) = (call.answer, call_at(history, call.item)) else { continue };
            let call_id = item.call_id.clone();
            if answer.in_place {
                in_place.push((answer.item, call_id));
            } else {
                changes.push(Change::Moved(MovedOutput { index: answer.item, call_index: call.item, call_id }));
            }
        }
        if let (false, Some(index)) = (in_place.is_sorted(), in_place.iter().map(|(index, _)| *index).min()) {
            let call_ids = in_place.into_iter().map(|(_, call_id)| call_id).collect();
            changes.push(Change::Reordered(ReorderedOutputs { index, call_ids }));
        }
    }
}

/// Renames the tool in outputs that name another one than their call.
fn relabel(history: &mut [Item], layout: &Layout, changes: &mut Vec<Change>) {
    for &(index, owner) in &layout.outputs {
        let Owner::Call(call) = owner else { continue };
        let Some(to) = mislabelled(history, layout, index, call).map(ToOwned::to_owned) else { continue };
        if let Some(Item::ToolOutput(output)) = history.get_mut(index) {
            let from = output.tool.replace(to.clone()).unwrap_or_default();
            let call_id = output.call_id.clone();
            changes.push(Change::Relabelled(RelabelledOutput { index, call_id, from, to }));
        }
    }
}

/// Returns the name that an output should have, if it has another. A missing name is valid, because it can be looked
/// up.
fn mislabelled<'h>(history: &'h [Item], layout: &Layout, output: usize, call: usize) -> Option<&'h str> {
    let label = output_at(history, output)?.tool.as_deref()?;
    let name = call_at(history, layout.calls[call].item)?.name.as_str();
    (label != name).then_some(name)
}

fn output_at(history: &[Item], index: usize) -> Option<&ToolCallOutput> {
    match history.get(index) {
        Some(Item::ToolOutput(output)) => Some(output),
        _ => None,
    }
}
