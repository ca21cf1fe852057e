//! Tokens in files.

use std::path::PathBuf;
use std::time::Duration;

use haft_http::Secret;
use tokio::io::AsyncReadExt as _;

use super::{AccessToken, CredentialError, CredentialFuture, TokenSource};

/// The maximum size of a token.
pub(super) const MAX_BYTES: u64 = 64 * 1024;

/// A token in a file, as orchestrators mount them and replace them before they expire. The file is read for every request,
/// and white space around the token is removed.
#[derive(Clone, Debug)]
pub struct FileToken {
    path: PathBuf,
}

impl FileToken {
    /// Creates the source of a token in this file.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    async fn read(&self) -> Result<AccessToken, CredentialError> {
        let path = self.path.display();
        let failed = |error: std::io::Error| CredentialError::Missing {
            message: format!("the file {path} with the API key can't be read: {error}"),
        };
        let file = tokio::fs::File::open(&self.path).await.map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).await.map_err(failed)?;
        let text = text_of(bytes).ok_or_else(|| CredentialError::Missing {
            message: format!(
                "the file {path} holds no API key: it is empty, not text, or larger than {MAX_BYTES} bytes"
            ),
        })?;
        Ok(AccessToken::new(text).expires_in(Duration::ZERO))
    }
}

impl TokenSource for FileToken {
    fn fetch(&self) -> CredentialFuture<'_, AccessToken> {
        Box::pin(self.read())
    }
}

/// Returns the token in these bytes, unless there is none.
pub(super) fn text_of(bytes: Vec<u8>) -> Option<Secret> {
    let text =
        String::from_utf8(bytes).ok().filter(|text| u64::try_from(text.len()).is_ok_and(|len| len <= MAX_BYTES))?;
    let text = text.trim();
    (!text.is_empty()).then(|| Secret::new(text))
}
