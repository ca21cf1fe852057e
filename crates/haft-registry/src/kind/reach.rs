//! Reach: everything outside a workspace file that an entry's tools use.
//!
//! The rule is one sentence: an untrusted file reaches nothing outside itself. So every kind states the reach of what
//! it has built, with each secret beside the recipient that gets it. There is no default: a kind whose tools reach
//! nothing says so with [`Reach::nothing`], and all other tools are left out until the file is trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The recipients outside a workspace file that an entry's tools use, and the secrets that each gets.
///
/// ```
/// use haft_registry::{Reach, Recipient};
///
/// let reach = Reach::nothing()
///     .with(Recipient::Host("https://api.example.com".to_owned()), [])
///     .with(Recipient::Host("https://id.example.com".to_owned()), ["crm".to_owned()]);
/// assert_eq!(reach.secret_names().into_iter().collect::<Vec<_>>(), ["crm"]);
/// assert!(!reach.is_nothing() && Reach::nothing().is_nothing());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach(BTreeMap<Recipient, BTreeSet<String>>);

/// A party outside a workspace file that tools use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Recipient {
    /// A server that receives requests: its scheme, host and port, such as `https://api.example.com`.
    Host(String),
    /// A command that is started.
    Command(StartedCommand),
    /// A folder whose files are used.
    Files(PathBuf),
    /// The program that runs the tools. It uses a secret and sends it nowhere.
    Program,
}

/// A command that tools start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct StartedCommand {
    /// The program and its arguments, as they are written.
    pub argv: Vec<String>,
    /// The working directory.
    pub folder: PathBuf,
    /// The environment variables that are set.
    pub env: BTreeMap<String, String>,
    /// The environment variables that contain secrets, with the secrets' names.
    pub secret_env: BTreeMap<String, String>,
    /// The program and the file arguments outside the workspace folder: trust in the workspace file does not cover
    /// their content.
    pub uncovered: Vec<String>,
}

impl Reach {
    /// Creates the reach for tools that use nothing but their arguments and the entry itself.
    #[must_use]
    pub fn nothing() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds a recipient, with the names of the secrets that it gets.
    #[must_use]
    pub fn with(mut self, recipient: Recipient, secrets: impl IntoIterator<Item = String>) -> Self {
        self.0.entry(recipient).or_default().extend(secrets);
        self
    }

    /// Adds all recipients from another reach.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        other.0.into_iter().fold(self, |reach, (recipient, secrets)| reach.with(recipient, secrets))
    }

    /// Reports whether the tools use nothing outside the file.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the recipients, each with the names of the secrets that it gets.
    pub fn recipients(&self) -> impl Iterator<Item = (&Recipient, &BTreeSet<String>)> {
        self.0.iter()
    }

    /// Returns the recipients that get the secret with this name.
    pub fn recipients_of(&self, secret: &str) -> impl Iterator<Item = &Recipient> {
        self.0.iter().filter(move |(_, secrets)| secrets.contains(secret)).map(|(recipient, _)| recipient)
    }

    /// Returns the names of the secrets that the tools' calls read.
    #[must_use]
    pub fn secret_names(&self) -> BTreeSet<&str> {
        self.0.values().flatten().map(String::as_str).collect()
    }
}

impl StartedCommand {
    /// Creates a command without environment variables.
    #[must_use]
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>, folder: impl Into<PathBuf>) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        let (env, secret_env) = (BTreeMap::new(), BTreeMap::new());
        Self { argv, folder: folder.into(), env, secret_env, uncovered: Vec::new() }
    }
}
