//! Cached answers.
//!
//! A cached answer is returned without running anything, so only tools that are annotated accordingly are answered from
//! the cache. Most properties of a cache are trade-offs; this one is not: an answer never reaches another caller,
//! another tool, other arguments, services or extensions than those it was made for. In doubt the call runs.

mod key;
mod run;
mod store;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use self::store::Store;

/// The default number of answers to keep.
const MAX_ENTRIES: usize = 1024;

/// Answers a call as an equal one was answered before.
///
/// - Only tools annotated both [`Readonly`](haft_core::Readonly) and [`Idempotent`](haft_core::Idempotent) are answered
///   from the cache. Calls to all others pass through.
/// - Calls are equal if the tool, the arguments, the caller, the services and the extensions are. Arguments are
///   compared by value: key order, white space and `1.0` for `1` make no difference. Tools are compared by
///   [identity](haft_executor::Tool::identity), not by name: a changed or newly built copy has its own answers, so build a
///   toolkit once. Calls without a caller are equal among themselves. [Forwarded](haft_executor::Tool::with_forward) calls
///   must have equal metadata and provider data too, because their handler sees it.
/// - Services and extensions are compared by [identity](haft_executor::Services::identity) too: the toolkit's, the run's
///   ([`services`](haft_executor::RunOptions::services), [`extension`](haft_executor::RunOptions::extension)) and those from
///   middlewares outside the cache. Clones of [options](haft_executor::RunOptions) share them. If you build services and
///   extensions anew for each run, they are not shared and never find earlier runs' answers. So build a tenant's
///   options once, and layer middlewares that attach something to each request inside the cache.
/// - The conversation is not compared: the caller stands for it. A call with a
///   [conversation](haft_executor::RunOptions::messages), as from a turn loop, and without a caller always runs.
/// - Only successes are kept, for the given time. Beyond the number of entries the least recently used one is removed.
/// - Equal calls at the same time run once: the others wait for the first one. If it fails or is dropped, the next one
///   runs. The first one makes progress only while its own run is polled. So a run that you begin and then neither poll
///   nor drop holds up the same caller's equal calls (all callers', if they [share](Self::shared_between_callers)).
///   [Spawn](haft_executor::RunOptions::spawned) a run whose reader may pause; a
///   [deadline](haft_executor::RunOptions::deadline) bounds how long others wait.
/// - A call made by such a call's handler never waits: if an equal call is in progress, which may be the one that makes
///   it, it runs beside that one and its answer is not kept. This also holds in
///   [spawned](haft_executor::RunOptions::spawned) runs and blocking handlers, but not in tasks and threads that a handler
///   starts (unless it carries its [`Ambient`](haft_executor::Ambient) values there): such a call would wait for itself.
/// - Emitted values are not kept: a cached answer comes without progress.
///
/// Clones share their answers; a copy with another setting begins empty. Layer it outside [`Retry`](crate::Retry),
/// [`RateLimit`](crate::RateLimit) and [`Timeout`](crate::Timeout), so that a cached answer takes no turn and no time.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::time::Duration;
///
/// use haft_core::{Idempotent, Readonly, ToolCall};
/// use haft_executor::{Tool, Toolkit};
/// use haft_middleware::Cache;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), haft_executor::DefinitionError> {
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

    /// Sets how many answers to keep. With none, equal calls at the same time still run once.
    #[must_use]
    pub fn max_entries(self, max_entries: usize) -> Self {
        Self { max_entries, store: Arc::default(), ..self }
    }

    /// Shares answers between all callers, whatever their runs' services and extensions and whatever their
    /// conversations. Use it only for tools whose answers depend on none of these. The toolkit's services still count.
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
