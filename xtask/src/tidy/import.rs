//! The paths by which a file refers to its crate's top-level modules, and the names that a crate's root re-exports.
//!
//! An import is any path that begins at the root, in a `use` or in the code: `crate::a::B`, or `super::a::B` where one
//! `super` is enough to get there. It does not matter how many modules lie below the first one.

use super::source::Source;

/// One mention of a name at the crate's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// The first segment behind `crate`: a module, or a name that the root re-exports.
    pub(super) name: String,
    /// The line, counted from one.
    pub(super) line: usize,
}

/// One name that the root of a crate re-exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReExport {
    pub(super) name: String,
    /// The first segment of its path, which may be a module or another crate.
    pub(super) module: String,
}

/// Returns the imports of a file outside of tests. Its module lies `depth` levels below the root.
pub(super) fn imports(source: &Source<'_>, depth: usize) -> Vec<Import> {
    let code = source.code();
    let from_root = source.words("crate").map(|at| Start { at, levels: None });
    let upwards = source.words("super").filter(|&at| !code[..at].ends_with("::"));
    let mut starts: Vec<Start> =
        from_root.chain(upwards.map(|at| Start { at, levels: Some(supers(&code[at..])) })).collect();
    starts.sort_unstable_by_key(|start| start.at);

    let mut imports = Vec::new();
    let mut enclosing = Enclosing::new(code);
    for start in starts {
        let scope = enclosing.at(start.at);
        let reaches_root = start.levels.is_none_or(|levels| levels == depth + scope.modules);
        let line = source.line_at(start.at);
        if !reaches_root || scope.is_test || source.is_test_line(line) || source.is_behind_cfg_test(start.at) {
            continue;
        }
        let path = &code[start.at..];
        let Some(rest) = path.get(start.prefix_length()..).and_then(|rest| rest.strip_prefix("::")) else { continue };
        imports.extend(first_names(rest).into_iter().map(|name| Import { name: name.to_owned(), line }));
    }
    imports
}

/// Returns the names that the `use` declarations of a crate's root bring there.
pub(super) fn re_exports(root: &Source<'_>) -> Vec<ReExport> {
    let mut found = Vec::new();
    for at in root.words("use") {
        let Some((tree, _)) = root.code()[at + "use".len()..].split_once(';') else { continue };
        let tree = tree.trim_start();
        let tree = ["self::", "crate::"].iter().find_map(|prefix| tree.strip_prefix(prefix)).unwrap_or(tree);
        let module = identifier(tree);
        // Between braces and commas are prefixes, which end with `::`, and leaves.
        let leaves = tree.split([',', '{', '}']).map(str::trim).filter(|leaf| !leaf.ends_with("::"));
        let names = leaves.filter_map(|leaf| leaf.rsplit([' ', ':']).next()).filter(|name| !name.is_empty());
        found.extend(names.map(|name| ReExport { name: name.to_owned(), module: module.to_owned() }));
    }
    found
}

/// The beginning of a path that may lead to the root.
struct Start {
    at: usize,
    /// The number of `super` segments; none if the path begins with `crate`.
    levels: Option<usize>,
}

impl Start {
    /// Returns the length of `crate`, or of `super::super` and its like.
    fn prefix_length(&self) -> usize {
        self.levels.map_or("crate".len(), |levels| levels * "super::".len() - "::".len())
    }
}

/// Returns the number of `super` segments at the start of a path.
fn supers(path: &str) -> usize {
    path.split("::").take_while(|segment| *segment == "super").count().max(1)
}

/// Returns the first segment of a path, or those of all paths in the braces.
fn first_names(path: &str) -> Vec<&str> {
    let Some(list) = path.strip_prefix('{') else {
        return Some(identifier(path)).filter(|name| !name.is_empty()).into_iter().collect();
    };
    let (mut depth, mut start, mut names) = (0_usize, 0, Vec::new());
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b',' | b'}' if depth == 0 => {
                names.push(identifier(list[start..at].trim_start()));
                start = at + 1;
                if byte == b'}' {
                    break;
                }
            }
            b'}' => depth -= 1,
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the identifier at the start of the text; empty if there is none.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The braces around a position, found in one walk over the code.
struct Enclosing<'a> {
    code: &'a str,
    /// The position up to which the code was read.
    read: usize,
    /// The end of the last item or statement, where the head of the next brace begins.
    head: usize,
    open: Vec<Scope>,
}

