//! `haft add`.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Adds a tool to the workspace file, and shows what it adds
#[derive(Debug, clap::Args)]
pub(crate) struct AddArguments {
    name: PathBuf,
}

/// Carries out the command.
pub(crate) async fn run(arguments: AddArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
