//! Type names that are defined twice.
//!
//! One name is one type: a reader who finds `Step` should not have to look up which one. The rule covers structs, enums, traits and
//! type aliases, each crate separately and the crates in [`SHARED`] together. Associated types, tests, benchmarks and
//! examples are exempt.

use std::collections::BTreeMap;

use super::breach::Breach;
use super::source::Source;

/// The keywords that define a type.
const KEYWORDS: [&str; 4] = ["struct", "enum", "trait", "type"];

/// Crates whose names are also compared with those of another: the second builds on the first and is read with it.
const SHARED: [(&str, &str); 1] = [("haft-core", "haft-model")];

/// The types of all crates, collected file by file.
#[derive(Debug, Default)]
pub(super) struct TypeNames {
    definitions: Vec<Definition>,
    /// The paths of test modules in files of their own, without the extension.
    test_modules: Vec<String>,
}

/// One definition of a type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    krate: String,
    name: String,
    path: String,
    line: usize,
}

impl TypeNames {
    /// Adds the types that a file defines.
    pub(super) fn add(&mut self, source: &Source<'_>) {
        let Some(krate) = crate_of(source.path()) else { return };
        self.test_modules.extend(test_modules(source));
        for keyword in KEYWORDS {
            for at in source.words(keyword) {
                let line = source.line_at(at);
                if source.is_test_line(line) || is_behind_cfg_test(source.code(), at) {
                    continue;
                }
                let Some(name) = defined_name(source.code(), at, keyword) else { continue };
                let path = source.path().to_owned();
                self.definitions.push(Definition { krate: krate.to_owned(), name, path, line });
            }
        }
    }

    /// Returns every definition whose name is taken by an earlier one.
    pub(super) fn check(&self) -> Vec<Breach> {
        let mut sorted: Vec<&Definition> = self.definitions.iter().filter(|found| !self.is_test(found)).collect();
        sorted.sort();
        let mut first = BTreeMap::new();
        let mut breaches = Vec::new();
        for definition in &sorted {
            let key = (definition.krate.as_str(), definition.name.as_str());
            let earlier = *first.entry(key).or_insert(*definition);
            if earlier != *definition {
                breaches.push(breach(definition, earlier));
            }
        }
        for (base, other) in SHARED {
            let shared = sorted.iter().filter(|definition| definition.krate == other);
            breaches.extend(shared.filter_map(|definition| {
                first.get(&(base, definition.name.as_str())).map(|earlier| breach(definition, earlier))
            }));
        }
        breaches
    }

