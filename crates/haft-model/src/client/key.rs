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
pub(super) type VariableLookup<'l> = dyn Fn(&str) -> Result<String, VarError> + 'l;

/// Reads a key.
pub(super) fn key(lookup: &VariableLookup<'_>, variable: &str) -> Result<Secret, SecretError> {
    Secret::from_variable(variable, lookup(variable))
}

/// Reads a setting. One that is empty is not set.
pub(super) fn setting(lookup: &VariableLookup<'_>, variable: &str) -> Option<String> {
    lookup(variable).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

impl Key {
    /// Removes the key from text that a provider sent: some quote the one that they reject.
    pub(super) fn removed_from(&self, text: String) -> String {
        let key = match self {
            Self::Bearer(key) | Self::Header(_, key) if !key.expose().is_empty() => key.expose(),
            _ => return text,
        };
        // JSON may escape the slashes of a key.
        let escaped = if key.contains('/') { key.replace('/', "\\/") } else { String::new() };
        [key, &escaped].into_iter().fold(text, |text, form| {
            if form.is_empty() || !text.contains(form) { text } else { text.replace(form, "[key]") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_key_is_removed() {
        let key = Key::Bearer(Secret::new("a/b"));
        assert_eq!(key.removed_from(r"a/b, a\/b and a\b".to_owned()), r"[key], [key] and a\b");
        assert_eq!(Key::Header("x", Secret::new("")).removed_from("text".to_owned()), "text");
        assert_eq!(Key::None.removed_from("text".to_owned()), "text");
    }
}
