//! The client: connections, proxies, trust and the defaults of requests.
//!
//! It is a thin layer over `reqwest`, which no public type exposes. The features of `reqwest` are chosen as follows:
//!
//! - `rustls-no-provider`: `rustls` with the verifier of the platform, because certificates of a company's own authority
//!   are trusted where the system trusts them, which compiled-in roots would not do. The cryptography is `ring`, see `tls.rs`.
//! - `http2`, because the parallel requests of one agent then share a connection.
//! - `stream`, to poll bodies chunk by chunk.
//! - No decompression: a limit on received bytes would not limit memory. No `charset`: the APIs are UTF-8. No `system-proxy`:
//!   a program reads its environment, not the settings of a desktop. No cookies.
//!
//! Timeouts other than the one for connecting, redirects and size limits are handled here, because those of `reqwest`
//! do not say which one expired, would send `x-api-key` to another host, and do not exist, respectively. The addresses of
//! a guarded client are checked in two places: those that a host name resolves to by the resolver of the connection, which
//! [`HttpClientBuilder::guarded`] sets, and hosts that are written as addresses, which are not resolved, in
//! [`HttpClient::send`], for each redirect again.

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
/// Creating a client loads the certificates that the system trusts, so that one client should serve a whole program. It
/// belongs to the runtime that it is first used in, whose tasks drive the connections.
///
/// Redirects are not followed unless [`HttpClientBuilder::redirects`] or [`HttpRequest::redirects`] is set, and nothing is retried: errors report
/// whether a retry is useful and whether the request may have arrived.
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

    /// Starts the definition of a client.
    pub fn builder() -> HttpClientBuilder {
        HttpClientBuilder::default()
    }

    /// Sends a request and returns the response once its headers have arrived, whatever its status is.
    ///
    /// Dropping the future, the response or the stream of its body cancels the request: the connection is closed, or the
    /// stream of an HTTP/2 connection is reset. A runtime of tokio with I/O and time enabled is required.
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

    /// Sends one request and waits for the headers of its response.
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
