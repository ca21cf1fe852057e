//! Files that the command writes: in one step or line by line, and by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Fault;

/// Writes a file in one step: readers see the old content or the new one, never a part, even after a crash. Only the
/// user can read it.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Fault> {
    let failed = |error: io::Error| Fault::file(path, "write", &error);
    let file = written_beside(path, content).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    sync_folder(path).map_err(failed)
}

/// Writes a file that does not exist, as [`write_whole`] does.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> Result<(), Fault> {
    let failed = |error: io::Error| Fault::file(path, "write", &error);
    let file = written_beside(path, content).map_err(failed)?;
    file.persist_noclobber(path).map_err(|error| failed(error.error))?;
    sync_folder(path).map_err(failed)
}

/// Writes a temporary file in a path's folder.
fn written_beside(path: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".haft-").tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Makes a new name in a folder survive a power failure.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(folder_of(path))?.sync_all() {
        // Some file systems have nothing to write for a folder.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that grows line by line. A line survives a crash once it is appended; a line that was being appended may be
/// there in part, without its end.
#[derive(Debug)]
pub(crate) struct GrowingFile {
    path: PathBuf,
    file: File,
    /// The length up to the last whole line.
    len: u64,
    /// True if part of a line could not be removed.
    is_torn: bool,
}

impl GrowingFile {
    /// Opens a file that exists and ends with a whole line.
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        let opened = || -> io::Result<Self> {
            let file = OpenOptions::new().append(true).open(path)?;
            let len = file.metadata()?.len();
            Ok(Self { path: path.to_owned(), file, len, is_torn: false })
        };
        opened().map_err(|error| Fault::file(path, "write", &error))
    }

    /// Appends a line. If that fails, the file is as before, or takes no further line.
    pub(crate) fn append(&mut self, line: &str) -> Result<(), Fault> {
        let appended = if self.is_torn {
            Err(io::Error::other("an earlier line was written in part"))
        } else {
            self.file.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.file.sync_data())
        };
        match appended {
            Ok(()) => self.len += line.len() as u64 + 1,
            Err(error) => {
                self.is_torn |= self.file.set_len(self.len).is_err();
                return Err(Fault::file(&self.path, "write", &error));
            }
        }
        Ok(())
    }
}

/// A file that this process alone uses, until it is dropped or the process ends in any way.
#[derive(Debug)]
pub(crate) struct ExclusiveUse {
    _lock: File,
}

impl ExclusiveUse {
    /// Claims a file, which need not exist. Fails if another process uses it.
    pub(crate) fn claim(path: &Path) -> Result<Self, Fault> {
        let (lock, failed) = open_lock(path)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                Err(Fault::new(format!("`{}` is already in use by another process", path.display()))
                    .advice("end the other one, or use another file"))
            }
            Err(TryLockError::Error(error)) => Err(failed(&error)),
        }
    }

    /// Waits until no other process uses a file, which need not exist. For files that are used briefly.
    pub(crate) fn wait(path: &Path) -> Result<Self, Fault> {
        let (lock, failed) = open_lock(path)?;
        lock.lock().map_err(|error| failed(&error))?;
        Ok(Self { _lock: lock })
    }
}

/// Opens a file's lock, and returns the fault for a lock that can't be used.
fn open_lock(path: &Path) -> Result<(File, impl Fn(&io::Error) -> Fault), Fault> {
    let lock = lock_path(path);
    let shown = lock.clone();
    let failed = move |error: &io::Error| Fault::file(&shown, "lock", error).advice("use a folder that can be written");
    fs::create_dir_all(folder_of(&lock)).map_err(|error| failed(&error))?;
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
    Ok((file.map_err(|error| failed(&error))?, failed))
}

/// Removes the lock for a file that is gone, or was never written. Only the process that uses the file may do so.
pub(crate) fn remove_lock(path: &Path) {
    // A lock that stays is only untidy.
    let _ = fs::remove_file(lock_path(path));
}

/// Returns the lock's path. It is a separate file: the state is replaced while it is in use.
fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_replaces_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/run.json");
        write_new(&path, b"one").unwrap();
        assert!(write_new(&path, b"two").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write_whole(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_line_that_can_not_be_written_is_reported() {
        let mut full = GrowingFile::open(Path::new("/dev/full")).unwrap();
        let fault = full.append("line").unwrap_err();
        assert!(fault.message.contains("/dev/full"), "{fault:?}");
        assert!(full.append("line").is_err());
    }
}
