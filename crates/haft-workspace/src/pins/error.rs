//! Pins that can't be read or stored.

use std::io;
use std::path::PathBuf;

/// A text of pins that can't be read. Nothing of it is used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinsError {
    /// The text is not JSON.
    #[error("it is not valid JSON: {0}")]
    Syntax(serde_json::Error),
    /// Version control has left a conflict in the text.
    #[error(
        "line {line} has a conflict that version control left; keep either side, then compare with the servers again"
    )]
    Conflict {
        /// The line of the conflict, from 1.
        line: usize,
    },
    /// The text has another format.
    #[error("it has the format {found}, and this version of haft reads {known}; use the version that wrote it")]
    Version {
        /// The version of the text's format.
        found: u64,
        /// The version that can be read.
        known: u64,
    },
    /// A part is missing, or is not what it should be.
    #[error("{}{message}", .at.as_ref().map(|at| format!("{at}: ")).unwrap_or_default())]
    Structure {
        /// The import, and the tool in it, with the fault.
        at: Option<String>,
        /// The fault.
        message: String,
    },
    /// A definition is not the one that its digest belongs to.
    #[error("{import}, tool `{tool}`: the definition has another digest than the one beside it, so it was edited")]
    Digest {
        /// The import.
        import: String,
        /// The tool.
        tool: String,
    },
}

impl PinsError {
    pub(super) fn structure(at: impl Into<String>, message: impl Into<String>) -> Self {
        let at = Some(at.into()).filter(|at| !at.is_empty());
        Self::Structure { at, message: message.into() }
    }
}

/// A lock file that can't be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the lock file `{}` {fault}", .path.display())]
#[non_exhaustive]
pub struct LockFileError {
    /// The file's path.
    pub path: PathBuf,
    /// The fault.
    #[source]
    pub fault: LockFault,
}

/// A fault of a lock file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockFault {
    /// The file can't be read.
    #[error("can't be read: {0}")]
    Read(io::Error),
    /// The file can't be written. It is as it was before.
    #[error("can't be written: {0}")]
    Write(io::Error),
    /// The file is damaged, or from another version of haft.
    #[error("can't be used: {0}; restore it, or remove it to pin all tools anew")]
    Content(PinsError),
    /// Another process has changed the file since it was read. Nothing was written.
    #[error("has changed since it was read; run the command again")]
    Changed,
}
