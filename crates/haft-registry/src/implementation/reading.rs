//! Reading of the files that entries name.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A function that gets every file that is read, with its content, and every path that can't be read.
#[derive(Clone, Default)]
pub(crate) struct ReadObserver(Option<Arc<ObserveRead>>);

type ObserveRead = dyn Fn(PathBuf, Option<&[u8]>) + Send + Sync;

impl ReadObserver {
    #[cfg(feature = "file")]
    pub(crate) fn new(observe: impl Fn(PathBuf, Option<&[u8]>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observe)))
    }

    /// Reads a file.
    pub(crate) fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        let (path, content) = match fs::canonicalize(path) {
            Ok(canonical) => (canonical.clone(), read_bounded(&canonical, max)),
            Err(error) => (path.to_owned(), Err(error)),
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

/// Reads a regular file of at most `max` bytes. Devices and pipes, which may never end, are rejected.
pub(crate) fn read_bounded(path: &Path, max: u64) -> io::Result<Vec<u8>> {
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
