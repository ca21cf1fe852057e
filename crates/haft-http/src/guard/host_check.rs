//! A check on hosts before anything is sent to them.

use std::io;
use std::net::IpAddr;

use reqwest::Url;

use super::{AddressGuard, GuardRejection};
use crate::resolver::{Resolver, SystemResolver};

/// A host that requests can't be sent to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostCheckError {
    /// The URL is invalid.
    #[error("`{0}` is not a URL with the scheme `http` or `https`")]
    Url(String),
    /// The host's name can't be resolved.
    #[error("the name of the host can't be resolved")]
    Resolution(#[source] io::Error),
    /// The guard rejects the host or one of its addresses.
    #[error(transparent)]
    Rejected(#[from] GuardRejection),
}

impl AddressGuard {
    /// Resolves a URL's host with the system's resolver, and checks the host and its addresses like a request's.
    /// Nothing is sent. A later request may see other addresses.
    ///
    /// ```
    /// use haft_http::{AddressGuard, GuardRejection, HostCheckError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = AddressGuard::new();
    /// let error = guard.check_host_of("http://127.0.0.1:8080/admin").await.unwrap_err();
    /// assert!(matches!(error, HostCheckError::Rejected(GuardRejection::Address(_))));
    /// guard.allow_host("127.0.0.1:8080")?.check_host_of("http://127.0.0.1:8080/admin").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn check_host_of(&self, url: &str) -> Result<(), HostCheckError> {
        let invalid = || HostCheckError::Url(url.to_owned());
        let parsed = Url::parse(url).map_err(|_| invalid())?;
        let host = match parsed.scheme() {
            "http" | "https" => parsed.host_str().ok_or_else(invalid)?,
            _ => return Err(invalid()),
        };
        let check = self.check_url(&parsed)?;
        // An address is checked with the URL.
        if host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
            return Ok(());
        }
        let addresses = SystemResolver.resolve(host).await.map_err(HostCheckError::Resolution)?;
        if addresses.is_empty() {
            return Err(HostCheckError::Resolution(io::ErrorKind::NotFound.into()));
        }
        Ok(self.check_resolved(check, &addresses)?)
    }
}
