//! Real MCP servers that need packages of their own: what `FastMCP` makes, in both eras, and `SQLite` by an older SDK.

use super::package::install_python;
use super::{Folders, Part};
use crate::workspace::Workspace;

/// The framework by which most servers in Python are written.
pub(super) const FASTMCP: Part =
    Part { name: "fastmcp", pins: include_str!("../../parts/fastmcp.txt"), download: download_fastmcp };

/// A server of a database.
pub(super) const SQLITE: Part =
    Part { name: "mcp-sqlite", pins: include_str!("../../parts/mcp-sqlite.txt"), download: download_sqlite };

fn download_fastmcp(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_python(workspace, folders.part, "xtask/parts/fastmcp.txt")
}

fn download_sqlite(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_python(workspace, folders.part, "xtask/parts/mcp-sqlite.txt")
}
