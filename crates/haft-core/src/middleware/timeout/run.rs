//! One call against the clock.

use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use super::Timeout;
use crate::executor::drop_isolated;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::middleware::{Middleware, Next, Request};
use crate::result::Outcome;

impl Middleware for Timeout {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        // A time beyond what the clock can say never comes.
        let Some(end) = Instant::now().checked_add(self.after) else { return next.run(request).await };
        let start_flag = Arc::clone(&request.start_flag);
        let mut inside = next.boxed(request.with_deadline(end));
        match timeout_at(end, &mut inside).await {
            Ok(outcome) => outcome,
            Err(_) => {
                // That it was too late stands, whatever its drop does.
                drop_isolated(inside);
                self.elapsed(start_flag.has_begun()).into()
            }
        }
    }
}

impl Timeout {
    fn elapsed(&self, begun: bool) -> ToolFailure {
        let message = format!("the call took longer than {:?} and was given up", self.after);
        let failure = ToolFailure::new(FailureKind::TimedOut, message);
        if begun { failure.started() } else { failure.not_started() }
    }
}
