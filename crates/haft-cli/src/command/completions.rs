//! `haft completions`: shell completion scripts.
//!
//! clap writes what it knows: commands, options and their values. The names of tools depend on the folder, so the
//! scripts of bash, zsh and fish ask `haft completions --tools` for them.

use clap::CommandFactory;
use clap_complete::Shell;

use super::tools::visible;
use crate::arguments::Arguments;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::workspace::{CallerArgument, OpenWorkspace, Remarks, find};

/// The functions around clap's. The names of tools have no character that a shell would expand.
const BASH: &str = include_str!("completions/tools.bash");
const FISH: &str = include_str!("completions/tools.fish");
const ZSH: &str = include_str!("completions/tools.zsh");

/// Prints the completion script of a shell
///
/// With bash, zsh and fish, it completes the names of the tools of the folder where you are.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft completions bash > ~/.local/share/bash-completion/completions/haft
  haft completions zsh > ~/.zfunc/_haft
  haft completions fish > ~/.config/fish/completions/haft.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(required_unless_present = "tools")]
    shell: Option<Shell>,
    /// Prints the names of all tools, for the scripts
    #[arg(long, hide = true)]
    tools: bool,
}

/// Prints the script, or the names.
pub(crate) async fn run(arguments: &CompletionsArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    match arguments.shell.filter(|_| !arguments.tools) {
        Some(shell) => cx.terminal.write(script(shell))?,
        None => {
            let file = find(cx)?;
            let workspace =
                OpenWorkspace::open_file(cx, file.as_deref(), Remarks::Silent, &CallerArgument::default()).await?;
            for tool in visible(&workspace) {
                cx.terminal.print(&tool.name)?;
            }
        }
    }
    Ok(ExitStatus::Done)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "haft", &mut script);
    let script = String::from_utf8_lossy(&script);
    match shell {
        Shell::Bash => script.replace("complete -F _haft ", "complete -F _haft_with_tools ") + BASH,
        Shell::Fish => format!("{script}{FISH}"),
        // The shell calls `_haft`, which is ours.
        Shell::Zsh => script.replacen("\n_haft() {", &format!("\n{ZSH}\n_haft_without_tools() {{"), 1),
        _ => script.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// clap's scripts are those that ours build on.
    #[test]
    fn scripts_ask_for_the_names_of_tools() {
        let bash = script(Shell::Bash);
        assert!(bash.contains("complete -F _haft_with_tools ") && !bash.contains("complete -F _haft "));
        let zsh = script(Shell::Zsh);
        assert!(zsh.contains("\n_haft_without_tools() {") && zsh.matches("\n_haft() {").count() == 1);
        assert!(zsh.starts_with("#compdef haft\n"));
        assert!(script(Shell::Fish).contains("function __fish_haft_using_subcommand"));
    }
}
