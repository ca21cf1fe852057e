//! A list of items that is cheap to share and to extend.
//!
//! It can be used as a `Vec<Item>`. In addition, clones share the items until one of them is modified, and the index of
//! the items (see [`Index`]) is kept while items are only added, so the cost of adding a turn does not depend on the
//! length of the conversation. Any other change goes through the vector and discards the index, which must never be
//! used with other items than those it was built from.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::addition::Addition;
use super::append_error::AppendError;
use super::fresh_id::{Past, Renamed, fresh_ids_after};
use super::index::Index;
use crate::call::CallId;
use crate::item::{ApprovalId, ApprovalRequest, Item, ToolCallOutput};
use crate::result::ToolResult;
use crate::turn::Turn;

/// The items of a conversation, in order.
///
/// It dereferences to a `Vec<Item>`. Clones share the items until one of them is modified. Adding items keeps the index
/// of the items before; any other change through the vector discards it, and the next query reads all items again.
///
/// ```
/// use haft_core::{Finish, History, Item, ToolCall, ToolResult, Turn};
/// use serde_json::json;
///
/// let mut history = History::from(vec![Item::user("Is it dark?")]);
/// let mut turn = Turn::new(vec![ToolCall::new("call_0", "look", "{}").into()], Finish::ToolCalls);
/// history.fresh_ids(&mut turn);
/// let result = ToolResult::ok(&turn.tool_calls()[0], json!("yes"));
/// turn.append_to_history(&mut history, [result])?;
/// assert!(history.is_reconciled());
/// assert_eq!(history.len(), 3);
/// # Ok::<_, haft_core::history::AppendError>(())
/// ```
#[derive(Clone, Default)]
pub struct History(Arc<HistoryData>);

/// A state of a [`History`] that later states can be compared with. See [`History::revision`].
#[derive(Clone, Debug)]
pub struct Revision {
    lineage: Arc<()>,
    len: usize,
}

/// A turn at the end of a history whose calls have no results there yet. See [`History::stage`].
#[derive(Debug)]
#[must_use = "a staged turn has no results until it is completed"]
pub struct Staged {
    start: usize,
    addition: Addition,
}

#[derive(Debug, Default)]
struct HistoryData {
    items: Vec<Item>,
    /// The index. Built when it is first needed, and kept up to date from then on.
    index: OnceLock<Box<Index>>,
    /// An identity that stays the same while items are only added. Created when it is first needed.
    lineage: OnceLock<Arc<()>>,
}

/// A copy shares neither the index nor the identity of the original.
impl Clone for HistoryData {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), ..Self::default() }
    }
}

/// Adding items.
impl History {
    /// Creates an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: Item) {
        self.grow([item]);
    }

    /// Adds a turn and the results of its calls. See [`append`](super::append).
    pub fn append(&mut self, turn: Turn, results: impl IntoIterator<Item = ToolResult>) -> Result<(), AppendError> {
        let addition = Addition::of(Past::Index(self.index()), &turn);
        let items = addition.complete(turn, results)?;
        self.grow(items);
        Ok(())
    }

    /// Adds the items of a turn whose calls have not run yet, so that handlers can read the history while they run.
    /// [`complete`](Self::complete) then adds the results.
    pub fn stage(&mut self, turn: &Turn) -> Staged {
        let staged = Staged { start: self.len(), addition: Addition::of(Past::Index(self.index()), turn) };
        self.grow(turn.items.iter().cloned());
        staged
    }

    /// Adds the results of the calls of a staged turn. The history is then the same as if the turn had been
    /// [appended](Self::append). Nothing else may be added in between.
    pub fn complete(
        &mut self,
        staged: &Staged,
        turn: Turn,
        results: impl IntoIterator<Item = ToolResult>,
    ) -> Result<(), AppendError> {
        let items = staged.addition.complete(turn, results)?;
        let known = self.iter().skip(staged.start).zip(&items).take_while(|(one, other)| one == other).count();
        if staged.start + known < self.len() {
            self.truncate(staged.start + known);
        }
        self.grow(items.into_iter().skip(known));
        Ok(())
    }

    /// Replaces the output at a position by another one for the same call. Does nothing if the item there is no output.
    pub fn set_output(&mut self, position: usize, output: ToolCallOutput) {
        let Some(Item::ToolOutput(old)) = self.get(position) else { return };
        let is_known = old.call_id == output.call_id && old.tool == output.tool;
        let list = Arc::make_mut(&mut self.0);
        list.lineage = OnceLock::new();
        if !is_known {
            list.index = OnceLock::new();
        }
        list.items[position] = output.into();
    }

    fn grow(&mut self, items: impl IntoIterator<Item = Item>) {
        let mut items = items.into_iter().peekable();
        // Without new items the shared list must not be copied.
        if items.peek().is_none() {
            return;
        }
        let list = Arc::make_mut(&mut self.0);
        list.items.extend(items);
        if let Some(index) = list.index.get_mut() {
            index.catch_up(&list.items);
        }
    }
}

