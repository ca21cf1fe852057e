//! The credentials and the HTTP client that a server was created with.

use std::fmt;

use haft_core::Secret;
use haft_http::GuardedClient;

use super::redact::ServerSecrets;

/// Everything that a server gets from the services of a call.
#[derive(Clone)]
pub(super) struct Given {
    /// The secrets by name.
    pub(super) secrets: Vec<(String, Secret)>,
    /// The client, for a URL.
    pub(super) http: Option<GuardedClient>,
}

impl Given {
    /// Returns the secret with this name.
    pub(super) fn secret(&self, name: &str) -> Option<&Secret> {
        self.secrets.iter().find(|(known, _)| known == name).map(|(_, secret)| secret)
    }

    /// Returns the secrets, to remove them from what the server sends.
    pub(super) fn redactor(&self) -> ServerSecrets {
        let mut redactor = ServerSecrets::default();
        self.secrets.iter().for_each(|(_, secret)| redactor.add(secret));
        redactor
    }
}

/// Compares the texts of the secrets, because a file may be replaced and a variable set anew.
impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&(String, Secret), &(String, Secret))| {
            one.0 == other.0 && one.1.expose() == other.1.expose()
        };
        let are_same = self.secrets.len() == other.secrets.len();
        let are_same = are_same && self.secrets.iter().zip(&other.secrets).all(is_same);
        let is_same_client = match (&self.http, &other.http) {
            (Some(one), Some(other)) => one.is_same(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        is_same_client && are_same
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given").finish_non_exhaustive()
    }
}
