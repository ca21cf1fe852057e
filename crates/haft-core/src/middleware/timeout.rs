//! Giving up on what takes too long.

mod run;
#[cfg(test)]
mod tests;

use std::time::Duration;

/// Gives a call a time, and a `timed_out` failure when it needs longer.
///
/// The handler is told its [deadline](crate::Cx::deadline) and is dropped when it has passed. The failure says whether
/// the handler had begun. What is timed is everything inside: innermost, around the handler alone, it is the time of one
/// attempt, and [`Retry`](crate::Retry) around it may try again; around a retry it is the time of all attempts together.
///
/// ```
/// use std::time::Duration;
///
/// use haft_core::{Cx, FailureKind, Timeout, Tool, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), haft_core::DefinitionError> {
/// let sleep = Tool::new("sleep")
///     .run(|seconds: u64, _cx| async move { tokio::time::sleep(Duration::from_secs(seconds)).await })?
///     .wrap(Timeout::new(Duration::from_secs(5)));
///
/// let call = ToolCall::new("c1", "sleep", "60");
/// let result = haft_core::Toolkit::from_iter([sleep.clone()]).run_call(&call).await;
/// assert_eq!(result.failure().unwrap().kind, FailureKind::TimedOut);
/// assert_eq!(result.failure().unwrap().message, "the call took longer than 5s and was given up");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Timeout {
    after: Duration,
}

impl Timeout {
    /// Gives up after this long.
    #[must_use]
    pub fn new(after: Duration) -> Self {
        Self { after }
    }
}
