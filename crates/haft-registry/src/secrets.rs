//! Secrets by name.
//!
//! Tools refer to secrets by name. The text is read when a call needs it, so a file that is replaced is read again, and
//! nothing but the request or the process that needs it ever holds it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_core::{Secret, SecretError};

/// The maximum size of a file with a secret.
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
    /// The name of the secret.
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
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        source: Arc<io::Error>,
    },
    /// Its file is empty or white space.
    #[error("the file `{}` is empty", .path.display())]
    EmptyFile {
        /// The path of the file.
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

    /// Adds a secret by its text, in place of one with the same name.
    #[must_use]
    pub fn value(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(name, SecretOrigin::Value(Secret::new(text)))
    }

    /// Adds a secret that is read from an environment variable, in place of one with the same name.
    #[must_use]
    pub fn env(self, name: impl Into<String>, variable: impl Into<String>) -> Self {
        self.with(name, SecretOrigin::Env(variable.into()))
    }

    /// Adds a secret that is read from a file, in place of one with the same name.
    #[must_use]
    pub fn file(self, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.with(name, SecretOrigin::File(path.into()))
    }

    /// Adds a secret, in place of one with the same name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, origin: SecretOrigin) -> Self {
        Arc::make_mut(&mut self.by_name).insert(name.into(), origin);
        self
    }

    /// Reads the secret with this name.
    pub fn get(&self, name: &str) -> Result<Secret, NamedSecretError> {
        let origin = self.by_name.get(name).ok_or(SecretFault::Undefined);
        let secret = origin.and_then(SecretOrigin::read);
        secret.map_err(|fault| NamedSecretError { name: name.to_owned(), fault })
    }

    /// Reports whether there is a secret with this name. It is not read.
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
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_string(&mut text));
    if read.map_err(fault)? as u64 > MAX_FILE {
        return Err(fault(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 64 KiB")));
    }
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
