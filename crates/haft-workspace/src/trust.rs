//! Trust in workspace files: which files may start commands and use secrets.
//!
//! A workspace file can start any command and send any secret anywhere, so loading one is like running a program. You
//! trust a file by its path and its content's digest. The trust covers the files that it reads: organisations' files
//! and imported documents, because they decide where secrets are sent, and scripts below its folder that its commands
//! start. It covers what the file reaches, too, which may change without it: a folder can become a link. It does not
//! cover what those scripts load themselves, nor programs elsewhere.
//!
//! Every doubt means that a file is not trusted: a record that can't be read, a path that was moved, a file that
//! changed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use haft_registry::reading::read_bounded;
use serde::{Deserialize, Serialize};

use super::loaded::Loaded;
use super::locked::LoadedPins;
use super::pins::{MAX_LOCK, Pins, parse};
use super::privilege::Privilege;
use super::source::{FileDigest, MAX_READ, ReadFile};

/// The trust in the files that are loaded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Trust {
    /// No file is trusted.
    #[default]
    Never,
    /// The files are trusted that were recorded here.
    Recorded(TrustStore),
    /// Every file is trusted. Use it for files that your program itself wrote.
    Always,
}

/// The trust in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustStatus {
    /// The file is trusted, as it is now.
    Trusted,
    /// You trusted the file, but it, or a file that it reads, has changed since.
    Changed,
    /// The file was never trusted, or no longer is.
    Unknown,
}

/// The trusted files, as records in a folder that belongs to the user.
///
/// ```
/// use haft_registry::Kinds;
/// use haft_workspace::{LoadOptions, Trust, TrustStatus, TrustStore, load};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("haft.toml");
/// std::fs::write(&path, "[secrets]\ngithub = { env = 'GITHUB_TOKEN' }\n")?;
/// let store = TrustStore::new(folder.path().join("trust"));
/// let options = LoadOptions::new(Kinds::empty())?.trust(Trust::Recorded(store.clone()));
///
/// let loaded = load(&path, &options).await?;
/// assert_eq!(loaded.trust, TrustStatus::Unknown);
/// assert!(loaded.secrets.get("github").unwrap_err().to_string().contains("is not trusted"));
///
/// store.trust(&loaded)?;
/// assert_eq!(load(&path, &options).await?.trust, TrustStatus::Trusted);
///
/// std::fs::write(&path, "[secrets]\ngithub = { env = 'AWS_SECRET_ACCESS_KEY' }\n")?;
/// assert_eq!(store.status(&path)?, TrustStatus::Changed);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustStore {
    folder: PathBuf,
}

