//! What is remembered, and which calls are on their way.
//!
//! Everything is under one lock that is never held while something runs. A call that finds no answer takes a seat at the
//! pending answer for its key; the one who holds its gate runs, the others wait at it. A gate that is let go empty,
//! because its holder failed or was dropped, lets the next one in: there is no state that only a dead call could clear.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::key::Key;
use crate::output::ToolOutput;

/// Answers, and pending answers.
#[derive(Default)]
pub(super) struct Store(Mutex<Shelf>);

#[derive(Default)]
struct Shelf {
    entries: HashMap<Arc<Key>, Entry>,
    /// The keys by when they were last used, the least recent first.
    order: BTreeMap<u64, Arc<Key>>,
    uses: u64,
    pending: HashMap<Arc<Key>, PendingAnswer>,
}

struct Entry {
    output: Arc<ToolOutput>,
    expires: Option<Instant>,
    last_use: u64,
}

struct PendingAnswer {
    gate: Arc<Gate>,
    seats: usize,
}

/// Held by the call that runs; holds the answer once there is one.
pub(super) type Gate = tokio::sync::Mutex<Option<Arc<ToolOutput>>>;

/// What a call finds.
pub(super) enum Found<'a> {
    Answer(Arc<ToolOutput>),
    Seat(Seat<'a>),
}

/// A place among those who wait for an answer. Dropped, it is given up.
pub(super) struct Seat<'a> {
    store: &'a Store,
    key: Arc<Key>,
    gate: Arc<Gate>,
}

impl Store {
    /// Returns the answer for a key, or a seat among those who wait for it.
    pub(super) fn find(&self, key: Key) -> Found<'_> {
        let mut shelf = self.shelf();
        if let Some(output) = shelf.answer(&key, Instant::now()) {
            return Found::Answer(output);
        }
        let key = Arc::new(key);
        let answer =
            shelf.pending.entry(Arc::clone(&key)).or_insert_with(|| PendingAnswer { gate: Arc::default(), seats: 0 });
        answer.seats += 1;
        Found::Seat(Seat { store: self, gate: Arc::clone(&answer.gate), key })
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many answers and how many pending answers there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> (usize, usize) {
        let shelf = self.shelf();
        assert_eq!(shelf.entries.len(), shelf.order.len());
        (shelf.entries.len(), shelf.pending.len())
    }
}

impl Seat<'_> {
    /// Who holds it runs. It may hold an answer by the time one gets it.
    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Keeps the answer, which is no longer pending: who comes from now on finds the answer itself.
    pub(super) fn land(&self, output: Arc<ToolOutput>, ttl: Duration, max_entries: usize) {
        let mut shelf = self.store.shelf();
        if shelf.pending.get(&self.key).is_some_and(|answer| Arc::ptr_eq(&answer.gate, &self.gate)) {
            shelf.pending.remove(&self.key);
        }
        shelf.keep(&self.key, output, Instant::now().checked_add(ttl), max_entries);
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut shelf = self.store.shelf();
        // This one may be answered and gone, and another one pending for the same key.
        let Some(answer) = shelf.pending.get_mut(&self.key) else { return };
        if !Arc::ptr_eq(&answer.gate, &self.gate) {
            return;
        }
        answer.seats -= 1;
        if answer.seats == 0 {
            shelf.pending.remove(&self.key);
        }
    }
}

impl Shelf {
    fn answer(&mut self, key: &Key, now: Instant) -> Option<Arc<ToolOutput>> {
        let entry = self.entries.get_mut(key)?;
        let used = self.order.remove(&entry.last_use)?;
        if entry.expires.is_some_and(|expires| expires <= now) {
            self.entries.remove(key);
            return None;
        }
        self.uses += 1;
        entry.last_use = self.uses;
        self.order.insert(self.uses, used);
        Some(Arc::clone(&entry.output))
    }

    fn keep(&mut self, key: &Arc<Key>, output: Arc<ToolOutput>, expires: Option<Instant>, max_entries: usize) {
        self.uses += 1;
        let entry = Entry { output, expires, last_use: self.uses };
        if let Some(replaced) = self.entries.insert(Arc::clone(key), entry) {
            self.order.remove(&replaced.last_use);
        }
        self.order.insert(self.uses, Arc::clone(key));
        while self.entries.len() > max_entries
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.entries.remove(&oldest);
        }
    }
}
