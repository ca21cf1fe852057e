//! `cargo xtask live`: one conversation with each real provider whose key is in the environment.
//!
//! The conversation is an example of `haft-model`, so that this program needs none of our crates. It costs money and
//! depends on what models say, so that neither `test` nor CI runs it.

use crate::argument::Arguments;
use crate::workspace::Workspace;

/// Runs the conversations. A provider without a key is skipped, and named.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> anyhow::Result<()> {
    arguments.finish()?;
    let cargo = workspace.cargo().args(["run", "--quiet", "--package", "haft-model", "--features", "clients"]);
    cargo.args(["--example", "live"]).run()
}
