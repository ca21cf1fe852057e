//! One request's credentials.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use haft_core::Secret;
use haft_executor::{Cx, MissingService};
use haft_http::{GuardedClient, HttpRequest};
use haft_registry::{NamedSecretError, Secrets};

use super::auth::{ClientCredentials, HttpAuth};
use super::template::escaped;
use super::token::{TokenCache, TokenError};
use crate::redactor::Redactor;

/// One request's credentials, with the means to remove them from texts.
#[derive(Default)]
pub(super) struct Credentials {
    headers: Vec<(String, Secret)>,
    query: Vec<(String, Secret)>,
    cookies: Vec<(String, Secret)>,
    token: Option<UsedToken>,
    pub(super) redactor: Redactor,
}

/// A token that a request uses.
struct UsedToken {
    credentials: ClientCredentials,
    client_secret: Secret,
    token: Secret,
}

/// Credentials that can't be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum CredentialError {
    #[error(transparent)]
    Secret(#[from] NamedSecretError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Service(#[from] MissingService),
}

impl CredentialError {
    pub(super) fn retryable(&self) -> bool {
        match self {
            Self::Token(error) => error.retryable(),
            Self::Secret(_) | Self::Service(_) => false,
        }
    }
}

impl Credentials {
    /// Reads the secrets, and fetches the tokens.
    pub(super) async fn read(
        auth: &[HttpAuth],
        tokens: &TokenCache,
        client: &GuardedClient,
        timeout: Duration,
        cx: &Cx,
    ) -> Result<Self, CredentialError> {
        let mut all = Self::default();
        for auth in auth {
            let secret = cx.service::<Secrets>()?.get(auth.secret_name())?;
            all.redactor.add(&secret);
            match auth {
                HttpAuth::Bearer { .. } => all.authorization("Bearer ", &secret),
                HttpAuth::Basic { user, .. } => all.basic(&format!("{user}:{}", secret.expose())),
                HttpAuth::BasicPair { .. } => all.basic(secret.expose()),
                HttpAuth::Header { name, prefix, .. } => {
                    let text = format!("{}{}", prefix.as_deref().unwrap_or_default(), secret.expose());
                    all.headers.push((name.clone(), Secret::new(text)));
                }
                HttpAuth::Query { name, .. } => all.query.push((name.clone(), secret)),
                HttpAuth::Cookie { name, .. } => all.cookies.push((name.clone(), secret)),
                HttpAuth::OAuth2(credentials) => {
                    let token = tokens.token(client, credentials, &secret, timeout).await?;
                    all.redactor.add(&token);
                    all.authorization("Bearer ", &token);
                    all.token = Some(UsedToken { credentials: credentials.clone(), client_secret: secret, token });
                }
            }
        }
        Ok(all)
    }

    /// Removes the request's token from the cache after a server has rejected it. Returns whether there was one.
    pub(super) async fn forget_token(&self, tokens: &TokenCache) -> bool {
        let Some(UsedToken { credentials, client_secret, token }) = &self.token else { return false };
        tokens.forget(credentials, client_secret, token).await;
        true
    }

    /// Returns the secret part of the query, as escaped pairs.
    pub(super) fn query(&self) -> impl Iterator<Item = (String, Option<String>)> {
        self.query.iter().map(|(name, secret)| (escaped(name), Some(escaped(secret.expose()))))
    }

    /// Adds the headers and cookies to a request that has these cookies.
    pub(super) fn apply(&self, mut request: HttpRequest, cookies: &[(String, String)]) -> HttpRequest {
        for (name, secret) in &self.headers {
            request = request.secret_header(name, secret);
        }
        let own = self.cookies.iter().map(|(name, secret)| format!("{name}={}", escaped(secret.expose())));
        let all: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).chain(own).collect();
        if all.is_empty() { request } else { request.secret_header("cookie", &Secret::new(all.join("; "))) }
    }

    fn basic(&mut self, pair: &str) {
        let encoded = Secret::new(BASE64_STANDARD.encode(pair));
        self.redactor.add(&encoded);
        if let Some((_, password)) = pair.split_once(':') {
            self.redactor.add(&Secret::new(password));
        }
        self.authorization("Basic ", &encoded);
    }

    fn authorization(&mut self, scheme: &str, secret: &Secret) {
        self.headers.push(("authorization".to_owned(), Secret::new(format!("{scheme}{}", secret.expose()))));
    }
}
