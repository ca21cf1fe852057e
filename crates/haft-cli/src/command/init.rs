//! `haft init`: a workspace to start from.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// Writes a `haft.toml` with tools that work offline, and a file of calls. Never overwrites a file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft init
  haft init tools && haft run tools/calls.json")]
pub(crate) struct InitArguments {
    /// The folder, which is created if it is missing
    #[arg(default_value = ".")]
    folder: PathBuf,
}

/// Writes the files.
pub(crate) fn run(arguments: &InitArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let _ = (arguments, cx);
    Err(Fault::new("not implemented").into())
}
