//! The last turn, until it is concluded.
//!
//! Results are kept in the order of the calls. Calls may share an id: only the first of them was run, and the others
//! must keep their own results.

use std::collections::{HashMap, HashSet, VecDeque};

use haft_core::{CallId, FailureKind, Finish, Item, ToolCall, ToolResult, Turn};
use serde::{Deserialize, Serialize};

use super::open_interactions::OpenInteractions;
use super::signal::Signal;
use super::state::LoopPhase;

/// The last turn, until it is concluded. Its items and the available results are in the history
/// already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenTurn {
    pub(super) turn: Turn,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) results: Vec<ToolResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) signals: Vec<Signal>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub(super) interactions: OpenInteractions,
}

impl OpenTurn {
    /// Adds results, so that all stay in the order of the calls. Of calls that share an id only the first was run.
    pub(super) fn add(&mut self, results: impl IntoIterator<Item = ToolResult>) {
        let known = std::mem::take(&mut self.results).into_iter().chain(results);
        let mut loose: Vec<Option<ToolResult>> = known.map(Some).collect();
        let mut by_id: HashMap<CallId, VecDeque<usize>> = HashMap::new();
        for (position, result) in loose.iter().flatten().enumerate() {
            by_id.entry(result.call_id.clone()).or_default().push_back(position);
        }
        let mut ids = HashSet::new();
        for call_id in local_ids(&self.turn) {
            let is_duplicate = !ids.insert(call_id);
            let Some(its) = by_id.get_mut(call_id) else { continue };
            let is_fitting =
                |&position: &usize| loose[position].as_ref().map(is_rejected_duplicate) == Some(is_duplicate);
            let position = its.remove(its.iter().position(is_fitting).unwrap_or_default());
            self.results.extend(position.and_then(|position| loose[position].take()));
        }
        self.results.extend(loose.into_iter().flatten());
    }

    /// Changes the open turn, with this call in it. A call may belong to an earlier turn, or to a history without an
    /// open turn: it is concluded with the turn that is open now.
    pub(super) fn hold(phase: &mut LoopPhase, call: ToolCall, change: impl FnOnce(&mut Self)) {
        let mut open = phase.close(LoopPhase::Ready).unwrap_or_else(|| {
            let turn = Turn::new(Vec::new(), Finish::ToolCalls);
            Box::new(Self { turn, results: Vec::new(), signals: Vec::new(), interactions: OpenInteractions::default() })
        });
        if open.index_of(&call.call_id).is_none() {
            open.turn.items.push(call.into());
        }
        change(&mut open);
        *phase = LoopPhase::Open(open);
    }

    /// Returns the index of a call among the calls of the turn.
    pub(super) fn index_of(&self, call_id: &CallId) -> Option<usize> {
        local_ids(&self.turn).position(|id| id == call_id)
    }

    /// Returns the indexes of all calls of the turn by id. Of calls that share an id it is that of the first.
    pub(super) fn indexes(&self) -> HashMap<CallId, usize> {
        let mut indexes = HashMap::new();
        for (index, call_id) in local_ids(&self.turn).enumerate() {
            indexes.entry(call_id.clone()).or_insert(index);
        }
        indexes
    }

    /// Renames calls as in the repaired history. Of calls that share an id it is the first: the others have
    /// new ids there.
    pub(super) fn rename(&mut self, names: &HashMap<CallId, CallId>) {
        let mut renamed = HashMap::new();
        for call in self.turn.items.iter_mut().filter_map(Item::local_call_mut) {
            if let Some((from, to)) = names.get_key_value(&call.call_id)
                && renamed.insert(from, to).is_none()
            {
                call.call_id = to.clone();
            }
        }
        let results = self.results.iter_mut().filter(|result| !is_rejected_duplicate(result)).map(|it| &mut it.call_id);
        let signals = self.signals.iter_mut().map(|signal| &mut signal.call.call_id);
        for id in results.chain(signals).chain(self.interactions.call_ids_mut()) {
            if let Some(to) = renamed.get(id) {
                *id = CallId::clone(to);
            }
        }
    }

    /// Cancels calls that have no result yet, and returns their results.
    pub(super) fn cancel(&mut self, call_ids: &[&CallId], reason: &str) -> Vec<ToolResult> {
        let results = self.results.iter().filter(|result| !is_rejected_duplicate(result));
        let mut done: HashSet<&CallId> = results.map(|result| &result.call_id).collect();
        let mut calls: HashMap<&CallId, &ToolCall> = HashMap::new();
        for call in self.turn.items.iter().filter_map(Item::local_call) {
            calls.entry(&call.call_id).or_insert(call);
        }
        let open = call_ids.iter().filter_map(|&id| calls.get(id).filter(|_| done.insert(id)));
        let cancelled: Vec<ToolResult> = open.map(|call| ToolResult::cancelled(call, reason)).collect();
        let closed: HashSet<&CallId> = cancelled.iter().map(|result| &result.call_id).collect();
        self.interactions.retain(|interaction| !closed.contains(interaction.call_id()));
        self.signals.retain(|signal| !closed.contains(signal.call_id()));
        self.add(cancelled.iter().cloned());
        cancelled
    }
}

/// Returns the ids of the calls that the application runs, in order.
fn local_ids(turn: &Turn) -> impl Iterator<Item = &CallId> {
    turn.items.iter().filter_map(Item::local_call).map(|call| &call.call_id)
}

/// Reports whether the result is that of a call that was rejected because an earlier call has its id.
fn is_rejected_duplicate(result: &ToolResult) -> bool {
    result.failure().is_some_and(|failure| failure.kind == FailureKind::DuplicateCallId)
}
