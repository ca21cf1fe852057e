//! Cached answers, and the calls that make or await them.
//!
//! Everything is under one lock that is never held while user code runs. A call that finds no answer gets a ticket for
//! its key's pending answer. The call that holds the slot's lock runs, and the others wait for it. If its holder fails
//! or is dropped, the lock is released with the slot empty and passes to the next call: there is no state that only a
//! dropped call could clear.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_core::ToolOutput;
use tokio::time::Instant;

use super::key::CacheKey;

/// A cache's answers and pending answers.
#[derive(Default)]
pub(super) struct Store(Mutex<Answers>);

#[derive(Default)]
struct Answers {
    entries: HashMap<Arc<CacheKey>, CachedAnswer>,
    /// The keys by last use, the least recent first.
    order: BTreeMap<u64, Arc<CacheKey>>,
    uses: u64,
    pending: HashMap<Arc<CacheKey>, PendingAnswer>,
}

struct CachedAnswer {
    output: Arc<ToolOutput>,
    expires: Option<Instant>,
    last_use: u64,
}

struct PendingAnswer {
    slot: Arc<AnswerSlot>,
    tickets: usize,
}

/// A pending answer's slot. Locked by the call that runs; contains the answer once there is one.
pub(super) type AnswerSlot = tokio::sync::Mutex<Option<Arc<ToolOutput>>>;

/// A key's look-up result.
pub(super) enum Lookup<'a> {
    Answer(Arc<ToolOutput>),
    Pending(Ticket<'a>),
}

/// One call's right to make or await a pending answer, until it is dropped.
pub(super) struct Ticket<'a> {
    store: &'a Store,
    key: Arc<CacheKey>,
    slot: Arc<AnswerSlot>,
}

impl Store {
    /// Returns the answer for a key, or a ticket for the pending one.
    pub(super) fn look_up(&self, key: CacheKey) -> Lookup<'_> {
        let mut answers = self.lock();
        if let Some(output) = answers.answer(&key, Instant::now()) {
            return Lookup::Answer(output);
        }
        let key = Arc::new(key);
        let answer = answers
            .pending
            .entry(Arc::clone(&key))
            .or_insert_with(|| PendingAnswer { slot: Arc::default(), tickets: 0 });
        answer.tickets += 1;
        Lookup::Pending(Ticket { store: self, slot: Arc::clone(&answer.slot), key })
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the numbers of answers and pending answers.
    #[cfg(test)]
    pub(super) fn len(&self) -> (usize, usize) {
        let answers = self.lock();
        assert_eq!(answers.entries.len(), answers.order.len());
        (answers.entries.len(), answers.pending.len())
    }
}

impl Ticket<'_> {
    /// Returns the answer's slot. The call that locks it runs, unless the slot contains an answer by then.
    pub(super) fn slot(&self) -> &AnswerSlot {
        &self.slot
    }

    /// Stores the answer, which is no longer pending: later calls find it.
    pub(super) fn store(&self, output: Arc<ToolOutput>, ttl: Duration, max_entries: usize) {
        let mut answers = self.store.lock();
        if answers.pending.get(&self.key).is_some_and(|answer| Arc::ptr_eq(&answer.slot, &self.slot)) {
            answers.pending.remove(&self.key);
        }
        answers.keep(&self.key, output, Instant::now().checked_add(ttl), max_entries);
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut answers = self.store.lock();
        // This answer may have been stored and removed again, and another one may be pending for the same key.
        let Some(answer) = answers.pending.get_mut(&self.key) else { return };
        if !Arc::ptr_eq(&answer.slot, &self.slot) {
            return;
        }
        answer.tickets -= 1;
        if answer.tickets == 0 {
            answers.pending.remove(&self.key);
        }
    }
}

impl Answers {
    fn answer(&mut self, key: &CacheKey, now: Instant) -> Option<Arc<ToolOutput>> {
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

    fn keep(&mut self, key: &Arc<CacheKey>, output: Arc<ToolOutput>, expires: Option<Instant>, max_entries: usize) {
        self.uses += 1;
        let entry = CachedAnswer { output, expires, last_use: self.uses };
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
