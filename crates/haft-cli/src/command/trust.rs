//! `haft trust`.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Trusts the workspace file as it is now, so that it may start commands and use secrets
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArguments {
    folder: Option<PathBuf>,
}

/// Carries out the command.
pub(crate) async fn run(arguments: &TrustArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
