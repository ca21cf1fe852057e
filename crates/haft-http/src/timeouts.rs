//! Request timeouts.

use std::fmt;
use std::time::Duration;

/// A request's timeouts. The connect timeout belongs to the client, because requests share connections.
///
/// The defaults suit models: ten minutes for the headers, because a model that does not stream answers when it is done,
/// and five minutes between two chunks, because a thinking model may send nothing meanwhile. There is no total timeout.
/// A [`GuardedClient`](crate::GuardedClient), which serves tools, uses [`for_tools`](Self::for_tools) unless you set
/// others.
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
    /// The time from the request's start, connecting included, to the response's headers.
    pub first_byte: Option<Duration>,
    /// The time that a body's reader waits for the next chunk. A slow reader does not exceed it.
    pub idle: Option<Duration>,
    /// The time from the request's start to the body's end.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::none().first_byte(Duration::from_secs(600)).idle(Duration::from_secs(300))
    }
}

impl Timeouts {
    /// Creates timeouts with none set.
    #[must_use]
    pub const fn none() -> Self {
        Self { first_byte: None, idle: None, total: None }
    }

    /// Creates the timeouts for requests that a model or a person waits for: 30 seconds for the headers and between two
    /// chunks, 60 seconds in total.
    #[must_use]
    pub const fn for_tools() -> Self {
        let wait = Duration::from_secs(30);
        Self::none().first_byte(wait).idle(wait).total(Duration::from_secs(60))
    }

    /// Sets the time to the response's headers.
    #[must_use]
    pub const fn first_byte(mut self, timeout: Duration) -> Self {
        self.first_byte = Some(timeout);
        self
    }

    /// Sets the time between two body chunks.
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
    /// The time to the response's headers.
    FirstByte,
    /// The time between two body chunks.
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
