//! One call in front of the limit.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::bucket::Key;
use super::line::{Arrival, Place};
use super::{Patience, RateLimit};
use crate::cx::Cx;
use crate::failure::ToolFailure;
use crate::middleware::wait::{called_off, unless_cancelled};
use crate::middleware::{Middleware, Next, Request};
use crate::result::Outcome;

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
    /// Takes a token for the call, after its turn has come.
    async fn admit(&self, cx: &Cx, key: Key) -> Result<(), ToolFailure> {
        let Some(pace) = self.rate.pace() else { return Err(refused(None)) };
        let bucket = self.buckets.of(key);
        let latest = self.latest(cx);
        match bucket.arrive(pace, latest) {
            Arrival::Token => Ok(()),
            Arrival::TooLate(turn) => Err(refused(Some(turn))),
            Arrival::Place(place) => wait(cx, place, latest).await,
        }
    }

    fn key(&self, request: &Request) -> Key {
        Key {
            tool: self.scope.by_tool.then(|| request.tool().shared_name().clone()),
            caller: request.cx().caller().filter(|_| self.scope.by_caller).cloned(),
        }
    }

    /// The last moment at which a turn is of use. One that comes with the deadline is not.
    fn latest(&self, cx: &Cx) -> Option<Instant> {
        let now = Instant::now();
        let patience = match self.patience {
            Patience::None => Some(now),
            Patience::AtMost(longest) => now.checked_add(longest),
            Patience::Endless => None,
        };
        let deadline = cx.deadline().and_then(|deadline| deadline.checked_sub(Duration::from_nanos(1)));
        patience.into_iter().chain(deadline).min()
    }
}

/// Waits for the turn of a call that has a place in line.
async fn wait(cx: &Cx, place: Place<'_>, latest: Option<Instant>) -> Result<(), ToolFailure> {
    let turn = unless_cancelled(cx, place.turn());
    let came = match latest {
        // The turn was due in time, but timers are coarse and many short delays add up.
        Some(latest) => timeout_at(latest, turn).await.map_err(|_| refused(Some(latest)))?,
        None => turn.await,
    };
    came.ok_or_else(called_off)
}

/// The failure of a call whose turn comes too late, or never.
fn refused(turn: Option<Instant>) -> ToolFailure {
    let Some(turn) = turn else {
        return ToolFailure::new(RateLimit::KIND, "no calls are let through").not_started();
    };
    let wait = turn.saturating_duration_since(Instant::now());
    let message = format!("too many calls in a short time: try again in {wait:.1?}");
    ToolFailure::new(RateLimit::KIND, message).retry_after(wait).not_started()
}
