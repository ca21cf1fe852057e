//! Workspace file entries: where each tool comes from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_executor::ToolSource;
use haft_registry::{
    FullName, ImportLister, ImportLogin, LiveSource, Namespace, OrgName, Probe, Reach, SimpleName, ToolOrigin,
};
use serde_json::{Map, Value};

use super::document::TextPlace;
use super::error::FilePosition;
use super::source::{FileDigest, FileSource};

/// A workspace file's entry: a tool or a tool import.
///
/// ```
/// use haft_workspace::{LoadOptions, load};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("haft.toml");
/// std::fs::write(&path, "[toolbox.dev.tool.list]\nkind = 'command'\ncommand = ['ls']\n")?;
/// let loaded = load(&path, &LoadOptions::new(haft_tools::kinds())?).await?;
/// let entry = &loaded.entries[0];
/// assert_eq!((entry.key.as_str(), entry.kind.as_str()), ("toolbox.dev.tool.list", "command"));
/// assert_eq!(entry.tools[0].to_string(), "dev/list");
/// // A file that is not trusted starts no command.
/// assert!(entry.is_left_out);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedEntry {
    /// The file's path. It may be an organisation's file.
    pub path: Arc<Path>,
    /// The key's position in the file.
    pub position: Option<FilePosition>,
    /// The key, such as `toolbox.github.tool.search`.
    pub key: String,
    /// The kind's name.
    pub kind: String,
    /// The entry's keys as written. They contain no secret.
    pub settings: Map<String, Value>,
    /// The entry's tools, including those left out. A live source's are those that it had listed when it was loaded.
    pub tools: Vec<FullName>,
    /// The recipients that the tools use, with the secrets that each gets.
    pub reach: Reach,
    /// True if the tools are left out because the file is not trusted.
    pub is_left_out: bool,
    /// The source of tools that change, for kinds with one; unset if the tools are left out.
    pub live: Option<Arc<dyn LiveSource>>,
    /// The kind's own check of the entry.
    pub probe: Option<Probe>,
    /// The import's name in a lock, such as `github/server`; unset for tools, and for kinds without a lister.
    pub import: Option<String>,
    /// The way to the definitions that the import offers now.
    pub lister: Option<ImportLister>,
    /// The logins at the import's server, if it has any.
    pub login: Option<Arc<dyn ImportLogin>>,
    /// The file to which the server's log is written, which need not exist.
    pub log: Option<PathBuf>,
    /// The digest of everything that the live source was built from.
    pub(crate) built_from: Option<FileDigest>,
    /// The toolbox.
    origin: Option<ToolOrigin>,
}

impl LoadedEntry {
    /// Reports whether a tool is the entry's: one of its [`tools`](Self::tools), or one that its live source lists now.
    #[must_use]
    pub fn has_tool(&self, name: &FullName) -> bool {
        let is_listed = |live: &Arc<dyn LiveSource>| {
            self.origin.as_ref() == Some(name.origin()) && live.snapshot().toolkit().get(name.tool().as_str()).is_some()
        };
        self.tools.contains(name) || self.live.as_ref().is_some_and(is_listed)
    }
}

/// An entry whose place is not located yet.
#[derive(Debug)]
pub(crate) struct UnlocatedEntry {
    pub(crate) pointer: String,
    pub(crate) kind: String,
    pub(crate) settings: Map<String, Value>,
    pub(crate) namespace: String,
    pub(crate) tools: Vec<String>,
    pub(crate) reach: Reach,
    pub(crate) is_left_out: bool,
    pub(crate) live: Option<Arc<dyn LiveSource>>,
    pub(crate) built_from: Option<FileDigest>,
    pub(crate) probe: Option<Probe>,
    pub(crate) import: Option<String>,
    pub(crate) lister: Option<ImportLister>,
    pub(crate) login: Option<Arc<dyn ImportLogin>>,
    pub(crate) log: Option<PathBuf>,
}

impl UnlocatedEntry {
    /// Returns a file's entries with their places, in file order.
    pub(crate) fn located(file: &FileSource, org: Option<&OrgName>, entries: Vec<Self>) -> Vec<LoadedEntry> {
        let placed = file.placed(entries, |entry| TextPlace::Key(entry.pointer.clone()));
        let located = |(position, key, entry): (Option<FilePosition>, String, Self)| {
            let (tools, origin, path) = (entry.full_names(org), entry.origin(org), Arc::clone(&file.path));
            let Self {
                kind,
                settings,
                reach,
                is_left_out,
                live,
                built_from,
                probe,
                import,
                lister,
                login,
                log,
                pointer: _,
                namespace: _,
                tools: _,
            } = entry;
            LoadedEntry {
                path,
                position,
                key,
                kind,
                settings,
                tools,
                reach,
                is_left_out,
                live,
                probe,
                import,
                lister,
                login,
                log,
                built_from,
                origin,
            }
        };
        placed.into_iter().map(located).collect()
    }

    pub(crate) fn full_names(&self, org: Option<&OrgName>) -> Vec<FullName> {
        let Some(origin) = self.origin(org) else { return Vec::new() };
        let names = self.tools.iter().filter_map(|name| SimpleName::new(name.as_str()).ok());
        names.map(|name| FullName::new(origin.clone(), name)).collect()
    }

    /// Returns the toolbox, unless its name is invalid.
    pub(crate) fn origin(&self, org: Option<&OrgName>) -> Option<ToolOrigin> {
        let namespace = Namespace::new(self.namespace.as_str()).ok()?;
        Some(match org {
            Some(org) => ToolOrigin::Org(org.clone(), namespace),
            None => ToolOrigin::Project(namespace),
        })
    }
}
