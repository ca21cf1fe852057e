//! The top-level modules of each crate and their imports, which must show what the crate is.
//!
//! Modules that import each other in a cycle can only be read together. A few may: a type with its builder, a trait with
//! its adapters. Beyond [`CYCLE`] modules no reader keeps them in mind, and nothing says which is below which; then
//! a type stands in the wrong module, or a crate is two.

use std::collections::{BTreeMap, BTreeSet};

use super::breach::Breach;
use super::import::{self, Import, ReExport};
use super::source::Source;
use super::test_module::TestModules;

/// The maximum number of modules that import each other in cycles.
const CYCLE: usize = 8;

/// Crates whose number of top-level modules has a maximum, because they were once a drawer of files.
const MODULES: [(&str, usize); 1] = [("haft-wire", 12)];

/// The files of all crates, collected one by one.
#[derive(Debug, Default)]
pub(super) struct ModuleGraphs {
    files: Vec<File>,
    test_modules: TestModules,
}

/// One file of a crate.
#[derive(Debug)]
struct File {
    krate: String,
    path: String,
    role: Role,
}

#[derive(Debug)]
enum Role {
    /// `lib.rs` or `main.rs`.
    Root(Vec<ReExport>),
    /// A part of a top-level module.
    Module { module: String, imports: Vec<Import> },
}

impl ModuleGraphs {
    /// Adds a file. Tests, benchmarks, examples and additional programs have no part in the graph.
    pub(super) fn add(&mut self, source: &Source<'_>) {
        let (Some(krate), Some((_, inside))) = (source.krate(), source.path().split_once("/src/")) else { return };
        self.test_modules.add(source);
        let inside = inside.trim_end_matches(".rs").trim_end_matches("/mod");
        let role = match inside.split_once('/').map_or(inside, |(module, _)| module) {
            "lib" | "main" => Role::Root(import::re_exports(source)),
            "bin" => return,
            module => {
                let depth = inside.split('/').count();
                Role::Module { module: module.to_owned(), imports: import::imports(source, depth) }
            }
        };
        self.files.push(File { krate: krate.to_owned(), path: source.path().to_owned(), role });
    }

    /// Returns a breach for each crate with too large a cycle or too many modules.
    pub(super) fn check(&self) -> Vec<Breach> {
        let crates: BTreeSet<&str> = self.files.iter().map(|file| file.krate.as_str()).collect();
        crates.into_iter().flat_map(|krate| check_crate(krate, &self.graph(krate))).collect()
    }

    fn graph(&self, krate: &str) -> Graph<'_> {
        let of_crate = |file: &&File| file.krate == krate && !self.test_modules.contain(&file.path);
        let files: Vec<&File> = self.files.iter().filter(of_crate).collect();
        let mut graph = Graph::default();
        let mut modules_of = BTreeMap::new();
        for file in &files {
            match &file.role {
                Role::Root(re_exports) => {
                    graph.root = file.path.as_str();
                    modules_of.extend(re_exports.iter().map(|found| (found.name.as_str(), found.module.as_str())));
                }
                Role::Module { module, .. } => drop(graph.imports.entry(module).or_default()),
            }
        }
        let modules: BTreeSet<&str> = graph.imports.keys().copied().collect();
        for file in &files {
            let Role::Module { module, imports } = &file.role else { continue };
            for import in imports {
                let name = import.name.as_str();
                let target = if modules.contains(name) { Some(name) } else { modules_of.get(name).copied() };
                let Some(target) = target.filter(|target| modules.contains(target) && target != module) else {
                    continue;
                };
                let places = graph.imports.entry(module).or_default().entry(target).or_default();
                places.push(Place { path: &file.path, line: import.line });
            }
        }
        graph
    }
}

/// The top-level modules of one crate.
#[derive(Debug, Default)]
struct Graph<'a> {
    /// The path of the crate's root.
    root: &'a str,
    /// The imports of each module, with the places where they are made.
    imports: BTreeMap<&'a str, BTreeMap<&'a str, Vec<Place<'a>>>>,
}

#[derive(Debug)]
struct Place<'a> {
    path: &'a str,
    line: usize,
}

impl<'a> Graph<'a> {
    /// Returns the largest set of modules that all reach each other; the first in alphabetical order among equals.
    fn largest_cycle(&self) -> BTreeSet<&'a str> {
        let reachable: BTreeMap<&str, BTreeSet<&str>> =
            self.imports.keys().map(|&module| (module, self.reachable(module))).collect();
        let cycle_of = |module: &&'a str| -> BTreeSet<&'a str> {
            let mutual = reachable[module].iter().filter(|other| reachable[*other].contains(module));
            mutual.copied().collect()
        };
        let cycles = self.imports.keys().map(cycle_of);
        cycles.fold(BTreeSet::new(), |largest, cycle| if cycle.len() > largest.len() { cycle } else { largest })
    }

    /// Returns the modules that a module imports, directly or through others.
    fn reachable(&self, from: &str) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for &imported in self.imports[module].keys() {
                if seen.insert(imported) {
                    open.push(imported);
                }
            }
        }
        seen
    }

    /// Describes the imports inside a cycle that are made in one place: those are the first to look at.
    fn thin_imports(&self, cycle: &BTreeSet<&str>) -> String {
        let mut thin = Vec::new();
        for &module in cycle {
            for (imported, places) in self.imports[module].iter().filter(|(imported, _)| cycle.contains(*imported)) {
                if let [place] = places.as_slice() {
                    thin.push(format!("{module} -> {imported} ({}:{})", place.path, place.line));
                }
            }
        }
        thin.join(", ")
    }
}

