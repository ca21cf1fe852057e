//! Why a cassette can't be opened.

use std::io;
use std::path::PathBuf;

use haft_core::BoxError;

/// Why a cassette can't be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file can't be made or written.
    #[error("can't write the recording {}: {source}; its folder must exist and be writable", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What writing it met.
        source: io::Error,
    },
    /// The file can't be read.
    #[error("can't read the recording {}: {source}; record it first, or correct the path", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What reading it met.
        source: io::Error,
    },
    /// The file does not begin as a recording, or begins as one of a newer version.
    #[error("{} is not a recording that can be played: line 1 is no header of one: {source}", .path.display())]
    NotARecording {
        /// The file.
        path: PathBuf,
        /// What is wrong with its first line.
        source: BoxError,
    },
    /// A line is not an exchange.
    #[error("line {line} of the recording {} is corrupted: {source}; mend or remove it, or record anew", .path.display())]
    Corrupted {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        source: BoxError,
    },
}
