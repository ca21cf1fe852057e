//! The newest snapshot that was derived from other sources.
//!
//! Deriving runs user code, so it happens without the lock; two threads may derive the same generation at the same
//! time, and both return the one that is stored first.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Snapshot;

/// The newest derived snapshot.
#[derive(Debug, Default)]
pub(super) struct SnapshotCache(Mutex<Option<Snapshot>>);

impl SnapshotCache {
    /// Returns the stored snapshot if it has at least this generation. Otherwise derives and stores it.
    pub(super) fn get_or_derive(&self, generation: u64, derive: impl FnOnce() -> Snapshot) -> Snapshot {
        if let Some(known) = self.known(generation) {
            return known;
        }
        let derived = derive();
        let mut newest = self.lock();
        match &*newest {
            Some(known) if known.generation >= generation => {
                let known = known.clone();
                // Dropping tools runs user code.
                drop(newest);
                drop(derived);
                known
            }
            Some(_) | None => {
                let before = newest.replace(derived.clone());
                drop(newest);
                drop(before);
                derived
            }
        }
    }

    fn known(&self, generation: u64) -> Option<Snapshot> {
        self.lock().as_ref().filter(|known| known.generation >= generation).cloned()
    }

    /// Nothing that panics runs under the lock, so a poisoned one holds a whole value.
    fn lock(&self) -> MutexGuard<'_, Option<Snapshot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
