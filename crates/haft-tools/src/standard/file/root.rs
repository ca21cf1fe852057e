//! The file root, as a capability.

use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata};

use super::deny::DenyList;
use super::entry::{OtherKind, open_directory, open_regular};
use super::fault::FileToolFault;
use super::resolve::resolve;

/// The directory below which files are read, and its denied paths. Clones share it.
///
/// A path is [resolved](Self::canonical) first, to the one spelling without links that everything else decides about.
/// It is then opened name by name, without following links.
#[derive(Clone, Debug)]
pub(in crate::standard) struct FileRoot {
    dir: Arc<Dir>,
    denied: Arc<DenyList>,
}

impl FileRoot {
    /// Opens the directory. Later changes to its path have no effect: the open directory stays the root.
    pub(in crate::standard) fn open(path: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { dir: Arc::new(dir), denied: Arc::default() })
    }

    /// Returns the same root with denied paths.
    pub(in crate::standard) fn denying(&self, denied: &DenyList) -> Self {
        Self { dir: Arc::clone(&self.dir), denied: Arc::new(denied.clone()) }
    }

    /// Returns the one spelling for a path: relative to the root, with `/` between names, without links, `.` and `..`,
    /// and with names as their directories store them. The root itself is `.`.
    pub(super) fn canonical(&self, written: &str) -> Result<String, FileToolFault> {
        resolve(&self.dir, written)
    }

    /// Reports whether a canonical path is denied.
    pub(super) fn denies(&self, path: &str) -> bool {
        self.denied.matches(path)
    }

    /// Opens a regular file by its canonical path.
    pub(super) fn file(&self, path: &str) -> Result<(File, Metadata), FileToolFault> {
        let mut names = self.permitted(path)?;
        let Some(last) = names.pop() else { return Err(FileToolFault::IsDirectory { path: path.to_owned() }) };
        let above = below(&self.dir, &names).map_err(|error| FileToolFault::from_io(path, error))?;
        let opened = open_regular(above.as_ref().unwrap_or(&self.dir), last.as_ref());
        opened.map_err(|error| FileToolFault::from_io(path, error))?.map_err(|kind| match kind {
            OtherKind::Directory => FileToolFault::IsDirectory { path: path.to_owned() },
            OtherKind::Link => FileToolFault::Exchanged { path: path.to_owned() },
            OtherKind::Special => FileToolFault::Special { path: path.to_owned() },
        })
    }

    /// Opens a directory by its canonical path.
    pub(super) fn directory(&self, path: &str) -> Result<Dir, FileToolFault> {
        let names = self.permitted(path)?;
        let opened = below(&self.dir, &names).and_then(|dir| dir.map_or_else(|| self.dir.try_clone(), Ok));
        opened.map_err(|error| FileToolFault::from_io(path, error))
    }

    /// Returns the names in a canonical path that is not denied.
    fn permitted<'p>(&self, path: &'p str) -> Result<Vec<&'p str>, FileToolFault> {
        if self.denies(path) {
            return Err(FileToolFault::Denied { path: path.to_owned() });
        }
        if path.is_empty() || path == "." {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = path.split('/').collect();
        // The canonical spelling has none of these: following one would lead to another file than was decided on.
        if names.iter().any(|name| ["", ".", ".."].contains(name)) {
            return Err(FileToolFault::InvalidPath { path: path.to_owned() });
        }
        Ok(names)
    }
}

/// Opens a directory below another one, name by name and without following links. `None` stands for that directory
/// itself.
pub(super) fn below<N: AsRef<std::ffi::OsStr>>(dir: &Dir, names: &[N]) -> io::Result<Option<Dir>> {
    let mut at: Option<Dir> = None;
    for name in names {
        at = Some(open_directory(at.as_ref().unwrap_or(dir), name.as_ref())?);
    }
    Ok(at)
}
