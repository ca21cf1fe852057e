//! Fresh ids for calls whose id is already used.
//!
//! Every provider requires the ids of one conversation to be unique, and some models name the first call of each turn
//! `call_0`. A fresh id is the old one with a number appended, so that its origin is visible. Everything that refers to
//! a call is renamed with it: its output, and the approval requests for it.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::index::Index;
use super::layout::{Layout, Owner};
use crate::call::{CallId, ToolCall};
use crate::item::{Item, ToolCallOutput};
use crate::turn::Turn;

/// A call that got another id because an earlier call has the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Renamed {
    /// The position of the call in the list of items that was passed.
    pub index: usize,
    /// The name of the tool, as the call spells it.
    pub tool: String,
    /// The id it had.
    pub from: CallId,
    /// The id it has now.
    pub to: CallId,
}

/// Gives fresh ids to the calls of a turn whose id is already used, by a call of the history or by a call of the turn
/// that the provider executes. Call this before any call is run.
///
/// Only calls that are executed locally are renamed. An output or an approval request of the turn with the id of a
/// provider's call stays with that call. Two local calls of the turn that share an id still share one afterwards: the
/// executor runs the first and rejects the second.
///
/// ```
/// use haft_core::{Finish, Item, ToolCall, ToolCallOutput, Turn, history};
///
/// let history = vec![ToolCall::new("call_0", "look", "{}").into(), ToolCallOutput::new("call_0", "dark").into()];
/// let again = ToolCall::new("call_0", "look", "{}");
/// let mut turn = Turn::new(vec![Item::assistant("Once more."), again.into()], Finish::ToolCalls);
///
/// let renamed = history::fresh_ids(&history, &mut turn);
/// assert_eq!(
///     renamed[0].to_string(),
///     "the call 'call_0' of 'look' at 1 was renamed to 'call_0_2' because an earlier call has the same id"
/// );
/// assert_eq!(turn.tool_calls()[0].call_id, "call_0_2");
/// ```
///
/// [`History::fresh_ids`](crate::History::fresh_ids) does the same with the index of a [`History`](crate::History),
/// without reading all items.
pub fn fresh_ids(history: &[Item], turn: &mut Turn) -> Vec<Renamed> {
    fresh_ids_after(Past::Items(history), turn)
}

pub(super) fn fresh_ids_after(past: Past<'_>, turn: &mut Turn) -> Vec<Renamed> {
    let remote = remote_ids(&turn.items);
    let clashes: HashSet<CallId> = past.clashes(&turn.items).into_iter().chain(remote.iter().cloned()).collect();
    if clashes.is_empty() {
        return Vec::new();
    }
    let mut layout = Layout::of(&turn.items);
    // An item with the id of a provider's call belongs to that call.
    let is_free = |index: usize| turn.items.get(index).and_then(mentioned).is_none_or(|id| !remote.contains(id));
    layout.outputs.retain(|(index, _)| is_free(*index));
    layout.requests.retain(|(index, _)| is_free(*index));
    let mut source = IdSource::beside(past, &turn.items);
    let mut fresh = HashMap::new();
    let ids = layout.calls.iter().map(|call| {
        let old = call_at(&turn.items, call.item).map(|call| &call.call_id)?;
        let is_renamed = !call.is_remote && clashes.contains(old);
        is_renamed.then(|| fresh.entry(old.clone()).or_insert_with(|| source.fresh(old)).clone())
    });
    let renames = Renames(ids.collect());
    renames.apply(&mut turn.items, &layout, &mut [])
}