/// Queries. Their cost does not depend on the length of the history, once it was read.
impl History {
    /// Gives fresh ids to the calls of a turn whose id is already used. See [`fresh_ids`](super::fresh_ids).
    pub fn fresh_ids(&self, turn: &mut Turn) -> Vec<Renamed> {
        fresh_ids_after(Past::Index(self.index()), turn)
    }

    /// Reports whether the history is reconciled. See [`is_reconciled`](super::is_reconciled).
    #[must_use]
    pub fn is_reconciled(&self) -> bool {
        self.index().layout().is_reconciled()
    }

    /// Reports whether a call that is executed locally has no output.
    #[must_use]
    pub fn has_unanswered(&self) -> bool {
        self.index().layout().has_unanswered()
    }

    /// Reports whether the provider executes a call with this id.
    #[must_use]
    pub fn is_provider_call(&self, id: &CallId) -> bool {
        self.index().is_remote(id)
    }

    /// Returns the first approval request with this id, unless its call has an output or does not exist.
    #[must_use]
    pub fn pending_request(&self, id: &ApprovalId) -> Option<&ApprovalRequest> {
        self.index().pending_request(self, id)
    }

    /// Reports whether the history contains a response to the request with this id.
    #[must_use]
    pub fn is_decided(&self, id: &ApprovalId) -> bool {
        self.index().is_decided(id)
    }

    /// Reports whether the history contains an approval request with this id.
    #[must_use]
    pub fn is_requested(&self, id: &ApprovalId) -> bool {
        self.index().is_requested(id)
    }

    /// Reports whether a provider has requested approval of a call that it executes, and has no response yet. Such a
    /// history must not be sent: the provider can't continue without the response.
    ///
    /// ```
    /// use haft_core::{ApprovalRequest, History, ToolCall};
    /// use serde_json::json;
    ///
    /// let mut request = ApprovalRequest::new("q1", &ToolCall::new("mcp_1", "delete_page", "{}"));
    /// request.provider_data.insert("vendor".to_owned(), json!({"id": "q1"}));
    /// let mut history = History::from([request.clone().into()]);
    /// assert!(history.has_open_remote_request());
    /// history.push(request.deny("it is still used").into());
    /// assert!(!history.has_open_remote_request());
    /// ```
    #[must_use]
    pub fn has_open_remote_request(&self) -> bool {
        self.index().has_open_remote()
    }

    /// Returns the approval request of a provider with this id, for a call that it executes, if it has no response yet.
    #[must_use]
    pub fn open_remote_request(&self, id: &ApprovalId) -> Option<&ApprovalRequest> {
        self.index().open_remote_request(self, id)
    }

    /// Reports whether a call with this id is executed locally.
    #[must_use]
    pub fn is_local_call(&self, id: &CallId) -> bool {
        self.index().is_local(id)
    }

