//! Conversations in memory.

use std::collections::HashMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_core::Timestamp;

use super::{Claim, ClaimToken, Clock, ConversationStore, StoreError, StoreFuture, StoredConversation, system_clock};
use crate::turn_loop::LoopState;

/// A store in memory, for tests and for services whose conversations may be lost. Clones share it.
#[derive(Clone)]
pub struct MemoryStore {
    conversations: Arc<Mutex<HashMap<String, Entry>>>,
    clock: Clock,
}

/// A conversation, a claim on it, or both.
#[derive(Default)]
struct Entry {
    stored: Option<StoredConversation>,
    claim: Option<Claim>,
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self { conversations: Arc::default(), clock: system_clock() }
    }

    /// Sets the clock that leases are measured by.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the entry of a claim, if the claim is the current one.
    fn claimed<T>(
        &self,
        claim: &Claim,
        change: impl FnOnce(&mut Entry, &Claim) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut entries = self.entries();
        let entry = entries.get_mut(&claim.conversation).ok_or(StoreError::ClaimLost)?;
        let current = entry.claim.clone().filter(|current| current.token == claim.token);
        change(entry, &current.ok_or(StoreError::ClaimLost)?)
    }

    fn claim_now(&self, id: &str, lease: Duration) -> Result<Claim, StoreError> {
        let now = (self.clock)();
        let mut entries = self.entries();
        let entry = entries.entry(id.to_owned()).or_default();
        if let Some(current) = entry.claim.as_ref().filter(|current| !current.is_expired(now)) {
            return Err(StoreError::Busy { until: current.expires_at });
        }
        let claim = Claim::new(id, ClaimToken::random(), now.saturating_add(lease));
        entry.claim = Some(claim.clone());
        Ok(claim)
    }

    fn renew_now(&self, claim: &Claim, lease: Duration) -> Result<Claim, StoreError> {
        let now = (self.clock)();
        self.claimed(claim, |entry, current| {
            let renewed = Claim { expires_at: now.saturating_add(lease), ..current.clone() };
            entry.claim = Some(renewed.clone());
            Ok(renewed)
        })
    }

    fn save_now(&self, claim: &Claim, expected: u64, state: LoopState) -> Result<u64, StoreError> {
        let now = (self.clock)();
        let replaced = self.claimed(claim, |entry, current| {
            let found = entry.stored.as_ref().map_or(0, |stored| stored.version);
            match () {
                () if current.is_expired(now) => Err(StoreError::ClaimLost),
                () if found != expected => Err(StoreError::Changed { expected, found }),
                () => Ok((found + 1, entry.stored.replace(StoredConversation::new(state, found + 1)))),
            }
        });
        // What was replaced is dropped here, without the lock: a result may hold an error of user code.
        replaced.map(|(version, _)| version)
    }

    fn release_now(&self, claim: &Claim) -> Result<(), StoreError> {
        let mut entries = self.entries();
        let entry = entries.get_mut(&claim.conversation);
        let current = entry.filter(|entry| entry.claim.as_ref().is_some_and(|current| current.token == claim.token));
        let entry = current.ok_or(StoreError::ClaimLost)?;
        entry.claim = None;
        if entry.stored.is_none() {
            // A conversation that was never saved leaves nothing behind.
            entries.remove(&claim.conversation);
        }
        Ok(())
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl ConversationStore for MemoryStore {
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<StoredConversation>> {
        Box::pin(ready(Ok(self.entries().get(id).and_then(|entry| entry.stored.clone()))))
    }

    fn claim<'a>(&'a self, id: &'a str, lease: Duration) -> StoreFuture<'a, Claim> {
        Box::pin(async move { self.claim_now(id, lease) })
    }

    fn renew<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StoreFuture<'a, Claim> {
        Box::pin(async move { self.renew_now(claim, lease) })
    }

    fn save<'a>(&'a self, claim: &'a Claim, expected: u64, state: &'a LoopState) -> StoreFuture<'a, u64> {
        Box::pin(async move { self.save_now(claim, expected, state.clone()) })
    }

    fn release<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.release_now(claim) })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("conversations", &self.entries().len()).finish_non_exhaustive()
    }
}
