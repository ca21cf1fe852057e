//! One call before the limit.

use std::time::Duration;

use haft_core::{FailureKind, Outcome, ToolFailure};
use haft_executor::{Cx, Middleware, Next, Request};
use tokio::time::{Instant, timeout_at};

use super::bucket::BucketKey;
use super::queue::{Admission, QueuedCall};
use super::{LimitReached, MaxWait, RateLimit};

impl Middleware for RateLimit {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        match self.admit(request.cx(), self.key(&request)).await {
            Ok(()) => next.run(request).await,
            Err(failure) => failure.into(),
        }
    }
}

impl RateLimit {
    /// Takes a token for the call, once its turn has come.
    async fn admit(&self, cx: &Cx, key: BucketKey) -> Result<(), ToolFailure> {
        let Some(pace) = self.rate.pace() else { return Err(rejected(None)) };
        let bucket = self.buckets.get(key);
        let latest = self.latest(cx);
        match bucket.arrive(pace, latest) {
            Admission::Admitted => Ok(()),
            Admission::TooLate(turn) => Err(rejected(Some(turn))),
            Admission::Queued(call) => wait(cx, call, latest).await,
        }
    }

    fn key(&self, request: &Request) -> BucketKey {
        BucketKey {
            tool: self.grouping.by_tool.then(|| request.tool().name().to_owned()),
            caller: request.cx().caller().filter(|_| self.grouping.by_caller).cloned(),
        }
    }

    /// Returns the latest useful time for a turn. A turn at the deadline is too late.
    fn latest(&self, cx: &Cx) -> Option<Instant> {
        let now = Instant::now();
        let max_wait = match self.max_wait {
            MaxWait::None => Some(now),
            MaxWait::AtMost(longest) => now.checked_add(longest),
            MaxWait::Unlimited => None,
        };
        let deadline = cx.deadline().and_then(|deadline| deadline.checked_sub(Duration::from_nanos(1)));
        max_wait.into_iter().chain(deadline).min()
    }
}

/// Waits for a queued call's turn.
async fn wait(cx: &Cx, call: QueuedCall<'_>, latest: Option<Instant>) -> Result<(), ToolFailure> {
    let turn = cx.run_until_cancelled(call.turn());
    let came = match latest {
        // The turn was due in time, but timers are coarse and many short delays add up.
        Some(latest) => timeout_at(latest, turn).await.map_err(|_| rejected(Some(latest)))?,
        None => turn.await,
    };
    came.ok_or_else(|| ToolFailure::new(FailureKind::Cancelled, ""))
}

/// Creates the failure for a call whose turn comes too late, or never.
fn rejected(turn: Option<Instant>) -> ToolFailure {
    let Some(turn) = turn else {
        return ToolFailure::new(RateLimit::KIND, "the rate limit of this tool allows no calls").cause(LimitReached);
    };
    let wait = turn.saturating_duration_since(Instant::now());
    let message = format!("too many calls in a short time: try again in {wait:.1?}");
    ToolFailure::new(RateLimit::KIND, message).retry_after(wait).cause(LimitReached)
}
