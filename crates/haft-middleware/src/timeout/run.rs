//! One call with a timeout.

use haft_core::{FailureKind, Outcome, ToolFailure};
use haft_executor::{Middleware, Next, Request};
use tokio::time::{Instant, timeout_at};

use super::Timeout;

impl Middleware for Timeout {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        // A time beyond the clock's end never comes.
        let Some(end) = Instant::now().checked_add(self.after) else { return next.run(request).await };
        match timeout_at(end, next.run(request.with_deadline(end))).await {
            Ok(outcome) => outcome,
            Err(_) => self.elapsed().into(),
        }
    }
}

impl Timeout {
    fn elapsed(&self) -> ToolFailure {
        ToolFailure::new(FailureKind::TimedOut, format!("the call took longer than {:?}", self.after))
    }
}