/// The items before those of a turn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Past<'h> {
    /// The items themselves.
    Items(&'h [Item]),
    /// The index of these items.
    Index(&'h Index),
}

impl Past<'_> {
    /// Returns the ids of the items' calls that earlier calls have, including those that the provider executes. The
    /// past may be long and the items few, so a set is built of the items only.
    fn clashes(self, items: &[Item]) -> HashSet<CallId> {
        let ids: HashSet<_> = calls(items).map(|call| &call.call_id).collect();
        if ids.is_empty() {
            return HashSet::new();
        }
        match self {
            Self::Index(index) => ids.into_iter().filter(|id| index.is_call_id(id)).cloned().collect(),
            Self::Items(history) => {
                let given = history.iter().filter_map(|item| match item {
                    Item::ToolCall(call) => Some(&call.call_id),
                    Item::ProviderCall(call) => call.call_id.as_ref(),
                    _ => None,
                });
                given.filter(|id| ids.contains(id)).cloned().collect()
            }
        }
    }
}

/// The new ids of calls, by index in the layout.
#[derive(Debug)]
pub(super) struct Renames(Vec<Option<CallId>>);

impl Renames {
    /// Creates a fresh id for each call whose id is used by an earlier call of the items or of the past.
    pub(super) fn of(past: Past<'_>, items: &[Item], layout: &Layout) -> Self {
        let clashes = past.clashes(items);
        if clashes.is_empty() && !layout.calls.iter().any(|call| call.repeats) {
            return Self(Vec::new());
        }
        let mut source = IdSource::beside(past, items);
        let ids = layout.calls.iter().map(|call| {
            let old = call_at(items, call.item).map(|call| &call.call_id)?;
            (call.repeats || clashes.contains(old)).then(|| source.fresh(old))
        });
        Self(ids.collect())
    }

    /// Renames the calls and everything that refers to them: the outputs and requests among the items, and the
    /// `answers` that are yet to be inserted.
    pub(super) fn apply(
        &self,
        items: &mut [Item],
        layout: &Layout,
        answers: &mut [Option<ToolCallOutput>],
    ) -> Vec<Renamed> {
        let mut renamed = Vec::new();
        for (call, id) in layout.calls.iter().zip(&self.0) {
            let (Some(Item::ToolCall(item)), Some(id)) = (items.get_mut(call.item), id) else { continue };
            let from = std::mem::replace(&mut item.call_id, id.clone());
            renamed.push(Renamed { index: call.item, tool: item.name.clone(), from, to: id.clone() });
        }
        for &(index, owner) in &layout.outputs {
            let (Owner::Call(call) | Owner::Provider(Some(call))) = owner else { continue };
            if let (Some(Item::ToolOutput(output)), Some(id)) = (items.get_mut(index), self.get(call)) {
                output.call_id = id.clone();
            }
        }
        for &(index, call) in &layout.requests {
            let id = call.and_then(|call| self.get(call));
            if let (Some(Item::ApprovalRequest(request)), Some(id)) = (items.get_mut(index), id) {
                request.call_id = id.clone();
            }
        }
        for (answer, id) in answers.iter_mut().zip(&self.0) {
            if let (Some(answer), Some(id)) = (answer, id) {
                answer.call_id = id.clone();
            }
        }
        renamed
    }

    fn get(&self, call: usize) -> Option<&CallId> {
        self.0.get(call)?.as_ref()
    }
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, tool, from, to } = self;
        write!(
            f,
            "the call '{from:.80}' of '{tool:.80}' at {index} was renamed to '{to:.80}' because an earlier call has the same id"
        )
    }
}

/// Returns the tool call at a position, if there is one.
pub(super) fn call_at(items: &[Item], index: usize) -> Option<&ToolCall> {
    match items.get(index) {
        Some(Item::ToolCall(call)) => Some(call),
        _ => None,
    }
}

/// Returns the ids of calls that the provider executes.
fn remote_ids(items: &[Item]) -> HashSet<CallId> {
    let ids = items.iter().filter_map(|item| match item {
        Item::ToolCall(call) if call.provider_executed => Some(&call.call_id),
        Item::ProviderCall(call) => call.call_id.as_ref(),
        _ => None,
    });
    ids.cloned().collect()
}

fn calls(items: &[Item]) -> impl Iterator<Item = &ToolCall> {
    items.iter().filter_map(|item| match item {
        Item::ToolCall(call) => Some(call),
        _ => None,
    })
}

