//! Ambient values: state that code finds by type although no parameter hands it over.
//!
//! A handler that makes calls of its own does so through a toolkit, which knows nothing of the call it is used in. A
//! middleware that has to recognise such nested calls, or to hand permissions down to them, needs state that follows the
//! code. An [`Ambient`] is a set of such values. A scope makes it current while a future is polled or a closure runs, and
//! restores the previous one afterwards, also after a panic.
//!
//! A run carries the values that were current where it was created and where it was first polled (the latter replace the
//! former), to wherever it is polled, and to the tasks and blocking threads that it starts for a call. Tasks and threads
//! that user code starts see none of them, unless they are handed over by a scope.
//!
//! Ambient values are for code between calls. Whatever a handler needs is a [service](crate::Services), which is declared
//! and checked before anything runs.

use std::any::type_name;
use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::service::Services;

/// A set of ambient values, one per type. Cloning is cheap.
///
/// A private type is a private value: only code that can name the type finds it.
///
/// ```
/// use haft_executor::Ambient;
///
/// /// The number of calls around the current one.
/// struct Depth(u32);
///
/// fn depth() -> u32 {
///     Ambient::current().get::<Depth>().map_or(0, |depth| depth.0)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let nested = Ambient::current().with(Depth(depth() + 1));
/// assert_eq!(nested.scope(async { depth() }).await, 1);
/// assert_eq!(depth(), 0);
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Ambient(Option<Services>);

thread_local! {
    /// The values of the innermost scope that is active on this thread.
    static CURRENT: RefCell<Ambient> = const { RefCell::new(Ambient(None)) };
}

impl Ambient {
    /// Returns the values that are current where this is called.
    #[must_use]
    pub fn current() -> Self {
        // A thread that ends has none any more.
        CURRENT.try_with(|current| current.borrow().clone()).unwrap_or_default()
    }

    /// Adds a value, which replaces an earlier one of its type. Nothing becomes current by this.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        Self(Some(self.0.unwrap_or_default().with(value)))
    }

    /// Adds the values of another set whose types this one does not have.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Some(values), Some(others)) if values.identity() == others.identity() => self.clone(),
            (Some(values), Some(others)) => Self(Some(values.clone().over(others.clone()))),
            (None, _) => other.clone(),
            (_, None) => self.clone(),
        }
    }

    /// Reports whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the value of this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.as_ref()?.get().ok()
    }

    /// Wraps a future, which then runs with these values as the current ones, and with no others.
    #[must_use = "futures do nothing unless polled"]
    pub fn scope<F: Future>(self, future: F) -> AmbientScope<F> {
        AmbientScope { future, ambient: self }
    }

    /// Wraps a future, which then runs with the values that are current when it is first polled, and with these where
    /// it finds none, wherever it is polled afterwards. A run and a turn loop carry the values of their creation so.
    ///
    /// ```
    /// use haft_executor::Ambient;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let read = || async { (Ambient::current().get::<u8>().copied(), Ambient::current().get::<char>().copied()) };
    /// let carried = Ambient::default().with(1_u8).with('a').carry(read());
    /// assert_eq!(Ambient::default().with(2_u8).scope(carried).await, (Some(2), Some('a')));
    /// # }
    /// ```
    #[must_use = "futures do nothing unless polled"]
    pub fn carry<F: Future>(self, future: F) -> CarriedAmbient<F> {
        CarriedAmbient { future, ambient: self, is_started: false }
    }

    /// Runs code with these values as the current ones, and with no others.
    pub fn sync_scope<T>(mut self, code: impl FnOnce() -> T) -> T {
        let _entered = Entered::swap(&mut self);
        code()
    }
}

impl fmt::Debug for Ambient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ambient").field(&self.0).finish()
    }
}

pin_project! {
    /// A future that runs with ambient values. See [`Ambient::scope`].
    #[must_use = "futures do nothing unless polled"]
    pub struct AmbientScope<F> {
        #[pin]
        future: F,
        ambient: Ambient,
    }
}

impl<F: Future> Future for AmbientScope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = Entered::swap(this.ambient);
        this.future.poll(task)
    }
}

impl<F> fmt::Debug for AmbientScope<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AmbientScope").field("future", &type_name::<F>()).field("ambient", &self.ambient).finish()
    }
}

pin_project! {
    /// A future that carries ambient values. See [`Ambient::carry`].
    #[must_use = "futures do nothing unless polled"]
    pub struct CarriedAmbient<F> {
        #[pin]
        future: F,
        ambient: Ambient,
        is_started: bool,
    }
}

impl<F: Future> Future for CarriedAmbient<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if !std::mem::replace(this.is_started, true) {
            *this.ambient = Ambient::current().over(this.ambient);
        }
        if this.ambient.is_empty() {
            return this.future.poll(task);
        }
        let _entered = Entered::swap(this.ambient);
        this.future.poll(task)
    }
}

impl<F> fmt::Debug for CarriedAmbient<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut carried = f.debug_struct("CarriedAmbient");
        carried.field("future", &type_name::<F>()).field("ambient", &self.ambient).finish_non_exhaustive()
    }
}

/// An active scope. While it lives, the values of the scope are in the thread's cell, and those of the surrounding scope
/// are where the scope keeps its own; so neither entering nor leaving clones or drops anything.
struct Entered<'a>(&'a mut Ambient);

impl<'a> Entered<'a> {
    fn swap(ambient: &'a mut Ambient) -> Self {
        swap_current(ambient);
        Self(ambient)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        swap_current(self.0);
    }
}

fn swap_current(ambient: &mut Ambient) {
    // Where the cell is gone, as the thread ends, it is so for both swaps of a scope.
    let _ = CURRENT.try_with(|current| std::mem::swap(&mut *current.borrow_mut(), ambient));
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn current() -> Option<u8> {
        Ambient::current().get().copied()
    }

    #[test]
    fn a_scope_replaces_the_values_and_restores_them() {
        assert_eq!(current(), None);
        let outer = Ambient::default().with(1_u8).with('a');
        let seen = outer.sync_scope(|| {
            let inner = Ambient::current().with(2_u8).sync_scope(|| (current(), Ambient::current().get().copied()));
            (current(), inner, Ambient::default().sync_scope(current))
        });
        assert_eq!(seen, (Some(1), (Some(2), Some('a')), None));
        assert_eq!(current(), None);
    }

    #[test]
    fn a_panic_restores_the_values_too() {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            Ambient::default().with(1_u8).sync_scope(|| panic!("inside"));
        }));
        assert!(panicked.is_err());
        assert_eq!(current(), None);
    }

    #[tokio::test]
    async fn futures_that_take_turns_see_their_own_values() {
        let watch = |value: u8| {
            Ambient::current().with(value).scope(async move {
                for _ in 0..3 {
                    assert_eq!(current(), Some(value));
                    tokio::task::yield_now().await;
                }
                current()
            })
        };
        let seen = tokio::join!(watch(1), async { current() }, watch(2));
        assert_eq!(seen, (Some(1), None, Some(2)));
    }
}
