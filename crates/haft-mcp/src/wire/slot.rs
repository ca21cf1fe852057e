//! The place where the answer and the progress of one request arrive.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_core::Progress;
use serde_json::value::RawValue;
use tokio::sync::Notify;

/// The progress that is kept for a reader that is slower than the server. Later values replace the last one.
const MAX_PROGRESS: usize = 64;

/// A request whose answer is taken as it was sent. It travels with the request as an extension, so that the transport
/// registers it before the first byte is sent. Clones share it.
#[derive(Clone)]
pub(crate) struct Slot(Arc<SlotState>);

struct SlotState {
    kind: SlotKind,
    received: Mutex<Received>,
    changed: Notify,
}

/// The purpose of a slot's request.
pub(crate) enum SlotKind {
    /// A page of tools, of which the HTTP transport reads the schemas.
    List,
    /// A call, with its arguments as they were checked.
    Call { arguments: Option<Box<RawValue>> },
}

#[derive(Default)]
struct Received {
    /// The request has left this process, or may have.
    is_sent: bool,
    answer: Option<Box<RawValue>>,
    /// The limit that the answer exceeded.
    too_large: Option<usize>,
    progress: VecDeque<Progress>,
    /// The number of questions for a person that are open.
    pauses: usize,
    /// The greatest progress so far: the protocol demands that it increases.
    done: Option<f64>,
}

/// A pause of a call's timeouts.
pub(crate) struct Pause(Slot);

impl Drop for Pause {
    fn drop(&mut self) {
        self.0.lock().pauses -= 1;
        self.0.0.changed.notify_one();
    }
}

impl Slot {
    pub(crate) fn new(kind: SlotKind) -> Self {
        Self(Arc::new(SlotState { kind, received: Mutex::default(), changed: Notify::new() }))
    }

    pub(crate) fn kind(&self) -> &SlotKind {
        &self.0.kind
    }

    pub(crate) fn set_sent(&self, is_sent: bool) {
        self.lock().is_sent = is_sent;
    }

    /// Reports whether the server may have got the request.
    pub(crate) fn is_sent(&self) -> bool {
        self.lock().is_sent
    }

    pub(crate) fn answer(&self, answer: Box<RawValue>) {
        self.lock().answer = Some(answer);
    }

    pub(crate) fn take_answer(&self) -> Option<Box<RawValue>> {
        self.lock().answer.take()
    }

    pub(crate) fn too_large(&self, limit: usize) {
        self.lock().too_large = Some(limit);
    }

    /// Returns the limit that the answer exceeded, if it was not read for that reason.
    pub(crate) fn exceeded(&self) -> Option<usize> {
        self.lock().too_large
    }

    /// Adds progress. What does not increase is out of order, repeated or invented, and is dropped.
    pub(crate) fn progress(&self, progress: Progress) {
        let mut received = self.lock();
        if !progress.done.is_finite() || received.done.is_some_and(|done| progress.done <= done) {
            return;
        }
        received.done = Some(progress.done);
        if received.progress.len() == MAX_PROGRESS {
            received.progress.pop_back();
        }
        received.progress.push_back(progress);
        drop(received);
        self.0.changed.notify_one();
    }

    pub(crate) fn take_progress(&self) -> Option<Progress> {
        self.lock().progress.pop_front()
    }

    /// Waits for progress, and takes the first; or until a question was asked or answered, which gives `None`.
    pub(crate) async fn next_change(&self) -> Option<Progress> {
        let progress = self.take_progress();
        if progress.is_none() {
            self.0.changed.notified().await;
        }
        progress
    }

    /// Pauses the timeouts of the call until the value is dropped: a person is asked.
    pub(crate) fn pause(&self) -> Pause {
        self.lock().pauses += 1;
        self.0.changed.notify_one();
        Pause(self.clone())
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.lock().pauses > 0
    }

    fn lock(&self) -> MutexGuard<'_, Received> {
        self.0.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot() -> Slot {
        Slot::new(SlotKind::List)
    }

    #[test]
    fn progress_that_does_not_increase_is_dropped() {
        let slot = slot();
        for done in [1.0, 3.0, 2.0, 3.0, f64::NAN, f64::INFINITY, 4.0] {
            slot.progress(Progress::new(done));
        }
        let taken: Vec<f64> = std::iter::from_fn(|| slot.take_progress()).map(|progress| progress.done).collect();
        assert_eq!(taken, [1.0, 3.0, 4.0]);
    }

    #[test]
    fn a_flood_keeps_the_first_values_and_the_last() {
        let slot = slot();
        for done in 0..100_000_u32 {
            slot.progress(Progress::new(f64::from(done)));
        }
        let taken: Vec<f64> = std::iter::from_fn(|| slot.take_progress()).map(|progress| progress.done).collect();
        assert_eq!(taken.len(), MAX_PROGRESS);
        assert_eq!((taken[0], taken[MAX_PROGRESS - 1]), (0.0, 99_999.0));
    }
}
