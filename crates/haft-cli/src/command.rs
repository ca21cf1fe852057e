//! The commands, one file each. Each has its arguments, and a function that carries it out.

pub(crate) mod add;
pub(crate) mod call;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod init;
pub(crate) mod mcp;
pub(crate) mod pending;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod tools;
pub(crate) mod trust;

use crate::arguments::Command;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;

/// Carries out a command.
pub(crate) async fn run(command: Command, cx: &Context) -> Result<ExitStatus, CommandError> {
    // The commands' futures are large, and only one is needed.
    let outcome = match command {
        Command::Init(arguments) => Box::pin(init::run(&arguments, cx)).await,
        Command::Add(arguments) => Box::pin(add::run(arguments, cx)).await,
        Command::Mcp(arguments) => Box::pin(mcp::run(&arguments, cx)).await,
        Command::Trust(arguments) => Box::pin(trust::run(&arguments, cx)).await,
        Command::Tools(arguments) => Box::pin(tools::run(&arguments, cx)).await,
        Command::Show(arguments) => Box::pin(show::run(&arguments, cx)).await,
        Command::Call(arguments) => Box::pin(call::run(arguments, cx)).await,
        Command::Run(arguments) => Box::pin(run::run(arguments, cx)).await,
        Command::Resume(arguments) => Box::pin(resume::run(arguments, cx)).await,
        Command::Pending(arguments) => Box::pin(pending::run(arguments, cx)).await,
        Command::Serve(arguments) => Box::pin(serve::run(arguments, cx)).await,
        Command::Check(arguments) => Box::pin(check::run(&arguments, cx)).await,
        Command::Chat(arguments) => Box::pin(chat::run(arguments, cx)).await,
        Command::Schema(arguments) => schema::run(&arguments, cx),
        Command::Completions(arguments) => Box::pin(completions::run(&arguments, cx)).await,
    };
    cx.close().await;
    outcome
}
