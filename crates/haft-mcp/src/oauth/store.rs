//! The tokens of one server, in a file that only its owner can read.
//!
//! Beside it is what the server demanded when it rejected a request, for the next login, which another process may make.
//!
//! A file is replaced in one step, so a reader sees the old tokens or the new ones. A refresh holds a lock on a file beside
//! it from reading the tokens to writing the new ones: of two processes, the second finds the tokens that the first got.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use haft_core::internal::sha256;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};

/// The file of one server.
#[derive(Clone)]
pub(super) struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    pub(super) fn new(folder: &Path, url: &str) -> Self {
        let name = &sha256(url)["sha256:".len()..];
        Self { path: folder.join(format!("{name}.tokens.json")) }
    }

    fn read(&self) -> io::Result<Option<StoredCredentials>> {
        match fs::read(&self.path) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the scopes that the tokens have.
    pub(super) fn granted_scopes(&self) -> io::Result<Vec<String>> {
        Ok(self.read()?.map(|stored| stored.granted_scopes).unwrap_or_default())
    }

    /// Returns the header with which the server demanded a login.
    pub(super) fn challenge(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(self.challenge_path()) {
            Ok(challenge) => Ok(Some(challenge)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn keep_challenge(&self, challenge: &str) -> io::Result<()> {
        replace(&self.challenge_path(), challenge.as_bytes())
    }

    pub(super) fn remove_challenge(&self) -> io::Result<()> {
        remove(&self.challenge_path())
    }

    fn challenge_path(&self) -> PathBuf {
        self.path.with_extension("challenge")
    }

    fn write(&self, credentials: &StoredCredentials) -> io::Result<()> {
        replace(&self.path, &serde_json::to_vec(credentials)?)
    }

    pub(super) fn exists(&self) -> bool {
        self.path.is_file()
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        remove(&self.path)
    }

    #[cfg(unix)]
    fn lock(&self) -> io::Result<fs::File> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let path = self.path.with_extension("lock");
        let file = private(OpenOptions::new().write(true).create(true).truncate(false)).open(path)?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(file)
    }

    /// Does blocking work elsewhere.
    async fn blocking<T, F>(&self, work: F) -> Result<T, AuthError>
    where
        T: Send + 'static,
        F: FnOnce(Self) -> io::Result<T> + Send + 'static,
    {
        let file = self.clone();
        let done = tokio::task::spawn_blocking(move || work(file)).await;
        let done = done.unwrap_or_else(|error| Err(io::Error::other(error)));
        done.map_err(|fault| error(&fault))
    }
}

/// Returns the error of a store that can't be read or written.
pub(super) fn error(error: &io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

/// Writes a file in one step.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let new = path.with_extension(format!("{extension}.{}.new", std::process::id()));
    // One that a killed process has left behind may have other permissions.
    let _ = fs::remove_file(&new);
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&new)?;
    let written = file.write_all(text).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&new, path));
    written.inspect_err(|_| drop(fs::remove_file(&new)))
}

/// Removes a file, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Lets only the owner read and write a file that is created.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[async_trait]
impl CredentialStore for TokenFile {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.blocking(|file| file.read()).await
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.blocking(move |file| file.write(&credentials)).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.blocking(|file| file.remove()).await
    }

    #[cfg(unix)]
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        self.blocking(|file| file.lock()).await.map(|lock| Some(CredentialRefreshGuard::new(lock)))
    }

    #[cfg(not(unix))]
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(client: &str) -> StoredCredentials {
        StoredCredentials::new(client.to_owned(), None, Vec::new(), None)
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn tokens_are_kept_in_a_private_file_per_server() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::new(&folder.path().join("mcp"), "https://a.example/mcp");
        assert!(file.load().await.unwrap().is_none());
        file.save(credentials("one")).await.unwrap();
        file.save(credentials("two")).await.unwrap();
        assert_eq!(file.load().await.unwrap().unwrap().client_id, "two");
        assert_eq!(fs::metadata(&file.path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(TokenFile::new(folder.path(), "https://b.example/mcp").load().await.unwrap().is_none());
        file.clear().await.unwrap();
        file.clear().await.unwrap();
        assert!(file.load().await.unwrap().is_none());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_second_refresh_waits_for_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::new(folder.path(), "https://a.example/mcp");
        let first = file.acquire_refresh_guard().await.unwrap();
        let other = file.clone();
        let second = tokio::spawn(async move { other.acquire_refresh_guard().await.map(drop) });
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        drop(first);
        second.await.unwrap().unwrap();
    }
}
