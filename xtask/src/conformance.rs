//! `cargo xtask conformance`: the official conformance suite of MCP judges this repository.
//!
//! Each suite is one run of the suite's own program, which writes the checks of every scenario to a folder. They are read
//! here and compared with the expected failures, a file with a reason for each. A failure that is not in the file is an
//! error, and so is one in the file that has passed: so the file stays true.

mod client;
mod expectation;
mod server;
mod suite;

use anyhow::bail;

pub(crate) use self::client::run as client;
pub(crate) use self::server::run as server;
use crate::argument::Arguments;
use crate::workspace::Workspace;

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> anyhow::Result<()> {
    let judged = arguments.next_word();
    arguments.finish()?;
    match judged.as_deref() {
        Some("client") => client(workspace, &client::ALONE),
        Some("server") => server(workspace, &server::ALONE),
        _ => bail!("name what is judged: cargo xtask conformance client, or server"),
    }
}
