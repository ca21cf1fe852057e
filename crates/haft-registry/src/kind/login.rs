//! Logins of people at the servers of imports.

use std::fmt;
use std::pin::Pin;

use haft_executor::{BoxError, Services};

/// A function that shows a page to the person, such as one that opens a browser.
pub type OpenPage = Box<dyn FnOnce(&str) + Send>;

/// The future that [`ImportLogin::login`] returns.
pub type LoggingIn<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>>;

/// The logins at an import's server, for kinds whose servers know people and not programs.
///
/// A login reads secrets and contacts hosts: do it only for entries of trusted files.
pub trait ImportLogin: Send + Sync + 'static {
    /// Logs in, with the services that calls get. The function gets the address of a page on which the person does so.
    /// It sets its own time limit.
    fn login(&self, services: Services, open: OpenPage) -> LoggingIn<'_>;

    /// Reports whether somebody has logged in, without asking the server. The login may have expired.
    fn is_logged_in(&self) -> bool;

    /// Forgets a login.
    fn logout(&self) -> Result<(), BoxError>;
}

/// The error of a server that demands a login. An [`ImportLister`](super::ImportLister) returns it, so that programs can
/// offer one.
#[derive(Debug, thiserror::Error)]
#[error("the server of `{import}` requires a login")]
#[non_exhaustive]
pub struct LoginRequired {
    /// The import, such as `github/server`.
    pub import: String,
    /// The error of the connection.
    pub source: BoxError,
}

impl LoginRequired {
    /// Creates the error.
    pub fn new(import: impl Into<String>, source: impl Into<BoxError>) -> Self {
        Self { import: import.into(), source: source.into() }
    }
}

/// Formats the logins without reading them.
impl fmt::Debug for dyn ImportLogin + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImportLogin(..)")
    }
}
