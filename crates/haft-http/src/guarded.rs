//! A client that connects to permitted addresses only.

use crate::client::HttpClient;
use crate::error::HttpError;
use crate::request::HttpRequest;
use crate::response::HttpResponse;

/// An HTTP client for requests whose URL is not the program's own. Clones share their connections.
#[derive(Clone, Debug)]
pub struct GuardedClient(HttpClient);

impl GuardedClient {
    /// Creates a client with the default settings, which connects to public addresses only.
    pub fn new() -> Result<Self, HttpError> {
        HttpClient::new().map(Self)
    }

    /// Sends a request, as [`HttpClient::send`] does.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.0.send(request).await
    }
}
