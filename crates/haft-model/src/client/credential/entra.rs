//! Tokens of Microsoft Entra ID, for Azure.
//!
//! The client credentials grant is one form and one answer, so the HTTP client that is there anyway sends it:
//! `azure_identity` would bring its own client and more than fifty crates.

use std::fmt;
use std::time::Duration;

use haft_http::{HttpClient, HttpError, HttpRequest, Secret, SizeLimits, Timeouts};
use serde::Deserialize;

use super::{AccessToken, CredentialError, CredentialFuture, TokenSource};

const AUTHORITY: &str = "https://login.microsoftonline.com";
/// The permission to use the models of a resource.
const SCOPE: &str = "https://cognitiveservices.azure.com/.default";
const TIMEOUT: Duration = Duration::from_secs(30);
const MAX_RESPONSE: usize = 64 * 1024;
/// The maximum length of a code in an error.
const CODE_CHARS: usize = 60;

/// The tokens of an application that is registered with Microsoft Entra ID, by its client secret. For the identity of a
/// person or of a machine, let the Azure CLI print a token: see [`CommandToken`](super::CommandToken).
///
/// ```
/// use haft_http::Secret;
/// use haft_model::{ApiKey, EntraToken, OpenAi};
///
/// let token = EntraToken::new("my-tenant", "my-client", Secret::new("my-client-secret"));
/// let model = OpenAi::azure("https://my-resource.openai.azure.com", ApiKey::tokens(token)).model("my-deployment");
/// # drop(model);
/// ```
#[derive(Clone)]
pub struct EntraToken {
    authority: String,
    tenant: String,
    client_id: String,
    client_secret: Secret,
    scope: String,
    http: Option<HttpClient>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    #[serde(default)]
    expires_in: Option<u64>,
}

#[derive(Deserialize)]
struct TokenRefusal {
    error: String,
}

impl EntraToken {
    /// Creates the source of the tokens of an application in a tenant, for Azure's models.
    #[must_use]
    pub fn new(tenant: impl Into<String>, client_id: impl Into<String>, client_secret: Secret) -> Self {
        let (tenant, client_id) = (tenant.into(), client_id.into());
        Self { authority: AUTHORITY.to_owned(), tenant, client_id, client_secret, scope: SCOPE.to_owned(), http: None }
    }

    /// Sets the URL of the authority, in place of `https://login.microsoftonline.com`, for other clouds.
    #[must_use]
    pub fn authority(mut self, url: impl Into<String>) -> Self {
        self.authority = url.into();
        self
    }

    /// Sets the scope, in place of `https://cognitiveservices.azure.com/.default`.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Sets the HTTP client, for proxies and certificates.
    #[must_use]
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.http = Some(client);
        self
    }

    async fn request(&self) -> Result<AccessToken, CredentialError> {
        let client = match &self.http {
            Some(client) => client.clone(),
            None => HttpClient::new().map_err(unavailable)?,
        };
        let url = format!("{}/{}/oauth2/v2.0/token", self.authority.trim_end_matches('/'), encoded(&self.tenant));
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", &self.client_id),
            ("client_secret", self.client_secret.expose()),
            ("scope", &self.scope),
        ];
        let form: Vec<String> = form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let request = HttpRequest::post(url)
            .header("content-type", "application/x-www-form-urlencoded")
            .timeouts(Timeouts::none().total(TIMEOUT))
            .limits(SizeLimits::default().body(MAX_RESPONSE))
            .redirects(0)
            .body(form.join("&"));
        let response = client.send(request).await.map_err(unavailable)?;
        let status = response.status();
        let body = response.text().await.map_err(unavailable)?;
        if !status.is_success() {
            let refusal: Option<TokenRefusal> = serde_json::from_str(&body).ok();
            return Err(refused(status.as_u16(), refusal));
        }
        let Ok(TokenAnswer { access_token, expires_in }) = serde_json::from_str(&body) else {
            let message = "Microsoft Entra ID answered without a token".to_owned();
            return Err(CredentialError::Unavailable { message });
        };
        let token = AccessToken::new(Secret::new(access_token));
        Ok(match expires_in {
            Some(seconds) => token.expires_in(Duration::from_secs(seconds)),
            None => token,
        })
    }
}

impl TokenSource for EntraToken {
    fn fetch(&self) -> CredentialFuture<'_, AccessToken> {
        Box::pin(self.request())
    }
}

/// Returns the error of the connection, which contains neither query nor body.
#[allow(clippy::needless_pass_by_value, reason = "the signature that `map_err` requires")]
fn unavailable(error: HttpError) -> CredentialError {
    CredentialError::Unavailable { message: format!("no token from Microsoft Entra ID: {error}") }
}

/// Returns the error of a rejected request. Of the body it holds the code alone, a word such as `invalid_client`: the
/// description repeats parts of the request.
fn refused(status: u16, refusal: Option<TokenRefusal>) -> CredentialError {
    let code = refusal
        .map(|refusal| refusal.error)
        .filter(|code| code.len() <= CODE_CHARS && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    let message = format!("Microsoft Entra ID gave no token: status {status}{code}; check tenant, client and secret");
    match status {
        408 | 429 | 500.. => CredentialError::Unavailable { message },
        _ => CredentialError::Rejected { message },
    }
}

/// Escapes everything but unreserved characters.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

impl fmt::Debug for EntraToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntraToken")
            .field("tenant", &self.tenant)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}
