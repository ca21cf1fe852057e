//! Type names that are defined twice.
//!
//! One name is one type: a reader who finds `Step` should not have to look up which one. So a crate defines no name of a
//! struct, enum, trait or type alias twice, and neither do the crates in [`READ_TOGETHER`]. Public names are compared
//! across all crates, since a user sees them side by side. Associated types, tests, benchmarks and examples are exempt.

use std::collections::BTreeMap;

use super::breach::Breach;
use super::source::Source;
use super::test_module::TestModules;

/// The keywords that define a type.
const KEYWORDS: [&str; 4] = ["struct", "enum", "trait", "type"];

/// Crates that build on each other and are read as one, so that their private names are compared as well.
const READ_TOGETHER: [&str; 4] = ["haft-core", "haft-executor", "haft-model", "haft-schema"];

/// The types of all crates, collected file by file.
#[derive(Debug, Default)]
pub(super) struct TypeNames {
    definitions: Vec<Definition>,
    test_modules: TestModules,
}

/// One definition of a type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    krate: String,
    name: String,
    path: String,
    line: usize,
    /// True if it is visible outside the crate.
    is_public: bool,
}

impl TypeNames {
    /// Adds the types that a file defines.
    pub(super) fn add(&mut self, source: &Source<'_>) {
        let Some(krate) = source.krate() else { return };
        self.test_modules.add(source);
        for keyword in KEYWORDS {
            for at in source.words(keyword) {
                let line = source.line_at(at);
                if source.is_test_line(line) || source.is_behind_cfg_test(at) {
                    continue;
                }
                let Some(name) = defined_name(source.code(), at, keyword) else { continue };
                let path = source.path().to_owned();
                // A lint rejects `pub` on what no user can reach.
                let is_public = source.code()[..at].trim_end().ends_with("pub");
                self.definitions.push(Definition { krate: krate.to_owned(), name, path, line, is_public });
            }
        }
    }

    /// Returns every definition whose name is taken by an earlier one.
    pub(super) fn check(&self) -> Vec<Breach> {
        let mut sorted: Vec<&Definition> =
            self.definitions.iter().filter(|found| !self.test_modules.contain(&found.path)).collect();
        sorted.sort();
        let mut earlier: BTreeMap<&str, Vec<&Definition>> = BTreeMap::new();
        let mut breaches = Vec::new();
        for definition in sorted {
            let of_name = earlier.entry(&definition.name).or_default();
            breaches
                .extend(of_name.iter().find(|other| definition.clashes(other)).map(|other| breach(definition, other)));
            of_name.push(definition);
        }
        breaches
    }
}

impl Definition {
    /// Returns whether a definition of the same name may not exist beside this one.
    fn clashes(&self, other: &Self) -> bool {
        let is_read_together = |definition: &Self| READ_TOGETHER.contains(&definition.krate.as_str());
        self.krate == other.krate
            || (self.is_public && other.is_public)
            || (is_read_together(self) && is_read_together(other))
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
        let declared = ("crates/a/src/c.rs", "#[cfg(test)]\nmod bench;\nmod partial;\n");
        let twice = |path| breaches(&[("crates/a/src/b.rs", "struct Step;\n"), declared, (path, "struct Step;\n")]);
        assert!(twice("crates/a/src/c/bench.rs").is_empty());
        assert_eq!(twice("crates/a/src/c/partial.rs").len(), 1);
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
    fn a_public_name_is_unique_across_all_crates() {
        let twice = |of_a, of_b| breaches(&[("crates/a/src/b.rs", of_a), ("crates/b/src/c.rs", of_b)]);
        let found = twice("pub struct Step;\n", "pub enum Step {}\n");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/b/src/c.rs:1: ") && found[0].contains("crates/a/src/b.rs:1"));
        assert!(twice("pub struct Step;\n", "pub(crate) enum Step {}\n").is_empty());
        assert!(twice("struct Step;\n", "pub enum Step {}\n").is_empty());
    }

    #[test]
    fn crates_that_are_read_together_share_their_private_names() {
        for (one, other) in
            [("haft-core", "haft-model"), ("haft-core", "haft-executor"), ("haft-executor", "haft-schema")]
        {
            let (first, second) = (format!("crates/{one}/src/b.rs"), format!("crates/{other}/src/c.rs"));
            let found = breaches(&[(&first, "struct Step;\n"), (&second, "struct Step;\n")]);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(&second) && found[0].contains(&first), "{found:?}");
        }
    }
}