fn check_crate(krate: &str, graph: &Graph<'_>) -> Vec<Breach> {
    let breach = |message: String| Breach::new(graph.root, 1, message);
    let mut breaches = Vec::new();

    let cycle = graph.largest_cycle();
    let size = cycle.len();
    if size > CYCLE {
        let modules: Vec<&str> = cycle.iter().copied().collect();
        breaches.push(breach(format!(
            "{size} top-level modules of {krate} import each other in cycles, at most {CYCLE}: {}; imports made in one place: {}",
            modules.join(", "),
            graph.thin_imports(&cycle)
        )));
    }
    let modules = graph.imports.len();
    let most = MODULES.iter().find(|(name, _)| *name == krate).map(|(_, most)| *most);
    if let Some(most) = most.filter(|most| modules > *most) {
        breaches.push(breach(format!(
            "{krate} has {modules} top-level modules, at most {most}; put them into the folders where they belong"
        )));
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::{CYCLE, MODULES, ModuleGraphs};
    use crate::tidy::source::Source;

    fn read(files: &[(String, String)]) -> ModuleGraphs {
        let mut graphs = ModuleGraphs::default();
        for (path, text) in files {
            graphs.add(&Source::new(path, text));
        }
        graphs
    }

    fn breaches(files: &[(String, String)]) -> Vec<String> {
        read(files).check().iter().map(ToString::to_string).collect()
    }

    fn largest_cycle(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> =
            files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), (*text).to_owned())).collect();
        read(&files).graph("a").largest_cycle().into_iter().map(str::to_owned).collect()
    }

    /// Returns a crate whose modules each import the next, and the last the first.
    fn ring(krate: &str, modules: usize) -> Vec<(String, String)> {
        let file = |index: usize| {
            let text = format!("use crate::m{}::X;\n", (index + 1) % modules);
            (format!("crates/{krate}/src/m{index}.rs"), text)
        };
        (0..modules).map(file).chain([(format!("crates/{krate}/src/lib.rs"), String::new())]).collect()
    }

    #[test]
    fn a_cycle_may_have_the_maximum_of_modules_and_not_one_more() {
        assert_eq!(breaches(&ring("a", CYCLE)), [""; 0]);
        let found = breaches(&ring("a", CYCLE + 1));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/a/src/lib.rs:1: 9 top-level modules of a import each other"), "{found:?}");
        assert!(found[0].contains("m8 -> m0 (crates/a/src/m8.rs:1)"), "{found:?}");
    }

    #[test]
    fn modules_that_import_in_one_direction_are_no_cycle() {
        let files =
            [("a.rs", "use crate::b::X;"), ("b.rs", "use crate::c::X;"), ("c.rs", ""), ("d.rs", "use crate::a::X;")];
        assert!(largest_cycle(&files).is_empty());
    }

    #[test]
    fn a_cycle_is_found_through_folders_and_re_exported_names() {
        let files = [
            ("lib.rs", "pub use self::b::{B, Other};\npub use elsewhere::E;\n"),
            ("a/deep/er.rs", "use crate::{B, E};"),
            ("b.rs", "fn f() { crate::c::f() }"),
            ("c/d.rs", "use super::super::a::A;"),
            ("e.rs", "use crate::a::A;"),
        ];
        assert_eq!(largest_cycle(&files), ["a", "b", "c"]);
    }

    #[test]
    fn tests_are_no_part_of_a_cycle() {
        let files = [
            ("a.rs", "use crate::b::B;\n#[cfg(test)]\nmod fixture;\n"),
            ("a/fixture.rs", "use crate::c::C;"),
            ("b.rs", "#[cfg(test)]\nmod tests { use crate::a::A; }\n"),
            ("c/tests.rs", "use crate::b::B;"),
            ("c.rs", "use crate::a::A;"),
            ("bin/a.rs", "use crate::a::A;"),
        ];
        assert!(largest_cycle(&files).is_empty());
    }

    #[test]
    fn a_crate_may_have_a_maximum_of_top_level_modules() {
        for (krate, most) in MODULES {
            let modules = |count: usize| -> Vec<(String, String)> {
                (0..count).map(|index| (format!("crates/{krate}/src/m{index}.rs"), String::new())).collect()
            };
            assert_eq!(breaches(&modules(most)), [""; 0]);
            assert!(breaches(&modules(most + 1))[0].contains("top-level modules, at most"));
        }
    }
}
