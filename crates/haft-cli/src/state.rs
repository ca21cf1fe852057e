//! Files that the command writes: in one step, and by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::Fault;

/// Writes a file in one step: whoever reads it, also after a crash, sees the old content or the new one, never a part.
/// Only the user can read it.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Fault> {
    let failed = |error: io::Error| Fault::file(path, "write", &error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::Builder::new().prefix(".haft-").tempfile_in(folder).map_err(failed)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// A file that this process alone uses, until it is dropped or the process ends in any way.
#[derive(Debug)]
pub(crate) struct ExclusiveUse {
    _lock: File,
}

impl ExclusiveUse {
    /// Claims a file, which need not exist. The error is that of a file that another process uses.
    pub(crate) fn claim(path: &Path) -> Result<Self, Fault> {
        let lock = lock_path(path);
        let failed = |error: io::Error| {
            let advice = "use a folder that can be written";
            Fault::file(&lock, "lock", &error).advice(advice)
        };
        if let Some(folder) = lock.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&lock).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _lock: file }),
            Err(TryLockError::WouldBlock) => {
                Err(Fault::new(format!("`{}` is already in use by another process", path.display()))
                    .advice("end the other one, or use another file"))
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// Removes the lock of a file that is gone, or was never written. Only the process that uses the file may do so.
pub(crate) fn remove_lock(path: &Path) {
    // A lock that stays is only untidy.
    let _ = fs::remove_file(lock_path(path));
}

/// Returns the path of the lock, which is a file of its own: the state is replaced while it is in use.
fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    path.with_file_name(name)
}
