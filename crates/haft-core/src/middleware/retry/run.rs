//! The attempts at one call.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::Retry;
use crate::failure::ToolFailure;
use crate::middleware::wait::{called_off, unless_cancelled};
use crate::middleware::{Middleware, Next, Request};
use crate::result::Outcome;
use crate::tool::{Idempotent, Tool};

impl Middleware for Retry {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let (first_began, start_flag) = (Instant::now(), Arc::clone(&request.start_flag));
        let (mut current, mut made) = (request, 0);
        loop {
            made += 1;
            let again = (made < self.max_attempts).then(|| current.again());
            let mut failure = match next.run(current).await {
                Outcome::Failed(failure) => failure,
                outcome @ Outcome::Ok(_) => return outcome,
            };
            // An inner middleware may answer in its own words; whether the handler was reached is no matter of words.
            failure.started |= start_flag.has_begun();
            let resume = again.and_then(|again| Some((self.resume_at(&again, made, &failure, first_began)?, again)));
            let Some((at, again)) = resume else { return Outcome::Failed(failure) };
            if unless_cancelled(again.cx(), sleep_until(at)).await.is_none() {
                return abandoned(*failure).into();
            }
            current = again;
        }
    }
}

impl Retry {
    /// When the next attempt begins, after so many were made; `None` if there must be none.
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

/// Whether a second run does no more than the first. What only reads can be read again, unless the tool itself says
/// otherwise.
fn is_repeatable(tool: &Tool) -> bool {
    let annotations = tool.annotations();
    annotations.get::<Idempotent>().map_or_else(|| annotations.readonly(), |said| said.0)
}

/// The failure of a call that was cancelled between two attempts. What failed before is kept for the operator.
fn abandoned(failure: ToolFailure) -> ToolFailure {
    let started = failure.started;
    let cancelled = called_off().cause(failure);
    if started { cancelled.started() } else { cancelled }
}
