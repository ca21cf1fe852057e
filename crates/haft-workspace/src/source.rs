//! Files as read: the text, and exactly that text's digest.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use haft_registry::reading::read_bounded;
use sha2::{Digest, Sha256};

use super::document::{TextFault, TextPlace, TextPlaces};
use super::error::{FileFault, FilePosition};

/// The maximum size of a workspace file in bytes.
pub(crate) const MAX_FILE: u64 = 4 * 1024 * 1024;

/// The maximum size of a file that is read again to compare it with its earlier content.
pub(crate) const MAX_READ: u64 = 64 * MAX_FILE;

/// The most faults to report.
pub(crate) const MAX_FAULTS: usize = 100;

/// The SHA-256 digest of a file's content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileDigest([u8; 32]);

/// A file that was read to load a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadFile {
    /// The path, without symbolic links.
    pub path: PathBuf,
    /// The digest of what was read.
    pub digest: FileDigest,
}

impl FileDigest {
    /// Returns this content's digest.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// Returns one digest over several files.
    pub(crate) fn of_all(files: &[ReadFile]) -> Self {
        let mut hasher = Sha256::new();
        for file in files {
            hasher.update(file.digest.0);
        }
        Self(hasher.finalize().into())
    }
}

/// Formats the digest as hexadecimal digits.
impl fmt::Display for FileDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for FileDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileDigest({self})")
    }
}

/// Returns a path with each `..` applied to the name before it.
fn without_parents(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            _ => whole.push(part),
        }
        whole
    })
}

/// A workspace file as it was read.
#[derive(Debug)]
pub(crate) struct FileSource {
    /// The path by which it was asked for.
    pub(crate) path: Arc<Path>,
    /// The path without symbolic links. Trust and relative paths depend on it: linking to a trusted file does not
    /// change the folder that its paths refer to.
    pub(crate) canonical: PathBuf,
    pub(crate) text: String,
    pub(crate) digest: FileDigest,
    /// True if the path itself is a link: its author may not be the file's author.
    pub(crate) is_link: bool,
}

impl FileSource {
    /// Reads a file, which faults call by the path `shown`.
    pub(crate) fn read(location: &Path, shown: &Path) -> Result<Self, FileFault> {
        let whole = |message: String| FileFault::whole(shown, message);
        let path: Arc<Path> = Arc::from(shown);
        let canonical = fs::canonicalize(location).map_err(|error| whole(unreadable(&error)))?;
        let content = read_bounded(&canonical, MAX_FILE).map_err(|error| whole(unreadable(&error)))?;
        let digest = FileDigest::of(&content);
        let text = String::from_utf8(content).map_err(|error| {
            let (valid, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
            let position = FilePosition::of(&String::from_utf8_lossy(&bytes[..valid]), valid);
            let message = "the file is not UTF-8 text; save it as UTF-8".to_owned();
            FileFault { position: Some(position), ..whole(message) }
        })?;
        // The text excludes a byte order mark, so that the first line's columns are right.
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let is_link = fs::symlink_metadata(location).is_ok_and(|metadata| metadata.is_symlink());
        Ok(Self { path, canonical, text, digest, is_link })
    }

    /// Returns the folder that relative paths refer to.
    pub(crate) fn folder(&self) -> &Path {
        self.canonical.parent().unwrap_or(Path::new("/"))
    }

    /// Returns a path from the folder. A link below the folder is the file's author's: where it leads is returned.
    pub(crate) fn resolved(&self, path: &Path) -> PathBuf {
        let path = self.folder().join(path);
        let canonical = |part| Some((part, fs::canonicalize(part).ok()?));
        let existing: Vec<(&Path, PathBuf)> = path.ancestors().filter_map(canonical).collect();
        let is_below = existing.iter().any(|(_, found)| found.starts_with(self.folder()));
        let Some((part, found)) = existing.first().filter(|_| is_below) else { return path };
        let rest = path.strip_prefix(part).unwrap_or(Path::new(""));
        let resolved = without_parents(&found.join(rest));
        if resolved == without_parents(&path) { path } else { resolved }
    }

    pub(crate) fn as_read(&self) -> ReadFile {
        ReadFile { path: self.canonical.clone(), digest: self.digest }
    }

    /// Returns faults with their places, in file order.
    pub(crate) fn located(&self, faults: Vec<TextFault>) -> Vec<FileFault> {
        if faults.is_empty() {
            return Vec::new();
        }
        let rest = faults.len().saturating_sub(MAX_FAULTS);
        let placed = self.placed_first(faults, MAX_FAULTS, |fault| fault.place.clone());
        let fault = |(position, key, TextFault { message, .. }): (Option<FilePosition>, String, TextFault)| FileFault {
            path: Arc::clone(&self.path),
            position,
            key,
            message,
        };
        let mut located: Vec<_> = placed.into_iter().map(fault).collect();
        if rest > 0 {
            let message = format!("there are {rest} more faults than the {MAX_FAULTS} that are listed");
            located.push(FileFault::whole(&self.path, message));
        }
        located
    }

    /// Returns items with their positions and keys, in file order.
    pub(crate) fn placed<T>(
        &self,
        items: Vec<T>,
        place: impl Fn(&T) -> TextPlace,
    ) -> Vec<(Option<FilePosition>, String, T)> {
        self.placed_first(items, usize::MAX, place)
    }

    /// Returns the first items, by their places.
    fn placed_first<T>(
        &self,
        items: Vec<T>,
        most: usize,
        place: impl Fn(&T) -> TextPlace,
    ) -> Vec<(Option<FilePosition>, String, T)> {
        let needs_tree = items.iter().any(|item| matches!(place(item), TextPlace::Value(_) | TextPlace::Key(_)));
        let places = if needs_tree { TextPlaces::of(&self.text) } else { TextPlaces::none() };
        let mut placed: Vec<_> = items
            .into_iter()
            .map(|item| {
                let (offset, key) = places.find(&place(&item));
                (offset, key, item)
            })
            .collect();
        placed.sort_by_key(|(offset, ..)| *offset);
        let mut positions = PositionReader::new(&self.text);
        let with_position =
            |(offset, key, item): (Option<usize>, String, T)| (offset.map(|offset| positions.next(offset)), key, item);
        placed.into_iter().take(most).map(with_position).collect()
    }
}

/// The positions of offsets that never decrease, in linear time.
struct PositionReader<'t> {
    text: &'t str,
    /// The start of the last line reached, and its number less one.
    line_start: usize,
    lines: usize,
}

impl<'t> PositionReader<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, line_start: 0, lines: 0 }
    }

    fn next(&mut self, offset: usize) -> FilePosition {
        let offset = offset.min(self.text.len());
        let passed = &self.text.as_bytes()[self.line_start..offset];
        if let Some(last) = passed.iter().rposition(|byte| *byte == b'\n') {
            self.lines += passed[..=last].split(|byte| *byte == b'\n').count() - 1;
            self.line_start += last + 1;
        }
        let on_line = FilePosition::of(&self.text[self.line_start..], offset - self.line_start);
        FilePosition { line: self.lines + on_line.line, ..on_line }
    }
}

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "this is a folder; name a file in it, such as `haft.toml`".to_owned(),
        _ => format!("the file can't be read: {error}"),
    }
}
