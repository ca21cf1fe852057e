//! A client that connects to permitted addresses only.
//!
//! It is a separate type, so that a function can require it: a tool whose URL comes from a model must never receive a
//! client without a guard by mistake.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::client::{HttpClient, HttpClientBuilder};
use crate::error::HttpError;
use crate::guard::AddressGuard;
use crate::request::HttpRequest;
use crate::response::HttpResponse;

/// An HTTP client for URLs that your program did not choose. Clones share their connections.
///
/// It connects where its [`AddressGuard`] permits it: by default to public addresses only. Every redirect is checked
/// like the first URL. Unless you set others, its timeouts are [`Timeouts::for_tools`](crate::Timeouts::for_tools). To
/// create a client with other settings, use [`HttpClientBuilder::guarded`](crate::HttpClientBuilder::guarded).
#[derive(Clone)]
pub struct GuardedClient(Arc<GuardedSetup>);

enum GuardedSetup {
    Created(HttpClient),
    /// The client is created for the first request.
    OnUse {
        client: OnceLock<HttpClient>,
        settings: Box<HttpClientBuilder>,
        guard: AddressGuard,
    },
}

impl GuardedClient {
    /// Creates a client with the default settings, which connects to public addresses only.
    ///
    /// It fails if the environment sets a proxy; see [`HttpClientBuilder::guarded`](crate::HttpClientBuilder::guarded).
    pub fn new() -> Result<Self, HttpError> {
        HttpClient::builder().guarded(AddressGuard::new())
    }

    /// Takes a client whose transport is guarded.
    pub(crate) fn of(client: HttpClient) -> Self {
        Self(Arc::new(GuardedSetup::Created(client)))
    }

    pub(crate) fn on_use(settings: HttpClientBuilder, guard: AddressGuard) -> Self {
        Self(Arc::new(GuardedSetup::OnUse { client: OnceLock::new(), settings: Box::new(settings), guard }))
    }

    /// Sends a request, as [`HttpClient::send`] does. If the guard rejects the URL or a redirect, or the request has a
    /// header `host`, you get [`HttpError::Forbidden`].
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.client()?.send(request).await
    }

    /// Reports whether both are the same client, and share their connections.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn client(&self) -> Result<&HttpClient, HttpError> {
        match &*self.0 {
            GuardedSetup::Created(client) => Ok(client),
            GuardedSetup::OnUse { client, settings, guard } => match client.get() {
                Some(client) => Ok(client),
                None => {
                    let created = HttpClientBuilder::clone(settings).guarded_client(guard.clone())?;
                    Ok(client.get_or_init(|| created))
                }
            },
        }
    }
}

impl fmt::Debug for GuardedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            GuardedSetup::Created(client) => f.debug_tuple("GuardedClient").field(client).finish(),
            GuardedSetup::OnUse { settings, .. } => f.debug_tuple("GuardedClient").field(settings).finish(),
        }
    }
}
