//! HTTP request errors, by cause.
//!
//! The variants are those that require different actions. Neither an error nor its sources contain a query, a user, a
//! header or a body: transport errors are stripped of their URL before they are kept.

mod cause;

use std::time::Duration;

pub(crate) use self::cause::{Route, rejection};
use crate::endpoint::Endpoint;
use crate::guard::GuardRejection;
use crate::timeouts::TimeoutKind;

/// The transport's or a parser's error.
pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

/// A request's error, or an error in a client's settings. A response with an error status is not an error here.
///
/// ```
/// use haft_http::{HttpClient, HttpError, HttpRequest};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// let client = HttpClient::new()?;
/// let error = client.send(HttpRequest::get("ftp://example.com/?key=k")).await.unwrap_err();
/// assert!(matches!(error, HttpError::InvalidUrl { .. }));
/// assert!(!error.sent() && !error.retryable());
/// assert_eq!(error.to_string(), "the URL of the request is invalid: the scheme is neither http nor https");
/// # Ok::<_, HttpError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// A client setting is invalid.
    #[error("the {setting} of the HTTP client can't be used")]
    InvalidSetting {
        /// The setting.
        setting: &'static str,
        /// The reason.
        source: Source,
    },
    /// The request's URL is invalid.
    #[error("the URL of the request is invalid: {reason}")]
    InvalidUrl {
        /// The reason.
        reason: String,
    },
    /// A header's name or value contains characters that are not allowed.
    #[error("the header `{name}` has an invalid name or a value with control characters, such as a line feed")]
    InvalidHeader {
        /// The header's name.
        name: String,
    },
    /// The request body can't be written as JSON. The source is the error from the value's own `Serialize`.
    #[error("the body of the request can't be written as JSON")]
    InvalidBody {
        /// The reason.
        source: Source,
    },
    /// A guarded client has a proxy, behind which no address can be checked, and its guard does not list the hosts.
    #[error(
        "a guarded HTTP client can't check the addresses behind a proxy, which is set by {set_by}: list the hosts by \
         `AddressGuard::allow_only_hosts`, which is `only-hosts` in the section `[http]` of a workspace file, or connect \
         directly by `HttpClientBuilder::no_proxy`"
    )]
    UncheckedProxy {
        /// The variable or the method that sets the proxy.
        set_by: &'static str,
    },
    /// The client's guard rejects the host or its address.
    #[error("the request to {endpoint} is not permitted: {rejection}")]
    Forbidden {
        /// The request's or redirect's endpoint.
        endpoint: Endpoint,
        /// The reason.
        rejection: GuardRejection,
    },
    /// The host's name has no address.
    #[error("the host name of {endpoint} can't be resolved")]
    Dns {
        /// The request's endpoint.
        endpoint: Endpoint,
        /// The resolver's error.
        source: Source,
    },
    /// The connection was refused or failed before the request was sent.
    #[error("can't connect to {endpoint}")]
    Connect {
        /// The request's endpoint.
        endpoint: Endpoint,
        /// The connection's error.
        source: Source,
    },
    /// The encrypted connection can't be established: no trusted certificate, or no TLS on the other side.
    #[error("can't establish an encrypted connection to {endpoint}")]
    Tls {
        /// The request's endpoint.
        endpoint: Endpoint,
        /// The handshake's error.
        source: Source,
    },
    /// The proxy that was set for this client can't be reached or rejected the connection. If the environment set the
    /// proxy, you get [`HttpError::Connect`].
    #[error("can't connect to {endpoint} through the proxy")]
    Proxy {
        /// The request's endpoint.
        endpoint: Endpoint,
        /// The connection's error.
        source: Source,
    },
    /// A timeout expired.
    #[error("{timeout} from {endpoint} within {after:?}")]
    TimedOut {
        /// The request's endpoint.
        endpoint: Endpoint,
        /// The timeout that expired.
        timeout: TimeoutKind,
        /// The timeout's duration.
        after: Duration,
    },
    /// The response, or one of its events, exceeds its limit.
    #[error("the response of {endpoint} exceeds the limit of {limit} bytes")]
    TooLarge {
        /// The request's endpoint.
        endpoint: Endpoint,
        /// The limit in bytes.
        limit: usize,
    },
    /// The connection was closed, or sent invalid HTTP, before the response was complete.
    #[error("the connection to {endpoint} ended before the response was complete")]
    Closed {
        /// The request's endpoint.
        endpoint: Endpoint,
        /// The connection's error.
        source: Source,
    },
    /// The response ended inside a server-sent event, which is lost.
    #[error("the response of {endpoint} ended within a server-sent event")]
    IncompleteEvent {
        /// The request's endpoint.
        endpoint: Endpoint,
    },
    /// There were more redirects than the client follows.
    #[error("more than {limit} redirects, the last one by {endpoint}")]
    TooManyRedirects {
        /// The endpoint that answered with the last redirect.
        endpoint: Endpoint,
        /// The most redirects that the client follows.
        limit: usize,
    },
}

