//! The slot in which the loop hands an event to its reader.
//!
//! The loop is one future that its reader polls. It stores an event in the slot and waits until the reader took it, so
//! the loop never runs ahead of its reader, and nothing is spawned.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use super::event::LoopEvent;

/// A slot for one event. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct EventSlot(Arc<Mutex<Option<LoopEvent>>>);

impl EventSlot {
    /// Stores an event and waits until the reader took it.
    pub(super) async fn emit(&self, event: LoopEvent) {
        let mut event = Some(event);
        // The reader empties the slot after each poll and polls again, so no waker is needed.
        poll_fn(|_| match event.take() {
            Some(event) => {
                // An event that was not taken is not dropped under the lock: a result may hold an error of user code.
                let untaken = self.slot().replace(event);
                drop(untaken);
                Poll::Pending
            }
            None => Poll::Ready(()),
        })
        .await;
    }

    /// Takes the event.
    pub(super) fn take(&self) -> Option<LoopEvent> {
        self.slot().take()
    }

    fn slot(&self) -> MutexGuard<'_, Option<LoopEvent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
