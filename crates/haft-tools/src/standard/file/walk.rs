//! A walk over a directory and those below it.
//!
//! It goes in name order, depth first. Symbolic links are reported and never followed, so a walk can neither leave the
//! root nor run in circles. Each directory is opened below the one before it. The number of entries is limited as a
//! whole and per directory, because a directory has to be read to its end before its names can be sorted.

use std::ffi::OsString;
use std::io;

use cap_std::fs::{Dir, FileType};
use haft_executor::Cx;

use super::entry::open_directory;
use super::fault::FileToolFault;
use super::root::FileRoot;

/// The maximum entries that one walk reads.
const MAX_ENTRIES: usize = 50_000;
/// The most entries in one directory.
const MAX_DIRECTORY: usize = 10_000;

/// A walk's extent.
#[derive(Debug)]
pub(super) struct Walk<'w> {
    /// The root, whose denied paths are left out.
    pub(super) root: &'w FileRoot,
    /// The maximum depth; 1 is the directory alone.
    pub(super) depth: usize,
    /// The pattern that file names must match.
    pub(super) name: Option<&'w str>,
    /// True to include names that begin with a dot.
    pub(super) hidden: bool,
}

/// An entry that a walk has reached.
#[derive(Debug)]
pub(super) struct Visited<'d> {
    /// The path from the root, with `/` between names. A name that is not UTF-8 has replacement characters.
    pub(super) path: String,
    pub(super) dir: &'d Dir,
    pub(super) name: &'d OsString,
    pub(super) kind: FileType,
}

/// A decision to go on, or to stop because the result is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onward {
    Continue,
    Stop,
}

/// The code that a walk calls.
pub(super) trait Visitor {
    /// Takes an entry.
    fn visit(&mut self, visited: &Visited<'_>) -> Onward;

    /// Notes that a directory was visited with everything below it, as far as the limits allow. The path starts at the
    /// root, for which it is empty.
    fn leave(&mut self, _path: &str) {}
}

/// A walk's completeness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkEnd {
    Complete,
    /// A limit was reached, or the visitor has stopped.
    Cut,
}

impl Walk<'_> {
    /// Visits a directory's entries. The path starts at the root.
    pub(super) fn run(
        &self,
        dir: &Dir,
        path: &str,
        cx: &Cx,
        visitor: &mut dyn Visitor,
    ) -> Result<WalkEnd, FileToolFault> {
        let mut state = WalkState { walk: self, cx, left: MAX_ENTRIES, cut: false, visitor };
        match state.directory(dir, path, 1)? {
            Onward::Continue if !state.cut => Ok(WalkEnd::Complete),
            Onward::Continue | Onward::Stop => Ok(WalkEnd::Cut),
        }
    }
}

struct WalkState<'w, 'v> {
    walk: &'w Walk<'w>,
    cx: &'w Cx,
    left: usize,
    cut: bool,
    visitor: &'v mut dyn Visitor,
}

impl WalkState<'_, '_> {
    /// Recurses to the walk's depth, which callers limit.
    fn directory(&mut self, dir: &Dir, path: &str, depth: usize) -> Result<Onward, FileToolFault> {
        for (name, kind) in self.names(dir).map_err(|error| FileToolFault::from_io(path, error))? {
            let shown = name.to_string_lossy();
            let path = if path.is_empty() { shown.to_string() } else { format!("{path}/{shown}") };
            if self.walk.root.denies(&path) {
                continue;
            }
            let matches = self.walk.name.is_none_or(|pattern| matches_name(pattern, &shown));
            let visited = Visited { path: path.clone(), dir, name: &name, kind };
            if matches && self.visitor.visit(&visited) == Onward::Stop {
                return Ok(Onward::Stop);
            }
            if !kind.is_dir() || depth >= self.walk.depth {
                continue;
            }
            match open_directory(dir, &name) {
                Ok(below) if self.directory(&below, &path, depth + 1)? == Onward::Stop => return Ok(Onward::Stop),
                Ok(_) => {}
                // It was removed, replaced or is not readable: the others are.
                Err(_) => self.cut = true,
            }
        }
        self.visitor.leave(path);
        Ok(Onward::Continue)
    }

    /// Returns a directory's sorted names, as far as the limits allow.
    fn names(&mut self, dir: &Dir) -> Result<Vec<(OsString, FileType)>, io::Error> {
        let mut names = Vec::new();
        for entry in dir.entries()? {
            if self.left == 0 || names.len() == MAX_DIRECTORY || self.cx.is_cancelled() {
                self.cut = true;
                break;
            }
            self.left -= 1;
            let entry = entry?;
            let name = entry.file_name();
            if !self.walk.hidden && name.to_string_lossy().starts_with('.') {
                continue;
            }
            if let Ok(kind) = entry.file_type() {
                names.push((name, kind));
            }
        }
        names.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(names)
    }
}

/// Reports whether a name matches a pattern in which `*` stands for any text and `?` for any character.
pub(super) fn matches_name(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    matches_sequence(&pattern, &name, |part| *part == '*', |part, c| *part == '?' || part == c)
}

/// Reports whether items match a pattern with parts for any number of items, and parts that each match one.
///
/// At a mismatch, only the last part for any number is extended: an earlier one never has to be, so the time is at most
/// the product of both lengths.
pub(super) fn matches_sequence<P, T>(
    pattern: &[P],
    items: &[T],
    is_any: impl Fn(&P) -> bool,
    matches: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut any: Option<(usize, usize)> = None;
    while let Some(item) = items.get(n) {
        match pattern.get(p) {
            Some(part) if is_any(part) => {
                any = Some((p, n));
                p += 1;
            }
            Some(part) if matches(part, item) => (p, n) = (p + 1, n + 1),
            _ => match any {
                Some((at, from)) => {
                    any = Some((at, from + 1));
                    (p, n) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(is_any)
}

#[cfg(test)]
mod tests {
    use super::matches_name;

    #[test]
    fn name_patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*.rs", "main.rs", true),
            ("*.rs", "main.rsx", false),
            ("*.rs", ".rs", true),
            ("m?in.*", "main.rs", true),
            ("m?in.*", "min.rs", false),
            ("?", "ä", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("**", "x", true),
            ("main", "main", true),
            ("main", "mains", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches_name(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn hostile_patterns_end_soon() {
        assert!(!matches_name(&format!("{}b", "*a".repeat(100)), &"a".repeat(255)));
    }
}
