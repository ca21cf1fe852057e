//! `file_list`.

use haft_executor::{Cx, DefinitionError, HandlerError, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fault::FileToolFault;
use super::root::FileRoot;
use super::walk::{Onward, Visited, Visitor, Walk, WalkEnd};
use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileListParams {
    /// The directory, relative to the root. The root itself if omitted.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    path: String,
    /// The levels of directories to list; 1 is the directory alone.
    #[serde(default = "default_depth")]
    #[schemars(range(min = 1, max = 20))]
    depth: usize,
    /// A pattern for names, in which * stands for any text and ? for one character, e.g. "*.md".
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
    /// True to list names that begin with a dot.
    #[serde(default)]
    hidden: bool,
    /// The maximum number of entries.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    max_entries: usize,
}

fn default_depth() -> usize {
    1
}

fn default_limit() -> usize {
    200
}

/// The entries of a directory.
#[derive(Debug, Serialize, JsonSchema)]
struct FileListing {
    entries: Vec<FileEntry>,
    /// True if there are more entries, or some could not be read.
    truncated: bool,
}

/// An entry of a directory.
#[derive(Debug, Serialize, JsonSchema)]
struct FileEntry {
    /// The path from the root.
    path: String,
    kind: EntryKind,
    /// The size of a file in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// True if the name is not valid Unicode, so that no tool can read the entry by this path.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    invalid_name: bool,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EntryKind {
    File,
    Directory,
    /// A symbolic link. It can be read if it leads to a file below the root.
    Link,
    /// A pipe, a socket or a device, which can't be read.
    Other,
}

/// Creates the tool.
pub(super) fn tool(root: &FileRoot) -> Result<Tool, DefinitionError> {
    let root = root.clone();
    pure(Tool::new("file_list"))
        .title("List files")
        .describe(
            "Lists files and directories below the root of the files, sorted by path, with kind and size. Paths are \
             relative to the root, with / between names. Symbolic links are listed and not followed.",
        )
        .example(json!({}))
        .example(json!({"path": "docs", "depth": 3, "name": "*.md"}))
        .try_blocking_handler_mixed(move |params: FileListParams, cx: Cx| -> Result<_, HandlerError<StandardFailure>> {
            list(&root, &params, &cx).map_err(FileToolFault::into_error)
        })
}

fn list(root: &FileRoot, params: &FileListParams, cx: &Cx) -> Result<FileListing, FileToolFault> {
    let dir = root.directory(&params.path)?;
    let mut entries = FileEntries { list: Vec::new(), most: params.max_entries };
    let walk = Walk { root, depth: params.depth, name: params.name.as_deref(), hidden: params.hidden };
    let end = walk.run(&dir, prefix(&params.path), cx, &mut entries)?;
    Ok(FileListing { entries: entries.list, truncated: end == WalkEnd::Cut })
}

/// The entries that were found so far.
struct FileEntries {
    list: Vec<FileEntry>,
    most: usize,
}

impl Visitor for FileEntries {
    fn visit(&mut self, visited: &Visited<'_>) -> Onward {
        if self.list.len() == self.most {
            return Onward::Stop;
        }
        self.list.push(entry(visited));
        Onward::Continue
    }
}

/// Returns a directory's canonical path, as the paths of entries below it begin.
pub(super) fn prefix(path: &str) -> &str {
    if path == "." { "" } else { path }
}

fn entry(visited: &Visited<'_>) -> FileEntry {
    let kind = match visited.kind {
        kind if kind.is_file() => EntryKind::File,
        kind if kind.is_dir() => EntryKind::Directory,
        kind if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    };
    let metadata = || visited.dir.symlink_metadata(visited.name).ok();
    FileEntry {
        path: visited.path.clone(),
        kind,
        size: (kind == EntryKind::File).then(metadata).flatten().map(|metadata| metadata.len()),
        invalid_name: visited.name.to_str().is_none(),
    }
}
