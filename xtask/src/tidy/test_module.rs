//! Test modules in files of their own, declared as `#[cfg(test)] mod name;`.
//!
//! Neither their path nor their text tells that they are tests: only the file that declares them does. So the
//! declarations of all files are collected first, and the rules ask afterwards.

use super::source::Source;

/// The paths of the test modules of all files, without the extension.
#[derive(Debug, Default)]
pub(super) struct TestModules(Vec<String>);

impl TestModules {
    /// Adds the test modules that a file declares.
    pub(super) fn add(&mut self, source: &Source<'_>) {
        let stem = source.path().trim_end_matches(".rs");
        let folder = match stem.rsplit_once('/') {
            Some((folder, "lib" | "main" | "mod")) => folder,
            _ => stem,
        };
        let declared = source.words("mod").filter(|&at| source.is_behind_cfg_test(at));
        let names = declared.filter_map(|at| {
            let (name, _) = source.code()[at + "mod".len()..].split_once([';', '{'])?;
            Some(name.trim())
        });
        self.0.extend(names.map(|name| format!("{folder}/{name}")));
    }

    /// Returns whether the file at this path is such a module or part of one.
    pub(super) fn contain(&self, path: &str) -> bool {
        self.0.iter().any(|module| {
            let rest = path.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::TestModules;
    use crate::tidy::source::Source;

    fn contain(path: &str, text: &str, wanted: &str) -> bool {
        let mut modules = TestModules::default();
        modules.add(&Source::new(path, text));
        modules.contain(wanted)
    }

    #[test]
    fn a_declared_module_is_a_test_with_all_its_files() {
        let text = "#[cfg(test)]\nmod bench;\nmod partial;\n";
        assert!(contain("crates/a/src/c.rs", text, "crates/a/src/c/bench.rs"));
        assert!(contain("crates/a/src/c.rs", text, "crates/a/src/c/bench/d.rs"));
        for other in ["crates/a/src/c/partial.rs", "crates/a/src/c/bench_more.rs", "crates/a/src/bench.rs"] {
            assert!(!contain("crates/a/src/c.rs", text, other), "{other}");
        }
    }

    #[test]
    fn the_modules_of_a_root_are_beside_it() {
        for root in ["crates/a/src/lib.rs", "crates/a/src/main.rs", "crates/a/src/mod.rs"] {
            assert!(contain(root, "mod b;\n#[cfg(test)]\nmod bench;\n", "crates/a/src/bench.rs"), "{root}");
        }
    }
}
