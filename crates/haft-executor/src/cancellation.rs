//! A request to stop work early.
//!
//! ```text
//!  caller: Cancellation::cancel
//!      │ wakes the run
//!      ▼
//!  Run ──> calls that have not finished end with `cancelled`
//!      │ is visible to
//!      ▼
//!  handler: Cx::is_cancelled, Cx::cancelled
//! ```
//!
//! A [`Cancellation`] is a thin wrapper around [`CancellationToken`] of `tokio-util`, and converts from and into one.
//! It is cancelled once and stays cancelled. It never stops anything on its own: a handler that wants to end early
//! reads it, and the run decides which result an unfinished call gets.
//!
//! Wakers are user code, and no user code may run while a lock is held. 0.7.20 is the first version of `tokio-util`
//! that releases its locks before it wakes the waiters of child tokens; with an earlier one, a waker that reads the
//! parent deadlocks (see the test `a_waker_may_use_the_token_that_wakes_it`). A waker that panics can still keep other
//! waiters of the same token from being woken, although each of them reads the token as cancelled. A run is not
//! affected: it polls its calls with wakers that never panic, and isolates the waker of its own task.

use std::fmt;
use std::future::poll_fn;
use std::task::Poll;

use haft_schema::isolation::isolated;
use tokio_util::sync::CancellationToken;

/// A flag that is set once, shared by any number of clones.
///
/// ```
/// use haft_executor::Cancellation;
///
/// let cancellation = Cancellation::new();
/// let clone = cancellation.clone();
/// assert!(!clone.is_cancelled());
/// cancellation.cancel();
/// assert!(clone.is_cancelled());
/// ```
///
/// A program that already has a [`CancellationToken`] passes that on:
///
/// ```
/// use haft_executor::Cancellation;
/// use tokio_util::sync::CancellationToken;
///
/// let shutdown = CancellationToken::new();
/// let cancellation = Cancellation::from(shutdown.child_token());
/// shutdown.cancel();
/// assert!(cancellation.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Cancellation(CancellationToken);

/// A guard that cancels when it is dropped, unless it was disarmed.
pub(crate) struct CancelOnDrop {
    cancellation: Cancellation,
    armed: bool,
}

impl Cancellation {
    /// Creates a flag that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a flag that is cancelled together with this one. Cancelling the child does not cancel the parent.
    ///
    /// ```
    /// use haft_executor::Cancellation;
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
        Self(self.0.child_token())
    }

    /// Cancels this flag and its children. Does nothing if it is already cancelled.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Reports whether the flag is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the flag is cancelled. Returns at once if it already is.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }

    /// Waits until one of the flags is cancelled; forever, if there are none.
    pub(crate) async fn any(flags: &[Self]) {
        match flags {
            [one] => one.cancelled().await,
            all => {
                let mut waiting: Vec<_> = all.iter().map(|flag| Box::pin(flag.cancelled())).collect();
                poll_fn(|task| {
                    let is_cancelled = waiting.iter_mut().any(|flag| flag.as_mut().poll(task).is_ready());
                    if is_cancelled { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            }
        }
    }
}

impl CancelOnDrop {
    pub(crate) fn new(cancellation: Cancellation) -> Self {
        Self { cancellation, armed: true }
    }

    pub(crate) fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Drops the guard without cancelling: the work is done.
    pub(crate) fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if self.armed {
            // Cancelling runs the wakers of user code, which may panic.
            drop(isolated(|| self.cancellation.cancel()));
        }
    }
}

impl From<CancellationToken> for Cancellation {
    fn from(token: CancellationToken) -> Self {
        Self(token)
    }
}

impl From<Cancellation> for CancellationToken {
    fn from(Cancellation(token): Cancellation) -> Self {
        token
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation").field("cancelled", &self.is_cancelled()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::{Arc, mpsc};
    use std::task::{Context, Wake, Waker};
    use std::time::Duration;

    use super::*;

    struct WakeWith<F>(F);

    impl<F: Fn() + Send + Sync + 'static> Wake for WakeWith<F> {
        fn wake(self: Arc<Self>) {
            (self.0)();
        }
    }

    fn waker(wake: impl Fn() + Send + Sync + 'static) -> Waker {
        Arc::new(WakeWith(wake)).into()
    }

    #[tokio::test]
    async fn a_child_is_cancelled_by_any_of_its_ancestors() {
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
    fn dropping_the_guard_cancels_unless_it_was_disarmed() {
        let (dropped, kept) = (Cancellation::new(), Cancellation::new());
        drop(CancelOnDrop::new(dropped.clone()));
        CancelOnDrop::new(kept.clone()).disarm();
        assert!(dropped.is_cancelled() && !kept.is_cancelled());
    }

    #[tokio::test]
    async fn every_waiter_is_woken_and_later_ones_do_not_wait() {
        let cancellation = Cancellation::new();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let clone = cancellation.clone();
                tokio::spawn(async move { clone.cancelled().await })
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

    /// Fails with a timeout, and not by hanging, if a lock is held while wakers run.
    #[test]
    fn a_waker_may_use_the_token_that_wakes_it() {
        let (sender, done) = mpsc::channel();
        std::thread::spawn(move || {
            let parent = Cancellation::new();
            let child = parent.child();
            let (above, own) = (parent.clone(), child.clone());
            let waker = waker(move || {
                above.cancel();
                sender.send(above.is_cancelled() && own.is_cancelled() && above.child().is_cancelled()).unwrap();
            });
            let mut waiting = pin!(child.cancelled());
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            parent.cancel();
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
        });
        assert_eq!(done.recv_timeout(Duration::from_secs(10)), Ok(true));
    }

    #[test]
    fn a_waker_that_panics_leaves_the_whole_family_cancelled() {
        let parent = Cancellation::new();
        let children = [parent.child(), parent.child(), parent.child()];
        let grandchild = children[1].child();
        let waker = waker(|| panic!("a waker of user code"));
        let mut waiting: Vec<_> = children.iter().map(|child| Box::pin(child.cancelled())).collect();
        for waiting in &mut waiting {
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        drop(CancelOnDrop::new(parent.clone()));
        assert!(parent.is_cancelled() && grandchild.is_cancelled());
        assert!(children.iter().all(Cancellation::is_cancelled));
        assert!(parent.child().is_cancelled());
        for mut waiting in waiting {
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
        }
    }

    #[test]
    fn a_token_and_the_cancellation_made_of_it_are_the_same() {
        let token = CancellationToken::new();
        let cancellation = Cancellation::from(token.clone());
        assert!(!cancellation.is_cancelled());
        token.cancel();
        assert!(cancellation.is_cancelled());
        assert_eq!(CancellationToken::from(cancellation), token);
    }
}