    /// Returns the current state of the history, to detect later whether items were only added since.
    ///
    /// ```
    /// use haft_core::{History, Item};
    ///
    /// let mut history = History::from(vec![Item::user("one")]);
    /// let revision = history.revision();
    /// history.push(Item::user("two"));
    /// assert_eq!(history.added_since(&revision).map(<[Item]>::len), Some(1));
    ///
    /// history[0] = Item::user("uno");
    /// assert!(history.added_since(&revision).is_none());
    /// ```
    #[must_use]
    pub fn revision(&self) -> Revision {
        Revision { lineage: Arc::clone(self.0.lineage.get_or_init(Arc::default)), len: self.len() }
    }

    /// Returns the items that were added since a revision, or `None` if items before them may have changed.
    #[must_use]
    pub fn added_since(&self, revision: &Revision) -> Option<&[Item]> {
        let is_same = self.0.lineage.get().is_some_and(|lineage| Arc::ptr_eq(lineage, &revision.lineage));
        self.get(revision.len..).filter(|_| is_same)
    }

    fn index(&self) -> &Index {
        self.0.index.get_or_init(|| Box::new(Index::of(&self.0.items)))
    }
}

impl Staged {
    /// Returns the number of items before the turn.
    #[must_use]
    pub fn start(&self) -> usize {
        self.start
    }
}

impl Deref for History {
    type Target = Vec<Item>;

    fn deref(&self) -> &Vec<Item> {
        &self.0.items
    }
}

/// Discards the index, because the caller may change the items.
impl DerefMut for History {
    fn deref_mut(&mut self) -> &mut Vec<Item> {
        let list = Arc::make_mut(&mut self.0);
        (list.index, list.lineage) = Default::default();
        &mut list.items
    }
}

impl Extend<Item> for History {
    fn extend<I: IntoIterator<Item = Item>>(&mut self, items: I) {
        self.grow(items);
    }
}

impl FromIterator<Item> for History {
    fn from_iter<I: IntoIterator<Item = Item>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl From<Vec<Item>> for History {
    fn from(items: Vec<Item>) -> Self {
        Self(Arc::new(HistoryData { items, ..HistoryData::default() }))
    }
}

impl From<&[Item]> for History {
    fn from(items: &[Item]) -> Self {
        items.to_vec().into()
    }
}

impl<const N: usize> From<[Item; N]> for History {
    fn from(items: [Item; N]) -> Self {
        Vec::from(items).into()
    }
}

impl From<Arc<[Item]>> for History {
    fn from(items: Arc<[Item]>) -> Self {
        items.to_vec().into()
    }
}

/// The items are copied only if another clone shares them.
impl From<History> for Vec<Item> {
    fn from(history: History) -> Self {
        Arc::unwrap_or_clone(history.0).items
    }
}

impl IntoIterator for History {
    type Item = Item;
    type IntoIter = std::vec::IntoIter<Item>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'h> IntoIterator for &'h History {
    type Item = &'h Item;
    type IntoIter = std::slice::Iter<'h, Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'h> IntoIterator for &'h mut History {
    type Item = &'h mut Item;
    type IntoIter = std::slice::IterMut<'h, Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl AsRef<[Item]> for History {
    fn as_ref(&self) -> &[Item] {
        self
    }
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.items == other.0.items
    }
}

impl PartialEq<Vec<Item>> for History {
    fn eq(&self, other: &Vec<Item>) -> bool {
        self.0.items == *other
    }
}

impl PartialEq<[Item]> for History {
    fn eq(&self, other: &[Item]) -> bool {
        self.0.items == other
    }
}

impl PartialEq<History> for Vec<Item> {
    fn eq(&self, other: &History) -> bool {
        *other == *self
    }
}

impl PartialEq<History> for &[Item] {
    fn eq(&self, other: &History) -> bool {
        *other == **self
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0.items).finish()
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.items.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
