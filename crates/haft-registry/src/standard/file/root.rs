//! The root of the files, as a capability.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::fault::FileToolFault;

/// The directory below which files are read. Clones share it.
#[derive(Clone, Debug)]
pub(in crate::standard) struct FileRoot {
    dir: Arc<Dir>,
}

impl FileRoot {
    /// Opens the directory. Later changes of its path have no effect: the open directory stays the root.
    pub(in crate::standard) fn open(path: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(path, ambient_authority()).map(|dir| Self { dir: Arc::new(dir) })
    }

    /// Opens a regular file.
    pub(super) fn file(&self, path: &str) -> Result<(File, Metadata), FileToolFault> {
        let checked = relative(path)?;
        regular(&self.dir, &checked).map_err(|error| FileToolFault::from_io(path, error))?.map_err(|kind| match kind {
            OtherKind::Directory => FileToolFault::IsDirectory { path: path.to_owned() },
            OtherKind::Special => FileToolFault::Special { path: path.to_owned() },
        })
    }

    /// Opens a directory.
    pub(super) fn directory(&self, path: &str) -> Result<Dir, FileToolFault> {
        let checked = relative(path)?;
        self.dir.open_dir(checked).map_err(|error| FileToolFault::from_io(path, error))
    }
}

/// The kind of what is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherKind {
    Directory,
    Special,
}

/// Opens a regular file below a directory, and nothing else.
///
/// The kind is checked before, because merely opening a pipe lets its writer go on, and again on the open file, which may be
/// another one by then. In between, the file is opened without blocking.
pub(super) fn regular(dir: &Dir, path: &Path) -> io::Result<Result<(File, Metadata), OtherKind>> {
    if let Err(kind) = kind_of(&dir.metadata(path)?) {
        return Ok(Err(kind));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    never_block(&mut options);
    let file = dir.open_with(path, &options)?;
    let metadata = file.metadata()?;
    Ok(kind_of(&metadata).map(|()| (file, metadata)))
}

fn kind_of(metadata: &Metadata) -> Result<(), OtherKind> {
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(OtherKind::Directory),
        _ => Err(OtherKind::Special),
    }
}

#[cfg(unix)]
fn never_block(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt;

    #[allow(clippy::cast_possible_wrap, reason = "the flag is a small number")]
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
}

/// Files of other systems have no pipes among them.
#[cfg(not(unix))]
fn never_block(_: &mut OpenOptions) {}

/// Returns a relative path in its shortest form. `..` stays: only the directories themselves decide where it leads.
fn relative(path: &str) -> Result<PathBuf, FileToolFault> {
    if path.contains('\0') {
        return Err(FileToolFault::InvalidPath { path: path.replace('\0', "\u{fffd}") });
    }
    let mut checked = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::Prefix(_) | Component::RootDir => return Err(FileToolFault::Absolute { path: path.to_owned() }),
            Component::CurDir => {}
            Component::ParentDir | Component::Normal(_) => checked.push(component),
        }
    }
    if checked.as_os_str().is_empty() {
        checked.push(".");
    }
    Ok(checked)
}
