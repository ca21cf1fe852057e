//! The wish that work stops.
//!
//! A cancellation is asked for once and can't be taken back. It never stops anything by itself: handlers that want to
//! end early look at it, and whoever runs them decides what an unfinished one is worth.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

/// A flag that can be raised once, watched by any number of clones.
///
/// ```
/// use haft_core::Cancellation;
///
/// let cancellation = Cancellation::new();
/// let watcher = cancellation.clone();
/// assert!(!watcher.is_cancelled());
/// cancellation.cancel();
/// assert!(watcher.is_cancelled());
/// ```
#[derive(Clone)]
pub struct Cancellation(Arc<watch::Sender<bool>>);

impl Cancellation {
    /// A flag that isn't raised.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Raises the flag. Raising it again does nothing.
    pub fn cancel(&self) {
        self.0.send_if_modified(|raised| !std::mem::replace(raised, true));
    }

    /// Whether the flag is raised.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Ends when the flag is raised, at once if it already is.
    pub async fn cancelled(&self) {
        // The sender lives as long as `self`, so waiting ends by the flag alone.
        let _ = self.0.subscribe().wait_for(|raised| *raised).await;
    }
}

impl Default for Cancellation {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation").field("cancelled", &self.is_cancelled()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everyone_who_waits_is_woken_and_later_ones_do_not_wait() {
        let cancellation = Cancellation::new();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let watcher = cancellation.clone();
                tokio::spawn(async move { watcher.cancelled().await })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(waiting.iter().all(|task| !task.is_finished()));
        cancellation.cancel();
        cancellation.cancel();
        for task in waiting {
            task.await.unwrap();
        }
        cancellation.cancelled().await;
        assert!(cancellation.is_cancelled());
    }
}
