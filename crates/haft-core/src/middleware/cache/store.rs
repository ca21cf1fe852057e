//! What is remembered, and which calls are on their way.
//!
//! Everything is under one lock that is never held while something runs. A call that has no answer yet takes a seat on
//! the flight for its key; the one who holds the flight's gate runs, the others wait at it. A gate that is let go empty,
//! because its holder failed or was dropped, lets the next one in: there is no state that only a dead call could clear.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::key::Key;
use crate::output::ToolOutput;

/// Answers, and flights towards answers.
#[derive(Default)]
pub(super) struct Store(Mutex<Shelf>);

#[derive(Default)]
struct Shelf {
    entries: HashMap<Arc<Key>, Entry>,
    /// The keys by when they were last used, the least recent first.
    order: BTreeMap<u64, Arc<Key>>,
    uses: u64,
    call_states: HashMap<Arc<Key>, CallState>,
}

struct Entry {
    output: Arc<ToolOutput>,
    expires: Option<Instant>,
    last_use: u64,
}

struct CallState {
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

/// A place on a flight. Dropped, it is given up.
pub(super) struct Seat<'a> {
    store: &'a Store,
    key: Arc<Key>,
    gate: Arc<Gate>,
}

impl Store {
    /// The answer for a key, or a seat on the flight towards it.
    pub(super) fn find(&self, key: Key) -> Found<'_> {
        let mut shelf = self.shelf();
        if let Some(output) = shelf.answer(&key, Instant::now()) {
            return Found::Answer(output);
        }
        let key = Arc::new(key);
        let call_state =
            shelf.call_states.entry(Arc::clone(&key)).or_insert_with(|| CallState { gate: Arc::default(), seats: 0 });
        call_state.seats += 1;
        Found::Seat(Seat { store: self, gate: Arc::clone(&call_state.gate), key })
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many answers and how many flights there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> (usize, usize) {
        let shelf = self.shelf();
        assert_eq!(shelf.entries.len(), shelf.order.len());
        (shelf.entries.len(), shelf.call_states.len())
    }
}

impl Seat<'_> {
    /// Who holds it runs. It may hold an answer by the time one gets it.
    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Keeps the answer, and ends the flight: who comes from now on finds the answer itself.
    pub(super) fn land(&self, output: Arc<ToolOutput>, ttl: Duration, max_entries: usize) {
        let mut shelf = self.store.shelf();
        if shelf.call_states.get(&self.key).is_some_and(|call_state| Arc::ptr_eq(&call_state.gate, &self.gate)) {
            shelf.call_states.remove(&self.key);
        }
        shelf.keep(&self.key, output, Instant::now().checked_add(ttl), max_entries);
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut shelf = self.store.shelf();
        // A flight that landed is gone, and another one may be under way for the same key.
        let Some(call_state) = shelf.call_states.get_mut(&self.key) else { return };
        if !Arc::ptr_eq(&call_state.gate, &self.gate) {
            return;
        }
        call_state.seats -= 1;
        if call_state.seats == 0 {
            shelf.call_states.remove(&self.key);
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
