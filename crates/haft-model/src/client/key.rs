//! The key of a client. It leaves the process in one header, and is removed from everything that comes back.

use std::env::VarError;

use haft_http::{Secret, SecretError};

/// The key, with the header that it is sent in.
#[derive(Clone)]
pub(super) enum Key {
    None,
    Bearer(Secret),
    Header(&'static str, Secret),
}

/// Returns the value of an environment variable. It is a parameter so that tests need not change the environment.
pub(super) type Lookup<'l> = dyn Fn(&str) -> Result<String, VarError> + 'l;

/// Reads a key.
pub(super) fn key(lookup: &Lookup<'_>, variable: &str) -> Result<Secret, SecretError> {
    Secret::from_variable(variable, lookup(variable))
}

/// Reads a setting. One that is empty is not set.
pub(super) fn setting(lookup: &Lookup<'_>, variable: &str) -> Option<String> {
    lookup(variable).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

impl Key {
    /// Removes the key from text that a provider sent: some quote the one that they reject.
    pub(super) fn removed_from(&self, text: String) -> String {
        match self {
            Self::Bearer(key) | Self::Header(_, key) if !key.expose().is_empty() && text.contains(key.expose()) => {
                text.replace(key.expose(), "[key]")
            }
            _ => text,
        }
    }
}
