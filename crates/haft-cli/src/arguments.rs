//! The arguments of the command line: global options and one variant per command.

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Parser, Subcommand};

use crate::command::{
    add, call, chat, check, completions, init, mcp, pending, resume, run, schema, serve, show, tools, trust,
};
use crate::context::GlobalOptions;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Lists, checks, calls and runs tools for AI agents.
///
/// The tools are those of the nearest `haft.toml`, and a standard toolbox: see `haft tools`.
#[derive(Debug, Parser)]
#[command(name = "haft", bin_name = "haft", version, styles = STYLES, max_term_width = 100)]
#[command(arg_required_else_help = true, subcommand_required = true)]
#[command(after_help = "Examples:
  haft init                                             start a workspace here
  haft tools                                            list the tools
  haft call calculate '{\"expression\": \"0.1 + 0.2\"}'     run one tool
  haft run calls.json                                   run the calls of a model
  haft chat --model openai:gpt-5-mini                   talk to a model that has the tools

Environment: HAFT_STATE_DIR is the folder for what haft remembers, such as trust. HAFT_SAFE_FOLDERS
lists folders, separated by `:`, whose haft.toml is used from below although another user owns it.

Exit codes: 0 done, 1 a tool failed, 2 invalid usage or workspace, 3 denied or not permitted, 130
interrupted.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::InitArguments),
    Add(add::AddArguments),
    Mcp(mcp::McpArguments),
    Trust(trust::TrustArguments),
    #[command(visible_aliases = ["list", "ls"])]
    Tools(tools::ToolsArguments),
    Show(show::ShowArguments),
    Call(call::CallArguments),
    Run(run::RunArguments),
    Resume(resume::ResumeArguments),
    Pending(pending::PendingArguments),
    Serve(serve::ServeArguments),
    Check(check::CheckArguments),
    Chat(chat::ChatArguments),
    Schema(schema::SchemaArguments),
    Completions(completions::CompletionsArguments),
}
