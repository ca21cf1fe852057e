//! Interruption of a loop: by cancellation or by its deadline.
//!
//! Both are polled before the work that the loop waits for, so that a model or a tool that is always ready can't
//! prevent them.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use haft_executor::Cancellation;
use tokio::time::{Instant, Sleep, sleep_until};

use super::budget::Spent;
use super::end::LoopEnd;
use super::isolation::{Isolated, isolated};

/// The cause of an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InterruptionCause {
    Cancelled,
    OutOfTime,
}

/// Waits for either cause, beside the work of a loop.
pub(super) struct Interruption {
    flag: Cancellation,
    /// This and the deadline hold the waker of the task, which is user code.
    raised: Isolated<Pin<Box<dyn Future<Output = ()> + Send>>>,
    deadline: Option<Isolated<Pin<Box<Sleep>>>>,
}

impl Interruption {
    /// Creates the interruption of a loop; `left` is the time that is left, if it is limited.
    pub(super) fn new(flag: Cancellation, left: Option<Duration>) -> Self {
        let watched = flag.clone();
        let raised: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move { watched.cancelled().await });
        // A deadline beyond the range of the clock never passes.
        let deadline = left.and_then(|left| Instant::now().checked_add(left));
        let deadline = deadline.map(|deadline| Isolated::new(Box::pin(sleep_until(deadline))));
        Self { flag, raised: Isolated::new(raised), deadline }
    }

    /// Returns the cause, if the loop must end now.
    pub(super) fn cause(&self) -> Option<InterruptionCause> {
        if self.flag.is_cancelled() {
            return Some(InterruptionCause::Cancelled);
        }
        let is_past = self.deadline.as_ref().is_some_and(|sleep| Instant::now() >= sleep.deadline());
        is_past.then_some(InterruptionCause::OutOfTime)
    }

    /// Polls for the cause.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<InterruptionCause> {
        if let Some(cause) = self.cause() {
            return Poll::Ready(cause);
        }
        // A waker that panics is not woken by these. That is no loss, as each poll checks for the cause first.
        let is_ready = |polled| matches!(polled, Ok(Some(Poll::Ready(()))));
        if is_ready(isolated(|| Some(self.raised.as_mut().poll(task)))) {
            return Poll::Ready(InterruptionCause::Cancelled);
        }
        if is_ready(isolated(|| self.deadline.as_mut().map(|sleep| sleep.as_mut().poll(task)))) {
            return Poll::Ready(InterruptionCause::OutOfTime);
        }
        Poll::Pending
    }

    /// Waits for the output of the work, unless the loop must end before.
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
