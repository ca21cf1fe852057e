//! Points in time at which a request ends.

use std::time::Duration;

use tokio::time::Instant;

use crate::endpoint::Endpoint;
use crate::error::HttpError;
use crate::timeouts::TimeoutKind;

/// A timeout's end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    timeout: TimeoutKind,
    after: Duration,
}

impl Deadline {
    /// Returns a timeout's deadline, or `None` if there is none or it is too far away to ever pass.
    pub(crate) fn new(start: Instant, timeout: TimeoutKind, after: Option<Duration>) -> Option<Self> {
        let after = after?;
        Some(Self { at: start.checked_add(after)?, timeout, after })
    }

    /// Returns the earlier of two deadlines.
    pub(crate) fn earlier(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        [one, other].into_iter().flatten().min_by_key(|deadline| deadline.at)
    }

    /// Creates the error for a request past its deadline.
    pub(crate) fn error(self, endpoint: Endpoint) -> HttpError {
        HttpError::TimedOut { endpoint, timeout: self.timeout, after: self.after }
    }
}
