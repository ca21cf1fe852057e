//! The wish that work stops.
//!
//! A cancellation is asked for once and can't be taken back. It never stops anything by itself: handlers that want to
//! end early look at it, and whoever runs them decides what an unfinished one is worth.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::watch;

use crate::executor::isolated;

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
pub struct Cancellation(Arc<Flag>);

struct Flag {
    raised: watch::Sender<bool>,
    parent: Option<Cancellation>,
}

/// Raises its flag when it is dropped, unless it was told not to.
pub(crate) struct CancelOnDrop {
    cancellation: Cancellation,
    armed: bool,
}

impl Cancellation {
    /// A flag that isn't raised.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Flag { raised: watch::Sender::new(false), parent: None }))
    }

    /// A flag that counts as raised when this one is. Raising it leaves this one alone.
    ///
    /// ```
    /// use haft_core::Cancellation;
    ///
    /// let all = Cancellation::new();
    /// let one = all.child();
    /// one.cancel();
    /// assert!(one.is_cancelled() && !all.is_cancelled());
    /// all.cancel();
    /// assert!(all.child().is_cancelled());
    /// ```
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Flag { raised: watch::Sender::new(false), parent: Some(self.clone()) }))
    }

    /// Raises the flag. Raising it again does nothing.
    pub fn cancel(&self) {
        self.0.raised.send_if_modified(|raised| !std::mem::replace(raised, true));
    }

    /// Whether the flag is raised.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.chain().any(|flag| *flag.raised.borrow())
    }

    /// Ends when the flag is raised, at once if it already is.
    pub async fn cancelled(&self) {
        let mut waiting: Vec<_> = self.chain().map(|flag| Box::pin(raised(flag))).collect();
        poll_fn(|task| {
            let raised = waiting.iter_mut().any(|flag| flag.as_mut().poll(task).is_ready());
            if raised { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// This flag and those it hangs on.
    fn chain(&self) -> impl Iterator<Item = &Flag> {
        std::iter::successors(Some(&*self.0), |flag| flag.parent.as_ref().map(|parent| &*parent.0))
    }
}

/// The sender lives as long as the flag, so waiting ends by the flag alone.
async fn raised(flag: &Flag) {
    let _ = flag.raised.subscribe().wait_for(|raised| *raised).await;
}

impl CancelOnDrop {
    pub(crate) fn new(cancellation: Cancellation) -> Self {
        Self { cancellation, armed: true }
    }

    pub(crate) fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// The work is done: there is nothing to call off.
    pub(crate) fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if self.armed {
            // Wakes whoever waits for it.
            drop(isolated(|| self.cancellation.cancel()));
        }
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
    async fn a_child_is_raised_by_any_of_those_it_hangs_on() {
        let top = Cancellation::new();
        let middle = top.child();
        let (one, other) = (middle.child(), middle.child());
        one.cancel();
        one.cancelled().await;
        assert!(!other.is_cancelled() && !middle.is_cancelled() && !top.is_cancelled());
        let waiting = tokio::spawn(async move { other.cancelled().await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        top.cancel();
        waiting.await.unwrap();
        assert!(middle.is_cancelled());
    }

    #[test]
    fn dropping_the_guard_raises_its_flag_unless_disarmed() {
        let (dropped, kept) = (Cancellation::new(), Cancellation::new());
        drop(CancelOnDrop::new(dropped.clone()));
        CancelOnDrop::new(kept.clone()).disarm();
        assert!(dropped.is_cancelled() && !kept.is_cancelled());
    }

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
