//! Retries for failed calls.
//!
//! A repeated call is a second call, with all its effects. So the first rule comes before every setting: a call whose
//! handler began is repeated only if its tool is annotated as safe to repeat. Nothing here may ever weaken that.

mod run;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft_core::{FailureKind, ToolFailure};
use haft_executor::Backoff;

use crate::RateLimit;

/// The default for the longest wait that a failure may ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Runs a call again when its failure may be temporary.
///
/// - Failures marked [`retryable`](ToolFailure::retryable) are repeated if the same call may succeed later: the kinds
///   `timed_out`, `execution_error` and `tool_failed`, and your application's own kinds. Failures that the model has to
///   correct first, such as `input_validation_error`, are not. [`when`](Self::when) replaces this rule.
/// - A call that a [`RateLimit`](crate::RateLimit) rejected is not repeated: the limit rejects so that nobody waits. If
///   the handler itself fails with `rate_limited`, because the service behind it is busy, the call is repeated.
/// - An `outcome_unknown` is not retryable, because the call may have had its effects. If the next rule still lets it
///   be repeated, it is: repeating it is how to learn the outcome.
/// - A call whose handler began is never repeated, unless its tool is idempotent: annotated
///   [`Idempotent`](haft_core::Idempotent), or [`Readonly`](haft_core::Readonly) with idempotence unspecified. No
///   setting changes this.
/// - A panic is not a failure: it unwinds, and nothing is repeated.
/// - The [`Backoff`] decides the wait between two attempts, which is at least as long as the failure asks for. It ends
///   when the call is cancelled. A wait that would outlast the budget or the call's deadline is not begun: you get the
///   last failure at once.
///
/// Layer it outside [`RateLimit`](crate::RateLimit) and [`Timeout`](crate::Timeout), so that every attempt takes a turn
/// and has its own time, and inside [`Cache`](crate::Cache). Inside a `RateLimit`, all attempts at a call take one
/// turn: choose that to limit what a caller asks for, instead of what the service receives.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use haft_core::{FailureKind, Idempotent, ToolCall, ToolFailure};
/// use haft_executor::{Tool, Toolkit};
/// use haft_middleware::Retry;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), haft_executor::DefinitionError> {
/// static TRIES: AtomicU32 = AtomicU32::new(0);
///
/// let fetch = Tool::new("fetch")
///     .annotate(Idempotent(true))
///     .try_handler_opaque(|(), _cx| async {
///         match TRIES.fetch_add(1, Ordering::Relaxed) {
///             0 => Err(ToolFailure::new(FailureKind::ExecutionError, "busy").retryable()),
///             _ => Ok("fetched"),
///         }
///     })?
///     .wrap(Retry::new(3));
/// let kit: Toolkit = Toolkit::from_iter([fetch]);
///
/// assert!(kit.run_call(&ToolCall::new("c1", "fetch", "{}")).await.is_ok());
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
    /// Creates a retry with at most this many attempts in all, the default [`Backoff`] and no budget. The first attempt
    /// is always made, so `0` and `1` both repeat nothing.
    #[must_use]
    pub fn new(max_attempts: u32) -> Self {
        Self {
            max_attempts,
            backoff: Backoff::default(),
            budget: None,
            longest_retry_after: LONGEST_RETRY_AFTER,
            when: Arc::new(may_be_temporary),
        }
    }

    /// Sets the waits between attempts.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Sets the time for all attempts: no attempt begins later than this after the first. An attempt that has begun is
    /// not cut short; [`Timeout`](crate::Timeout) does that.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Sets the longest wait that a failure may ask for, one minute by default. A failure that asks for more is
    /// returned to the model, which can do something else meanwhile.
    #[must_use]
    pub fn longest_retry_after(mut self, longest: Duration) -> Self {
        self.longest_retry_after = longest;
        self
    }

    /// Sets which failures are repeated, replacing the default rule. It is not asked about calls that began and can't
    /// be repeated.
    #[must_use]
    pub fn when(mut self, is_repeated: impl Fn(&ToolFailure) -> bool + Send + Sync + 'static) -> Self {
        self.when = Arc::new(is_repeated);
        self
    }
}

/// Reports whether the same call, unchanged, may succeed later.
fn may_be_temporary(failure: &ToolFailure) -> bool {
    if RateLimit::has_rejected(failure) {
        return false;
    }
    // Compared by name: a custom kind that is spelled like a known one is the known one.
    let kind = FailureKind::ALL.into_iter().find(|kind| *kind == failure.kind);
    match kind {
        None | Some(FailureKind::TimedOut | FailureKind::ExecutionError | FailureKind::ToolFailed) => failure.retryable,
        Some(FailureKind::OutcomeUnknown) => true,
        Some(_) => false,
    }
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
