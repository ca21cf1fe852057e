//! Examples that are never compiled: code fences marked `ignore`, and Rust on pages that are no crate's documentation.
//!
//! The pages of the guide are compiled where `examples/src/lib.rs` includes them as doc comments.

use super::breach::Breach;

/// The file whose doc comments are the pages of the guide.
pub(super) const GUIDE_TESTS: &str = "examples/src/lib.rs";

/// The pages that are compiled though they are not the README of a crate.
#[derive(Clone, Debug, Default)]
pub(super) struct CompiledPages(Vec<String>);

impl CompiledPages {
    /// Reads the pages that the text of [`GUIDE_TESTS`] includes in doc comments.
    pub(super) fn of(guide_tests: &str) -> Self {
        let included = guide_tests.split("#[doc = include_str!(\"../../").skip(1);
        Self(included.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect())
    }

    fn contains(&self, path: &str) -> bool {
        path.ends_with("README.md") || self.0.iter().any(|page| page == path)
    }
}

/// The position of the fences in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// On separate lines.
    Markdown,
    /// Behind the markers of a doc comment.
    Rust,
}

/// Returns every fence whose info string contains `ignore`, also for one platform only, and on pages other than the
/// README (which is the crate's documentation) and the compiled ones every fence that contains Rust.
pub(super) fn check(path: &str, text: &str, language: Language, compiled: &CompiledPages) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let is_compiled = language == Language::Rust || compiled.contains(path);
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let line = match language {
            Language::Markdown => Some(line),
            Language::Rust => doc_line(line),
        };
        let Some(info) = line.and_then(info) else { continue };
        if is_ignored(info) {
            breaches.push(Breach::new(path, index + 1, "an example marked `ignore` is never checked; make it run"));
        }
        is_open = !is_open;
        if is_open && !is_compiled && is_rust(info) {
            breaches.push(Breach::new(
                path,
                index + 1,
                "Rust on this page is never compiled; move it to a doc comment, or include the page in examples/src/lib.rs",
            ));
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

/// Returns whether rustdoc would treat it as Rust: no language, or that one.
fn is_rust(info: &str) -> bool {
    matches!(info.split([',', ' ']).next(), None | Some("" | "rust"))
}

#[cfg(test)]
mod tests {
    use super::{Breach, CompiledPages, Language, check};

    fn lines_of(text: &str, language: Language) -> Vec<usize> {
        check("a", text, language, &CompiledPages::default()).iter().map(Breach::line).collect()
    }

    #[test]
    fn ignored_fences_are_found_in_pages_and_in_doc_comments() {
        assert_eq!(lines_of("x\n```sh,ignore\n```\n> ```text, ignore\n", Language::Markdown), [2, 4]);
        assert_eq!(lines_of("/// ```rust,ignore\n//! ```ignore-windows\nfn f() {}\n", Language::Rust), [1, 2]);
    }

    #[test]
    fn rust_is_found_on_pages_that_are_not_compiled() {
        let page = "```rust\n```\n\n```sh\n```\n\n```\nlet x = 1;\n```\n";
        let guide = "#[cfg(doctest)]\n#[doc = include_str!(\"../../docs/src/first.md\")]\nmod first {}\n";
        let compiled = CompiledPages::of(guide);
        let lines =
            |path: &str| check(path, page, Language::Markdown, &compiled).iter().map(Breach::line).collect::<Vec<_>>();
        assert_eq!(lines("ARCHITECTURE.md"), [1, 7]);
        assert!(lines("README.md").is_empty());
        assert!(lines("docs/src/first.md").is_empty());
        assert_eq!(lines("docs/src/second.md"), [1, 7], "a page that no doc comment includes");
    }

    #[test]
    fn other_fences_and_strings_are_ignored() {
        assert!(lines_of("```sh\n```\n```text\nignore\n```\n", Language::Markdown).is_empty());
        assert!(lines_of("let x = \"```ignore\";\n/// ignore\n", Language::Rust).is_empty());
    }
}
