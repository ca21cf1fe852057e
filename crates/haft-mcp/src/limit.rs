//! The bounds of a server: time, size and number.

use std::num::NonZeroUsize;
use std::time::Duration;

use haft_executor::OutputCap;

const MIB: usize = 1024 * 1024;

/// The bounds of one server. All of them are always in force.
///
/// ```
/// use std::time::Duration;
/// use haft_mcp::McpLimits;
///
/// let limits = McpLimits::default().call_timeout(Duration::from_secs(10)).in_flight(4);
/// assert_eq!(limits.call_timeout, Duration::from_secs(10));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpLimits {
    /// The time to start the server, agree on a revision and list its tools; 60 seconds by default, since a package
    /// runner may have to download the server first.
    pub start_timeout: Duration,
    /// The time that a call waits for its answer or for progress; 60 seconds by default. Waiting for a person does not
    /// count.
    pub call_timeout: Duration,
    /// The time that a call takes at most, whatever its progress; one hour by default. Waiting for a person does not
    /// count.
    pub call_total: Duration,
    /// The size of one message from the server in bytes; 16 MiB by default.
    pub message: usize,
    /// The number of tools that a server may list; 10,000 by default.
    pub tools: usize,
    /// The number of calls that the server gets at the same time; 16 by default. Others wait.
    pub in_flight: NonZeroUsize,
    /// The number of times per hour that a server is started again or connected to again; 20 by default.
    pub restarts_per_hour: usize,
    /// The output cap of the server's tools. If unset, that of the run applies.
    pub output_cap: Option<OutputCap>,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            start_timeout: Duration::from_secs(60),
            call_timeout: Duration::from_secs(60),
            call_total: Duration::from_secs(3600),
            message: 16 * MIB,
            tools: 10_000,
            in_flight: NonZeroUsize::MIN.saturating_add(15),
            restarts_per_hour: 20,
            output_cap: None,
        }
    }
}

impl McpLimits {
    /// Sets the time to start the server and list its tools.
    #[must_use]
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// Sets the time that a call waits for its answer or for progress.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = timeout;
        self
    }

    /// Sets the time that a call takes at most.
    #[must_use]
    pub fn call_total(mut self, timeout: Duration) -> Self {
        self.call_total = timeout;
        self
    }

    /// Sets the size of one message from the server in bytes.
    #[must_use]
    pub fn message(mut self, bytes: usize) -> Self {
        self.message = bytes;
        self
    }

    /// Sets the number of tools that the server may list.
    #[must_use]
    pub fn tools(mut self, tools: usize) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the number of calls that the server gets at the same time; at least one.
    #[must_use]
    pub fn in_flight(mut self, calls: usize) -> Self {
        self.in_flight = NonZeroUsize::new(calls).unwrap_or(NonZeroUsize::MIN);
        self
    }

    /// Sets the number of restarts per hour.
    #[must_use]
    pub fn restarts_per_hour(mut self, restarts: usize) -> Self {
        self.restarts_per_hour = restarts;
        self
    }

    /// Sets the output cap of the server's tools.
    #[must_use]
    pub fn output_cap(mut self, cap: OutputCap) -> Self {
        self.output_cap = Some(cap);
        self
    }
}
