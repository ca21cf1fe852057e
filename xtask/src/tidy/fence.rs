//! Examples that are never compiled: code fences marked `ignore`.

use super::breach::Breach;

/// Where the fences of a file stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// On lines of their own.
    Markdown,
    /// Behind the marks of a doc comment.
    Rust,
}

/// Every fence whose info string says `ignore`, also for one platform only.
pub(super) fn check(path: &str, text: &str, language: Language) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = match language {
            Language::Markdown => Some(line),
            Language::Rust => doc_line(line),
        };
        if line.and_then(info).is_some_and(is_ignored) {
            breaches.push(Breach::new(path, index + 1, "an example marked `ignore` is never checked; make it run"));
        }
    }
    breaches
}

fn doc_line(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["///", "//!", "* ", "/** "].iter().find_map(|mark| line.strip_prefix(mark))
}

fn info(line: &str) -> Option<&str> {
    line.trim_start_matches([' ', '>']).strip_prefix("```")
}

fn is_ignored(info: &str) -> bool {
    info.split([',', ' ', '{', '}']).any(|word| word == "ignore" || word.starts_with("ignore-"))
}

#[cfg(test)]
mod tests {
    use super::{Language, check};

    fn lines_of(text: &str, language: Language) -> Vec<usize> {
        check("a", text, language).iter().map(super::Breach::line).collect()
    }

    #[test]
    fn ignored_fences_are_found_in_pages_and_in_doc_comments() {
        assert_eq!(lines_of("x\n```ignore\n```\n> ```rust, ignore\n", Language::Markdown), [2, 4]);
        assert_eq!(lines_of("/// ```rust,ignore\n//! ```ignore-windows\nfn f() {}\n", Language::Rust), [1, 2]);
    }

    #[test]
    fn other_fences_and_strings_are_left_alone() {
        assert!(lines_of("```rust,no_run\n```text\nignore\n```\n", Language::Markdown).is_empty());
        assert!(lines_of("let x = \"```ignore\";\n/// ignore\n", Language::Rust).is_empty());
    }
}
