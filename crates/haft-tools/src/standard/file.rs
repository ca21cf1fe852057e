//! Files under a root: list, read and search.
//!
//! The root is opened once as a capability. A path is resolved below it name by name, to one spelling without links,
//! before anything decides about the call; absolute paths, and `..` and symbolic links that lead out, are rejected. The
//! resolved path is then opened name by name again without following links: a change in between can make a call fail,
//! but can't redirect it to a file that was not decided on. Denied paths are neither read nor listed nor searched.
//! Nothing is written, and only regular files are opened: a pipe or a device could block forever. Hard links and mounts
//! below the root are part of it; a hard link to a denied file is another file.

mod deny;
mod entry;
mod fault;
mod list;
mod read;
mod resolve;
mod root;
mod search;
mod walk;

use std::{fmt, path::Path};

use haft_executor::{DefinitionError, Tool};

use self::fault::FileToolFault;

pub(super) use self::deny::DenyList;
pub use self::deny::DenyPatternError;
pub(super) use self::root::FileRoot;

/// Returns the one spelling for a path below a directory. The error is a sentence for the model.
pub fn resolve_path(directory: &Path, written: &str) -> Result<String, impl fmt::Display + use<>> {
    let root = FileRoot::open(directory).map_err(|source| FileToolFault::Io { source })?;
    root.canonical(written)
}

/// Creates the tools.
pub(super) fn tools(root: &FileRoot) -> [Result<Tool, DefinitionError>; 3] {
    [list::tool(root), read::tool(root), search::tool(root)].map(|tool| {
        let root = root.clone();
        tool?.canonical_argument("/path", move |written| root.canonical(written))
    })
}
