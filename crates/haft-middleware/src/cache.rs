//! Cached answers.
//!
//! A cached answer is returned without running anything, so only tools that are annotated accordingly are answered from
//! the cache. Most properties of a cache are trade-offs; this one is not: an answer never reaches another caller, another
//! tool, other arguments, services or extensions than those it was made for. In doubt the call runs.

mod key;
mod run;
mod store;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use self::store::Store;

/// The number of answers that are kept by default.
const MAX_ENTRIES: usize = 1024;

/// Answers a call as an equal one was answered before.
///
/// - Only tools annotated both [`Readonly`](haft_core::Readonly) and [`Idempotent`](haft_core::Idempotent) are answered from
///   the cache. Calls of all others pass through.
/// - Calls are equal if the tool, the arguments, the caller, the services and the extensions are. Arguments are compared by
///   value: the order of keys, white space and `1.0` for `1` make no difference. Tools are compared by
///   [identity](haft_core::Tool::identity), not by name: a changed copy, or one that is built anew, has answers of its own,
///   so build a toolkit once. Calls without a caller are equal among themselves. Calls that are
///   [forwarded](haft_core::Tool::with_forward) must have equal metadata and provider data too, as their handler sees it.
/// - Services and extensions are compared by [identity](haft_core::Services::identity) too: those of the toolkit, of the run
///   ([`services`](haft_core::RunOptions::services), [`extension`](haft_core::RunOptions::extension)) and of middlewares
///   outside of the cache. Clones of [options](haft_core::RunOptions) share them; services and extensions that are
///   built anew for each run are not shared, and so never find answers of earlier runs. Build the options of a tenant once, and layer middlewares that attach
///   something to each request inside of the cache.
/// - The conversation is not compared: the caller stands for it. A call that has a
///   [conversation](haft_core::RunOptions::messages), as those of a turn loop do, and no caller always runs.
/// - Only successes are kept, for the given time; beyond the number of entries the least recently used one is removed.
/// - Equal calls at the same time run once: the others wait for the first one. If it fails or is dropped, the next one
///   runs. The first one makes progress only while its own run is polled, so a run that is begun and then neither polled nor
///   dropped holds up the equal calls of the same caller (of all callers, if they
///   [share](Self::shared_between_callers)). [Spawn](haft_core::RunOptions::spawned) a run whose reader may pause; a
///   [deadline](haft_core::RunOptions::deadline) bounds how long others wait.
/// - A call that the handler of such a call makes never waits: if an equal call is in progress, which may be the one that
///   makes it, it runs beside that one and its answer is not kept. This also holds in
///   [spawned](haft_core::RunOptions::spawned) runs and blocking handlers, but not in tasks and threads that a handler starts
///   (unless it carries its [`Ambient`](haft_core::Ambient) values there): such a call would wait for itself.
/// - Emitted values are not kept: a cached answer comes without progress.
///
/// Clones share their answers; a copy with another setting begins empty. Layer it outside of
/// [`Retry`](crate::Retry), [`RateLimit`](crate::RateLimit) and [`Timeout`](crate::Timeout), so that a cached answer takes
/// no turn and no time.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::time::Duration;
///
/// use haft_core::{Idempotent, Readonly, Tool, ToolCall, Toolkit};
/// use haft_middleware::Cache;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), haft_core::DefinitionError> {
/// static RUNS: AtomicU32 = AtomicU32::new(0);
///
/// let square = Tool::new("square")
///     .annotate(Readonly(true))
///     .annotate(Idempotent(true))
///     .handler(|n: i64, _cx| async move {
///         RUNS.fetch_add(1, Ordering::Relaxed);
///         n * n
///     })?
///     .wrap(Cache::new(Duration::from_secs(60)));
/// let kit: Toolkit = Toolkit::from_iter([square]);
///
/// for arguments in ["7", "7.0", " 7 "] {
///     let result = kit.run_call(&ToolCall::new("c1", "square", arguments)).await;
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

/// The callers that share an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    SameCaller,
    Everyone,
}

impl Cache {
    /// Creates a cache that keeps at most 1024 answers, each for this long.
    #[must_use]
    pub fn new(ttl: Duration) -> Self {
        Self { ttl, max_entries: MAX_ENTRIES, sharing: Sharing::SameCaller, store: Arc::default() }
    }

    /// Sets the number of answers that are kept. With none, equal calls at the same time still run once.
    #[must_use]
    pub fn max_entries(self, max_entries: usize) -> Self {
        Self { max_entries, store: Arc::default(), ..self }
    }

    /// Shares answers between all callers, whatever services and extensions their runs have and whatever their
    /// conversations are. Only for tools whose answers depend on none of these. The services of the toolkit still count.
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
