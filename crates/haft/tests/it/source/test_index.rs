//! The tests, mistakes and departures of the workspace, found in its sources.

use std::collections::HashMap;
use std::path::PathBuf;

/// Looks names up in the sources, and reads each file once.
#[derive(Default)]
pub(crate) struct TestIndex {
    files: HashMap<PathBuf, Option<String>>,
}

/// Returns the root of the workspace: that of the test run, or else that of the build.
fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    PathBuf::from(manifest).join("../..")
}

impl TestIndex {
    /// Returns the reason that there is no test under a path such as `haft-core::toolkits_guide::wiring::test`.
    pub(crate) fn fault_of_test(&mut self, path: &str) -> Option<String> {
        let parts: Vec<&str> = path.split("::").collect();
        let [package, modules @ .., test] = parts.as_slice() else { return Some(format!("`{path}` is no path")) };
        let file = format!("{}.rs", modules.join("/"));
        let mut found = false;
        for folder in ["tests/it", "src"] {
            let Some(text) = self.read(PathBuf::from("crates").join(package).join(folder).join(&file)) else {
                continue;
            };
            found = true;
            if has_test(text, test) {
                return None;
            }
        }
        let what = if found { "no test of that name in the file" } else { "no file for that module" };
        Some(format!("`{path}`: {what}"))
    }

    /// Returns the reason that there is no program of this name among those that must not compile.
    pub(crate) fn fault_of_mistake(&mut self, program: &str) -> Option<String> {
        let folder = PathBuf::from("crates/haft/tests/ui");
        let complete =
            [".rs", ".stderr"].iter().all(|ending| self.read(folder.join(format!("{program}{ending}"))).is_some());
        (!complete).then(|| format!("no program `{program}` with its message"))
    }

    /// Returns the reason that the table of departures has no row with these words for a document.
    pub(crate) fn fault_of_departure(&mut self, document: &str, words: &str) -> Option<String> {
        let text = self.read(PathBuf::from("ARCHITECTURE.md")).unwrap_or_default();
        let table = text.split_once("\n## Departures").map_or("", |(_, table)| table);
        let mut rows = table.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.split(" | ");
            Some((cells.next()?, cells.next()?))
        });
        let found = rows.any(|(documents, says)| documents.contains(document) && says.contains(words));
        (!found).then(|| format!("no departure from {document} contains \"{words}\""))
    }

    fn read(&mut self, path: PathBuf) -> Option<&str> {
        let file = self.files.entry(path).or_insert_with_key(|path| std::fs::read_to_string(root().join(path)).ok());
        file.as_deref()
    }
}

/// Returns whether a source has a function of this name with a test attribute.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let is_here = |line: &str| {
        let rest = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let is_test = |line: &str| line == "#[test]" || line.starts_with("#[tokio::test");
    lines.iter().enumerate().filter(|(_, line)| is_here(line)).any(|(at, _)| {
        let above = lines[..at].iter().rev();
        above.take_while(|line| line.starts_with("#[") || line.starts_with("//")).any(|line| is_test(line))
    })
}
