//! Google's application default credentials, for Vertex AI.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gcp_auth::{CustomServiceAccount, TokenProvider};
use haft_http::Secret;

use super::{AccessToken, CredentialError, CredentialFuture, TokenSource};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// Google's application default credentials, by the crate `gcp_auth`: the service account in the file that
/// `GOOGLE_APPLICATION_CREDENTIALS` names, the user of `gcloud auth application-default login`, the service account of the
/// machine, or the user of `gcloud`, whichever is found first.
///
/// ```
/// use haft_model::{ApiKey, Gemini, GoogleToken, Vertex};
///
/// let vertex = Vertex::new("my-project", "europe-west4");
/// let model = Gemini::vertex(&vertex, ApiKey::tokens(GoogleToken::new())).model("gemini-2.5-flash");
/// # drop(model);
/// ```
#[derive(Clone, Debug)]
pub struct GoogleToken {
    /// The file of a service account, in place of the default credentials.
    account: Option<PathBuf>,
    scopes: Vec<String>,
}

impl GoogleToken {
    /// Creates the source of tokens for Google Cloud.
    #[must_use]
    pub fn new() -> Self {
        Self { account: None, scopes: vec![SCOPE.to_owned()] }
    }

    /// Creates the source of tokens of the service account in this file.
    #[must_use]
    pub fn service_account(file: impl Into<PathBuf>) -> Self {
        Self { account: Some(file.into()), ..Self::new() }
    }

    /// Sets the scopes, in place of the one of Google Cloud.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Returns a provider. It keeps its tokens, also one that was rejected, so that each request for a token has its own.
    async fn provider(&self) -> Result<Arc<dyn TokenProvider>, CredentialError> {
        match &self.account {
            Some(file) => {
                let account = CustomServiceAccount::from_file(file).map_err(|_| CredentialError::Missing {
                    message: format!("the file {} of a service account of Google can't be used", file.display()),
                })?;
                Ok(Arc::new(account))
            }
            None => gcp_auth::provider().await.map_err(|_| CredentialError::Missing {
                message:
                    "no application default credentials of Google; run `gcloud auth application-default login`, or \
                          set `GOOGLE_APPLICATION_CREDENTIALS` to the file of a service account"
                        .to_owned(),
            }),
        }
    }

    async fn request(&self) -> Result<AccessToken, CredentialError> {
        let provider = self.provider().await?;
        let scopes: Vec<&str> = self.scopes.iter().map(String::as_str).collect();
        let token = provider.token(&scopes).await.map_err(|error| {
            // The details of an answer are left out, as they may repeat parts of the request.
            let message = "no token from Google; check the credentials and the connection".to_owned();
            match error {
                gcp_auth::Error::Http(..) | gcp_auth::Error::Io(..) => CredentialError::Unavailable { message },
                _ => CredentialError::Rejected { message },
            }
        })?;
        let left = token.expires_at().timestamp().saturating_sub(now());
        let left = Duration::from_secs(u64::try_from(left).unwrap_or_default());
        Ok(AccessToken::new(Secret::new(token.as_str())).expires_in(left))
    }
}

/// Returns the time in seconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

impl Default for GoogleToken {
    fn default() -> Self {
        Self::new()
    }
}

impl TokenSource for GoogleToken {
    fn fetch(&self) -> CredentialFuture<'_, AccessToken> {
        Box::pin(self.request())
    }
}
