//! Answers that are remembered.
//!
//! A remembered answer is given without running anything, so only tools that say of themselves that this is right are
//! ever answered so. Everything else about a cache is a trade; this is not: an answer never reaches another caller,
//! another tool, other arguments, services or extensions than those it was made for. In doubt the call runs.

mod key;
mod nesting;
mod run;
mod store;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use self::nesting::Nesting;
use self::store::Store;

/// How many answers are kept when nothing is said.
const MAX_ENTRIES: usize = 1024;

/// Answers a call as an equal one was answered before.
///
/// - Only tools annotated both [`Readonly`](crate::Readonly) and [`Idempotent`](crate::Idempotent) are answered so. The
///   calls of all others go straight through.
/// - Calls are equal when the tool, the arguments, the caller, the services and the extensions are. Arguments are compared
///   by value: order of keys, white space and `1.0` for `1` make no difference. A tool is known by identity, not by name: a
///   changed copy, or one built anew, has answers of its own, so build a toolkit once. Calls without a caller are equal
///   among themselves.
/// - Services and extensions are known by identity too: those of the toolkit, of the run
///   ([`services`](crate::RunOptions::services), [`extension`](crate::RunOptions::extension)) and of middlewares outside of
///   the cache. [Options](crate::RunOptions) that are cloned have the same ones; options that are built anew for each run
///   have others, and so no answers of earlier runs. Build those of a tenant once, and layer middlewares that attach
///   something to each request inside of the cache.
/// - The conversation is not compared: the caller stands for it. A call that has a
///   [conversation](crate::RunOptions::messages), as those of a turn loop do, and no caller always runs.
/// - Only successes are kept, for the given time; beyond the number of entries the one that was not used for longest
///   goes.
/// - Equal calls at the same time run once: the others wait, as long as the first one takes. When it fails or is dropped,
///   the next one runs. The first one is no task of its own: it goes on only while its own run is polled, so whoever
///   begins a run and then neither polls nor drops it holds up the equal calls of the same caller (of all callers, if they
///   [share](Self::shared_between_callers)). [Spawn](crate::RunOptions::spawned) a run whose reader may pause; a
///   [deadline](crate::RunOptions::deadline) bounds how long others wait.
/// - A call that is made while such a call runs, by its handler, never waits: where an equal call is on its way, which may be
///   the one that makes it, it runs beside it and its answer is not kept. That also holds in
///   [spawned](crate::RunOptions::spawned) runs and blocking handlers, but not in tasks and threads that a handler starts by
///   itself: there a call that is equal to the one that waits for it waits for ever.
/// - What a handler emits on its way is not kept: who gets a remembered answer sees no progress.
///
/// Clones share their answers; a copy with another setting begins empty. Layer it outside of
/// [`Retry`](crate::Retry), [`RateLimit`](crate::RateLimit) and [`Timeout`](crate::Timeout), so that a remembered answer
/// costs none of them anything.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::time::Duration;
///
/// use haft_core::{Cache, Cx, Idempotent, Readonly, Tool, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), haft_core::DefinitionError> {
/// static RUNS: AtomicU32 = AtomicU32::new(0);
///
/// let square = Tool::new("square")
///     .annotate(Readonly(true))
///     .annotate(Idempotent(true))
///     .run(|n: i64, _cx| async move {
///         RUNS.fetch_add(1, Ordering::Relaxed);
///         n * n
///     })?
///     .wrap(Cache::new(Duration::from_secs(60)));
///
/// for arguments in ["7", "7.0", " 7 "] {
///     let call = ToolCall::new("c1", "square", arguments);
///     let result = haft_core::Toolkit::from_iter([square.clone()]).run_call(&call).await;
///     assert_eq!(result.value().unwrap().as_str(), "49");
/// }
/// assert_eq!(RUNS.load(Ordering::Relaxed), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Cache {
    ttl: Duration,
    max_entries: usize,
    sharing: Sharing,
    store: Arc<Store>,
}

/// Who may be given an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    SameCaller,
    Everyone,
}

impl Cache {
    /// Keeps answers for this long, 1024 of them at most.
    #[must_use]
    pub fn new(ttl: Duration) -> Self {
        Self { ttl, max_entries: MAX_ENTRIES, sharing: Sharing::SameCaller, store: Arc::default() }
    }

    /// How many answers are kept. With none, equal calls at the same time still run once.
    #[must_use]
    pub fn max_entries(self, max_entries: usize) -> Self {
        Self { max_entries, store: Arc::default(), ..self }
    }

    /// Gives an answer to every caller, whoever it was made for, whatever services and extensions of its own the run has and
    /// whatever its conversation is. Only for tools whose answers depend on none of these. The services of the toolkit
    /// still count.
    #[must_use]
    pub fn shared_between_callers(self) -> Self {
        Self { sharing: Sharing::Everyone, store: Arc::default(), ..self }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("ttl", &self.ttl)
            .field("max_entries", &self.max_entries)
            .field("sharing", &self.sharing)
            .finish_non_exhaustive()
    }
}