/// A trust record that can't be written or removed, or a file whose trust can't be determined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file can't be found.
    #[error("the file `{}` can't be found: {source}", .path.display())]
    File {
        /// The file's path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file's path is not Unicode text.
    #[error("the path `{}` is not Unicode text; rename it", .path.display())]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// The record can't be written or removed.
    #[error("the record `{}` can't be changed: {source}", .path.display())]
    Record {
        /// The record's path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// A trust record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustRecord {
    version: u32,
    /// The files, the workspace file first.
    files: Vec<TrustedFile>,
    /// The digest of the privileges.
    privileges: String,
    /// The entries that were faulty: nobody has seen what they reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    set_aside: Vec<FaultyPlace>,
}

/// An entry that had a fault when its file was trusted.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultyPlace {
    file: PathBuf,
    pointer: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustedFile {
    path: PathBuf,
    sha256: String,
}

/// The record format version.
const VERSION: u32 = 3;

/// The maximum size of a record.
const MAX_RECORD: u64 = 1024 * 1024;

impl TrustStore {
    /// Creates a store with its records in this folder, which is created when needed. Whoever can write to the folder
    /// can grant trust.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Trusts a workspace file, and the files that it reads, exactly as they were loaded. A loaded workspace stays as
    /// it is until you load it again, for example with [`reload`](super::WatchedWorkspace::reload).
    ///
    /// An entry that is set aside may work later although no file changed, for example with another version of this
    /// crate, and nobody has seen what it reaches. The trust then ends: the workspace counts as
    /// [changed](TrustStatus::Changed).
    pub fn trust(&self, loaded: &Loaded) -> Result<(), TrustError> {
        let files = loaded.files.iter().map(|file| match file.path.to_str() {
            Some(_) => Ok(TrustedFile { path: file.path.clone(), sha256: file.digest.to_string() }),
            None => Err(TrustError::Path { path: file.path.clone() }),
        });
        let faulty = loaded.set_aside.iter().map(|entry| {
            let (file, pointer) = (entry.file.clone(), entry.pointer.clone());
            FaultyPlace { file, pointer }
        });
        let record = TrustRecord {
            version: VERSION,
            files: files.collect::<Result<_, _>>()?,
            privileges: Privilege::digest_of_all(&loaded.privileges).to_string(),
            set_aside: faulty.collect(),
        };
        let path = self.record_path(&loaded.path);
        for lock in &loaded.locks {
            // Without it, what changed can't be shown later; the trust itself does not depend on it.
            let copy = self.lock_path(&loaded.path, &lock.path);
            let written = match &lock.text {
                Some(text) => self.write(&copy, text.as_bytes()),
                None => fs::remove_file(&copy).or_else(missing_is_fine),
            };
            written.map_err(|source| TrustError::Record { path: copy, source })?;
        }
        let written = serde_json::to_vec(&record).map_err(io::Error::from);
        written.and_then(|record| self.write(&path, &record)).map_err(|source| TrustError::Record { path, source })
    }

    /// Returns the pins of a lock as they were when the workspace was trusted; `None` if it never was, or if its record
    /// can't be read.
    #[must_use]
    pub fn trusted_pins(&self, loaded: &Loaded, lock: &LoadedPins) -> Option<Pins> {
        self.record(&loaded.path)?;
        match read_bounded(&self.lock_path(&loaded.path, &lock.path), MAX_LOCK) {
            Ok(content) => parse(&content).ok(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Pins::new()),
            Err(_) => None,
        }
    }

    /// Removes the trust in a workspace file, which need not exist any more. Returns whether it was recorded.
    pub fn revoke(&self, path: impl AsRef<Path>) -> Result<bool, TrustError> {
        let path = path.as_ref();
        let canonical = match fs::canonicalize(path) {
            Ok(canonical) => canonical,
            Err(source) => missing(path).map_err(|_| TrustError::File { path: path.to_owned(), source })?,
        };
        let record = self.record_path(&canonical);
        match fs::remove_file(&record) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(TrustError::Record { path: record, source }),
        }
    }

    /// Returns the trust in a workspace file, as far as the content of the files tells.
    ///
    /// To load a file by its trust, use [`Trust::Recorded`]: it reads every file once, and decides by what was read and
    /// what it would reach.
    pub fn status(&self, path: impl AsRef<Path>) -> Result<TrustStatus, TrustError> {
        let path = path.as_ref();
        let canonical = fs::canonicalize(path).map_err(|source| TrustError::File { path: path.to_owned(), source })?;
        let Some(record) = self.record(&canonical) else { return Ok(TrustStatus::Unknown) };
        let is_same = |file: &TrustedFile| {
            read_bounded(&file.path, MAX_READ).is_ok_and(|content| FileDigest::of(&content).to_string() == file.sha256)
        };
        Ok(if record.files.iter().all(is_same) { TrustStatus::Trusted } else { TrustStatus::Changed })
    }

    /// Returns a workspace file's record.
    pub(crate) fn record(&self, canonical: &Path) -> Option<TrustRecord> {
        let content = read_bounded(&self.record_path(canonical), MAX_RECORD).ok()?;
        let record: TrustRecord = serde_json::from_slice(&content).ok()?;
        let is_of_file = record.files.first().is_some_and(|first| first.path == canonical);
        (record.version == VERSION && is_of_file).then_some(record)
    }

    fn record_path(&self, canonical: &Path) -> PathBuf {
        let digest = FileDigest::of(canonical.as_os_str().as_encoded_bytes());
        self.folder.join(format!("{digest}.json"))
    }

    /// Returns the path of the copy of a lock.
    fn lock_path(&self, canonical: &Path, lock: &Path) -> PathBuf {
        let places = [canonical, lock].map(|path| path.as_os_str().as_encoded_bytes());
        self.folder.join(format!("{}.lock", FileDigest::of(&places.join(&0))))
    }

    /// Writes a record in one step: readers see the old one or the new one, never a part.
    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        create_private_folder(&self.folder)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}-{count}.tmp", std::process::id()));
        let written = create_private(&temporary).and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&temporary, path)
        });
        if written.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

impl TrustRecord {
    /// Reports whether a file was trusted with this content.
    pub(crate) fn covers(&self, file: &ReadFile) -> bool {
        let digest = file.digest.to_string();
        self.files.iter().any(|known| known.path == file.path && known.sha256 == digest)
    }

    /// Reports whether these privileges were trusted. They change without the file if it names a folder that is replaced
    /// by a link.
    pub(crate) fn is_for(&self, privileges: &[Privilege]) -> bool {
        self.privileges == Privilege::digest_of_all(privileges).to_string()
    }

    /// Reports whether an entry had a fault when its file was trusted.
    pub(crate) fn was_set_aside(&self, file: &Path, pointer: &str) -> bool {
        self.set_aside.iter().any(|place| place.pointer == pointer && place.file == file)
    }

    /// Reports whether these files, and no fewer, were trusted with this content. If a covered script can't be read any
    /// more, or is now a link out of the folder, that is a change.
    pub(crate) fn is_of(&self, files: &[ReadFile]) -> bool {
        files.iter().all(|file| self.covers(file))
            && self.files.iter().all(|known| files.iter().any(|file| file.path == known.path))
    }
}

/// Returns a missing file's path, without symbolic links.
fn missing(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(fs::canonicalize(folder)?.join(name))
}

fn missing_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
