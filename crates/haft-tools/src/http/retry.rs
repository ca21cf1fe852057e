//! The conditions for sending a request again.

use std::time::Duration;

use haft_executor::Backoff;

/// A call's attempts at its request.
///
/// A request is repeated if it can't have had an effect, or if repeating it has no further one: the tool is
/// [idempotent](haft_core::Idempotent), or the server recognises the request by its idempotency key. The statuses 408,
/// 429, 500, 502, 503 and 504 and interrupted connections are retried, after the wait that the server asks for, if any.
///
/// ```
/// use std::time::Duration;
/// use haft_tools::http::HttpRetry;
///
/// let retry = HttpRetry::attempts(3).max_wait(Duration::from_secs(5));
/// assert_eq!(retry.attempts, 3);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpRetry {
    /// The most attempts, including the first.
    pub attempts: u32,
    /// The waits between attempts.
    pub backoff: Backoff,
    /// The longest wait that a server may ask for. The call fails at once if it asks for more.
    pub max_wait: Duration,
}

impl HttpRetry {
    /// Creates settings with this many attempts, including the first.
    #[must_use]
    pub fn attempts(attempts: u32) -> Self {
        Self { attempts: attempts.max(1), backoff: Backoff::default(), max_wait: Duration::from_secs(30) }
    }

    /// Creates settings without retries.
    #[must_use]
    pub fn never() -> Self {
        Self::attempts(1)
    }

    /// Sets the waits between attempts.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Sets the longest wait that a server may ask for.
    #[must_use]
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }
}
