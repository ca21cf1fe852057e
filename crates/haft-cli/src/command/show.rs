//! `haft show`.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Shows one tool
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArguments {
    name: PathBuf,
}

/// Carries out the command.
pub(crate) async fn run(arguments: &ShowArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
