//! Paths, and the check that their evaluation is cheap.
//!
//! The check reads the text of a path, without the strings in it, and rejects what multiplies work:
//!
//! - more than one `..`, each of which visits every value below every value;
//! - brackets whose selectors, multiplied, select a value more than [`MAX_MULTIPLICITY`] times;
//! - filters that begin at the root again, or look into all descendants, for each value that they test;
//! - `match` and `search`, which compile their pattern again for each value;
//! - deep nesting, which the parser of the library would follow by recursion.

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::standard::failure::StandardFailure;

/// The maximum number of times that a path may select one value.
const MAX_MULTIPLICITY: usize = 64;
/// The maximum nesting of brackets and parentheses.
const MAX_NESTING: usize = 8;
/// The maximum number of filters.
const MAX_FILTERS: usize = 4;
/// The maximum number of `*` inside of filters.
const MAX_FILTER_WILDCARDS: usize = 2;

/// A path that is cheap to evaluate.
#[derive(Debug)]
pub(super) enum QueryPath {
    Pointer(String),
    Path(JsonPath),
}

impl QueryPath {
    /// Reads a JSON Pointer or a JSONPath.
    pub(super) fn parse(text: &str) -> Result<Self, StandardFailure> {
        if text.is_empty() || text.starts_with('/') {
            return Ok(Self::Pointer(text.to_owned()));
        }
        if !text.starts_with('$') {
            let message = "the path must begin with $ (JSONPath) or / (JSON Pointer)";
            return Err(StandardFailure::new("invalid_path", message).at(1));
        }
        PathCost::default().check(text).map_err(|(problem, position)| {
            StandardFailure::new("path_too_complex", format!("{problem} (at character {position})")).at(position)
        })?;
        let path = JsonPath::parse(text).map_err(|error| {
            let position = error.position();
            let message = format!("the JSONPath is invalid: {} (at character {position})", error.message());
            StandardFailure::new("invalid_path", message).at(position)
        })?;
        Ok(Self::Path(path))
    }

    /// Selects values of a document.
    pub(super) fn select<'d>(&self, document: &'d Value) -> Result<Vec<&'d Value>, StandardFailure> {
        match self {
            Self::Path(path) => Ok(path.query(document).all()),
            Self::Pointer(pointer) => match document.pointer(pointer) {
                Some(value) => Ok(vec![value]),
                None => Err(StandardFailure::new("not_found", "there is no value at this JSON Pointer")),
            },
        }
    }
}

/// The cost of a path, as far as it was read.
#[derive(Debug, Default)]
struct PathCost {
    descendants: usize,
    filters: usize,
    filter_wildcards: usize,
    multiplicity: usize,
    /// The open brackets and parentheses.
    open: Vec<OpenBracket>,
}

#[derive(Debug)]
struct OpenBracket {
    selectors: usize,
    filter: bool,
}

