//! Credentials of clients: keys that stay, tokens that expire, and signatures of whole requests.
//!
//! ```text
//! ApiKey ─┬─ a Secret
//!         ├─ a TokenSource ─ TokenSlot: cached until shortly before its end, fetched by one request at a time
//!         └─ a Credential: sees the request, and returns its headers
//! ```
//!
//! A credential is asked before each request. If the provider answers with 401, what it cached is discarded and it is asked
//! once more: other headers are worth another attempt, the same ones are not. Nothing of a stream was read by then. No
//! credential is ever part of `Debug` output or of an error.

mod command;
mod entra;
mod error;
mod file;
#[cfg(feature = "google-adc")]
mod google;
mod slot;

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use haft_http::Secret;

pub use self::command::CommandToken;
pub use self::entra::EntraToken;
pub use self::error::CredentialError;
pub use self::file::FileToken;
#[cfg(feature = "google-adc")]
pub use self::google::GoogleToken;
use self::slot::TokenSlot;

/// The future of a credential.
pub type CredentialFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CredentialError>> + Send + 'a>>;

/// A way to authorise requests, for those that need more than a token in a header: a signature of the whole request, for
/// example. It is given to a client by [`ApiKey::credential`]. For a token that expires, implement [`TokenSource`] instead.
pub trait Credential: Send + Sync {
    /// Returns the headers that authorise this request. Called before each request.
    fn authorize<'a>(&'a self, request: UnsignedRequest<'a>) -> CredentialFuture<'a, Authorization>;

    /// Discards what is cached of an authorization that the provider has rejected with 401. The client then calls
    /// [`authorize`](Self::authorize) again, and repeats the request once if the headers differ.
    fn discard<'a>(&'a self, rejected: &'a Authorization) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let _ = rejected;
        Box::pin(async {})
    }
}

/// A request that is not authorised yet, as a signature covers it.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct UnsignedRequest<'r> {
    /// The method, in upper case.
    pub method: &'r str,
    /// The URL.
    pub url: &'r str,
    /// The headers so far. The transport adds `host`, `content-length` and the like.
    pub headers: &'r [(Cow<'static, str>, String)],
    /// The body.
    pub body: &'r [u8],
}

/// The headers that authorise a request. They are never shown.
#[derive(Clone, Default)]
#[must_use = "an authorization counts when it is returned"]
pub struct Authorization {
    headers: Vec<AuthorizationHeader>,
    /// The secrets in the body of the request. They are hidden together with those in its headers.
    in_body: Vec<Secret>,
}

/// A header with a secret.
#[derive(Clone)]
pub(super) enum AuthorizationHeader {
    Bearer(Secret),
    Named(Cow<'static, str>, Secret),
}

/// A source of tokens that expire: an OAuth 2 server, a file that is replaced, a program. It is given to a client by
/// [`ApiKey::tokens`], which caches the token and fetches it in one place.
///
/// ```
/// use std::time::Duration;
/// use haft_http::Secret;
/// use haft_model::{ApiKey, CredentialFuture, OpenAi, AccessToken, TokenSource};
///
/// /// Asks the company's own service.
/// struct Vault;
///
/// impl TokenSource for Vault {
///     fn fetch(&self) -> CredentialFuture<'_, AccessToken> {
///         Box::pin(async { Ok(AccessToken::new(Secret::new("t-1")).expires_in(Duration::from_secs(300))) })
///     }
/// }
///
/// let model = OpenAi::new(ApiKey::tokens(Vault)).model("gpt-5");
/// # drop(model);
/// ```
pub trait TokenSource: Send + Sync {
    /// Fetches a token. Called when there is none, when it is about to expire, and after the provider has rejected it; never
    /// twice at once.
    fn fetch(&self) -> CredentialFuture<'_, AccessToken>;
}

/// A token, and the time for which it is valid.
#[derive(Clone, Debug)]
#[must_use = "a token counts when it is returned"]
pub struct AccessToken {
    secret: Secret,
    lifetime: Option<Duration>,
}

impl AccessToken {
    /// Creates a token that is used until the provider rejects it.
    pub fn new(secret: Secret) -> Self {
        Self { secret, lifetime: None }
    }

    /// Sets the time for which the token is valid from now on. It is replaced 30 seconds before its end, or after four
    /// fifths of its life if that is later. One that is valid for no time is used for one request.
    pub fn expires_in(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }
}

/// The key of a client: a [`Secret`], tokens that expire, or a [`Credential`]. A client puts it where its provider expects
/// it, and nothing ever shows it.
///
/// ```
/// use haft_http::Secret;
/// use haft_model::{Anthropic, ApiKey};
///
/// let fixed = Anthropic::new(Secret::new("sk-ant-123"));
/// let mounted = Anthropic::new(ApiKey::file("/run/secrets/anthropic"));
/// let printed = Anthropic::new(ApiKey::command(["op", "read", "op://team/anthropic/key"]));
/// # drop((fixed, mounted, printed));
/// ```
#[derive(Clone)]
pub struct ApiKey(KeyForm);

#[derive(Clone)]
enum KeyForm {
    Fixed(Secret),
    Tokens(Arc<TokenSlot>),
    Credential(Arc<dyn Credential>),
}

impl ApiKey {
    /// Creates a key from a source of tokens. Clones of the key share its token.
    #[must_use]
    pub fn tokens(source: impl TokenSource + 'static) -> Self {
        Self(KeyForm::Tokens(Arc::new(TokenSlot::new(Box::new(source)))))
    }

