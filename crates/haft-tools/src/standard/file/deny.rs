//! Patterns for paths that no tool reads, lists or searches.

use super::walk::{matches_name, matches_sequence};

/// Patterns for paths below a root. A matching path is denied, with everything below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DenyList {
    patterns: Vec<DenyPattern>,
}

/// A pattern: names, and `**` for any number of names. In lower case: whether a file system distinguishes case must not
/// decide about a denial.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DenyPattern(Vec<String>);

/// A pattern that matches no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` matches no path; write a name such as `*.env`, or a path from the root such as `private/**`")]
pub struct DenyPatternError {
    /// The pattern.
    pub pattern: String,
}

const ANY: &str = "**";

impl DenyList {
    /// Adds a pattern.
    pub(crate) fn add(&mut self, written: &str) -> Result<(), DenyPatternError> {
        let path = written.strip_prefix('/').unwrap_or(written);
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut names: Vec<String> = path.split('/').map(str::to_lowercase).collect();
        if names.iter().any(|name| ["", ".", ".."].contains(&name.as_str()) || name.contains('\0')) {
            return Err(DenyPatternError { pattern: written.to_owned() });
        }
        // A single name matches at any depth.
        if !written.trim_end_matches('/').contains('/') {
            names.insert(0, ANY.to_owned());
        }
        names.push(ANY.to_owned());
        self.patterns.push(DenyPattern(names));
        Ok(())
    }

    /// Reports whether a canonical path is denied.
    pub(super) fn matches(&self, path: &str) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let path = path.to_lowercase();
        let names: Vec<&str> = path.split('/').filter(|name| *name != ".").collect();
        self.patterns.iter().any(|DenyPattern(pattern)| {
            matches_sequence(pattern, &names, |part| part == ANY, |part, name| matches_name(part, name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(pattern: &str) -> DenyList {
        let mut list = DenyList::default();
        list.add(pattern).unwrap();
        list
    }

    #[test]
    fn a_pattern_denies_what_it_matches_and_everything_below() {
        for (pattern, denied, others) in [
            ("*.env", &["local.env", "a/b/.ENV", "x.env/y/z"][..], &["env", "a.envy", "env/a", "."][..]),
            ("private", &["private", "a/private/b", "Private/x"], &["privat", "a/privates"]),
            ("/private", &["private", "private/b"], &["a/private"]),
            ("a/*.key", &["a/x.key", "a/x.key/y"], &["x.key", "b/a/x.key", "a/b/x.key"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b/c"], &["b", "x/a/b", "a"]),
            ("**/b/c", &["b/c", "x/y/b/c/d"], &["b/x/c"]),
            ("secrets/", &["secrets/a", "x/secrets"], &["secret"]),
            ("a/**", &["a", "a/b", "a/b/c"], &["b/a", "ab"]),
            ("?", &["a", "ä/b"], &["ab"]),
        ] {
            let list = list(pattern);
            for path in denied {
                assert!(list.matches(path), "{pattern} {path}");
            }
            for path in others {
                assert!(!list.matches(path), "{pattern} {path}");
            }
        }
        assert!(!DenyList::default().matches("a"));
    }

    #[test]
    fn patterns_that_match_no_path_are_rejected() {
        for pattern in ["", "/", "//", "a//b", "./a", "a/../b", "..", "a\0"] {
            assert!(DenyList::default().add(pattern).is_err(), "{pattern:?}");
        }
    }
}
