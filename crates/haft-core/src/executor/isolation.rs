//! What keeps a panic inside its own call.
//!
//! Unwinds are caught around everything of a user's that a call runs: polling, dropping what was polled, and dropping the
//! payload of the panic itself. A program built with `panic = "abort"` has no such isolation.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::OPAQUE_MESSAGE;

/// Code of a user's that panicked. For the operator: a panic's text may hold anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {0}")]
pub(crate) struct Panicked(String);

/// Runs code that may panic. Nothing it touched is used after a panic except to be dropped.
#[inline]
pub(crate) fn isolated<T>(code: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(code)).map_err(Panicked::new)
}

/// Drops something whose drop may panic. Nobody can be told: the call it belonged to has its result already.
#[inline]
pub(crate) fn drop_isolated<T>(value: T) {
    drop(isolated(|| drop(value)));
}

/// Polls a future that may panic; when it ends either way it is dropped, in isolation, before this returns.
pub(super) fn poll_isolated<F>(slot: &mut Option<F>, task: &mut Context<'_>) -> Poll<Result<F::Output, Panicked>>
where
    F: Future + Unpin,
{
    poll_isolated_by(slot, |future| Pin::new(future).poll(task))
}

/// The same for what is polled in a way of its own.
#[inline]
pub(super) fn poll_isolated_by<F, T>(
    slot: &mut Option<F>,
    poll: impl FnOnce(&mut F) -> Poll<T>,
) -> Poll<Result<T, Panicked>> {
    let mut ready = None;
    let unwound = isolated(|| {
        if let Some(polled) = slot
            && let Poll::Ready(output) = poll(polled)
        {
            // Out of reach of what the drop may do.
            ready = Some(output);
            drop(slot.take());
        }
    });
    match (ready, unwound) {
        (Some(output), _) => Poll::Ready(Ok(output)),
        (None, Ok(())) => Poll::Pending,
        (None, Err(panicked)) => {
            drop_isolated(slot.take());
            Poll::Ready(Err(panicked))
        }
    }
}

impl Panicked {
    pub(super) fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = match payload.downcast_ref::<&str>() {
            Some(text) => Some((*text).to_owned()),
            None => payload.downcast_ref::<String>().cloned(),
        };
        // A payload whose drop panics with another one is leaked rather than followed for ever.
        if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(another);
        }
        Self(text.unwrap_or_else(|| "without a message".to_owned()))
    }
}

impl From<Panicked> for ToolFailure {
    fn from(panicked: Panicked) -> Self {
        Self::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(panicked)
    }
}
