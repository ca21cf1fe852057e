//! `haft check`.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Checks all tools against all wires
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArguments {
    #[arg(long)]
    pattern: Option<PathBuf>,
}

/// Carries out the command.
pub(crate) async fn run(arguments: &CheckArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
