//! Timeouts for calls.
//!
//! The time includes everything inside. Work that timed out is dropped before the failure is returned, and whatever its
//! drop does, the failure stands.

mod run;
#[cfg(test)]
mod tests;

use std::time::Duration;

/// Fails a call with `timed_out` when it takes longer than a given time.
///
/// The handler finds its [deadline](haft_executor::Cx::deadline) in its context and is dropped when that has passed. The
/// failure reports whether the handler had begun. Innermost, around the handler alone, it times one attempt, and a
/// [`Retry`](crate::Retry) around it may try again. Around a retry it times all attempts together.
///
/// ```
/// use std::time::Duration;
///
/// use haft_core::{FailureKind, ToolCall};
/// use haft_executor::{Tool, Toolkit};
/// use haft_middleware::Timeout;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), haft_executor::DefinitionError> {
/// let sleep = Tool::new("sleep")
///     .handler(|seconds: u64, _cx| async move { tokio::time::sleep(Duration::from_secs(seconds)).await })?
///     .wrap(Timeout::new(Duration::from_secs(5)));
/// let kit: Toolkit = Toolkit::from_iter([sleep]);
///
/// let result = kit.run_call(&ToolCall::new("c1", "sleep", "60")).await;
/// assert_eq!(result.failure().unwrap().kind, FailureKind::TimedOut);
/// assert_eq!(result.failure().unwrap().message, "the call took longer than 5s");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Timeout {
    after: Duration,
}

impl Timeout {
    /// Creates a timeout with this length.
    #[must_use]
    pub fn new(after: Duration) -> Self {
        Self { after }
    }
}
