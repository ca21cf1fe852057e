//! The attempts at one call.

use haft_core::{FailureKind, Idempotent, Outcome, ToolFailure};
use haft_executor::{Middleware, Next, Request, Tool};
use tokio::time::{Instant, sleep_until};

use super::Retry;

impl Middleware for Retry {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let first_began = Instant::now();
        let (mut current, mut made) = (request, 0);
        loop {
            made += 1;
            let again = (made < self.max_attempts).then(|| current.again());
            let failure = match next.run(current).await {
                Outcome::Failed(failure) => failure,
                outcome @ Outcome::Ok(_) => return outcome,
            };
            let resume = again.and_then(|again| Some((self.resume_at(&again, made, &failure, first_began)?, again)));
            let Some((at, again)) = resume else { return Outcome::Failed(failure) };
            if again.cx().run_until_cancelled(sleep_until(at)).await.is_none() {
                // The operator still gets the last attempt's failure.
                return ToolFailure::new(FailureKind::Cancelled, "").cause(*failure).into();
            }
            current = again;
        }
    }
}

impl Retry {
    /// Returns the time at which the next attempt begins after this many, or `None` if there must be none.
    fn resume_at(&self, again: &Request, made: u32, failure: &ToolFailure, first_began: Instant) -> Option<Instant> {
        if failure.started && !is_repeatable(again.tool()) {
            return None;
        }
        if !(self.when)(failure) || failure.retry_after.is_some_and(|asked| asked > self.longest_retry_after) {
            return None;
        }
        let wait = self.backoff.wait(made, again.call_id(), failure.retry_after);
        let at = Instant::now().checked_add(wait)?;
        let in_time = again.deadline().is_none_or(|deadline| at < deadline);
        let affordable = self.budget.is_none_or(|budget| at.duration_since(first_began) <= budget);
        (in_time && affordable).then_some(at)
    }
}

/// Reports whether a second run has no effects beyond the first one's. A tool that only reads can run again, unless it
/// is annotated otherwise.
fn is_repeatable(tool: &Tool) -> bool {
    let annotations = tool.annotations();
    annotations.get::<Idempotent>().map_or_else(|| annotations.readonly(), |annotation| annotation.0)
}
