//! The file in which a workspace keeps its pins.
//!
//! The file is replaced in one step, so readers see the old pins or the new ones, and a write that fails leaves the old
//! ones. Whoever writes states which content they read: pins that another process has accepted meanwhile are never
//! lost. The two steps of that check are not one, so writers that may run at the same time take a lock of their own
//! around both.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use haft_registry::reading::read_bounded;

use super::Pins;
use super::error::{LockFault, LockFileError, PinsError};
use crate::source::FileDigest;

/// The extension of lock files: `haft.lock` is that of `haft.toml`.
pub const LOCK_EXTENSION: &str = "lock";

/// The maximum size of a lock file in bytes.
pub(crate) const MAX_LOCK: u64 = 64 * 1024 * 1024;

/// A workspace file's lock file, as it was read.
///
/// ```
/// use haft_workspace::pins::{LockFile, PinOrigin, PinnedImport};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("haft.toml");
/// let mut lock = LockFile::read(LockFile::path_for(&path))?;
/// assert!(lock.pins().is_empty());
///
/// let mut pins = lock.pins().clone();
/// pins.insert("docs/server", PinnedImport::new("mcp", PinOrigin::url("https://mcp.example/v1")));
/// lock.replace(pins)?;
/// assert!(folder.path().join("haft.lock").exists());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LockFile {
    path: PathBuf,
    /// The digest of the content; unset for a file that does not exist.
    digest: Option<FileDigest>,
    pins: Pins,
}

impl LockFile {
    /// Returns the path of a workspace file's lock file, which is beside it.
    #[must_use]
    pub fn path_for(workspace_file: impl AsRef<Path>) -> PathBuf {
        workspace_file.as_ref().with_extension(LOCK_EXTENSION)
    }

    /// Reads a lock file. One that does not exist has no pins.
    pub fn read(path: impl Into<PathBuf>) -> Result<Self, LockFileError> {
        let path = path.into();
        match content(&path) {
            Ok(None) => Ok(Self { path, digest: None, pins: Pins::new() }),
            Ok(Some(content)) => match parse(&content) {
                Ok(pins) => Ok(Self { digest: Some(FileDigest::of(&content)), path, pins }),
                Err(error) => Err(LockFileError { path, fault: LockFault::Content(error) }),
            },
            Err(error) => Err(LockFileError { path, fault: LockFault::Read(error) }),
        }
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the pins.
    #[must_use]
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// Writes other pins, unless the file has changed since it was read. Pins that are equal are not written.
    pub fn replace(&mut self, pins: Pins) -> Result<(), LockFileError> {
        if pins == self.pins {
            return Ok(());
        }
        let failed = |fault| LockFileError { path: self.path.clone(), fault };
        let current = content(&self.path).map_err(|error| failed(LockFault::Read(error)))?;
        if current.map(|content| FileDigest::of(&content)) != self.digest {
            return Err(failed(LockFault::Changed));
        }
        let text = pins.to_string();
        write(&self.path, text.as_bytes()).map_err(|error| failed(LockFault::Write(error)))?;
        self.digest = Some(FileDigest::of(text.as_bytes()));
        self.pins = pins;
        Ok(())
    }
}

/// Reads pins from a file's bytes.
pub(crate) fn parse(content: &[u8]) -> Result<Pins, PinsError> {
    let text = std::str::from_utf8(content).map_err(|_| PinsError::structure("", "it is not UTF-8 text"))?;
    text.parse()
}

/// Returns a file's content, or `None` if nothing has its name. A broken link is an error: its target may come back.
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match read_bounded(path, MAX_LOCK) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a file's content in one step. A link stays a link.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = target.with_extension(format!("{LOCK_EXTENSION}.{}-{count}.tmp", std::process::id()));
    let written = new_file(&temporary).and_then(|mut file| {
        file.write_all(content)?;
        // Whoever could read or write the file still can.
        if let Ok(metadata) = fs::metadata(&target) {
            file.set_permissions(metadata.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&temporary, &target)
    });
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::super::{PinOrigin, PinnedImport};
    use super::*;

    fn pins(name: &str) -> Pins {
        let mut pins = Pins::new();
        pins.insert(name, PinnedImport::new("mcp", PinOrigin::url("https://a.example")));
        pins
    }

    fn fault(error: &LockFileError) -> String {
        error.to_string().replace(&error.path.display().to_string(), "haft.lock")
    }

    #[test]
    fn another_process_change_is_never_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("haft.lock");
        let mut first = LockFile::read(&path).unwrap();
        let mut second = first.clone();
        first.replace(pins("a/b")).unwrap();
        let error = second.replace(pins("c/d")).unwrap_err();
        assert_eq!(fault(&error), "the lock file `haft.lock` has changed since it was read; run the command again");
        assert_eq!(LockFile::read(&path).unwrap().pins(), &pins("a/b"));
        // Whoever has written it knows the content.
        first.replace(pins("e/f")).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(matches!(first.replace(pins("g/h")).unwrap_err().fault, LockFault::Changed));
        assert!(!path.exists());
    }

    #[test]
    fn a_damaged_file_is_reported_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("haft.lock");
        let whole = pins("a/b").to_string();
        for (content, expected) in [
            (whole.as_bytes()[..20].to_vec(), "is not valid JSON"),
            (whole.replace("\"version\": 1", "\"version\": 9").into_bytes(), "has the format 9"),
            (vec![0xff, 0xfe], "is not UTF-8"),
        ] {
            fs::write(&path, &content).unwrap();
            let message = fault(&LockFile::read(&path).unwrap_err());
            assert!(message.contains(expected) && message.contains("; restore it, or remove it"), "{message}");
            assert_eq!(fs::read(&path).unwrap(), content);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_write_that_fails_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("haft.lock");
        let mut lock = LockFile::read(&path).unwrap();
        lock.replace(pins("a/b")).unwrap();
        // The name of the next temporary file is taken by a folder for as many writes as this test can meet.
        let names = 0..200;
        let taken = names.map(|at| folder.path().join(format!("haft.lock.{}-{at}.tmp", std::process::id())));
        taken.for_each(|name| drop(fs::create_dir(name)));
        assert!(matches!(lock.replace(pins("c/d")).unwrap_err().fault, LockFault::Write(_)));
        assert_eq!(LockFile::read(&path).unwrap().pins(), &pins("a/b"));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, target) = (folder.path().join("haft.lock"), folder.path().join("elsewhere"));
        symlink(&target, &path).unwrap();
        assert!(LockFile::read(&path).is_err(), "a broken link");
        fs::write(&target, Pins::new().to_string()).unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        LockFile::read(&path).unwrap().replace(pins("a/b")).unwrap();
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(LockFile::read(&path).unwrap().pins(), &pins("a/b"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    }

    #[test]
    fn the_lock_is_beside_its_workspace_file() {
        assert_eq!(LockFile::path_for("a/haft.toml"), Path::new("a/haft.lock"));
        assert_eq!(LockFile::path_for("other.toml"), Path::new("other.lock"));
    }
}
