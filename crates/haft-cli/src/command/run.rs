//! `haft run`.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Runs the calls of a model
#[derive(Debug, clap::Args)]
pub(crate) struct RunArguments {
    file: PathBuf,
}

/// Carries out the command.
pub(crate) async fn run(arguments: RunArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
