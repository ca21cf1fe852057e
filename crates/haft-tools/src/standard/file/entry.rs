//! Opens directory entries without following links.
//!
//! A name is an entry in its directory and never a path, so it reaches nothing outside the directory.

use std::ffi::OsStr;
use std::io;

use cap_std::fs::{Dir, File, Metadata};

/// The kind of an entry that is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherKind {
    Directory,
    Link,
    Special,
}

/// Opens a regular file in a directory, and nothing else.
///
/// The kind is checked before, because merely opening a pipe lets its writer go on, and again on the open file, which
/// may be another one by then. In between, the file is opened without blocking.
pub(super) fn open_regular(dir: &Dir, name: &OsStr) -> io::Result<Result<(File, Metadata), OtherKind>> {
    if let Err(kind) = kind_of(&dir.symlink_metadata(name)?) {
        return Ok(Err(kind));
    }
    let file = system::open_file(dir, name)?;
    let metadata = file.metadata()?;
    Ok(kind_of(&metadata).map(|()| (file, metadata)))
}

/// Opens a directory in a directory.
pub(super) fn open_directory(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    system::open_directory(dir, name)
}

/// Reports whether two names stand for the same entry.
pub(super) fn is_same(dir: &Dir, name: &OsStr, metadata: &Metadata, other: &OsStr) -> bool {
    system::is_same(dir, name, metadata, other)
}

fn kind_of(metadata: &Metadata) -> Result<(), OtherKind> {
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(OtherKind::Directory),
        kind if kind.is_symlink() => Err(OtherKind::Link),
        _ => Err(OtherKind::Special),
    }
}

#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::io;

    use cap_std::fs::{Dir, File, Metadata, MetadataExt};
    use rustix::fs::{Mode, OFlags, openat};

    pub(super) fn open_file(dir: &Dir, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(dir, name, flags, Mode::empty())?;
        Ok(File::from_std(file.into()))
    }

    pub(super) fn open_directory(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::DIRECTORY;
        let below = openat(dir, name, flags, Mode::empty())?;
        Ok(Dir::from_std_file(below.into()))
    }

    pub(super) fn is_same(dir: &Dir, _: &OsStr, metadata: &Metadata, other: &OsStr) -> bool {
        let id = |metadata: &Metadata| (metadata.dev(), metadata.ino());
        dir.symlink_metadata(other).is_ok_and(|other| id(&other) == id(metadata))
    }
}

/// Other systems can't open an entry without following it. What replaces it in between is still below the root.
#[cfg(not(unix))]
mod system {
    use std::ffi::OsStr;
    use std::io;

    use cap_std::fs::{Dir, File, Metadata};

    pub(super) fn open_file(dir: &Dir, name: &OsStr) -> io::Result<File> {
        dir.open(name)
    }

    pub(super) fn open_directory(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
        if dir.symlink_metadata(name)?.is_symlink() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        dir.open_dir(name)
    }

    pub(super) fn is_same(_: &Dir, name: &OsStr, _: &Metadata, other: &OsStr) -> bool {
        name.to_string_lossy().to_lowercase() == other.to_string_lossy().to_lowercase()
    }
}
