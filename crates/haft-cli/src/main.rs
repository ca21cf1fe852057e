//! The command `haft`: lists, checks, calls and runs a workspace's tools for a model.
//!
//! ```text
//! arguments ─> arguments.rs ─> command.rs ─> command/<name>.rs ─> ExitStatus, or CommandError
//!                                                │                       │
//!                              workspace.rs ◄────┤                  report.rs ─> standard error
//!                     terminal.rs, interrupt.rs ◄┘
//! ```
//!
//! Results go to standard output, for people on a terminal and as JSON otherwise. Everything else goes to standard
//! error. Only this file ends the process.

mod approval;
mod arguments;
mod calls;
mod chat;
mod command;
mod context;
mod error;
mod events;
mod exit;
mod input;
mod interrupt;
mod media;
mod report;
mod run_options;
mod run_output;
mod screen;
mod span;
mod state;
mod suspended_run;
mod table;
mod terminal;
mod view;
mod wire;
mod workspace;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use self::arguments::Arguments;
use self::context::Context;
use self::exit::ExitStatus;

/// The time that the runtime gets to end tasks and threads that are still busy.
const SHUTDOWN: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    terminal::modes::restore_on_panic();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return report::usage(error).into(),
    };
    // The process has one context, which threads may still use when it exits.
    let cx: &'static Context = Box::leak(Box::new(Context::new(arguments.global)));
    span::subscribe(cx);
    let mut workers = tokio::runtime::Builder::new_multi_thread();
    let workers = match workers.worker_threads(2).thread_stack_size(interrupt::STACK).enable_all().build() {
        Ok(workers) => workers,
        Err(error) => return report::runtime(&error).into(),
    };
    let command = move || command::run(arguments.command, cx);
    let outcome = match interrupt::supervise(command, cx, workers.handle()) {
        Ok(outcome) => outcome,
        Err(error) => return report::runtime(&error).into(),
    };
    workers.shutdown_timeout(SHUTDOWN);
    terminal::modes::restore();
    let status = match outcome {
        Ok(status) => status,
        Err(error) if error.is_broken_pipe() => ExitStatus::Done,
        Err(error) => report::error(cx, &error),
    };
    status.into()
}
