//! Credentials that do not appear in logs.
//!
//! A [`Secret`] has no `Display` and no `Serialize`, and its `Debug` output is the same for every secret. Code that needs
//! the text calls [`Secret::expose`], which is easy to search for.

use std::env::{self, VarError};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// A credential: an API key, a token or a password.
///
/// ```
/// use haft_core::Secret;
///
/// let key = Secret::new("sk-123");
/// assert_eq!(format!("{key:?}"), "Secret(hidden)");
/// assert_eq!(key.expose(), "sk-123");
/// ```
///
/// It can't be written by accident:
///
/// ```compile_fail
/// println!("{}", haft_core::Secret::new("sk-123"));
/// ```
#[derive(Clone)]
pub struct Secret {
    text: Arc<str>,
}

impl Secret {
    /// The beginning of a text that stands for a secret in JSON which is stored or shown, such as the settings of a tool.
    /// What follows is known to the process that wrote it alone.
    pub const SEALED: &str = "haft-secret-";

    /// Replaces every [sealed](Self::SEALED) secret of a JSON value by the same text, so that values of two processes can be
    /// compared.
    ///
    /// ```
    /// use haft_core::Secret;
    /// use serde_json::json;
    ///
    /// let mut settings = json!({"url": "https://mcp.example.org", "token": format!("{}5f1c", Secret::SEALED)});
    /// Secret::mask_sealed(&mut settings);
    /// assert_eq!(settings, json!({"url": "https://mcp.example.org", "token": "haft-secret-hidden"}));
    /// ```
    pub fn mask_sealed(value: &mut Value) {
        match value {
            Value::String(text) if text.starts_with(Self::SEALED) => {
                text.truncate(Self::SEALED.len());
                text.push_str("hidden");
            }
            Value::Array(items) => items.iter_mut().for_each(Self::mask_sealed),
            Value::Object(members) => members.values_mut().for_each(Self::mask_sealed),
            _ => {}
        }
    }

    /// Creates a secret from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into().into() }
    }

    /// Reads a secret from an environment variable. White space around it, such as the line feed of a file that it was
    /// read from, is removed.
    ///
    /// ```
    /// use haft_core::Secret;
    ///
    /// let error = Secret::from_env("NO_SUCH_KEY").unwrap_err();
    /// assert_eq!(error.to_string(), "the environment variable `NO_SUCH_KEY` is not set; set it to the API key");
    /// ```
    pub fn from_env(variable: &str) -> Result<Self, SecretError> {
        Self::from_variable(variable, env::var(variable))
    }

    /// Reads a secret from the value of an environment variable, for programs that look variables up in another way.
    ///
    /// ```
    /// use haft_core::{Secret, SecretError};
    ///
    /// assert_eq!(Secret::from_variable("KEY", Ok("sk-123\n".to_owned()))?.expose(), "sk-123");
    /// let error = Secret::from_variable("KEY", Ok(" ".to_owned())).unwrap_err();
    /// assert_eq!(error.to_string(), "the environment variable `KEY` is empty; set it to the API key");
    /// # Ok::<_, SecretError>(())
    /// ```
    pub fn from_variable(variable: &str, value: Result<String, VarError>) -> Result<Self, SecretError> {
        let name = || variable.to_owned();
        match value {
            Ok(text) if text.trim().is_empty() => Err(SecretError::Empty { variable: name() }),
            Ok(text) => Ok(Self::new(text.trim())),
            Err(VarError::NotPresent) => Err(SecretError::Missing { variable: name() }),
            Err(VarError::NotUnicode(_)) => Err(SecretError::NotUnicode { variable: name() }),
        }
    }

    /// Returns the text of the secret.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// The reason why an environment variable is no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The variable is not set.
    #[error("the environment variable `{variable}` is not set; set it to the API key")]
    Missing {
        /// The name of the variable.
        variable: String,
    },
    /// The variable is empty or white space.
    #[error("the environment variable `{variable}` is empty; set it to the API key")]
    Empty {
        /// The name of the variable.
        variable: String,
    },
    /// None of the variables that may hold the secret is set.
    #[error("none of the environment variables {} is set; set one of them to the API key", quoted(.variables))]
    NoneSet {
        /// The names of the variables.
        variables: Vec<String>,
    },
    /// The value is not Unicode.
    #[error("the environment variable `{variable}` is not valid Unicode; set it to the API key")]
    NotUnicode {
        /// The name of the variable.
        variable: String,
    },
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{Secret, SecretError};

    #[test]
    fn debug_output_does_not_depend_on_the_secret() {
        assert_eq!(format!("{:?}", Secret::new("sk-1")), format!("{:#?}", Secret::new("")));
        assert_eq!(format!("{:?}", Some(Secret::new("sk-1"))), "Some(Secret(hidden))");
    }

    #[test]
    fn a_variable_is_read_and_a_missing_one_is_named() {
        // Set by cargo for every test.
        assert_eq!(Secret::from_env("CARGO_PKG_NAME").unwrap().expose(), "haft-core");
        let missing = SecretError::Missing { variable: "HAFT_NO_SUCH_VARIABLE".into() };
        assert_eq!(Secret::from_env("HAFT_NO_SUCH_VARIABLE").unwrap_err(), missing);
        // A name that no variable can have.
        assert!(matches!(Secret::from_env("a=b"), Err(SecretError::Missing { .. })));
        assert!(matches!(Secret::from_env(""), Err(SecretError::Missing { .. })));
    }

    #[test]
    fn an_error_about_several_variables_names_all_of_them() {
        let error = SecretError::NoneSet { variables: vec!["A".to_owned(), "B".to_owned()] };
        let text = "none of the environment variables `A`, `B` is set; set one of them to the API key";
        assert_eq!(error.to_string(), text);
    }
}
