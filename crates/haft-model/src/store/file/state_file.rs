//! The file with the state of a conversation: a line with its version and checksum, and a line with the state.
//!
//! A save writes a new file beside it, makes that durable, and renames it. The checksum finds damage that still is JSON,
//! and the version is read without reading the rest.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use haft_core::FormatVersion;
use serde::{Deserialize, Serialize};

use super::name::hash_of;
use super::{failed, private_file, sync_folder};
use crate::store::{StoreError, StoredConversation};
use crate::turn_loop::LoopState;

/// The newest format that is read, and the one that is written.
const FORMAT: u64 = 1;

/// The file of a state.
pub(super) struct StateFile {
    folder: PathBuf,
    path: PathBuf,
    /// The file that becomes the next one. Its name is always the same, so that a crash leaves at most one.
    fresh: PathBuf,
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct FirstLine {
    haft_conversation: u64,
    id: String,
    version: u64,
    sha256: String,
}

/// The version in a state.
#[derive(Deserialize)]
struct StateVersion {
    #[serde(default)]
    v: u64,
}

/// The version in a first line of any format.
#[derive(Deserialize)]
struct FirstLineFormat {
    haft_conversation: u64,
}

impl StateFile {
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        let file = |ending: &str| folder.join(format!("{name}.{ending}"));
        Self { folder: folder.to_owned(), path: file("json"), fresh: file("new") }
    }

    /// Reads the state; `None` if there is none.
    pub(super) fn read(&self, id: &str) -> Result<Option<StoredConversation>, StoreError> {
        let Some((header, mut rest)) = self.open(id)? else { return Ok(None) };
        let mut text = Vec::new();
        rest.read_to_end(&mut text).map_err(|error| failed("read", &self.path, error))?;
        if hash_of(&text) != header.sha256 {
            return Err(self.damaged("its checksum differs from the one in its first line"));
        }
        match serde_json::from_slice::<LoopState>(&text) {
            Ok(state) => Ok(Some(StoredConversation::new(state, header.version))),
            Err(error) => Err(self.unreadable(&text, error)),
        }
    }

    /// Returns the version of the state; zero if there is none.
    pub(super) fn version(&self, id: &str) -> Result<u64, StoreError> {
        Ok(self.open(id)?.map_or(0, |(header, _)| header.version))
    }

    /// Replaces the state. After an error the file is as before.
    pub(super) fn replace(&self, id: &str, version: u64, state: &[u8]) -> Result<(), StoreError> {
        let header = FirstLine { haft_conversation: FORMAT, id: id.to_owned(), version, sha256: hash_of(state) };
        let mut text = serde_json::to_vec(&header).map_err(|error| failed("write", &self.path, error.into()))?;
        text.push(b'\n');
        text.extend_from_slice(state);
        self.write_fresh(&text).map_err(|error| {
            // What was written in part is of no use, and may fill the disk.
            let _ = fs::remove_file(&self.fresh);
            failed("write", &self.fresh, error)
        })?;
        fs::rename(&self.fresh, &self.path).map_err(|error| failed("replace", &self.path, error))?;
        sync_folder(&self.folder).map_err(|error| failed("sync", &self.folder, error))
    }

    fn write_fresh(&self, text: &[u8]) -> io::Result<()> {
        match fs::remove_file(&self.fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private_file().create_new(true).open(&self.fresh)?;
        file.write_all(text)?;
        file.sync_all()
    }

    /// Opens the file and reads its first line.
    fn open(&self, id: &str) -> Result<Option<(FirstLine, BufReader<File>)>, StoreError> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| failed("open", &self.path, error))?,
        };
        let (mut rest, mut line) = (BufReader::new(file), Vec::new());
        rest.read_until(b'\n', &mut line).map_err(|error| failed("read", &self.path, error))?;
        if let Ok(FirstLineFormat { haft_conversation: found }) = serde_json::from_slice(&line)
            && found > FORMAT
        {
            return Err(StoreError::Newer { place: self.place(), found, known: FORMAT });
        }
        let header: FirstLine =
            serde_json::from_slice(&line).map_err(|_| self.damaged("its first line is not that of a conversation"))?;
        if header.id != id {
            return Err(self.damaged("it belongs to another conversation"));
        }
        Ok(Some((header, rest)))
    }

    /// Returns the error of a state that is as it was written, and still can't be read.
    fn unreadable(&self, text: &[u8], error: serde_json::Error) -> StoreError {
        match serde_json::from_slice(text) {
            Ok(StateVersion { v }) if v > FormatVersion::CURRENT => {
                StoreError::Newer { place: self.place(), found: v, known: FormatVersion::CURRENT }
            }
            _ => {
                let reason = "its state is invalid".to_owned();
                StoreError::Damaged { place: self.place(), reason, source: Some(error.into()) }
            }
        }
    }

    fn damaged(&self, reason: &str) -> StoreError {
        StoreError::damaged(self.place(), reason)
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}