    fn is_test(&self, definition: &Definition) -> bool {
        self.test_modules.iter().any(|module| {
            let rest = definition.path.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    }
}

fn breach(definition: &Definition, earlier: &Definition) -> Breach {
    let Definition { name, path, line, .. } = definition;
    let message = format!(
        "the type name `{name}` is already defined at {}:{}; rename one of them after what it contains",
        earlier.path, earlier.line
    );
    Breach::new(path, *line, message)
}

/// Returns the name of the crate whose sources include the file; none for tests, benchmarks and examples.
fn crate_of(path: &str) -> Option<&str> {
    let (folder, _) = path.split_once("/src/")?;
    folder.rsplit('/').next()
}

/// Returns the paths of the modules that a file declares as `#[cfg(test)] mod name;`, without the extension.
fn test_modules(source: &Source<'_>) -> Vec<String> {
    let stem = source.path().trim_end_matches(".rs");
    let folder = match stem.rsplit_once('/') {
        Some((folder, "lib" | "main" | "mod")) => folder,
        _ => stem,
    };
    let declared = source.words("mod").filter(|&at| is_behind_cfg_test(source.code(), at));
    let names = declared.filter_map(|at| {
        let (name, _) = source.code()[at + "mod".len()..].split_once([';', '{'])?;
        Some(name.trim())
    });
    names.map(|name| format!("{folder}/{name}")).collect()
}

/// Returns the name behind a keyword, if the keyword defines a type there.
fn defined_name(code: &str, at: usize, keyword: &str) -> Option<String> {
    let (before, after) = (&code[..at], &code[at + keyword.len()..]);
    // `r#type` is an identifier, `$type` a fragment of a macro.
    if before.ends_with(['#', '$']) || !after.starts_with(char::is_whitespace) {
        return None;
    }
    let name: String = after.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let is_associated = keyword == "type" && is_in_impl_or_trait(before);
    (name.starts_with(|c: char| c.is_alphabetic()) && !is_associated).then_some(name)
}

/// Returns whether the code ends inside the braces of an `impl` or a `trait`.
fn is_in_impl_or_trait(before: &str) -> bool {
    let Some(open) = open_brace(before) else { return false };
    let head = &before[..open];
    // A `;` inside brackets belongs to the type of an array.
    let mut depth = 0_usize;
    let start = head.bytes().rposition(|byte| {
        match byte {
            b']' => depth += 1,
            b'[' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(byte, b';' | b'{' | b'}')
    });
    let head = &head[start.map_or(0, |start| start + 1)..];
    let mut words = head.split(|c: char| !c.is_alphanumeric() && c != '_');
    let item = words.find(|word| matches!(*word, "impl" | "trait" | "fn" | "mod" | "struct" | "enum"));
    matches!(item, Some("impl" | "trait"))
}

/// Returns the position of the innermost brace that is still open at the end of the code.
fn open_brace(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    code.bytes().enumerate().rev().find_map(|(at, byte)| {
        match byte {
            b'}' => depth += 1,
            b'{' if depth == 0 => return Some(at),
            b'{' => depth -= 1,
            _ => {}
        }
        None
    })
}

/// Returns whether the item that a keyword begins has the attribute `#[cfg(test)]`.
fn is_behind_cfg_test(code: &str, at: usize) -> bool {
    let start = code[..at].rfind([';', '{', '}']).map_or(0, |start| start + 1);
    code[start..at].contains("#[cfg(test)]")
}

#[cfg(test)]
mod tests {
    use super::TypeNames;
    use crate::tidy::source::Source;

    fn read(files: &[(&str, &str)]) -> TypeNames {
        let mut names = TypeNames::default();
        for (path, text) in files {
            names.add(&Source::new(path, text));
        }
        names
    }

    fn names(path: &str, text: &str) -> Vec<String> {
        read(&[(path, text)]).definitions.into_iter().map(|definition| definition.name).collect()
    }

    fn breaches(files: &[(&str, &str)]) -> Vec<String> {
        read(files).check().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_kind_of_definition_is_found() {
        let text = "pub struct A<T>(T);\npub(crate) enum B { X }\ntrait C {}\ntype D = u8;\nfn f() { struct E; }\n";
        assert_eq!(names("crates/a/src/b.rs", text), ["A", "E", "B", "C", "D"]);
    }

    #[test]
    fn associated_types_are_exempt() {
        let text = "trait A { type B: C; fn f() { {} } type C; }\nimpl A for [u8; 3] { fn g() {} type B = u8; }\n\
                    impl<T> X for Y<T> where T: Z { type Q = u8; }\nfn f() -> impl A { type R = u8; }\n";
        assert_eq!(names("crates/a/src/b.rs", text), ["A", "R"]);
    }

    #[test]
    fn tests_benchmarks_and_examples_are_exempt() {
        let text = "struct A;\n#[cfg(test)]\n#[derive(Debug)]\nstruct B;\n#[cfg(test)]\nmod tests { struct C; }\n";
        assert_eq!(names("crates/a/src/b.rs", text), ["A"]);
        for path in ["crates/a/tests/it/b.rs", "crates/a/benches/b.rs", "examples/b.rs", "crates/a/src/b/tests.rs"] {
            assert!(names(path, text).is_empty(), "{path}");
        }
    }

    #[test]
    fn test_modules_in_files_of_their_own_are_exempt() {
        let definition = ("crates/a/src/b.rs", "struct Step;\n");
        let declared = ("crates/a/src/c.rs", "#[cfg(test)]\nmod bench;\nmod partial;\n");
        for path in ["crates/a/src/c/bench.rs", "crates/a/src/c/bench/d.rs"] {
            assert!(breaches(&[definition, declared, (path, "struct Step;\n")]).is_empty(), "{path}");
        }
        for path in ["crates/a/src/c/partial.rs", "crates/a/src/c/bench_more.rs", "crates/a/src/bench.rs"] {
            assert_eq!(breaches(&[definition, declared, (path, "struct Step;\n")]).len(), 1, "{path}");
        }
        let root = ("crates/a/src/lib.rs", "mod b;\n#[cfg(test)]\nmod bench;\n");
        assert!(breaches(&[definition, root, ("crates/a/src/bench.rs", "struct Step;\n")]).is_empty());
    }

    #[test]
    fn identifiers_fragments_and_literals_define_nothing() {
        let text = "let r#type = 1; m!($type X); struct $name; // struct A;\nlet a = \"struct B;\"; x.type_ = 1;\n";
        assert!(names("crates/a/src/b.rs", text).is_empty());
    }

    #[test]
    fn a_name_that_is_defined_twice_in_a_crate_names_both_files() {
        let found = breaches(&[("crates/a/src/b.rs", "struct Step;\n"), ("crates/a/src/c.rs", "\nenum Step {}\n")]);
        assert_eq!(
            found,
            ["crates/a/src/c.rs:2: the type name `Step` is already defined at crates/a/src/b.rs:1; \
              rename one of them after what it contains"]
        );
        assert!(breaches(&[("crates/a/src/b.rs", "struct Step;"), ("xtask/src/c.rs", "struct Step;")]).is_empty());
    }

    #[test]
    fn the_core_and_the_model_share_their_names() {
        let found = breaches(&[
            ("crates/haft-core/src/b.rs", "struct Step;\n"),
            ("crates/haft-model/src/c.rs", "struct Step;\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/haft-model/src/c.rs:1: ") && found[0].contains("haft-core/src/b.rs:1"));
    }
}