    /// Creates a key from a credential, which decides about the headers itself.
    #[must_use]
    pub fn credential(credential: impl Credential + 'static) -> Self {
        Self(KeyForm::Credential(Arc::new(credential)))
    }

    /// Creates a key from an environment variable, which is read when the first request is sent. One that is not set is an
    /// error of that request; [`Secret::from_env`] reports it at once.
    #[must_use]
    pub fn env(variable: impl Into<String>) -> Self {
        Self::tokens(EnvironmentToken(variable.into()))
    }

    /// Creates a key from a file, which is read for every request, so that a file that is replaced is noticed. See
    /// [`FileToken`].
    #[must_use]
    pub fn file(path: impl Into<std::path::PathBuf>) -> Self {
        Self::tokens(FileToken::new(path))
    }

    /// Creates a key from the output of a program, given with its arguments. It is run when the first request is sent, and
    /// again when the provider rejects the key. See [`CommandToken`].
    #[must_use]
    pub fn command<A: Into<std::ffi::OsString>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self::tokens(CommandToken::new(argv))
    }

    /// Reports whether the key is a secret that stays.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.0, KeyForm::Fixed(_))
    }

    /// Reports whether the key is fixed, but without text.
    pub(super) fn is_blank(&self) -> bool {
        matches!(&self.0, KeyForm::Fixed(key) if key.expose().trim().is_empty())
    }

    /// Returns the headers that authorise a request; `place` puts a token into its header.
    pub(super) async fn authorize(
        &self,
        request: UnsignedRequest<'_>,
        place: impl FnOnce(Secret) -> Authorization,
    ) -> Result<Authorization, CredentialError> {
        match &self.0 {
            KeyForm::Fixed(key) => Ok(place(key.clone())),
            KeyForm::Tokens(slot) => slot.token().await.map(place),
            KeyForm::Credential(credential) => credential.authorize(request).await,
        }
    }

    /// Discards an authorization that the provider has rejected. Reports whether there may be another one.
    pub(super) async fn discard(&self, rejected: &Authorization) -> bool {
        match &self.0 {
            KeyForm::Fixed(_) => return false,
            KeyForm::Tokens(slot) => slot.discard(rejected).await,
            KeyForm::Credential(credential) => credential.discard(rejected).await,
        }
        true
    }

    #[cfg(test)]
    pub(super) fn fixed(&self) -> &str {
        if let KeyForm::Fixed(key) = &self.0 { key.expose() } else { "" }
    }
}

impl From<Secret> for ApiKey {
    fn from(key: Secret) -> Self {
        Self(KeyForm::Fixed(key))
    }
}

impl Authorization {
    /// Creates the header `authorization` with this bearer token.
    pub fn bearer(token: Secret) -> Self {
        Self { headers: vec![AuthorizationHeader::Bearer(token)], in_body: Vec::new() }
    }

    /// Creates a header with this value.
    pub fn header(name: impl Into<Cow<'static, str>>, value: Secret) -> Self {
        Self::default().and_header(name, value)
    }

    /// Adds a header with this value.
    pub fn and_header(mut self, name: impl Into<Cow<'static, str>>, value: Secret) -> Self {
        self.headers.push(AuthorizationHeader::Named(name.into(), value));
        self
    }

    pub(super) fn headers(&self) -> &[AuthorizationHeader] {
        &self.headers
    }

    /// Sets the secrets in the body.
    pub(super) fn with_body(mut self, secrets: &[Secret]) -> Self {
        self.in_body = secrets.to_vec();
        self
    }

    /// Returns the texts that must not be shown.
    pub(super) fn hidden(&self) -> impl Iterator<Item = &str> {
        self.secrets().chain(self.in_body.iter().map(Secret::expose))
    }

    /// Returns the texts of the secrets in headers.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|header| match header {
            AuthorizationHeader::Bearer(secret) | AuthorizationHeader::Named(_, secret) => secret.expose(),
        })
    }

    /// Reports whether another authorization has the same secrets.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.secrets().eq(other.secrets())
    }
}

/// A token in an environment variable.
struct EnvironmentToken(String);

impl TokenSource for EnvironmentToken {
    fn fetch(&self) -> CredentialFuture<'_, AccessToken> {
        let read = Secret::from_env(&self.0).map(AccessToken::new);
        Box::pin(async { read.map_err(|error| CredentialError::Missing { message: error.to_string() }) })
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authorization(hidden, {} headers)", self.headers.len())
    }
}

/// Leaves out the URL, the values of headers and the body.
impl fmt::Debug for UnsignedRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("UnsignedRequest")
            .field("method", &self.method)
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
