//! The timeouts of a request.

use std::fmt;
use std::time::Duration;

/// The timeouts of a request. The one for connecting belongs to the client, because requests share connections.
///
/// The defaults suit models: ten minutes for the headers, because a model that does not stream answers when it is done,
/// and five minutes between two chunks, because a model that thinks may send nothing meanwhile. There is no total timeout.
/// A [`GuardedClient`](crate::GuardedClient), which serves tools, has the timeouts [`for_tools`](Self::for_tools) unless
/// others are set.
///
/// ```
/// use std::time::Duration;
/// use haft_http::Timeouts;
///
/// let timeouts = Timeouts::default().first_byte(Duration::from_secs(30)).total(Duration::from_secs(120));
/// assert_eq!(timeouts.first_byte, Some(Duration::from_secs(30)));
/// assert_eq!(Timeouts::none().idle, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// The time from the start of the request, connecting included, to the headers of the response.
    pub first_byte: Option<Duration>,
    /// The time that a reader of the body waits for the next chunk. A reader that is slow itself does not exceed it.
    pub idle: Option<Duration>,
    /// The time from the start of the request to the end of the body.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::none().first_byte(Duration::from_secs(600)).idle(Duration::from_secs(300))
    }
}

impl Timeouts {
    /// Creates timeouts of which none is set.
    #[must_use]
    pub const fn none() -> Self {
        Self { first_byte: None, idle: None, total: None }
    }

    /// Creates the timeouts of requests that a model or a person waits for: 30 seconds for the headers and between two
    /// chunks, 60 seconds in total.
    #[must_use]
    pub const fn for_tools() -> Self {
        let wait = Duration::from_secs(30);
        Self::none().first_byte(wait).idle(wait).total(Duration::from_secs(60))
    }

    /// Sets the time to the headers of the response.
    #[must_use]
    pub const fn first_byte(mut self, timeout: Duration) -> Self {
        self.first_byte = Some(timeout);
        self
    }

    /// Sets the time between two chunks of the body.
    #[must_use]
    pub const fn idle(mut self, timeout: Duration) -> Self {
        self.idle = Some(timeout);
        self
    }

    /// Sets the time for the whole request.
    #[must_use]
    pub const fn total(mut self, timeout: Duration) -> Self {
        self.total = Some(timeout);
        self
    }
}

/// The timeout that ended a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// The time to establish a connection, encryption included.
    Connect,
    /// The time to the headers of the response.
    FirstByte,
    /// The time between two chunks of the body.
    Idle,
    /// The time for the whole request.
    Total,
}

impl fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "no connection",
            Self::FirstByte => "no response headers",
            Self::Idle => "no data",
            Self::Total => "no complete response",
        })
    }
}
