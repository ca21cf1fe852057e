//! The token request.

use std::pin::Pin;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft_core::Secret;
use haft_http::{GuardedClient, HttpError, HttpRequest, SizeLimits, Timeouts};
use oauth2::basic::{BasicClient, BasicTokenType};
use oauth2::http::{self, Response, StatusCode};
use oauth2::{
    AsyncHttpClient, AuthType, ClientId, ClientSecret, RequestTokenError, Scope, TokenResponse as _, TokenUrl,
};

use super::TokenError;
use crate::http::auth::{ClientAuthStyle, ClientCredentials};
use crate::redactor::Redactor;

/// The maximum size of a token response.
const MAX_RESPONSE: usize = 64 * 1024;
/// The longest server text in an error.
const MAX_TEXT: usize = 300;

/// The guarded client, as the OAuth 2 crate uses it.
struct Transport {
    client: GuardedClient,
    timeout: Duration,
    /// The response status.
    status: AtomicU16,
    /// The request's header `authorization`.
    authorization: OnceLock<Secret>,
}

/// The transport's error.
#[derive(Debug, thiserror::Error)]
#[error("the token request failed")]
struct SendError(#[source] HttpError);

/// Fetches a token and returns it with its remaining life, if the server states one.
pub(super) async fn token(
    client: GuardedClient,
    credentials: ClientCredentials,
    secret: Secret,
    timeout: Duration,
) -> Result<(Secret, Option<Duration>), TokenError> {
    let url = TokenUrl::new(credentials.token_url.clone()).map_err(|_| TokenError::Request)?;
    let auth_type = match credentials.style {
        ClientAuthStyle::Basic => AuthType::BasicAuth,
        ClientAuthStyle::Body => AuthType::RequestBody,
    };
    let oauth = BasicClient::new(ClientId::new(credentials.client_id.clone()))
        .set_client_secret(ClientSecret::new(secret.expose().to_owned()))
        .set_auth_type(auth_type)
        .set_token_uri(url);
    let mut request = oauth.exchange_client_credentials();
    for scope in &credentials.scopes {
        request = request.add_scope(Scope::new(scope.clone()));
    }
    if let Some(audience) = &credentials.audience {
        request = request.add_extra_param("audience", audience.clone());
    }
    let transport = Transport { client, timeout, status: AtomicU16::new(0), authorization: OnceLock::new() };
    let invalid = || TokenError::Invalid { status: transport.status.load(Ordering::Relaxed) };
    match request.request_async(&transport).await {
        Ok(token) if *token.token_type() == BasicTokenType::Bearer && !token.access_token().secret().is_empty() => {
            Ok((Secret::new(token.access_token().secret().clone()), token.expires_in()))
        }
        Ok(_) | Err(RequestTokenError::Parse(..) | RequestTokenError::Other(_)) => Err(invalid()),
        Err(RequestTokenError::Request(SendError(error))) => Err(TokenError::Http(Arc::new(error))),
        // A failing server says nothing about the credentials.
        Err(RequestTokenError::ServerResponse(_)) if transport.status.load(Ordering::Relaxed) >= 500 => Err(invalid()),
        Err(RequestTokenError::ServerResponse(response)) => {
            let mut redactor = Redactor::default();
            redactor.add(&secret);
            if let Some((_, credentials)) = transport.authorization.get().and_then(|all| all.expose().split_once(' ')) {
                redactor.add(&Secret::new(credentials));
            }
            let text = |text: &str| redactor.redact(text).chars().take(MAX_TEXT).collect::<String>();
            let description = response.error_description().map(|description| text(description));
            Err(TokenError::Rejected { code: text(response.error().as_ref()), description })
        }
    }
}

impl<'c> AsyncHttpClient<'c> for Transport {
    type Error = SendError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Vec<u8>>, SendError>> + Send + 'c>>;

    fn call(&'c self, request: http::Request<Vec<u8>>) -> Self::Future {
        Box::pin(async move { self.send(request).await.map_err(SendError) })
    }
}

impl Transport {
    async fn send(&self, request: http::Request<Vec<u8>>) -> Result<Response<Vec<u8>>, HttpError> {
        let (parts, body) = request.into_parts();
        let mut sent = HttpRequest::new(parts.method, parts.uri.to_string())
            .timeouts(Timeouts::none().total(self.timeout))
            .limits(SizeLimits::default().body(MAX_RESPONSE))
            .redirects(0)
            .body(body);
        for (name, value) in &parts.headers {
            let secret = Secret::new(value.to_str().unwrap_or_default());
            if *name == http::header::AUTHORIZATION {
                sent = sent.secret_header(name.as_str(), &secret);
                self.authorization.get_or_init(|| secret);
            } else {
                sent = sent.header(name.as_str(), secret.expose());
            }
        }
        let received = self.client.send(sent).await?;
        self.status.store(received.status().as_u16(), Ordering::Relaxed);
        let mut response = Response::new(Vec::new());
        *response.status_mut() = match received.status() {
            // The crate accepts only 200, but other successful statuses with a token are fine too.
            status if status.is_success() => StatusCode::OK,
            status => status,
        };
        if let Some(value) = received.headers().get(http::header::CONTENT_TYPE) {
            response.headers_mut().insert(http::header::CONTENT_TYPE, value.clone());
        }
        *response.body_mut() = received.body().await?.into();
        Ok(response)
    }
}
