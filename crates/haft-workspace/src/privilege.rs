//! Privileges of workspace files: everything outside themselves that they use.
//!
//! A person who decides about trust should see what it grants. So the list is the same whether the file is trusted or
//! not.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_registry::{Recipient, SecretOrigin, StartedCommand};

use super::document::TextPlace;
use super::error::FilePosition;
use super::source::{FileDigest, FileSource};

/// A workspace file's privilege, with its place. All privileges require trust, except files in the workspace file's own
/// folder.
///
/// ```
/// use haft_workspace::{LoadOptions, PrivilegeKind, load};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("haft.toml");
/// std::fs::write(&path, "[http]\nallow-hosts = ['localhost:8080']\n")?;
/// let loaded = load(&path, &LoadOptions::new(haft_tools::kinds())?).await?;
/// let privilege = &loaded.privileges[0];
/// assert_eq!(privilege.key, "http.allow-hosts[0]");
/// assert!(matches!(&privilege.kind, PrivilegeKind::PrivateHost(host) if host == "localhost:8080"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Privilege {
    /// The file's path. It may be an organisation's file.
    pub path: Arc<Path>,
    /// The key's position in the file.
    pub position: Option<FilePosition>,
    /// The key, such as `toolbox.dev.tool.search`.
    pub key: String,
    /// The privilege itself.
    pub kind: PrivilegeKind,
    /// True if the privilege requires that the file is trusted.
    pub needs_trust: bool,
}

/// A kind of privilege.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PrivilegeKind {
    /// A recipient outside the file that its tools use: a server, a command, a folder.
    Reach(Recipient),
    /// A secret, which tools may send.
    Secret {
        /// The secret's name.
        name: String,
        /// The place that it is read from.
        origin: SecretOrigin,
    },
    /// A host that tools may reach although it is not public.
    PrivateHost(String),
    /// A network that tools may reach although it is not public.
    PrivateNetwork(String),
    /// One of the only hosts that tools may reach. Behind a proxy, it may not be public.
    ListedHost(String),
    /// An organisation's file or folder, outside the folder of the file that names it.
    Organisation(PathBuf),
    /// The standard tool that fetches public web pages: whatever is read could be sent anywhere.
    Fetch,
    /// A tool that replaces a standard tool.
    Replacement {
        /// The standard tool's name.
        name: String,
    },
}

impl Privilege {
    /// Returns the digest of privileges: of what a person who trusts the files has read.
    pub(crate) fn digest_of_all(privileges: &[Self]) -> FileDigest {
        let lines: Vec<String> = privileges.iter().map(Self::fact).collect();
        FileDigest::of(lines.join("\n").as_bytes())
    }

    /// Returns the privilege as one line, the same from every current folder.
    fn fact(&self) -> String {
        match &self.kind {
            // Whether code elsewhere is there depends on the machine, and trust does not cover it.
            PrivilegeKind::Reach(Recipient::Command(StartedCommand { argv, folder, env, secret_env, .. })) => {
                let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
                let folder = folder.to_string_lossy();
                format!("{} {argv:?} {folder:?} {env:?} {secret_env:?}", self.key)
            }
            kind => format!("{} {kind:?}", self.key),
        }
    }
}

/// One file's privileges, whose places are not located yet.
#[derive(Debug, Default)]
pub(crate) struct Privileges(Vec<UnlocatedPrivilege>);

#[derive(Debug)]
struct UnlocatedPrivilege {
    place: TextPlace,
    kind: PrivilegeKind,
    needs_trust: bool,
}

impl Privileges {
    /// Adds a privilege at the value at a JSON Pointer.
    pub(crate) fn add(&mut self, pointer: impl Into<String>, kind: PrivilegeKind) {
        self.0.push(UnlocatedPrivilege { place: TextPlace::Value(pointer.into()), kind, needs_trust: true });
    }

    /// Adds a privilege at the key of the value at a JSON Pointer.
    pub(crate) fn add_at_key(&mut self, pointer: impl Into<String>, kind: PrivilegeKind) {
        self.0.push(UnlocatedPrivilege { place: TextPlace::Key(pointer.into()), kind, needs_trust: true });
    }

    /// Adds something that the file gets even without trust, at the value at a JSON Pointer.
    pub(crate) fn add_open(&mut self, pointer: impl Into<String>, kind: PrivilegeKind) {
        self.0.push(UnlocatedPrivilege { place: TextPlace::Value(pointer.into()), kind, needs_trust: false });
    }

    /// Removes the privileges of entries.
    pub(crate) fn forget(&mut self, entries: &HashSet<&str>) {
        self.0.retain(|privilege| !privilege.place.entry().is_some_and(|entry| entries.contains(entry)));
    }

    /// Returns the privileges with their places, in file order.
    pub(crate) fn located(self, file: &FileSource) -> Vec<Privilege> {
        let placed = file.placed(self.0, |privilege| privilege.place.clone());
        let located = |(position, key, privilege): (Option<FilePosition>, String, UnlocatedPrivilege)| {
            let UnlocatedPrivilege { kind, needs_trust, .. } = privilege;
            Privilege { path: Arc::clone(&file.path), position, key, kind, needs_trust }
        };
        placed.into_iter().map(located).collect()
    }
}