type PathProblem = (&'static str, usize);

impl PathCost {
    fn check(mut self, text: &str) -> Result<(), PathProblem> {
        self.multiplicity = 1;
        let characters: Vec<char> = text.chars().collect();
        let mut at = 0;
        while let Some(&found) = characters.get(at) {
            match found {
                '\'' | '"' => at = string_end(&characters, at),
                '.' if characters.get(at + 1) == Some(&'.') => {
                    self.descend().map_err(|problem| (problem, at + 1))?;
                    at += 1;
                }
                _ => self.read(found, at, &characters).map_err(|problem| (problem, at + 1))?,
            }
            at += 1;
        }
        Ok(())
    }

    fn in_filter(&self) -> bool {
        self.open.iter().any(|opened| opened.filter)
    }

    fn descend(&mut self) -> Result<(), &'static str> {
        self.descendants += 1;
        match () {
            () if self.in_filter() => Err("`..` is not supported inside of a filter"),
            () if self.descendants > 1 => Err("only one `..` is supported; query its results in a further call"),
            () => Ok(()),
        }
    }

    fn read(&mut self, found: char, at: usize, characters: &[char]) -> Result<(), &'static str> {
        match found {
            '[' | '(' => {
                if found == '(' && is_expensive(&characters[..at]) {
                    return Err("match() and search() are not supported; filter the results with text_search");
                }
                self.open.push(OpenBracket { selectors: 1, filter: false });
                if self.open.len() > MAX_NESTING {
                    return Err("brackets and parentheses are nested too deep");
                }
            }
            ']' | ')' => {
                let closed = self.open.pop().map_or(1, |opened| opened.selectors);
                self.multiplicity = self.multiplicity.saturating_mul(closed);
                if self.multiplicity > MAX_MULTIPLICITY {
                    return Err("the brackets have too many selectors; use fewer, or a slice such as [0:5]");
                }
            }
            ',' => self.open.last_mut().into_iter().for_each(|opened| opened.selectors += 1),
            '?' => {
                if self.in_filter() {
                    return Err("a filter inside of a filter is not supported");
                }
                self.filters += 1;
                if self.filters > MAX_FILTERS {
                    return Err("the path has too many filters; combine them with &&");
                }
                self.open.last_mut().into_iter().for_each(|opened| opened.filter = true);
            }
            '$' if self.in_filter() => return Err("`$` is not supported inside of a filter"),
            '*' if self.in_filter() => {
                self.filter_wildcards += 1;
                if self.filter_wildcards > MAX_FILTER_WILDCARDS {
                    return Err("the filters have too many `*`");
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the position of the closing quote, or the end of the text.
fn string_end(characters: &[char], start: usize) -> usize {
    let quote = characters[start];
    let mut at = start + 1;
    while let Some(&found) = characters.get(at) {
        match found {
            '\\' => at += 1,
            found if found == quote => return at,
            _ => {}
        }
        at += 1;
    }
    characters.len()
}

/// Reports whether the text ends with the name of a function that compiles patterns.
fn is_expensive(before: &[char]) -> bool {
    let name: String = before.iter().rev().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
    let name: String = name.chars().rev().collect();
    matches!(name.as_str(), "match" | "search")
}

#[cfg(test)]
mod tests {
    use haft_core::Failure;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn ordinary_paths_are_accepted() {
        for path in [
            "$",
            "$.a.b[0]",
            "$..a[*]",
            "$['a..b..c', \"$?*\"]",
            "$.a[0,1,2,3,4,5,6,7]",
            "$.a[?@.b == 'x' && (@.c > 1 || !@.d)].e",
            "$[?length(@.name) > 3]",
            "$[?count(@.*) > 1]",
            "$.a[1:10:2]",
        ] {
            assert!(QueryPath::parse(path).is_ok(), "{path}: {:?}", QueryPath::parse(path));
        }
    }

    #[test]
    fn paths_that_multiply_work_are_rejected() {
        for (path, problem) in [
            ("$..a..b", "only one `..`"),
            ("$..*..*", "only one `..`"),
            (&*format!("${}", "[*,*]".repeat(7)), "too many selectors"),
            ("$[?@..a]", "inside of a filter"),
            ("$[?$.a == 1]", "inside of a filter"),
            ("$[?@[?@.a]]", "inside of a filter"),
            ("$[?match(@.a, 'x')]", "match()"),
            ("$[?search (@.a, 'x')]", "invalid"),
            ("$[?@[*][*][*]]", "too many `*`"),
            (&*format!("$[?{}@.a{}]", "(".repeat(100), ")".repeat(100)), "nested too deep"),
            (&*format!("${}", "[?@.a]".repeat(5)), "too many filters"),
            ("a.b", "must begin with"),
            ("$.", "invalid"),
            ("$['a", "invalid"),
            ("$[", "invalid"),
        ] {
            let message = QueryPath::parse(path).unwrap_err().message();
            assert!(message.contains(problem), "{path}: {message}");
        }
    }

    proptest! {
        #[test]
        fn no_path_panics_and_selection_stays_in_proportion(parts in prop::collection::vec(
            prop::sample::select(vec![
                "$", ".", "..", "a", "*", "[", "]", "[*]", "[*,*]", "[0]", "[?", "@", "@.a", "(", ")", "==", "1", "'x'", "&&",
                "'", "\\", ",", "?", "[0:2]", " ", "count(", "length(", "match(",
            ]),
            0..24,
        )) {
            let text = format!("${}", parts.concat());
            let document = json!({"a": [{"a": [1, 2, {"a": 3}]}, [[1], [2]], "x"], "b": {"a": {"a": {"a": []}}}});
            if let Ok(path) = QueryPath::parse(&text) {
                let nodes = 20;
                prop_assert!(path.select(&document).map_or(0, |found| found.len()) <= nodes * MAX_MULTIPLICITY, "{}", text);
            }
        }
    }
}
