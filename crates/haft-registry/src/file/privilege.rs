//! The privileges of workspace files: what they get only if they are trusted.
//!
//! A person who decides about trust should see what it grants. So the list is the same whether the file is trusted or not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::document::TextPlace;
use super::error::FilePosition;
use super::source::FileSource;
use crate::secrets::SecretOrigin;

/// A privilege that a workspace file gets only if it is trusted, with its place.
///
/// ```
/// use haft_registry::Kinds;
/// use haft_registry::file::{LoadOptions, PrivilegeKind, load};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("haft.toml");
/// std::fs::write(&path, "[http]\nallow-hosts = ['localhost:8080']\n")?;
/// let loaded = load(&path, &LoadOptions::new(Kinds::builtin())?).await?;
/// let privilege = &loaded.privileges[0];
/// assert_eq!(privilege.key, "http.allow-hosts[0]");
/// assert!(matches!(&privilege.kind, PrivilegeKind::Host(host) if host == "localhost:8080"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Privilege {
    /// The path of the file, which may be that of an organisation.
    pub path: Arc<Path>,
    /// The place of its key in the file.
    pub position: Option<FilePosition>,
    /// The key, such as `toolbox.dev.tool.search`.
    pub key: String,
    /// The privilege itself.
    pub kind: PrivilegeKind,
}

/// A sort of privilege.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PrivilegeKind {
    /// The tools of an entry whose kind requires trust, such as a command.
    Entry {
        /// The name of the kind.
        kind: String,
        /// The keys of the entry, as they are written.
        settings: Map<String, Value>,
    },
    /// A secret, which tools may send.
    Secret {
        /// The name of the secret.
        name: String,
        /// The place that it is read from.
        origin: SecretOrigin,
    },
    /// A host that may be reached although it is not public.
    Host(String),
    /// A network that may be reached although it is not public.
    Network(String),
    /// A folder outside of that of the file, whose files tools may read.
    Files(PathBuf),
    /// The standard tool that fetches public web pages: whatever is read could be sent anywhere.
    Fetch,
    /// A tool that takes the place of a standard tool.
    Replacement {
        /// The name of the standard tool.
        name: String,
    },
}

/// The privileges of one file, whose places are not located yet.
#[derive(Debug, Default)]
pub(crate) struct Privileges(Vec<(TextPlace, PrivilegeKind)>);

impl Privileges {
    /// Adds a privilege at the value with a JSON Pointer.
    pub(crate) fn add(&mut self, pointer: impl Into<String>, kind: PrivilegeKind) {
        self.0.push((TextPlace::Value(pointer.into()), kind));
    }

    /// Adds a privilege at the key of the value with a JSON Pointer.
    pub(crate) fn add_at_key(&mut self, pointer: impl Into<String>, kind: PrivilegeKind) {
        self.0.push((TextPlace::Key(pointer.into()), kind));
    }

    /// Returns the privileges with their places, in the order of these.
    pub(crate) fn located(self, file: &FileSource) -> Vec<Privilege> {
        let placed = file.placed(self.0, |(place, _)| place.clone());
        let located = |(position, key, (_, kind)): (Option<FilePosition>, String, (TextPlace, PrivilegeKind))| {
            Privilege { path: Arc::clone(&file.path), position, key, kind }
        };
        placed.into_iter().map(located).collect()
    }
}
