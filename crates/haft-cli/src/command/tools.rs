//! `haft tools`.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Lists the tools
#[derive(Debug, clap::Args)]
pub(crate) struct ToolsArguments {
    pattern: Option<PathBuf>,
}

/// Carries out the command.
pub(crate) async fn run(arguments: &ToolsArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
