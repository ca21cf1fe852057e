//! Waiting that ends when the call is no longer wanted.
//!
//! A middleware that waits holds up a call in which nothing happens, so it must always be ready to let go.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use crate::cx::Cx;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;

/// What the work gives, or `None` if the call is cancelled before.
pub(super) async fn unless_cancelled<T>(cx: &Cx, work: impl Future<Output = T>) -> Option<T> {
    let mut cancelled = pin!(cx.cancelled());
    let mut work = pin!(work);
    poll_fn(|task| match cancelled.as_mut().poll(task) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => work.as_mut().poll(task).map(Some),
    })
    .await
}

/// The failure of a call that was cancelled while it waited, before its handler began.
pub(super) fn called_off() -> ToolFailure {
    ToolFailure::new(FailureKind::Cancelled, FailureKind::Cancelled.default_message()).not_started()
}
