//! Trying again.
//!
//! A repeated call is a second call, with all its effects. So the first rule comes before every setting: a call whose
//! handler began is repeated only when its tool says that this does no harm. Nothing here may ever weaken that.

mod backoff;
mod run;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use self::backoff::Backoff;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;

/// The longest wait that a failure may ask for, when nothing else is said.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Runs a call again when it failed in a way that may pass.
///
/// - Repeated are failures marked [`retryable`](ToolFailure::retryable) of a kind that the same call may get over:
///   `timed_out`, `execution_error`, `tool_failed` and kinds of the application's own. What the model must mend first, as
///   `input_validation_error`, is not. [`when`](Self::when) decides otherwise.
/// - Never repeated is a call whose handler began, unless its tool is idempotent: annotated
///   [`Idempotent`](crate::Idempotent), or [`Readonly`](crate::Readonly) without a word about idempotence, as what only
///   reads can be read again. No setting changes this.
/// - A panic is no failure: it goes past, and nothing is repeated.
/// - Between two attempts it waits as the [`Backoff`] says, and at least as long as the failure asks for. It stops
///   waiting when the call is cancelled, and doesn't begin a wait that would outlast the budget or the call's deadline:
///   the last failure is given at once.
///
/// Layer it outside of [`RateLimit`](crate::RateLimit) and [`Timeout`](crate::Timeout), so that every attempt takes its
/// turn and has its own time, and inside of [`Cache`](crate::Cache).
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use haft_core::{Cx, FailureKind, Idempotent, Retry, Tool, ToolCall, ToolFailure};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), haft_core::DefinitionError> {
/// static TRIES: AtomicU32 = AtomicU32::new(0);
///
/// let fetch = Tool::new("fetch")
///     .annotate(Idempotent(true))
///     .try_run_opaque(|(), _cx| async {
///         match TRIES.fetch_add(1, Ordering::Relaxed) {
///             0 => Err(ToolFailure::new(FailureKind::ExecutionError, "busy").retryable()),
///             _ => Ok("fetched"),
///         }
///     })?
///     .wrap(Retry::new(3));
///
/// let call = ToolCall::new("c1", "fetch", "{}");
/// assert!(haft_core::Toolkit::from_iter([fetch.clone()]).run_call(&call).await.is_ok());
/// assert_eq!(TRIES.load(Ordering::Relaxed), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Retry {
    max_attempts: u32,
    backoff: Backoff,
    budget: Option<Duration>,
    longest_retry_after: Duration,
    when: Arc<dyn Fn(&ToolFailure) -> bool + Send + Sync>,
}

impl Retry {
    /// At most this many attempts in all, with the default [`Backoff`] and no budget. The first is always made, so
    /// that `0` and `1` both repeat nothing.
    #[must_use]
    pub fn new(max_attempts: u32) -> Self {
        Self {
            max_attempts,
            backoff: Backoff::default(),
            budget: None,
            longest_retry_after: LONGEST_RETRY_AFTER,
            when: Arc::new(may_pass),
        }
    }

    /// How long to wait between attempts.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// How long the whole may take: an attempt that would begin later than this after the first is not made. An attempt
    /// that has begun is not cut short; that is what [`Timeout`](crate::Timeout) is for.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// The longest wait that a failure may ask for, one minute when nothing is said. One that asks for more is given to
    /// the model, which can do something else meanwhile.
    #[must_use]
    pub fn longest_retry_after(mut self, longest: Duration) -> Self {
        self.longest_retry_after = longest;
        self
    }

    /// Which failures are worth another attempt, in place of the rule above. Calls that began and can't be repeated are
    /// not asked about.
    #[must_use]
    pub fn when(mut self, worth_it: impl Fn(&ToolFailure) -> bool + Send + Sync + 'static) -> Self {
        self.when = Arc::new(worth_it);
        self
    }
}

/// Whether the same call, unchanged, may succeed later.
fn may_pass(failure: &ToolFailure) -> bool {
    // Compared by name: a kind of the user's own that is spelled like a known one is the known one.
    let kind = FailureKind::ALL.into_iter().find(|kind| *kind == failure.kind);
    let transient =
        matches!(kind, None | Some(FailureKind::TimedOut | FailureKind::ExecutionError | FailureKind::ToolFailed));
    transient && failure.retryable
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("max_attempts", &self.max_attempts)
            .field("backoff", &self.backoff)
            .field("budget", &self.budget)
            .field("longest_retry_after", &self.longest_retry_after)
            .finish_non_exhaustive()
    }
}
