//! The exit codes.

use std::process::ExitCode;

/// A command's exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// The command did what it was asked to.
    Done,
    /// A tool failed, or a check found faults.
    Failed,
    /// The arguments, an input or the workspace are invalid.
    Invalid,
    /// A call was denied or is not permitted.
    Denied,
    /// The command was interrupted.
    Interrupted,
}

impl ExitStatus {
    /// Returns the exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
            Self::Denied => 3,
            // As shells report a process that ended by SIGINT.
            Self::Interrupted => 130,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        status.code().into()
    }
}
