//! So many calls in so much time.
//!
//! A limit protects what is behind a tool, so it counts calls on their way to the handler. A call that waits keeps its
//! place: none that came later passes it, unless nobody polls it when its turn comes. A call that gives up waiting leaves
//! its turn to the next. No call ever depends on another one being polled.

mod bucket;
mod line;
mod run;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use self::bucket::{Buckets, Rate};

/// Lets through so many calls in a time, and a number of them at once after a quiet while (a token bucket).
///
/// A call beyond that waits for its turn, in the order of arrival; or, after [`refuse`](Self::refuse), gets a failure of
/// the kind [`rate_limited`](Self::KIND) that says when to come again. It gets that failure at once, too, where the turn
/// would come later than the [longest wait](Self::longest_wait) or the call's deadline. The handler of a refused call
/// has not begun. A call that isn't polled when its turn comes misses it and holds up nobody; it takes the next one when
/// it is polled again.
///
/// Clones count together, and so do all tools it is wrapped around, unless they are told apart
/// [by tool](Self::per_tool) or [by caller](Self::per_caller). A copy with another setting counts for itself.
///
/// Layer it inside of [`Retry`](crate::Retry), so that every attempt counts, and outside of
/// [`Timeout`](crate::Timeout), so that waiting for a turn isn't timed as work.
///
/// ```
/// use std::time::Duration;
///
/// use haft_core::{Cx, RateLimit, Tool, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), haft_core::DefinitionError> {
/// let search = Tool::new("search")
///     .run(|query: String, _cx| async move { query })?
///     .wrap(RateLimit::new(1, Duration::from_secs(10)).refuse());
///
/// let call = ToolCall::new("c1", "search", r#""rust""#);
/// assert!(haft_core::Toolkit::from_iter([search.clone()]).run_call(&call).await.is_ok());
///
/// let refused = haft_core::Toolkit::from_iter([search.clone()]).run_call(&call).await;
/// assert_eq!(refused.failure().unwrap().kind.as_str(), RateLimit::KIND);
/// assert_eq!(refused.failure().unwrap().retry_after, Some(Duration::from_secs(10)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RateLimit {
    rate: Rate,
    scope: Scope,
    patience: Patience,
    buckets: Arc<Buckets>,
}

/// Which calls count together.
#[derive(Clone, Copy, Debug, Default)]
struct Scope {
    by_tool: bool,
    by_caller: bool,
}

/// How long a call may wait for its turn.
#[derive(Clone, Copy, Debug)]
enum Patience {
    None,
    AtMost(Duration),
    Endless,
}

impl RateLimit {
    /// The [kind](crate::ToolFailure::kind) of the failure of a refused call.
    pub const KIND: &'static str = "rate_limited";

    /// So many calls in this time, and as many at once after a quiet while. None at all, if `calls` is zero.
    #[must_use]
    pub fn new(calls: u32, per: Duration) -> Self {
        Self {
            rate: Rate::new(calls, per),
            scope: Scope::default(),
            patience: Patience::Endless,
            buckets: Arc::default(),
        }
    }

    /// How many calls may come at once after a quiet while. None at all, if it is zero.
    #[must_use]
    pub fn burst(self, calls: u32) -> Self {
        let rate = self.rate.with_burst(calls);
        Self { rate, ..self.afresh() }
    }

    /// Counts each tool, known by its name, for itself.
    #[must_use]
    pub fn per_tool(self) -> Self {
        let scope = Scope { by_tool: true, ..self.scope };
        Self { scope, ..self.afresh() }
    }

    /// Counts each caller for itself. Calls without a caller count together.
    #[must_use]
    pub fn per_caller(self) -> Self {
        let scope = Scope { by_caller: true, ..self.scope };
        Self { scope, ..self.afresh() }
    }

    /// Lets a call wait this long for its turn, and refuses it at once where the turn comes later.
    #[must_use]
    pub fn longest_wait(self, longest: Duration) -> Self {
        Self { patience: Patience::AtMost(longest), ..self.afresh() }
    }

    /// Refuses every call that would have to wait.
    #[must_use]
    pub fn refuse(self) -> Self {
        Self { patience: Patience::None, ..self.afresh() }
    }

    fn afresh(self) -> Self {
        Self { buckets: Arc::default(), ..self }
    }
}
