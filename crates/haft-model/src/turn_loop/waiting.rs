//! The calls that wait for an answer or a verdict, and the consistency of a history apart from them.
//!
//! A call that waits has no output, so its history is inconsistent, and must not be repaired either. Everything else
//! must be consistent before any call runs: a verdict names its call by id, and in an inconsistent history the id may
//! mean another call. So the history is checked as if those calls had outputs. A call that waits and had to be renamed
//! is no longer the one that the request was about: it must be cancelled and never run.

use std::collections::{BTreeSet, HashMap, HashSet};

use haft_core::history::{self, Change};
use haft_core::{ApprovalId, CallId, History, Item, ToolCall, ToolResult};

use super::state::LoopState;

/// The positions of the calls of a history that wait.
#[derive(Debug, Default)]
pub(super) struct WaitingCalls(BTreeSet<usize>);

/// The result of a repair.
#[derive(Debug, Default)]
pub(super) struct RepairedHistory {
    pub(super) changes: Vec<Change>,
    /// The results of calls of the open turn that were cancelled.
    pub(super) closed: Vec<ToolResult>,
}

impl WaitingCalls {
    /// Finds the calls of a state that wait for a verdict or an answer.
    pub(super) fn of(state: &LoopState) -> Self {
        let pending = history::approvals(state.history()).pending.into_iter();
        let mut pending: HashSet<ApprovalId> = pending.map(|pending| pending.request.request_id).collect();
        let mut nearest: HashMap<&CallId, usize> = HashMap::new();
        let mut positions = BTreeSet::new();
        for (position, item) in state.history().iter().enumerate() {
            match item {
                Item::ToolCall(call) => {
                    nearest.insert(&call.call_id, position);
                }
                // Of two approval requests with one id only the first counts.
                Item::ApprovalRequest(request) if pending.remove(&request.request_id) => {
                    positions.extend(nearest.get(&request.call_id));
                }
                _ => {}
            }
        }
        positions.extend(state.interactions().iter().filter_map(|interaction| nearest.get(interaction.call_id())));
        Self(positions)
    }

    /// Reports whether no call waits.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the changes that a repair would make; `None` if the history is consistent apart from the calls that
    /// wait.
    pub(super) fn faults(&self, items: &History) -> Option<Vec<Change>> {
        if self.is_consistent(items) {
            return None;
        }
        let mut changes = history::repair(items.to_vec(), "").changes;
        changes.retain(|change| !matches!(change, Change::Cancelled(call) if self.0.contains(&call.index)));
        Some(changes)
    }

    /// Repairs the history, apart from the calls that wait, and changes the open turn accordingly.
    pub(super) fn repair(&self, state: &mut LoopState, reason: &str) -> RepairedHistory {
        if self.is_consistent(&state.request.history) {
            return RepairedHistory::default();
        }
        let latest: HashMap<CallId, usize> =
            calls(state.history()).map(|(at, call)| (call.call_id.clone(), at)).collect();
        let items = std::mem::take(&mut state.request.history);
        let (mut items, mut changes) = history::repair(items.into(), reason).into_parts();
        let renamed: HashMap<usize, CallId> = changes
            .iter()
            .filter_map(|change| match change {
                Change::Renamed(renamed) => Some((renamed.index, renamed.to.clone())),
                _ => None,
            })
            .collect();
        let mut waiting = HashSet::new();
        changes.retain(|change| match change {
            Change::Cancelled(call) if self.0.contains(&call.index) && !renamed.contains_key(&call.index) => {
                waiting.insert(call.call_id.clone());
                false
            }
            _ => true,
        });
        items.retain(|item| !matches!(item, Item::ToolOutput(output) if waiting.contains(&output.call_id)));
        history::strip_resolved_approvals(&mut items);
        state.request.history = items.into();

        let mut closed = Vec::new();
        if let Some(open) = state.phase.open_mut() {
            // The open turn is the last one, so of calls that shared an id its call is the latest.
            let is_its = |id: &CallId, index: usize| latest.get(id) == Some(&index);
            let (mut names, mut cancelled) = (HashMap::new(), Vec::new());
            for change in &changes {
                match change {
                    Change::Renamed(renamed) if is_its(&renamed.from, renamed.index) => {
                        names.insert(renamed.from.clone(), renamed.to.clone());
                    }
                    Change::Cancelled(call) if is_its(&call.call_id, call.index) => {
                        cancelled.push(renamed.get(&call.index).unwrap_or(&call.call_id));
                    }
                    _ => {}
                }
            }
            open.rename(&names);
            closed = open.cancel(&cancelled, reason);
        }
        RepairedHistory { changes, closed }
    }

    /// Reports whether the history is consistent apart from the calls that wait.
    fn is_consistent(&self, items: &History) -> bool {
        if self.0.is_empty() {
            return items.is_reconciled();
        }
        let mut answered = items.to_vec();
        let waiting = calls(items).filter(|(position, _)| self.0.contains(position));
        let results = waiting.map(|(_, call)| ToolResult::cancelled(call, ""));
        history::answer(&mut answered, results).is_ok() && history::is_reconciled(&answered)
    }
}

/// Returns the calls of a history with their positions.
fn calls(items: &[Item]) -> impl Iterator<Item = (usize, &ToolCall)> {
    items.iter().enumerate().filter_map(|(position, item)| match item {
        Item::ToolCall(call) => Some((position, call)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use haft_core::tagged::TaggedEnum;

    use super::*;

    /// A type of change that is added fails here until it is known whether it moves, renames or closes a call.
    #[test]
    fn every_change_of_a_repair_is_decided_about() {
        let known: Vec<&str> = Change::VARIANTS.iter().map(|(tag, _)| *tag).collect();
        let about_outputs = ["moved", "reordered", "removed", "relabelled"];
        let about_calls = ["cancelled", "renamed"];
        assert_eq!(known.len(), about_outputs.len() + about_calls.len());
        assert!(about_outputs.iter().chain(&about_calls).all(|tag| known.contains(tag)), "{known:?}");
    }
}
