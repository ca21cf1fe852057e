//! How events get from the loop to its reader.
//!
//! The loop is one future that its reader polls. An event is put down, and the future waits until it was taken: so the
//! loop never runs ahead of its reader, and nothing is spawned.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use super::event::LoopEvent;

/// Room for one event. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct EventSlot(Arc<Mutex<Option<LoopEvent>>>);

impl EventSlot {
    /// Puts an event down and waits until the reader has it.
    pub(super) async fn emit(&self, event: LoopEvent) {
        let mut event = Some(event);
        // The reader takes what is there after each poll, and polls again for more: nobody has to be woken.
        poll_fn(|_| match event.take() {
            Some(event) => {
                // What nobody took is not dropped under the lock: a result may hold an error of user code.
                let untaken = self.place().replace(event);
                drop(untaken);
                Poll::Pending
            }
            None => Poll::Ready(()),
        })
        .await;
    }

    /// The event that was put down.
    pub(super) fn take(&self) -> Option<LoopEvent> {
        self.place().take()
    }

    fn place(&self) -> MutexGuard<'_, Option<LoopEvent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
