//! Secrets by name.
//!
//! Tools refer to secrets by name. The text is read when a call needs it, so a replaced file is read again, and only
//! the request or process that needs the text ever holds it.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_core::{Secret, SecretError};

use crate::kind::reading::read_bounded;

/// The maximum size of a secret file.
const MAX_FILE: u64 = 64 * 1024;

/// Secrets by name. Clones share them.
///
/// ```
/// use haft_registry::Secrets;
///
/// let secrets = Secrets::new().value("github", "ghp-123").env("mail", "NO_SUCH_VARIABLE");
/// assert_eq!(secrets.get("github")?.expose(), "ghp-123");
/// assert!(secrets.get("mail").unwrap_err().to_string().contains("`NO_SUCH_VARIABLE` is not set"));
/// assert!(!format!("{secrets:?}").contains("ghp-123"));
/// # Ok::<_, haft_registry::NamedSecretError>(())
/// ```
#[derive(Clone, Default)]
pub struct Secrets {
    by_name: Arc<BTreeMap<String, SecretOrigin>>,
    /// The reason why no secret is read, if there is one.
    withheld: Option<Arc<str>>,
}

/// The place that a secret is read from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SecretOrigin {
    /// The secret itself.
    Value(Secret),
    /// An environment variable.
    Env(String),
    /// A file. White space around its text is removed.
    File(PathBuf),
    /// Nothing is read, for this reason.
    Withheld(String),
}

/// A named secret that can't be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the secret `{name}` can't be read: {fault}")]
#[non_exhaustive]
pub struct NamedSecretError {
    /// The secret's name.
    pub name: String,
    /// The reason.
    pub fault: SecretFault,
}

/// The reason that a named secret can't be read.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFault {
    /// There is no secret with this name.
    #[error("it is not defined; define it in `[secrets]`, or add it to `Secrets`")]
    Undefined,
    /// Its environment variable can't be used.
    #[error(transparent)]
    Env(#[from] SecretError),
    /// Its file can't be read.
    #[error("the file `{}` can't be read: {source}", .path.display())]
    File {
        /// The file's path.
        path: PathBuf,
        /// The reason.
        source: Arc<io::Error>,
    },
    /// Its file is empty or white space.
    #[error("the file `{}` is empty", .path.display())]
    EmptyFile {
        /// The file's path.
        path: PathBuf,
    },
    /// It is withheld.
    #[error("{0}")]
    Withheld(String),
}

impl Secrets {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a list that reads no secret, whatever its name, for this reason.
    #[must_use]
    pub fn withheld(reason: impl Into<Arc<str>>) -> Self {
        Self { by_name: Arc::default(), withheld: Some(reason.into()) }
    }

    /// Adds a secret's text, replacing a secret with the same name.
    #[must_use]
    pub fn value(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(name, SecretOrigin::Value(Secret::new(text)))
    }

    /// Adds a secret that is read from an environment variable, replacing one with the same name.
    #[must_use]
    pub fn env(self, name: impl Into<String>, variable: impl Into<String>) -> Self {
        self.with(name, SecretOrigin::Env(variable.into()))
    }

    /// Adds a secret that is read from a file, replacing one with the same name.
    #[must_use]
    pub fn file(self, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.with(name, SecretOrigin::File(path.into()))
    }

    /// Adds a secret, replacing one with the same name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, origin: SecretOrigin) -> Self {
        Arc::make_mut(&mut self.by_name).insert(name.into(), origin);
        self
    }

    /// Reads the secret with this name.
    pub fn get(&self, name: &str) -> Result<Secret, NamedSecretError> {
        let secret = match &self.withheld {
            Some(reason) => Err(SecretFault::Withheld(reason.to_string())),
            None => self.by_name.get(name).ok_or(SecretFault::Undefined).and_then(SecretOrigin::read),
        };
        secret.map_err(|fault| NamedSecretError { name: name.to_owned(), fault })
    }

    /// Reports whether a secret has this name, without reading it.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the names of all secrets, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

impl SecretOrigin {
    fn read(&self) -> Result<Secret, SecretFault> {
        match self {
            Self::Value(secret) => Ok(secret.clone()),
            Self::Env(variable) => Ok(Secret::from_env(variable)?),
            Self::File(path) => read_file(path),
            Self::Withheld(reason) => Err(SecretFault::Withheld(reason.clone())),
        }
    }
}

fn read_file(path: &Path) -> Result<Secret, SecretFault> {
    let fault = |error: io::Error| SecretFault::File { path: path.to_owned(), source: Arc::new(error) };
    // Bounded, and regular files only: a pipe would block the call, and a device may never end.
    let content = read_bounded(path, MAX_FILE).map_err(fault)?;
    // The error must not contain what was read.
    let not_text = |_| fault(io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"));
    let text = String::from_utf8(content).map_err(not_text)?;
    match text.trim() {
        "" => Err(SecretFault::EmptyFile { path: path.to_owned() }),
        text => Ok(Secret::new(text)),
    }
}

/// Formats the names only.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_in_regular_files_are_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("good"), " s3cret\r\n").unwrap();
        std::fs::write(path("blank"), " \n").unwrap();
        std::fs::write(path("binary"), b"s3cret\xff").unwrap();
        std::fs::write(path("large"), vec![b'x'; 65 * 1024]).unwrap();
        let secrets = ["good", "blank", "binary", "large", "missing", ""];
        let secrets = secrets.iter().fold(Secrets::new(), |secrets, name| secrets.file(*name, path(name)));
        assert_eq!(secrets.get("good").unwrap().expose(), "s3cret");
        for (name, reason) in [
            ("blank", "is empty"),
            ("binary", "it is not UTF-8 text"),
            ("large", "it is larger than 64 KiB"),
            ("missing", "can't be read"),
            ("", "it is a folder"),
        ] {
            let error = secrets.get(name).unwrap_err();
            assert!(error.to_string().contains(reason), "{name}: {error}");
            assert!(!format!("{error:?}").contains("s3cret"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_does_not_hold_the_call() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = Secrets::new().file("x", &pipe).get("x").unwrap_err();
        assert!(error.to_string().contains("it is not a regular file"), "{error}");
    }

    #[test]
    fn all_can_be_withheld() {
        let secrets = Secrets::withheld("not now").value("x", "s3cret");
        assert_eq!(secrets.get("x").unwrap_err().to_string(), "the secret `x` can't be read: not now");
        assert!(secrets.get("y").is_err());
    }
}
