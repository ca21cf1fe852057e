//! `haft resume`.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Continues a run that was suspended
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArguments {
    file: PathBuf,
}

/// Carries out the command.
pub(crate) async fn run(arguments: ResumeArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
