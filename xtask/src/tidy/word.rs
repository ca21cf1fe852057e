//! Words that no committed text may hold.
//!
//! Three kinds: hosts of package registries (where a package comes from is the reader's own set-up), paths of one
//! machine, and the names of writing assistants (the project speaks of itself alone). The list is in this file and
//! nowhere else, so this file is the one that is not checked.

use std::path::Path;

use super::breach::Breach;

/// This file, and what cargo writes by itself.
const UNCHECKED: [&str; 2] = ["xtask/src/tidy/word.rs", "Cargo.lock"];

/// Found anywhere, in any case.
const HOSTS: [&str; 6] = ["crates.io", "docs.rs", "pypi.org", "pythonhosted.org", "npmjs.", "yarnpkg.com"];

/// Found where an absolute path begins.
const PATHS: [&str; 4] = ["/work/", "/root/", "/home/", "/Users/"];

/// Found as whole words, in any case.
const ASSISTANTS: [&str; 11] = [
    "aider",
    "chatgpt",
    "claude",
    "codex",
    "copilot",
    "devin",
    "gemini cli",
    "windsurf",
    "co-authored-by",
    "generated with",
    "as an ai",
];

/// Every forbidden word of a text.
pub(super) fn check(path: &str, text: &str) -> Vec<Breach> {
    if UNCHECKED.iter().any(|unchecked| Path::new(path).ends_with(unchecked)) {
        return Vec::new();
    }
    let lines = text.lines().enumerate();
    lines.flat_map(|(index, line)| check_line(line).map(move |message| Breach::new(path, index + 1, message))).collect()
}

fn check_line(line: &str) -> impl Iterator<Item = String> {
    let lower = line.to_lowercase();
    let hosts =
        HOSTS.iter().filter(|host| lower.contains(*host)).map(|host| format!("names a registry's host: {host}"));
    let paths = PATHS.iter().filter(|path| begins_path(line, path)).map(|path| format!("path of one machine: {path}"));
    let assistants = ASSISTANTS.iter().filter(|name| names_assistant(&lower, name));
    let assistants = assistants.map(|name| format!("the project speaks of itself alone: {name}"));
    hosts.chain(paths).chain(assistants).collect::<Vec<_>>().into_iter()
}

/// Whether the path stands at the start of a path, not in the middle of one or of an address.
fn begins_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|before| before.is_alphanumeric() || "._-~/}>)".contains(before))
    })
}

/// Whether the name stands there as a word. The name of a model (`name-…`, lower case) is data, not a mention.
fn names_assistant(lower: &str, name: &str) -> bool {
    lower.match_indices(name).any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + name.len()..].chars().next();
        let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

#[cfg(test)]
mod tests {
    use super::check;

    fn lines_of(text: &str) -> Vec<usize> {
        check("notes.md", text).iter().map(super::Breach::line).collect()
    }

    #[test]
    fn hosts_of_registries_are_found() {
        assert_eq!(lines_of("fine\nsee https://docs.rs/x\nfrom PyPI.org\nregistry.npmjs.org"), [2, 3, 4]);
        assert!(lines_of("PyPI and npm are words; crates are too").is_empty());
    }

    #[test]
    fn paths_of_one_machine_are_found_where_a_path_begins() {
        assert_eq!(lines_of("cd /work/main\n\"/home/me\"\n/root/x"), [1, 2, 3]);
        assert!(lines_of("http://a.example/home/x and target/work/y and $HOME").is_empty());
    }

    #[test]
    fn assistants_are_found_and_models_are_data() {
        assert_eq!(lines_of("Claude wrote this\nask Copilot, then\nCo-Authored-By: x"), [1, 2, 3]);
        assert!(lines_of("model = \"claude-x-1\"\na raider met a devinette").is_empty());
    }

    #[test]
    fn the_list_itself_and_the_lock_are_not_checked() {
        for lock in ["Cargo.lock", "checks/a/Cargo.lock"] {
            assert!(check(lock, "registry+https://github.com/rust-lang/crates.io-index").is_empty());
        }
        assert!(check("xtask/src/tidy/word.rs", "claude").is_empty());
    }
}
