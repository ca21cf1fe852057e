//! Token request errors.

use std::sync::Arc;

use haft_http::HttpError;

/// A token that can't be fetched. The error contains no secret.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The token endpoint can't be reached.
    #[error("the OAuth 2 token can't be fetched")]
    Http(#[source] Arc<HttpError>),
    /// The server rejected the credentials or the scopes.
    #[error("the server rejected the OAuth 2 token request with the error `{code}`{}", described(.description.as_ref()))]
    Rejected {
        /// The error code, such as `invalid_client`.
        code: String,
        /// The description by the server.
        description: Option<String>,
    },
    /// The response is no token.
    #[error("the response to the OAuth 2 token request, with status {status}, is no token of the type `bearer`")]
    Invalid {
        /// The status.
        status: u16,
    },
    /// The credentials can't be sent.
    #[error("the OAuth 2 token request can't be written")]
    Request,
}

impl TokenError {
    /// Reports whether the same request may succeed later.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::Http(error) => error.retryable(),
            Self::Invalid { status } => *status == 429 || *status >= 500,
            Self::Rejected { .. } | Self::Request => false,
        }
    }
}

fn described(description: Option<&String>) -> String {
    description.map(|text| format!(": {text}")).unwrap_or_default()
}
