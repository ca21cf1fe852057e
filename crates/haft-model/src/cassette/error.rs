//! Errors of opening a cassette.

use std::io;
use std::path::PathBuf;

use haft_executor::BoxError;

/// The error of a cassette that can't be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file can't be created or written.
    #[error("can't write the recording {}: {source}; its folder must exist and be writable", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of writing it.
        source: io::Error,
    },
    /// The file can't be read.
    #[error("can't read the recording {}: {source}; record it first, or correct the path", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of reading it.
        source: io::Error,
    },
    /// The file does not start with the header of a recording, or with one of a newer version.
    #[error("{} is not a recording that can be replayed: line 1 is not a header: {source}; record again, or correct the path", .path.display())]
    NotARecording {
        /// The file.
        path: PathBuf,
        /// The problem with its first line.
        source: BoxError,
    },
    /// A line is not an exchange.
    #[error("line {line} of the recording {} is corrupted: {source}; correct or remove it, or record again", .path.display())]
    Corrupted {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The problem with the line.
        source: BoxError,
    },
}