impl HttpError {
    /// Reports whether the same request may succeed later. To learn whether you may repeat it, see
    /// [`sent`](Self::sent).
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::Dns { .. }
            | Self::Connect { .. }
            | Self::Proxy { .. }
            | Self::TimedOut { .. }
            | Self::Closed { .. }
            | Self::IncompleteEvent { .. } => true,
            Self::InvalidSetting { .. }
            | Self::InvalidUrl { .. }
            | Self::InvalidHeader { .. }
            | Self::InvalidBody { .. }
            | Self::UncheckedProxy { .. }
            | Self::Forbidden { .. }
            | Self::Tls { .. }
            | Self::TooLarge { .. }
            | Self::TooManyRedirects { .. } => false,
        }
    }

    /// Reports whether the request may have reached a server, so that it may have had an effect. False only if it
    /// certainly has not. After a redirect it is true: the server that redirected has received the request.
    #[must_use]
    pub fn sent(&self) -> bool {
        match self {
            Self::InvalidSetting { .. }
            | Self::InvalidUrl { .. }
            | Self::InvalidHeader { .. }
            | Self::InvalidBody { .. }
            | Self::UncheckedProxy { .. } => false,
            Self::Forbidden { endpoint, .. }
            | Self::Dns { endpoint, .. }
            | Self::Connect { endpoint, .. }
            | Self::Tls { endpoint, .. }
            | Self::Proxy { endpoint, .. }
            | Self::TimedOut { endpoint, timeout: TimeoutKind::Connect, .. } => endpoint.redirects() > 0,
            Self::TimedOut { timeout: TimeoutKind::FirstByte | TimeoutKind::Idle | TimeoutKind::Total, .. }
            | Self::TooLarge { .. }
            | Self::Closed { .. }
            | Self::IncompleteEvent { .. }
            | Self::TooManyRedirects { .. } => true,
        }
    }

    /// Returns the request's host and path, unless it has none.
    #[must_use]
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Self::InvalidSetting { .. }
            | Self::InvalidUrl { .. }
            | Self::InvalidHeader { .. }
            | Self::InvalidBody { .. }
            | Self::UncheckedProxy { .. } => None,
            Self::Forbidden { endpoint, .. }
            | Self::Dns { endpoint, .. }
            | Self::Connect { endpoint, .. }
            | Self::Tls { endpoint, .. }
            | Self::Proxy { endpoint, .. }
            | Self::TimedOut { endpoint, .. }
            | Self::TooLarge { endpoint, .. }
            | Self::Closed { endpoint, .. }
            | Self::IncompleteEvent { endpoint }
            | Self::TooManyRedirects { endpoint, .. } => Some(endpoint),
        }
    }

    /// Creates a setting's error.
    pub(crate) fn setting(setting: &'static str, source: impl Into<Source>) -> Self {
        Self::InvalidSetting { setting, source: source.into() }
    }
}
