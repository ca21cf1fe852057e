//! Calls that are made from inside of a call that a cache runs.
//!
//! Equal calls wait for the one that runs. A call that is made by the handler of that very one, directly or through other
//! tools, would wait for itself; two that make each other's calls would wait for each other. So a call from inside never
//! waits: whoever is waited for waits for nobody. A handler makes calls by the toolkit, which knows nothing of the call it
//! is made from, so the mark is on the thread, while it polls the inside. It follows a call to a task or a thread that we
//! start for it, and not to those that the handler starts by itself.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;

/// Whether code runs inside of a call that a cache runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nesting {
    Outside,
    Inside,
}

thread_local! {
    static CURRENT: Cell<Nesting> = const { Cell::new(Nesting::Outside) };
}

impl Nesting {
    /// Where the current code runs.
    pub(crate) fn current() -> Self {
        CURRENT.get()
    }

    /// Runs code there.
    pub(crate) fn run<T>(self, code: impl FnOnce() -> T) -> T {
        let _before = Before(CURRENT.replace(self));
        code()
    }

    /// Polls a future there.
    pub(crate) async fn poll<F: Future>(self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|task| self.run(|| future.as_mut().poll(task))).await
    }
}

/// Restores what was before, also when the code panicked.
struct Before(Nesting);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}
