//! A client that connects to permitted addresses only.
//!
//! It is a type of its own, so that a function can require it: a tool whose URL comes from a model must never receive a
//! client without a guard by mistake.

use crate::client::HttpClient;
use crate::error::HttpError;
use crate::guard::AddressGuard;
use crate::request::HttpRequest;
use crate::response::HttpResponse;

/// An HTTP client for requests whose URL is not the program's own. Clones share their connections.
///
/// It connects where its [`AddressGuard`] permits it: by default to public addresses only. Every redirect is checked as
/// the first URL is. A client with other settings is created by
/// [`HttpClientBuilder::guarded`](crate::HttpClientBuilder::guarded).
#[derive(Clone, Debug)]
pub struct GuardedClient(HttpClient);

impl GuardedClient {
    /// Creates a client with the default settings, which connects to public addresses only.
    ///
    /// It fails if the environment sets a proxy, see
    /// [`HttpClientBuilder::guarded`](crate::HttpClientBuilder::guarded).
    pub fn new() -> Result<Self, HttpError> {
        HttpClient::builder().guarded(AddressGuard::new())
    }

    /// Takes a client whose transport is guarded.
    pub(crate) fn of(client: HttpClient) -> Self {
        Self(client)
    }

    /// Sends a request, as [`HttpClient::send`] does. A URL or a redirect that the guard rejects is
    /// [`HttpError::Forbidden`], as is a request with a header `host`.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.0.send(request).await
    }
}
