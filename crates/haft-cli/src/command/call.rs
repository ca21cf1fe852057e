//! `haft call`.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Runs one tool, with the checks of a model's call
#[derive(Debug, clap::Args)]
pub(crate) struct CallArguments {
    name: PathBuf,
}

/// Carries out the command.
pub(crate) async fn run(arguments: CallArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
