//! The reasons why a request to a server has no answer.

use std::time::Duration;

use haft_http::HttpError;
use rmcp::ServiceError;
use rmcp::model::ErrorData;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
#[cfg(feature = "oauth")]
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use tokio::sync::Mutex;

use crate::error::McpError;
use crate::log::ServerLog;
use crate::process::ServerProcess;
use crate::server::McpServer;
use crate::wire::line::LineError;
use crate::wire::tap::Tap;

/// The time that a program has to exit after its output has ended, so that errors can state its status.
const EXIT: Duration = Duration::from_millis(200);

/// A call without an answer.
#[derive(Debug)]
pub(crate) enum CallFault {
    /// Nothing was sent, or nothing that the server can act on.
    NotSent(String),
    /// The call was sent, and no answer arrived: what the server did, as a phrase.
    Lost(String),
    /// The call was sent, and its answer has more bytes than this.
    TooLarge(usize),
    /// The call was sent, and no answer arrived in time.
    TimedOut(Duration),
    /// The server requires a login.
    LoginRequired,
    /// The server answered with an error of the protocol.
    Rejected(ErrorData),
}

impl CallFault {
    /// Returns the fault of a request. `ended` is what happened to the server, if it has ended.
    pub(super) fn of(error: ServiceError, exceeded: Option<usize>, ended: String) -> Self {
        match error {
            _ if exceeded.is_some() => Self::TooLarge(exceeded.unwrap_or_default()),
            ServiceError::McpError(error) => Self::Rejected(error),
            ServiceError::TransportSend(error) => Self::of_transport(&error),
            ServiceError::Cancelled { .. } => Self::Lost("has cancelled the call".to_owned()),
            _ => Self::Lost(ended),
        }
    }

    fn of_transport(error: &DynamicTransportError) -> Self {
        if error.error.is::<LineError>() {
            return Self::NotSent("reads no more input".to_owned());
        }
        match error.error.downcast_ref::<StreamableHttpError<HttpError>>() {
            Some(StreamableHttpError::Client(HttpError::TooLarge { limit, .. })) => Self::TooLarge(*limit),
            Some(StreamableHttpError::Client(error)) if error.sent() => Self::Lost(format!("has failed: {error}")),
            Some(StreamableHttpError::Client(error)) => Self::NotSent(format!("can't be reached: {error}")),
            Some(StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_)) => {
                Self::LoginRequired
            }
            #[cfg(feature = "oauth")]
            Some(StreamableHttpError::Auth(error)) => Self::of_login(error),
            Some(StreamableHttpError::HttpStatus(status)) if status.status == 429 => {
                Self::NotSent("has answered with HTTP status 429: it takes no more requests for now".to_owned())
            }
            Some(StreamableHttpError::HttpStatus(status)) => {
                Self::Lost(format!("has answered with HTTP status {}", status.status))
            }
            Some(StreamableHttpError::SessionExpired | StreamableHttpError::ReinitializationFailed(_)) => {
                Self::NotSent("has forgotten the session".to_owned())
            }
            _ => Self::Lost("has sent an answer that haft can't read".to_owned()),
        }
    }

    /// Returns the fault of a request that has no valid token.
    #[cfg(feature = "oauth")]
    fn of_login(error: &AuthError) -> Self {
        match error {
            AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_) | AuthError::TokenExpired => {
                Self::LoginRequired
            }
            _ => Self::NotSent("requires a token that can't be refreshed at the moment".to_owned()),
        }
    }
}

/// Returns the error of a server that did not start.
pub(super) async fn start_error(
    server: &McpServer,
    error: ClientInitializeError,
    tap: &Tap,
    log: &ServerLog,
    process: Option<&Mutex<ServerProcess>>,
) -> McpError {
    let name = server.name.clone();
    if error.is_authorization_required() {
        return McpError::LoginRequired { server: name };
    }
    match error {
        ClientInitializeError::TransportError { error, context } => {
            match error.error.downcast::<StreamableHttpError<HttpError>>() {
                Ok(error) => match *error {
                    StreamableHttpError::Client(source) => McpError::Unreachable { server: name, source },
                    StreamableHttpError::InsufficientScope(_) => McpError::LoginRequired { server: name },
                    other => McpError::Handshake { server: name, source: other.into() },
                },
                Err(_) => ended(name, tap, log, process, &context).await,
            }
        }
        ClientInitializeError::ConnectionClosed(context) => ended(name, tap, log, process, &context).await,
        other => McpError::Handshake { server: name, source: other.into() },
    }
}

async fn ended(
    server: String,
    tap: &Tap,
    log: &ServerLog,
    process: Option<&Mutex<ServerProcess>>,
    context: &str,
) -> McpError {
    tracing::debug!(server, context, "a server ended while it was starting");
    let reason = end_phrase(tap, process).await;
    let lines = log.last_lines();
    let source = (!lines.is_empty()).then(|| lines.join("\n").into());
    McpError::Ended { server, reason, source }
}

/// Returns what happened to a server, as a phrase whose subject is the server.
pub(super) async fn end_phrase(tap: &Tap, process: Option<&Mutex<ServerProcess>>) -> String {
    if let Some(reason) = tap.end_reason() {
        return reason.phrase();
    }
    let Some(process) = process else { return "has closed the connection".to_owned() };
    match process.lock().await.exit_status(EXIT).await {
        Some(status) => format!("has exited ({status})"),
        None => "has closed its output".to_owned(),
    }
}
