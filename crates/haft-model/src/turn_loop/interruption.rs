//! What ends a loop from outside: a flag that is raised, or time that is over.
//!
//! Both are looked at before whatever is waited for, so that a model or a tool that never pauses can't keep them off.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use haft_core::Cancellation;
use tokio::time::{Instant, Sleep, sleep_until};

use super::budget::Spent;
use super::end::LoopEnd;
use super::isolation::{Isolated, isolated};

/// Why the loop must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InterruptionCause {
    Cancelled,
    OutOfTime,
}

/// Waits for either cause, beside all other work of a loop.
pub(super) struct Interruption {
    flag: Cancellation,
    /// Both hold the waker of the task, which is user code.
    raised: Isolated<Pin<Box<dyn Future<Output = ()> + Send>>>,
    deadline: Option<Isolated<Pin<Box<Sleep>>>>,
}

impl Interruption {
    /// `left` is the time that is left, if it is limited.
    pub(super) fn new(flag: Cancellation, left: Option<Duration>) -> Self {
        let watched = flag.clone();
        let raised: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move { watched.cancelled().await });
        // A time beyond what the clock can name never comes.
        let deadline = left.and_then(|left| Instant::now().checked_add(left));
        let deadline = deadline.map(|deadline| Isolated::new(Box::pin(sleep_until(deadline))));
        Self { flag, raised: Isolated::new(raised), deadline }
    }

    /// The cause, if there is one by now.
    pub(super) fn cause(&self) -> Option<InterruptionCause> {
        if self.flag.is_cancelled() {
            return Some(InterruptionCause::Cancelled);
        }
        let is_past = self.deadline.as_ref().is_some_and(|sleep| Instant::now() >= sleep.deadline());
        is_past.then_some(InterruptionCause::OutOfTime)
    }

    /// The cause, waited for.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<InterruptionCause> {
        if let Some(cause) = self.cause() {
            return Poll::Ready(cause);
        }
        // A waker that panics is not woken by these: each poll asks for the cause first.
        let is_ready = |polled| matches!(polled, Ok(Some(Poll::Ready(()))));
        if is_ready(isolated(|| Some(self.raised.as_mut().poll(task)))) {
            return Poll::Ready(InterruptionCause::Cancelled);
        }
        if is_ready(isolated(|| self.deadline.as_mut().map(|sleep| sleep.as_mut().poll(task)))) {
            return Poll::Ready(InterruptionCause::OutOfTime);
        }
        Poll::Pending
    }

    /// The work's output, unless the loop must end before.
    pub(super) async fn or<T>(&mut self, work: impl Future<Output = T>) -> Result<T, InterruptionCause> {
        let mut work = pin!(work);
        poll_fn(|task| match self.poll(task) {
            Poll::Ready(cause) => Poll::Ready(Err(cause)),
            Poll::Pending => work.as_mut().poll(task).map(Ok),
        })
        .await
    }
}

impl From<InterruptionCause> for LoopEnd {
    fn from(cause: InterruptionCause) -> Self {
        match cause {
            InterruptionCause::Cancelled => Self::Cancelled,
            InterruptionCause::OutOfTime => Self::Budget(Spent::Time),
        }
    }
}
