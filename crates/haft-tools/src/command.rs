//! Tools that start commands.
//!
//! ```text
//! arguments ─► ArgvTemplate    {name} becomes an element, or a part of one      template.rs, render.rs
//!           ─► ChildGroup      a process group with a clean environment         environment.rs, group.rs
//!           ─► pipes           arguments to stdin, capped stdout, end of stderr execute.rs, stdout.rs, stderr.rs
//!           ─► exit status     the result, or a failure                         execute.rs, error.rs
//! ```
//!
//! A command is a list of arguments, never a line for a shell: no value is split, expanded or interpreted. A value of the
//! model fills the place that the author of the template marked and nothing else: it can't become an option, a further
//! command or the program. A variable inside the script of an interpreter, as in `["sh", "-c", "echo {p}"]`, would be
//! code, and is rejected for the interpreters that are known. No list of them is complete: see `interpreter.rs`.
//!
//! No process outlives its call. Every command leads a process group of its own, and the whole group is killed when the
//! command exits, and when its call times out, is cancelled or is dropped: with `SIGTERM`, and with `SIGKILL` when the
//! command has exited or the grace period is over, also if the runtime shuts down before. A program that exits waits for
//! the grace periods with [`commands_ended`], or ends them with [`kill_commands`]. A process that leaves the
//! group on purpose, with `setsid` for example, is not killed: commands that can't be trusted that far require a
//! sandbox. On systems other than Unix only the command itself is killed.
//!
//! The model reads the result, or one sentence about the failure. What the command wrote to stderr is for the operator
//! and part of the cause of the failure; after a success it is logged as a `tracing` event of level debug.

mod argument_role;
mod code;
mod code_fault;
mod environment;
mod error;
mod execute;
mod group;
mod interpreter;
mod kind;
mod known_program;
mod live;
mod option;
mod pipe;
mod render;
mod settings;
mod shell_script;
mod stderr;
mod stdout;
mod target;
mod template;
mod tool;

pub use self::environment::{EnvironmentError, KEPT_VARIABLES};
pub use self::error::CommandError;
pub use self::kind::CommandKind;
pub use self::live::{commands_ended, kill_commands};
pub use self::option::{StderrReader, StdinFormat, StdoutFormat};
pub use self::target::CommandTarget;
pub use self::tool::CommandTool;
