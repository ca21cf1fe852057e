//! The client: connections, proxies, trust and request defaults.
//!
//! It is a thin layer over `reqwest`, which no public type exposes. The `reqwest` features are chosen as follows:
//!
//! - `rustls-no-provider`: `rustls` with the platform's verifier. It trusts a company's own certificates where the
//!   system does, which compiled-in roots would not. The cryptography is `ring`, see `tls.rs`.
//! - `http2`, because an agent's parallel requests then share a connection.
//! - `stream`, to poll bodies chunk by chunk.
//! - No decompression: a limit on received bytes would not limit memory. No `charset`: the APIs are UTF-8. No
//!   `system-proxy`: a program reads its environment, not a desktop's settings. No cookies.
//!
//! All timeouts but the connect timeout, redirects and size limits are handled here. `reqwest` does not say which
//! timeout expired, its redirects would send `x-api-key` to another host, and it has no size limits.
//!
//! A guarded client's addresses are checked in two places. The connection's resolver, which
//! [`HttpClientBuilder::guarded`] sets, checks what a host name resolves to. [`HttpClient::send`] checks hosts that are
//! written as addresses, which are not resolved, again for each redirect.

mod builder;
mod proxy;
mod redirect;
mod tls;
mod transport;

use std::fmt;

use tokio::time::{Instant, timeout_at};

pub use self::builder::HttpClientBuilder;
use self::redirect::Hop;
use self::transport::Transport;
use crate::deadline::Deadline;
use crate::endpoint::Endpoint;
use crate::error::{HttpError, Route, rejection};
use crate::request::HttpRequest;
use crate::response::HttpResponse;
use crate::response::body::ResponseBody;
use crate::size_limits::SizeLimits;
use crate::timeouts::{TimeoutKind, Timeouts};

/// An HTTP client. Clones share their connections.
///
/// Creating a client loads the system's trusted certificates, so use one client for a whole program. It belongs to the
/// runtime that first uses it, whose tasks drive the connections.
///
/// Redirects are not followed unless you set [`HttpClientBuilder::redirects`] or [`HttpRequest::redirects`]. Nothing is
/// retried: errors tell you whether a retry is useful and whether the request may have arrived.
#[derive(Clone)]
pub struct HttpClient {
    transport: Transport,
    route: Route,
    timeouts: Timeouts,
    limits: SizeLimits,
    redirects: usize,
}

impl HttpClient {
    /// Creates a client with the default settings.
    pub fn new() -> Result<Self, HttpError> {
        Self::builder().build()
    }

    /// Starts a client's definition.
    pub fn builder() -> HttpClientBuilder {
        HttpClientBuilder::default()
    }

    /// Sends a request and returns the response once its headers have arrived, whatever its status.
    ///
    /// Dropping the future, the response or its body stream cancels the request: the connection is closed, or the
    /// HTTP/2 stream is reset. This requires a tokio runtime with I/O and time enabled.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let HttpRequest { method, url, headers, body, timeouts, limits, redirects } = request;
        let mut hop = Hop { method, url: url?, headers, body };
        let timeouts = timeouts.unwrap_or(self.timeouts);
        let redirects = redirects.unwrap_or(self.redirects);
        let start = Instant::now();
        let total = Deadline::new(start, TimeoutKind::Total, timeouts.total);
        let headers = Deadline::earlier(Deadline::new(start, TimeoutKind::FirstByte, timeouts.first_byte), total);
        let mut followed = 0;
        loop {
            let endpoint = Endpoint::of(&hop.url, followed);
            let response = self.exchange(&hop, &endpoint, headers).await?;
            let next = if redirects == 0 { None } else { hop.redirected(response.status(), response.headers()) };
            let Some(next) = next else {
                let limits = limits.unwrap_or(self.limits);
                return Ok(HttpResponse::new(response, limits, |response| {
                    ResponseBody::new(response, endpoint, timeouts.idle, total)
                }));
            };
            if followed == redirects {
                return Err(HttpError::TooManyRedirects { endpoint, limit: redirects });
            }
            followed += 1;
            hop = next;
        }
    }

    /// Sends one request and waits for its response headers.
    async fn exchange(
        &self,
        hop: &Hop,
        endpoint: &Endpoint,
        deadline: Option<Deadline>,
    ) -> Result<reqwest::Response, HttpError> {
        let forbidden = |rejection| HttpError::Forbidden { endpoint: endpoint.clone(), rejection };
        let sending = hop.start(self.transport.admit(hop).map_err(forbidden)?).send();
        let result = match deadline {
            Some(deadline) => match timeout_at(deadline.at, sending).await {
                Ok(result) => result,
                Err(_) => return Err(deadline.error(endpoint.clone())),
            },
            None => sending.await,
        };
        result.map_err(|error| match rejection(&error) {
            Some(rejection) => forbidden(rejection),
            None => HttpError::of_request(error, endpoint.clone(), self.route),
        })
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient")
            .field("connect_timeout", &self.route.connect_timeout)
            .field("timeouts", &self.timeouts)
            .field("limits", &self.limits)
            .field("redirects", &self.redirects)
            .finish_non_exhaustive()
    }
}
