//! `haft chat`.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Talks to a model that has the tools
#[derive(Debug, clap::Args)]
pub(crate) struct ChatArguments {
    #[arg(long)]
    resume: Option<PathBuf>,
}

/// Carries out the command.
pub(crate) async fn run(arguments: ChatArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