/// A source of unused ids.
#[derive(Debug)]
struct IdSource<'h> {
    index: Option<&'h Index>,
    taken: HashSet<CallId>,
    /// The last number used for each id, so that many calls with the same id are not counted from the start each time.
    last: HashMap<CallId, usize>,
}

impl<'h> IdSource<'h> {
    /// Creates a source of ids that occur neither in these items nor in the past.
    fn beside(past: Past<'h>, items: &[Item]) -> Self {
        let (index, before) = match past {
            Past::Items(before) => (None, before),
            Past::Index(index) => (Some(index), &[][..]),
        };
        let taken = before.iter().chain(items).filter_map(mentioned).cloned().collect();
        Self { index, taken, last: HashMap::new() }
    }

    fn fresh(&mut self, id: &CallId) -> CallId {
        let known = || self.index.map_or(FIRST_NUMBER, |index| index.last_number(id));
        let number = self.last.entry(id.clone()).or_insert_with(known);
        loop {
            *number += 1;
            let fresh = numbered(id.as_str(), *number);
            // Fresh ids of the same id differ in their numbers, and those of different ids in the part before the
            // number.
            if !self.taken.contains(&fresh) && !self.index.is_some_and(|index| index.is_mentioned(&fresh)) {
                return fresh;
            }
        }
    }
}

/// The number that the first call with an id would have.
pub(super) const FIRST_NUMBER: usize = 1;

/// Returns the fresh id of this number for `id`.
pub(super) fn numbered(id: &str, number: usize) -> CallId {
    CallId::from(format!("{id}_{number}"))
}

/// Returns the call id that an item contains.
pub(super) fn mentioned(item: &Item) -> Option<&CallId> {
    match item {
        Item::ToolCall(call) => Some(&call.call_id),
        Item::ToolOutput(output) => Some(&output.call_id),
        Item::ApprovalRequest(request) => Some(&request.call_id),
        Item::ProviderCall(call) => call.call_id.as_ref(),
        Item::Message(_) | Item::Reasoning(_) | Item::Verdict(_) | Item::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::item::{ApprovalRequest, ProviderCall};

    fn check(source: &mut IdSource<'_>) {
        let fresh: Vec<_> = std::iter::repeat_with(|| source.fresh(&CallId::from("a"))).take(3).collect();
        assert_eq!(fresh, ["a_4", "a_6", "a_7"]);
        assert_eq!(source.fresh(&CallId::from("b")), "b_2");
        assert_eq!(source.fresh(&CallId::from("a_4")), "a_4_2");
    }

    #[test]
    fn a_fresh_id_occurs_in_no_item() {
        let items = [
            ToolCall::new("a", "t", "{}").into(),
            ToolCallOutput::new("a_2", "an orphan").into(),
            ApprovalRequest::new("q", &ToolCall::new("a_3", "t", "{}")).into(),
            ProviderCall::new("openai", "search", Value::Null).call_id("a_5").into(),
        ];
        let mut source = IdSource::beside(Past::Items(&items[..2]), &items[2..]);
        check(&mut source);
        let index = Index::of(&items[..3]);
        check(&mut IdSource::beside(Past::Index(&index), &items[3..]));
    }

    #[test]
    fn only_ids_of_calls_clash() {
        let called = [Item::from(ToolCall::new("a", "t", "{}"))];
        let named = [ToolCallOutput::new("a", "an orphan").into(), Item::user("a")];
        let clashes = |history: &[Item], items: &[Item]| {
            let walked = Past::Items(history).clashes(items);
            assert_eq!(Past::Index(&Index::of(history)).clashes(items), walked);
            walked
        };
        assert!(clashes(&named, &called).is_empty());
        assert!(clashes(&called, &named).is_empty());
        assert_eq!(clashes(&called, &called).len(), 1);
        let searched = [ProviderCall::new("openai", "search", Value::Null).call_id("a").into()];
        assert_eq!(clashes(&searched, &called).len(), 1);
        assert!(clashes(&called, &searched).is_empty(), "ids of provider calls are never changed");
    }
}
