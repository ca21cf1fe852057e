//! JSONPath expressions that are cheap to evaluate.
//!
//! The library that evaluates JSONPath has no limits of its own, and each bracket in `$[*,*][*,*]…` doubles the
//! selected values. The check reads a path's text, without the strings in it, and rejects what multiplies work:
//!
//! - more than one `..`, each of which visits every value below every value;
//! - brackets whose selectors, multiplied, select a value more than [`MAX_MULTIPLICITY`] times;
//! - filters that begin at the root again, or look into all descendants, for each value that they test;
//! - `match` and `search`, which compile their pattern again for each value;
//! - deep nesting, which the library's parser would follow by recursion.

use serde_json_path::JsonPath;

/// The most times that a path may select one value.
pub(crate) const MAX_MULTIPLICITY: usize = 64;
/// The deepest nesting of brackets and parentheses.
const MAX_NESTING: usize = 8;
/// The most filters.
const MAX_FILTERS: usize = 4;
/// The most `*` inside filters.
const MAX_FILTER_WILDCARDS: usize = 2;

/// A JSONPath that is not evaluated. Positions are in characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JsonPathError {
    #[error("the JSONPath is invalid: {message} (at character {position})")]
    Invalid { message: String, position: usize },
    #[error("{problem} (at character {position})")]
    TooComplex { problem: &'static str, position: usize },
}

/// Parses a JSONPath whose evaluation takes work in proportion to the document.
pub(crate) fn cheap_path(text: &str) -> Result<JsonPath, JsonPathError> {
    let too_complex = |(problem, position)| JsonPathError::TooComplex { problem, position };
    PathCost::default().check(text).map_err(too_complex)?;
    JsonPath::parse(text)
        .map_err(|error| JsonPathError::Invalid { message: error.message().to_owned(), position: error.position() })
}

/// A path's cost, as far as it was read.
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
            () if self.descendants > 1 => Err("only one `..` is supported"),
            () => Ok(()),
        }
    }

    fn read(&mut self, found: char, at: usize, characters: &[char]) -> Result<(), &'static str> {
        match found {
            '[' | '(' => {
                if found == '(' && is_expensive(&characters[..at]) {
                    return Err("match() and search() are not supported, as they compile their pattern for each value");
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

/// Returns the closing quote's position, or the text's end.
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