/// The modules and tests around a position.
#[derive(Clone, Copy, Default)]
struct Scope {
    /// The number of modules with a body around it.
    modules: usize,
    is_test: bool,
}

impl<'a> Enclosing<'a> {
    fn new(code: &'a str) -> Self {
        Self { code, read: 0, head: 0, open: Vec::new() }
    }

    /// Returns the scope at a position, which must not be before the one asked for last.
    fn at(&mut self, position: usize) -> Scope {
        for (offset, byte) in self.code.as_bytes()[self.read..position].iter().enumerate() {
            let at = self.read + offset;
            match byte {
                b'{' => self.open.push(self.scope().entered(&self.code[self.head..at])),
                b'}' => drop(self.open.pop()),
                b';' => {}
                _ => continue,
            }
            self.head = at + 1;
        }
        self.read = position;
        self.scope()
    }

    fn scope(&self) -> Scope {
        self.open.last().copied().unwrap_or_default()
    }
}

impl Scope {
    /// Returns the scope inside a brace with this head.
    fn entered(self, head: &str) -> Self {
        let is_module = head.split_whitespace().any(|word| word == "mod");
        Self { modules: self.modules + usize::from(is_module), is_test: self.is_test || head.contains("#[cfg(test)]") }
    }
}

#[cfg(test)]
mod tests {
    use super::{imports, re_exports};
    use crate::tidy::source::Source;

    fn names(text: &str, depth: usize) -> Vec<String> {
        imports(&Source::new("crates/a/src/b.rs", text), depth).into_iter().map(|import| import.name).collect()
    }

    #[test]
    fn a_path_from_the_root_is_an_import_wherever_it_stands() {
        let text = "use crate::a::B;\nfn f(x: crate::c::D) { $crate::e::f() }\npub(crate) fn g() {}\npub(in crate::h) fn i() {}\n";
        assert_eq!(names(text, 1), ["a", "c", "e", "h"]);
    }

    #[test]
    fn a_list_imports_the_first_segment_of_each_of_its_paths() {
        assert_eq!(names("use crate::{a::{B, c::D}, E,\n  f as g};\nuse crate::h;\n", 1), ["a", "E", "f", "h"]);
    }

    #[test]
    fn upward_paths_count_where_they_reach_the_root() {
        let text = "use super::a;\nuse super::super::b;\nfn f() { super::super::super::c() }\npub(super) fn g() {}\n";
        assert_eq!(names(text, 1), ["a"]);
        assert_eq!(names(text, 2), ["b"]);
        assert_eq!(names("mod inner { use super::a; use super::super::b; }\n", 1), ["b"]);
    }

    #[test]
    fn tests_comments_and_literals_import_nothing() {
        let text = "// crate::a\nlet x = \"crate::b\";\n#[cfg(test)]\nuse crate::c;\n\
                    #[cfg(test)]\nfn f() { if x { crate::d() } }\n#[cfg(test)]\nmod tests { use crate::e; }\n";
        assert!(names(text, 1).is_empty());
    }

    #[test]
    fn an_import_has_its_line() {
        let found = imports(&Source::new("crates/a/src/b.rs", "\n\nuse crate::a;\n"), 1);
        assert_eq!(found[0].line, 3);
    }

    #[test]
    fn the_names_of_the_root_lead_to_their_modules() {
        let text = "mod a;\npub use self::a::{B, c::D, E as F};\npub use crate::g::H;\nuse i::J;\npub use k::{L};\n";
        let found = re_exports(&Source::new("crates/a/src/lib.rs", text));
        let found: Vec<_> = found.iter().map(|found| (found.name.as_str(), found.module.as_str())).collect();
        assert_eq!(found, [("B", "a"), ("D", "a"), ("F", "a"), ("H", "g"), ("J", "i"), ("L", "k")]);
    }
}
