//! The reasons why a path has no content.
//!
//! Messages contain only what the model wrote: no absolute path and no operating system text.

use std::io;

use haft_executor::HandlerError;

use crate::standard::failure::StandardFailure;
use crate::standard::pattern::clip;

/// The longest part of a path that a message repeats.
const MAX_QUOTE: usize = 200;

#[derive(Debug, thiserror::Error)]
pub(super) enum FileToolFault {
    #[error("`{path}` is absolute; write a path relative to the root of the files, such as docs/readme.md")]
    Absolute { path: String },
    #[error("`{path}` is not a valid path")]
    InvalidPath { path: String },
    #[error("`{path}` leads outside of the root of the files, by `..` or a symbolic link")]
    Outside { path: String },
    #[error("`{path}` is denied by the settings of these files")]
    Denied { path: String },
    #[error("`{path}` was replaced by a symbolic link; call again")]
    Exchanged { path: String },
    #[error("there is no `{path}`; list its directory with file_list")]
    NotFound { path: String },
    #[error("`{path}` can't be read: permission denied")]
    PermissionDenied { path: String },
    #[error("`{path}` has too many symbolic links")]
    LinkLoop { path: String },
    #[error("`{path}` is a directory; list it with file_list")]
    IsDirectory { path: String },
    #[error("`{path}` is not a directory")]
    NotADirectory { path: String },
    #[error("`{path}` is not a regular file but a pipe, a socket or a device")]
    Special { path: String },
    #[error("`{path}` is a binary file; read it with the format base64")]
    Binary { path: String },
    #[error("`{path}` has more than {limit} bytes before the line that was asked for; read it with the format base64")]
    TooFar { path: String, limit: u64 },
    #[error("the call was cancelled")]
    Cancelled,
    /// Any other operating system error, which the model does not see.
    #[error("an operation on a file failed")]
    Io { source: io::Error },
}

impl FileToolFault {
    /// Finds the cause of an error about a path.
    pub(super) fn from_io(path: &str, error: io::Error) -> Self {
        let path = clip(path, MAX_QUOTE);
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            // The error for a path that leads out was made here, not by the operating system.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Self::Outside { path },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            io::ErrorKind::IsADirectory => Self::IsDirectory { path },
            io::ErrorKind::InvalidInput => Self::InvalidPath { path },
            _ if is_loop(&error) => Self::LinkLoop { path },
            _ if is_long_name(&error) => Self::InvalidPath { path },
            _ => Self::Io { source: error },
        }
    }

    /// Converts the fault into a handler's error.
    pub(super) fn into_error(self) -> HandlerError<StandardFailure> {
        let reason = match &self {
            Self::Absolute { .. } | Self::InvalidPath { .. } => "invalid_path",
            Self::Outside { .. } => "outside_root",
            Self::Denied { .. } => "denied",
            Self::Exchanged { .. } => "exchanged",
            Self::NotFound { .. } => "not_found",
            Self::PermissionDenied { .. } => "permission_denied",
            Self::LinkLoop { .. } => "link_loop",
            Self::IsDirectory { .. } => "is_directory",
            Self::NotADirectory { .. } => "not_a_directory",
            Self::Special { .. } => "not_a_file",
            Self::Binary { .. } => "binary_file",
            Self::TooFar { .. } => "too_far",
            Self::Cancelled => "cancelled",
            Self::Io { .. } => return HandlerError::opaque(self),
        };
        HandlerError::Declared(StandardFailure::new(reason, self.to_string()))
    }
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_: &io::Error) -> bool {
    false
}

#[cfg(unix)]
fn is_long_name(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NAMETOOLONG.raw_os_error())
}

#[cfg(not(unix))]
fn is_long_name(_: &io::Error) -> bool {
    false
}
