//! A command's errors, for its operator.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use super::environment::EnvironmentError;

/// The reason why a command's call failed: the cause of its [`ToolFailure`](haft_core::ToolFailure). The model does not
/// read it.
///
/// `stderr` is the end of the command's standard error. In it, and in other texts that may quote the command, the
/// secrets from its environment are replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The environment can't be created.
    #[error("the environment of `{program}` can't be created: {source}")]
    Environment {
        /// The program.
        program: String,
        /// The reason.
        source: EnvironmentError,
    },
    /// The working directory does not exist.
    #[error("`{program}` can't be started: its folder `{}` is not a directory", .folder.display())]
    Folder {
        /// The program.
        program: String,
        /// The working directory.
        folder: PathBuf,
    },
    /// The program can't be started.
    #[error("`{program}` can't be started in `{}`; check that it is installed and in `PATH`", .folder.display())]
    Spawn {
        /// The program.
        program: String,
        /// The working directory.
        folder: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The command failed.
    #[error("`{program}` failed: {status}{}", after(.stderr))]
    Exit {
        /// The program.
        program: String,
        /// The exit code or the signal.
        status: ExitStatus,
        /// The end of stderr.
        stderr: String,
    },
    /// The command wrote too much to its standard output.
    #[error("`{program}` was killed, as it wrote more than {limit} bytes to stdout{}", after(.stderr))]
    TooMuchOutput {
        /// The program.
        program: String,
        /// The limit in bytes.
        limit: usize,
        /// The end of stderr.
        stderr: String,
    },
    /// The output is not what the tool declares.
    #[error("the output of `{program}` is invalid: {fault}{}", after(.stderr))]
    InvalidOutput {
        /// The program.
        program: String,
        /// The reason.
        fault: String,
        /// The end of stderr.
        stderr: String,
    },
    /// The process can't be observed.
    #[error("the end of `{program}` can't be observed: {source}")]
    Wait {
        /// The program.
        program: String,
        /// The reason.
        source: io::Error,
    },
}

/// Returns the end of stderr as a message's end.
fn after(stderr: &str) -> String {
    if stderr.trim().is_empty() { String::new() } else { format!("; stderr: {}", stderr.trim_end()) }
}
