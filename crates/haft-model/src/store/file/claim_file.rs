//! The file with the claim on a conversation, which is locked while it is used.
//!
//! It is written in place, as replacing it would lose the lock, and never removed: another process may have it open. A
//! claim that can't be read counts as none. That is safe, because the old claim does not match it either.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use haft_core::Timestamp;
use serde::{Deserialize, Serialize};

use super::{failed, private_file};
use crate::store::{Claim, ClaimToken, StoreError};

/// The maximum wait for another process. It holds the lock for as long as one save takes.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(2);
/// The length of a written claim: each is written over the one before, in one piece.
const LENGTH: usize = 256;

/// A claim file that is locked until this is dropped.
pub(super) struct ClaimFile {
    file: File,
    path: PathBuf,
}

/// A claim as it is written.
#[derive(Serialize, Deserialize)]
struct WrittenClaim {
    token: String,
    expires_at: Timestamp,
}

impl ClaimFile {
    /// Opens and locks the file at this path, which need not exist.
    #[allow(clippy::incompatible_msrv, reason = "the feature `file-store` requires Rust 1.89")]
    pub(super) fn lock(path: &Path) -> Result<Self, StoreError> {
        let file = private_file().read(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| failed("open", path, error))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file, path: path.to_owned() }),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let reason = "another process has held the lock for ten seconds; is it stopped?";
                    return Err(failed("lock", path, io::Error::new(io::ErrorKind::TimedOut, reason)));
                }
                Err(TryLockError::Error(error)) => return Err(failed("lock", path, error)),
            }
        }
    }

    /// Returns the token and the expiry of the claim, if there is one.
    pub(super) fn read(&mut self) -> Result<Option<(ClaimToken, Timestamp)>, StoreError> {
        let mut text = Vec::new();
        let read = self.file.rewind().and_then(|()| (&self.file).take(LENGTH as u64).read_to_end(&mut text));
        read.map_err(|error| failed("read", &self.path, error))?;
        let written: Option<WrittenClaim> = serde_json::from_slice(&text).ok();
        Ok(written.map(|written| (ClaimToken::from_text(&written.token), written.expires_at)))
    }

    /// Returns the expiry of this claim, if it is the current one.
    pub(super) fn current(&mut self, claim: &Claim) -> Result<Timestamp, StoreError> {
        let current = self.read()?.filter(|(token, _)| *token == claim.token);
        current.map(|(_, expires_at)| expires_at).ok_or(StoreError::ClaimLost)
    }

    /// Writes a claim over the one before.
    pub(super) fn write(&mut self, claim: &Claim) -> Result<(), StoreError> {
        let written = WrittenClaim { token: claim.token.as_str().to_owned(), expires_at: claim.expires_at };
        let text = serde_json::to_string(&written).map_err(|error| failed("write", &self.path, error.into()))?;
        self.overwrite(&text)
    }

    /// Removes the claim.
    pub(super) fn clear(&mut self) -> Result<(), StoreError> {
        self.overwrite("")
    }

    fn overwrite(&mut self, text: &str) -> Result<(), StoreError> {
        let padded = format!("{text:<LENGTH$}");
        let written = self.file.rewind().and_then(|()| self.file.write_all(padded.as_bytes()));
        written.map_err(|error| failed("write", &self.path, error))
    }
}
