//! Tools that start commands.
//!
//! ```text
//! arguments ─► ArgvTemplate    {name} becomes an element, or a part of one      template.rs, render.rs
//!           ─► ChildGroup      a process group with a clean environment         environment.rs, group.rs
//!           ─► pipes           arguments to stdin, capped stdout, end of stderr execute.rs, stdout.rs, stderr.rs
//!           ─► exit status     the result, or a failure                         execute.rs, error.rs
//! ```
//!
//! A command is an argument list, never a line for a shell: no value is split, expanded or interpreted. A model's value
//! fills the place that the template's author marked and nothing else. It can't become an option, a further command or
//! the program. A variable inside an interpreter's script, as in `["sh", "-c", "echo {p}"]`, would be code, and is
//! rejected for known interpreters. No list of them is complete: see `interpreter.rs`.
//!
//! No process outlives its call. Every command leads its own process group. haft kills the whole group when the command
//! exits, and when its call times out, is cancelled or is dropped: first with `SIGTERM`, then with `SIGKILL` once the
//! command has exited or the grace period is over, even if the runtime shuts down before. Before your program exits,
//! wait for the grace periods with [`commands_ended`], or cut them short with [`kill_commands`]. A process that leaves
//! the group on purpose, for example with `setsid`, is not killed: run commands that you can't trust that far in a
//! sandbox. On systems other than Unix only the command itself is killed.
//!
//! The model reads the result, or one sentence about the failure. What the command wrote to stderr is for the operator,
//! as part of the failure's cause. After a success it is logged as a `tracing` event at debug level.

mod argument_role;
pub(crate) mod code;
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
mod template;
mod tool;

pub use self::environment::{EnvironmentError, KEPT_VARIABLES};
pub use self::error::CommandError;
pub use self::kind::CommandKind;
pub use self::live::{commands_ended, kill_commands};
pub use self::option::{StderrReader, StdinFormat, StdoutFormat};
pub use self::tool::CommandTool;
