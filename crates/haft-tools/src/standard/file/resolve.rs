//! The one spelling for a path below a root.
//!
//! A rule about a path decides by text, but a file has many texts: `a//b`, `./a/b`, `c/../a/b`, a link to it, and on
//! some systems `A/B`. So a path is resolved before anything decides about it: name by name, below the root, each link
//! replaced by its content. Missing names are kept as written, so that a path can be decided on before it exists. A
//! resolved path is opened without following links: a file that is exchanged for a link in between is not read.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_std::fs::{Dir, Metadata};

use super::entry::{is_same, open_directory};
use super::fault::FileToolFault;
use super::root::below;

/// The most links on one path, as on Linux.
const MAX_LINKS: usize = 40;

/// Returns the canonical spelling for a path below a directory.
pub(super) fn resolve(root: &Dir, written: &str) -> Result<String, FileToolFault> {
    let mut resolution = Resolution { root, names: Vec::new(), at: Place::Root, links: 0 };
    let fault = |fault: ResolveFault| match fault {
        ResolveFault::Absolute => FileToolFault::Absolute { path: written.to_owned() },
        ResolveFault::Outside => FileToolFault::Outside { path: written.to_owned() },
        ResolveFault::Loop => FileToolFault::LinkLoop { path: written.to_owned() },
        ResolveFault::Invalid => FileToolFault::InvalidPath { path: written.replace('\0', "\u{fffd}") },
        ResolveFault::Io(error) => FileToolFault::from_io(written, error),
    };
    if is_absolute(written) {
        return Err(fault(ResolveFault::Absolute));
    }
    resolution.follow(written).map_err(fault)?;
    Ok(if resolution.names.is_empty() { ".".to_owned() } else { resolution.names.join("/") })
}

/// A path that is resolved up to here.
struct Resolution<'r> {
    root: &'r Dir,
    names: Vec<String>,
    /// The directory that the names lead to.
    at: Place,
    links: usize,
}

enum Place {
    Root,
    Below(Dir),
    /// No directory that can be opened.
    Nowhere,
}

enum ResolveFault {
    Absolute,
    Outside,
    Loop,
    Invalid,
    Io(io::Error),
}

impl Resolution<'_> {
    /// Continues along a path. A link's names are followed instead of the link.
    fn follow(&mut self, path: &str) -> Result<(), ResolveFault> {
        let mut left: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        while let Some(name) = left.pop() {
            match name.as_str() {
                "" | "." => {}
                ".." => self.leave()?,
                name if !is_plain(name) => return Err(ResolveFault::Invalid),
                name => {
                    if let Some(target) = self.enter(name)? {
                        left.extend(target.split('/').rev().map(str::to_owned));
                    }
                }
            }
        }
        Ok(())
    }

    /// Goes up to the directory above.
    fn leave(&mut self) -> Result<(), ResolveFault> {
        if self.names.pop().is_none() {
            return Err(ResolveFault::Outside);
        }
        self.at = match below(self.root, &self.names) {
            Ok(None) => Place::Root,
            Ok(Some(dir)) => Place::Below(dir),
            Err(_) => Place::Nowhere,
        };
        Ok(())
    }

    /// Enters a directory entry, or returns a link's content to follow instead.
    fn enter(&mut self, name: &str) -> Result<Option<String>, ResolveFault> {
        let dir = match &self.at {
            Place::Root => self.root,
            Place::Below(dir) => dir,
            Place::Nowhere => {
                self.push(name.to_owned(), Place::Nowhere);
                return Ok(None);
            }
        };
        match dir.symlink_metadata(name) {
            Ok(metadata) if metadata.is_symlink() => {
                self.links += 1;
                if self.links > MAX_LINKS {
                    return Err(ResolveFault::Loop);
                }
                let target = dir.read_link_contents(name).map_err(ResolveFault::Io)?;
                let target = target.to_str().ok_or(ResolveFault::Invalid)?;
                if is_absolute(target) { Err(ResolveFault::Outside) } else { Ok(Some(target.to_owned())) }
            }
            Ok(metadata) => {
                let stored = stored_name(dir, name, &metadata).map_err(ResolveFault::Io)?;
                let stored = stored.ok_or(ResolveFault::Invalid)?;
                let place = open_directory(dir, stored.as_ref()).map_or(Place::Nowhere, Place::Below);
                self.push(stored, place);
                Ok(None)
            }
            // Whoever opens it reports why it can't be read.
            Err(_) => {
                self.push(name.to_owned(), Place::Nowhere);
                Ok(None)
            }
        }
    }

    fn push(&mut self, name: String, at: Place) {
        self.names.push(name);
        self.at = at;
    }
}

fn is_absolute(path: &str) -> bool {
    let path = Path::new(path);
    path.has_root() || path.is_absolute()
}

/// Reports whether a text is a single plain name.
fn is_plain(name: &str) -> bool {
    let is_special = |c: char| if cfg!(unix) { c == '\0' } else { c.is_control() || "\\:*?\"<>|".contains(c) };
    // Windows ignores these at a name's end.
    let is_ignored = |name: &str| !cfg!(unix) && name.ends_with(['.', ' ']);
    !name.contains(is_special) && !is_ignored(name)
}

/// Returns an entry's name as its directory stores it, or `None` if it has no such name. A file system that ignores
/// case or Unicode forms finds an entry by other names as well.
fn stored_name(dir: &Dir, name: &str, metadata: &Metadata) -> io::Result<Option<String>> {
    let wanted = OsStr::new(name);
    if cfg!(unix) && name.is_ascii() {
        let swapped: String = name.chars().map(swap_case).collect();
        if swapped == name || !is_same(dir, wanted, metadata, swapped.as_ref()) {
            return Ok(Some(name.to_owned()));
        }
    }
    let mut stored: Option<String> = None;
    for entry in dir.entries()? {
        let found = entry?.file_name();
        if found == wanted {
            return Ok(Some(name.to_owned()));
        }
        let Some(text) = found.to_str() else { continue };
        let may_be_same = !text.is_ascii() || text.eq_ignore_ascii_case(name);
        // Of several hard links, always choose the same one.
        if may_be_same && stored.as_deref().is_none_or(|first| text < first) && is_same(dir, wanted, metadata, &found) {
            stored = Some(text.to_owned());
        }
    }
    Ok(stored)
}

fn swap_case(c: char) -> char {
    if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
}
