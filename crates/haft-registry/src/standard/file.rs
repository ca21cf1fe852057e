//! Files under a root: list, read and search.
//!
//! The root is opened once as a capability, and every path is resolved below it by the operating system or, where that
//! can't do it, component by component: absolute paths, `..` and symbolic links that lead out are rejected at the moment
//! they are followed, so nothing that changes in between can redirect a read. No path is ever checked first and then
//! opened by its name. Nothing is written, and only regular files are opened: a pipe or a device could block forever.
//! Hard links and mounts below the root are part of it.

mod fault;
mod list;
mod read;
mod root;
mod search;
mod walk;

use haft_core::{DefinitionError, Tool};

pub(super) use self::root::FileRoot;

/// Creates the tools.
pub(super) fn tools(root: &FileRoot) -> [Result<Tool, DefinitionError>; 3] {
    [list::tool(root), read::tool(root), search::tool(root)]
}
