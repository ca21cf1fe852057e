//! Bounded reads from files that entries and workspaces name.
//!
//! Their authors are not trusted yet, so nothing outside the given folder is opened, and nothing that may never end.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A function that gets every file that is read, with its content, and every path that can't be read.
#[derive(Clone, Default)]
pub(super) struct ReadObserver(Option<Arc<ObserveRead>>);

type ObserveRead = dyn Fn(PathBuf, Option<&[u8]>) + Send + Sync;

impl ReadObserver {
    pub(super) fn new(observe: impl Fn(PathBuf, Option<&[u8]>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observe)))
    }

    /// Reads a file in a folder or below it.
    pub(super) fn read(&self, folder: &Path, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        let (path, content) = match below(folder, path) {
            Ok(canonical) => (canonical.clone(), read_bounded(&canonical, max)),
            Err(BelowError::Outside) => return Err(BelowError::Outside.into()),
            // The attempt is observed, so that the entry is built again when the file appears.
            Err(BelowError::Unreadable(error)) => (folder.join(path), Err(error)),
        };
        if let Self(Some(observe)) = self {
            observe(path, content.as_deref().ok());
        }
        content
    }
}

impl fmt::Debug for ReadObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadObserver").finish_non_exhaustive()
    }
}

/// Resolves a relative path in or below a folder, without symbolic links. Opens nothing elsewhere: a path that leads
/// out, by `..` or by a link, is an error.
pub fn below(folder: &Path, path: &Path) -> Result<PathBuf, BelowError> {
    let is_inside = |component: Component<'_>| matches!(component, Component::Normal(_) | Component::CurDir);
    if !path.components().all(is_inside) {
        return Err(BelowError::Outside);
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = fs::canonicalize(folder).map_err(BelowError::Unreadable)?;
    let found = fs::canonicalize(folder.join(path)).map_err(BelowError::Unreadable)?;
    if found.starts_with(&folder) { Ok(found) } else { Err(BelowError::Outside) }
}

/// A path that names nothing in a folder.
#[derive(Debug)]
pub enum BelowError {
    /// It leads outside the folder.
    Outside,
    /// It can't be followed.
    Unreadable(io::Error),
}

impl From<BelowError> for io::Error {
    fn from(error: BelowError) -> Self {
        match error {
            BelowError::Outside => {
                let message =
                    "it must be below the folder of the workspace, by a relative path without `..` or links out";
                Self::new(io::ErrorKind::InvalidInput, message)
            }
            BelowError::Unreadable(error) => error,
        }
    }
}

/// Reads a regular file with at most `max` bytes. Rejects devices and pipes, which may never end.
pub fn read_bounded(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} KiB", max / 1024));
    if metadata.len() > max {
        return Err(too_large());
    }
    let mut content = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    File::open(path)?.take(max + 1).read_to_end(&mut content)?;
    if content.len() as u64 > max { Err(too_large()) } else { Ok(content) }
}
