//! The reasons why a server can't be used, by cause.

use std::error::Error;
use std::io;
use std::time::Duration;

use haft_http::HttpError;

type Source = Box<dyn Error + Send + Sync>;

/// A server that can't be used. Errors contain no credentials; what the server itself wrote is in the
/// [source](Error::source) alone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The program of the server can't be started.
    #[error("can't start `{program}` for the MCP server `{server}`")]
    Start {
        /// The server.
        server: String,
        /// The program.
        program: String,
        /// The reason.
        source: io::Error,
    },
    /// The server was not ready in time.
    #[error("the MCP server `{server}` was not ready within {after:?}")]
    TimedOut {
        /// The server.
        server: String,
        /// The start-up timeout.
        after: Duration,
    },
    /// The server ended or closed the connection.
    #[error("the MCP server `{server}` {reason}")]
    Ended {
        /// The server.
        server: String,
        /// The event, as a phrase such as `has exited with status 1`.
        reason: String,
        /// The last lines that the server wrote to its standard error, if any.
        source: Option<Source>,
    },
    /// The server did not agree on a protocol revision.
    #[error(
        "the MCP server `{server}` and haft do not agree on a protocol revision; set its era if it speaks one only"
    )]
    Handshake {
        /// The server.
        server: String,
        /// The reason.
        source: Source,
    },
    /// The server requires a login.
    #[error("the MCP server `{server}` requires a login; its tools are missing until then")]
    LoginRequired {
        /// The server.
        server: String,
    },
    /// The server can't be reached.
    #[error("the MCP server `{server}` can't be reached")]
    Unreachable {
        /// The server.
        server: String,
        /// The reason.
        source: HttpError,
    },
    /// The server's list of tools can't be read.
    #[error("the tools of the MCP server `{server}` can't be listed: {reason}")]
    List {
        /// The server.
        server: String,
        /// The reason.
        reason: String,
    },
    /// The server was started too often.
    #[error("the MCP server `{server}` was started {limit} times within an hour, and is not started again yet")]
    Restarts {
        /// The server.
        server: String,
        /// The limit of restarts per hour.
        limit: usize,
        /// The time until the next start.
        retry_after: Duration,
    },
    /// The login failed.
    #[error("the login at the MCP server `{server}` failed")]
    Login {
        /// The server.
        server: String,
        /// The reason.
        source: Source,
    },
    /// The name of the server can't be used.
    #[error("the MCP server `{server}` needs another name: {reason}")]
    Name {
        /// The server.
        server: String,
        /// The reason.
        reason: String,
    },
    /// The client was closed.
    #[error("the connection to the MCP server `{server}` was closed")]
    Closed {
        /// The server.
        server: String,
    },
    /// An earlier attempt failed, and the next one is made after a pause.
    #[error("the MCP server `{server}` failed before and is tried again in {} s: {reason}", .retry_after.as_secs_f64().ceil())]
    Waiting {
        /// The server.
        server: String,
        /// The error of the last attempt.
        reason: String,
        /// The time until the next attempt.
        retry_after: Duration,
    },
}

impl McpError {
    /// Returns the name of the server.
    #[must_use]
    pub fn server(&self) -> &str {
        match self {
            Self::Start { server, .. }
            | Self::TimedOut { server, .. }
            | Self::Ended { server, .. }
            | Self::Handshake { server, .. }
            | Self::LoginRequired { server }
            | Self::Unreachable { server, .. }
            | Self::List { server, .. }
            | Self::Restarts { server, .. }
            | Self::Login { server, .. }
            | Self::Name { server, .. }
            | Self::Closed { server }
            | Self::Waiting { server, .. } => server,
        }
    }

    /// Returns the time after which another attempt is useful, if it is known.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Restarts { retry_after, .. } | Self::Waiting { retry_after, .. } => Some(*retry_after),
            _ => None,
        }
    }

    /// Reports whether another attempt may succeed without a change of the settings.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::TimedOut { .. } | Self::Ended { .. } | Self::Restarts { .. } | Self::Waiting { .. } => true,
            Self::Unreachable { source, .. } => source.retryable(),
            Self::Start { .. }
            | Self::Handshake { .. }
            | Self::LoginRequired { .. }
            | Self::List { .. }
            | Self::Login { .. }
            | Self::Name { .. }
            | Self::Closed { .. } => false,
        }
    }
}
