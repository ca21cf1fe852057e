//! `haft completions`: shell completion scripts.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;

/// Prints the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft completions bash > ~/.local/share/bash-completion/completions/haft
  haft completions zsh > ~/.zfunc/_haft
  haft completions fish > ~/.config/fish/completions/haft.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(arguments: &CompletionsArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "haft", &mut script);
    cx.terminal.write(String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Done)
}
