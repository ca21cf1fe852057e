//! `cargo xtask wires`: prints how real tools fare on the profiles of all wires.
//!
//! The tools are those of MCP servers and the functions of the Berkeley Function Calling Leaderboard, which `setup`
//! downloads. The counting is an example of `haft-wire`, so that this program needs none of our crates; the tests of
//! `haft-wire` assert the same table.

use anyhow::ensure;

use crate::argument::Arguments;
use crate::workspace::Workspace;

/// The parts that hold the tools.
const PARTS: [&str; 2] = ["mcp-tools", "bfcl"];

/// Prints the table.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> anyhow::Result<()> {
    arguments.finish()?;
    for part in PARTS {
        let folder = workspace.parts().join(part);
        ensure!(folder.is_dir(), "{} is missing: run `cargo xtask setup`", folder.display());
    }
    let cargo = workspace.cargo().args(["run", "--quiet", "--package", "haft-wire", "--example", "wires"]);
    cargo.env("HAFT_PARTS", workspace.parts()).run()
}
