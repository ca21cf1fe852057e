//! Patterns that tools search for: a literal text or a regular expression.
//!
//! The engine never backtracks: the search for one match takes at most the compiled expression's size times the text's.
//! Both are limited, because a search can't be stopped. All matches for a hostile expression can still take a pass over
//! the text each, so loops over matches run under a [`SearchLimit`].

use std::time::{Duration, Instant};

use haft_executor::Cx;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failure::StandardFailure;

/// The maximum size for a compiled expression, and for its caches.
const MAX_COMPILED: usize = 256 * 1024;
/// The most bytes to apply a regular expression to at once.
const MAX_REGEX_TEXT: usize = 100_000;
/// An expression's deepest nesting.
const MAX_NESTING: u32 = 50;

/// The notation of a pattern: a text to be found as it is, or a regular expression without look-around and back-references.
// The variants of parameters have no doc comments: with them, the schema would be a list of alternatives, which strict
// modes reject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PatternSyntax {
    #[default]
    Literal,
    Regex,
}

/// The treatment of letters: upper and lower case differ, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum LetterCase {
    #[default]
    Sensitive,
    Insensitive,
}

/// The time that one call's matches may take. Ordinary expressions need a small part of it.
const MAX_TIME: Duration = Duration::from_secs(5);

/// The end of a loop over matches: the call was cancelled, or it has taken too long.
pub(super) struct SearchLimit<'c> {
    cx: &'c Cx,
    start: Instant,
}

impl<'c> SearchLimit<'c> {
    /// Starts the time.
    pub(super) fn new(cx: &'c Cx) -> Self {
        Self { cx, start: Instant::now() }
    }

    /// Does something whose time does not count, such as waiting for a reader.
    pub(super) fn exempt<T>(&mut self, wait: impl FnOnce(&Cx) -> T) -> T {
        let start = Instant::now();
        let result = wait(self.cx);
        self.start += start.elapsed();
        result
    }

    /// Fails if the loop must end.
    pub(super) fn check(&self) -> Result<(), StandardFailure> {
        if self.cx.is_cancelled() {
            return Err(StandardFailure::new("cancelled", "the call was cancelled"));
        }
        if self.start.elapsed() > MAX_TIME {
            let message = "the search took too long; use a more specific pattern, or search a shorter text";
            return Err(StandardFailure::new("search_too_slow", message));
        }
        Ok(())
    }
}

/// Compiles a pattern to apply to a whole text.
pub(super) fn compile_for(
    text: &str,
    pattern: &str,
    syntax: PatternSyntax,
    case: LetterCase,
) -> Result<Regex, StandardFailure> {
    match syntax {
        PatternSyntax::Regex if text.len() > MAX_REGEX_TEXT => {
            let message = format!(
                "a regular expression can be applied to {MAX_REGEX_TEXT} bytes at once, and the text has {}; use a \
                 literal pattern, or parts of the text",
                text.len()
            );
            Err(StandardFailure::new("text_too_long_for_regex", message))
        }
        PatternSyntax::Regex | PatternSyntax::Literal => compile(pattern, syntax, case),
    }
}

/// Compiles a pattern. Literal texts become expressions as well: there is one search.
pub(super) fn compile(pattern: &str, syntax: PatternSyntax, case: LetterCase) -> Result<Regex, StandardFailure> {
    let expression = match syntax {
        PatternSyntax::Literal => regex::escape(pattern),
        PatternSyntax::Regex => pattern.to_owned(),
    };
    RegexBuilder::new(&expression)
        .case_insensitive(case == LetterCase::Insensitive)
        .multi_line(true)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .nest_limit(MAX_NESTING)
        .build()
        .map_err(|error| invalid(&error))
}

fn invalid(error: &regex::Error) -> StandardFailure {
    match error {
        regex::Error::CompiledTooBig(_) => StandardFailure::new(
            "pattern_too_large",
            "the regular expression is too large when compiled; use smaller repetitions, fewer alternatives, and \
             [A-Za-z0-9_] in place of \\w",
        ),
        error => {
            // The last line names the problem; the lines before it draw the expression.
            let text = error.to_string();
            let problem = text.lines().last().unwrap_or(&text).trim_start_matches("error: ");
            let advice = "look-around and back-references are not supported";
            StandardFailure::new("invalid_pattern", format!("the regular expression is invalid: {problem}; {advice}"))
        }
    }
}

/// Returns a line's beginning that any pattern can be applied to.
pub(super) fn searchable(line: &str) -> &str {
    let end = (0..=line.len().min(MAX_REGEX_TEXT)).rev().find(|end| line.is_char_boundary(*end));
    &line[..end.unwrap_or(0)]
}

/// Returns at most this many characters of a text, with an ellipsis for the rest.
pub(super) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use haft_executor::Failure;

    use super::*;

    fn message(pattern: &str) -> String {
        compile(pattern, PatternSyntax::Regex, LetterCase::Sensitive).unwrap_err().message()
    }

    #[test]
    fn literal_patterns_match_themselves() {
        let pattern = compile("a.b*(c)", PatternSyntax::Literal, LetterCase::Insensitive).unwrap();
        assert!(pattern.is_match("xA.B*(C)") && !pattern.is_match("aXb(c)"));
    }

    #[test]
    fn expressions_that_would_be_too_large_are_rejected() {
        for large in [r"(\w{100}){100}", r"((((a{30}){30}){30}){30})", r"\pL{1000}"] {
            assert!(message(large).contains("too large"), "{large}: {}", message(large));
        }
        assert!(compile(&"(".repeat(1000), PatternSyntax::Regex, LetterCase::Sensitive).is_err());
        assert!(
            compile(&format!("{}a{}", "(".repeat(60), ")".repeat(60)), PatternSyntax::Regex, LetterCase::Sensitive)
                .is_err()
        );
    }

    #[test]
    fn faults_name_the_problem_in_one_line() {
        for (invalid, problem) in [("a(b", "unclosed group"), ("(?=x)", "look-around"), (r"(a)\1", "backreferences")] {
            let message = message(invalid);
            assert!(message.contains(problem) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn long_lines_are_searched_in_part() {
        let line = format!("x{}", "ä".repeat(MAX_REGEX_TEXT));
        assert_eq!(searchable(&line).len(), MAX_REGEX_TEXT - 1);
        assert_eq!((searchable("ä"), searchable("")), ("ä", ""));
    }

    #[test]
    fn clipping_never_splits_a_character() {
        assert_eq!(clip("äöü", 2), "äö…");
        assert_eq!(clip("äöü", 3), "äöü");
    }
}
