//! Isolation of panics: a panic in user code fails its own call and nothing else.
//!
//! Unwinds are caught around all user code that a call runs: polls, drops, and the drop of the panic payload. Values of
//! user code are kept in [`Isolated`], which drops each of them separately: so it does not matter where or when one of
//! our structures is dropped, and how many of the values in it panic. A program built with `panic = "abort"` has no
//! such isolation.
//!
//! haft's executor isolates handlers, middlewares and all other user code. These are the same means, for code that runs
//! further user code inside of a call, such as a middleware with a callback, or one that wakes other calls: [`isolated`]
//! runs code that may panic, and [`Isolated`] holds a value whose drop may panic.
//!
//! ```
//! use haft_schema::isolation::isolated;
//!
//! assert_eq!(isolated(|| 7).ok(), Some(7));
//! assert_eq!(isolated(|| panic!("broken")).map_err(|panicked| panicked.into_text()), Err::<(), _>("broken".to_owned()));
//! ```

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A panic of user code. Only for the operator: the text of a panic may contain anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {0}")]
pub struct Panicked(String);

/// A value of user code, which is always dropped in isolation.
///
/// Two values that panic while they are dropped together, as the fields of one structure are, abort the process. So
/// each value of user code that one of our structures holds is in a separate `Isolated`. It is wrapped where it enters,
/// before it is shared: then it does not matter which owner of a reference count is the last.
pub struct Isolated<T>(Option<T>);

/// Runs code that may panic. After a panic, values that it touched must only be dropped.
#[inline]
pub fn isolated<T>(code: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(code)).map_err(Panicked::new)
}

/// Drops a value whose drop may panic. The panic is ignored: the call that the value belonged to has its result.
#[inline]
pub fn drop_isolated<T>(value: T) {
    drop(isolated(|| drop(value)));
}

impl<T> Isolated<T> {
    /// Wraps a value of user code.
    #[inline]
    pub fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Returns the value. Dropping it is no longer isolated.
    #[inline]
    pub fn into_inner(mut self) -> T {
        match self.0.take() {
            Some(value) => value,
            None => unreachable!("only the drop takes the value out"),
        }
    }
}

impl<F: Future + Unpin> Future for Isolated<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut **self.get_mut()).poll(task)
    }
}

impl<T> Deref for Isolated<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.0 {
            Some(value) => value,
            None => unreachable!("only the drop takes the value out"),
        }
    }
}

impl<T> DerefMut for Isolated<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            Some(value) => value,
            None => unreachable!("only the drop takes the value out"),
        }
    }
}

impl<T> Drop for Isolated<T> {
    #[inline]
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            drop_isolated(self.0.take());
        }
    }
}

/// Only shared values can be cloned: cloning any other value would run user code.
impl<T: ?Sized> Clone for Isolated<Arc<T>> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(self))
    }
}

impl<T: fmt::Debug> fmt::Debug for Isolated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

/// Wakes a task. Its waker is user code; a panic in it is ignored.
pub fn wake_isolated(task: &Waker) {
    drop(isolated(|| task.wake_by_ref()));
}

/// Polls a future that may panic. When it has completed or panicked, it is dropped in isolation before this returns.
pub fn poll_isolated<F>(slot: &mut Option<F>, task: &mut Context<'_>) -> Poll<Result<F::Output, Panicked>>
where
    F: Future + Unpin,
{
    poll_isolated_by(slot, |future| Pin::new(future).poll(task))
}

/// Polls a value that is not a future in the same way.
#[inline]
pub fn poll_isolated_by<F, T>(slot: &mut Option<F>, poll: impl FnOnce(&mut F) -> Poll<T>) -> Poll<Result<T, Panicked>> {
    let mut ready = None;
    let unwound = isolated(|| {
        if let Some(polled) = slot
            && let Poll::Ready(output) = poll(polled)
        {
            // Stored before the drop, which may panic.
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
    /// Returns the text of the panic.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }

    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = match payload.downcast_ref::<&str>() {
            Some(text) => Some((*text).to_owned()),
            None => payload.downcast_ref::<String>().cloned(),
        };
        // If dropping the payload panics again, the second payload is leaked: dropping it could panic forever.
        if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(another);
        }
        Self(text.unwrap_or_else(|| "without a message".to_owned()))
    }
}
