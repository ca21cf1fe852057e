//! Rate limits for calls.
//!
//! A limit protects the service behind a tool, so it counts calls that are about to reach the handler. Waiting calls
//! keep their order of arrival, except that a call that is not polled when its turn comes is passed by. A call that
//! stops waiting leaves its turn to the next. No call ever depends on another one being polled.

mod bucket;
mod queue;
mod run;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft_core::ToolFailure;

use self::bucket::{Buckets, Rate};

/// Limits calls to a number within a time, with bursts after idle times (a token bucket).
///
/// A call beyond the limit waits for its turn, in the order of arrival. After [`reject`](Self::reject), it fails
/// instead, with the kind [`rate_limited`](Self::KIND) and the time after which to try again. It also fails at once if
/// its turn would come after the [longest wait](Self::longest_wait) or the call's deadline. A rejected call's handler
/// has not begun. A call that isn't polled when its turn comes misses it and holds up no other; it takes the next turn
/// when it is polled again.
///
/// Clones share one limit, and so do all tools you wrap it around, unless it counts [by tool](Self::per_tool) or [by
/// caller](Self::per_caller). A copy with another setting has its own limit.
///
/// Layer it inside [`Retry`](crate::Retry), so that every attempt counts, and outside [`Timeout`](crate::Timeout), so
/// that waiting for a turn isn't timed as work. A `Retry` around it returns its rejections at once, unless you tell it
/// [otherwise](crate::Retry::when). Outside `Retry`, the limit counts a call once, whatever its attempts.
///
/// ```
/// use std::time::Duration;
///
/// use haft_executor::{Tool, Toolkit};
/// use haft_core::ToolCall;
/// use haft_middleware::RateLimit;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), haft_executor::DefinitionError> {
/// let search = Tool::new("search")
///     .handler(|query: String, _cx| async move { query })?
///     .wrap(RateLimit::new(1, Duration::from_secs(10)).reject());
/// let kit: Toolkit = Toolkit::from_iter([search]);
///
/// let call = ToolCall::new("c1", "search", r#""rust""#);
/// assert!(kit.run_call(&call).await.is_ok());
///
/// let rejected = kit.run_call(&call).await;
/// assert_eq!(rejected.failure().unwrap().kind.as_str(), RateLimit::KIND);
/// assert_eq!(rejected.failure().unwrap().retry_after, Some(Duration::from_secs(10)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RateLimit {
    rate: Rate,
    grouping: Grouping,
    max_wait: MaxWait,
    buckets: Arc<Buckets>,
}

/// The properties by which calls are counted separately.
#[derive(Clone, Copy, Debug, Default)]
struct Grouping {
    by_tool: bool,
    by_caller: bool,
}

/// The longest time that a call may wait for its turn.
#[derive(Clone, Copy, Debug)]
enum MaxWait {
    None,
    AtMost(Duration),
    Unlimited,
}

/// The cause of every rejection, which tells it from user code's `rate_limited` failures.
#[derive(Clone, Copy, Debug)]
struct LimitReached;

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call was rejected by its rate limit")
    }
}

impl Error for LimitReached {}

impl RateLimit {
    /// A rejected call's failure [kind](haft_core::ToolFailure::kind).
    pub const KIND: &'static str = "rate_limited";

    /// Creates a limit: this many calls within this time, and as many at once after an idle time. With zero `calls`,
    /// every call is rejected.
    #[must_use]
    pub fn new(calls: u32, per: Duration) -> Self {
        Self {
            rate: Rate::new(calls, per),
            grouping: Grouping::default(),
            max_wait: MaxWait::Unlimited,
            buckets: Arc::default(),
        }
    }

    /// Sets how many calls may come at once after an idle time. With zero, every call is rejected.
    #[must_use]
    pub fn burst(self, calls: u32) -> Self {
        let rate = self.rate.with_burst(calls);
        Self { rate, ..self.with_new_buckets() }
    }

    /// Counts each tool's calls separately, by tool name.
    #[must_use]
    pub fn per_tool(self) -> Self {
        let grouping = Grouping { by_tool: true, ..self.grouping };
        Self { grouping, ..self.with_new_buckets() }
    }

    /// Counts each caller's calls separately. Calls without a caller count together.
    #[must_use]
    pub fn per_caller(self) -> Self {
        let grouping = Grouping { by_caller: true, ..self.grouping };
        Self { grouping, ..self.with_new_buckets() }
    }

    /// Sets the longest time that a call may wait for its turn. A call whose turn would come later is rejected at once.
    #[must_use]
    pub fn longest_wait(self, longest: Duration) -> Self {
        Self { max_wait: MaxWait::AtMost(longest), ..self.with_new_buckets() }
    }

    /// Rejects every call that would have to wait.
    #[must_use]
    pub fn reject(self) -> Self {
        Self { max_wait: MaxWait::None, ..self.with_new_buckets() }
    }

    /// Reports whether such a limit rejected a call, rather than the service behind its tool.
    pub(crate) fn has_rejected(failure: &ToolFailure) -> bool {
        failure.source().is_some_and(<dyn Error>::is::<LimitReached>)
    }

    fn with_new_buckets(self) -> Self {
        Self { buckets: Arc::default(), ..self }
    }
}
