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
        let Some((module, _)) = path.rsplit_once("::") else { return Some(format!("`{path}` is no path")) };
        if self.tests_of(module).iter().any(|test| test == path) {
            return None;
        }
        let is_file = files_of(module).into_iter().any(|file| self.read(file).is_some());
        let what = if is_file { "no test of that name in the file" } else { "no file for that module" };
        Some(format!("`{path}`: {what}"))
    }

    /// Returns the paths of the tests in a module, those of nested modules excepted.
    pub(crate) fn tests_of(&mut self, module: &str) -> Vec<String> {
        let mut paths = Vec::new();
        for file in files_of(module) {
            let names = self.read(file).map(tests).unwrap_or_default();
            paths.extend(names.into_iter().map(|name| format!("{module}::{name}")));
        }
        paths
    }

    /// Returns the reason that the judge has no rule `file::function`.
    pub(crate) fn fault_of_rule(&mut self, rule: &str) -> Option<String> {
        let (file, function) = rule.split_once("::").unwrap_or((rule, ""));
        let text = self.read(PathBuf::from(format!("parts/judge/{file}.py"))).unwrap_or_default();
        (!text.contains(&format!("\ndef {function}("))).then(|| format!("the judge has no rule `{rule}`"))
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
        let table = self.read(PathBuf::from("docs/decisions/departures.md")).unwrap_or_default();
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

/// Returns the files that a module may be in: among the integration tests, or beside the code.
fn files_of(module: &str) -> Vec<PathBuf> {
    let (package, path) = module.split_once("::").unwrap_or((module, "lib"));
    let file = format!("{}.rs", path.replace("::", "/"));
    let package = if package == "haft-parts" { PathBuf::from("parts") } else { PathBuf::from("crates").join(package) };
    ["tests/it", "src"].map(|folder| package.join(folder).join(&file)).to_vec()
}

/// Returns the names of the functions of a source that have a test attribute.
fn tests(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[") || line.starts_with("//") {
            is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
            continue;
        }
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ").filter(|_| is_test);
        names.extend(function.and_then(|function| function.split(['(', '<']).next()));
        is_test = false;
    }
    names
}
