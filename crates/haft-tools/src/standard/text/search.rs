//! `text_search`.

use haft_executor::{Cx, DefinitionError, Tool};
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;
use crate::standard::pattern::{LetterCase, PatternSyntax, SearchLimit, clip, compile_for};

/// The characters to return from a line, and from a match.
const MAX_LINE: usize = 300;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextSearchParams {
    /// The text to search in.
    #[schemars(length(max = 500_000))]
    text: String,
    /// The text or the regular expression to search for.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// The notation of the pattern.
    #[serde(default)]
    syntax: PatternSyntax,
    /// The treatment of letters.
    #[serde(default)]
    letter_case: LetterCase,
    /// Lines before and after each match that are returned as well.
    #[serde(default)]
    #[schemars(range(max = 10))]
    context_lines: usize,
    /// The maximum number of matches.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    max_matches: usize,
}

fn default_limit() -> usize {
    50
}

/// The matches that were found.
#[derive(Debug, Serialize, JsonSchema)]
struct TextMatches {
    matches: Vec<TextMatch>,
    /// True if there are more matches than were asked for.
    truncated: bool,
}

/// One match. Long texts are cut off with an ellipsis.
#[derive(Debug, Serialize, JsonSchema)]
struct TextMatch {
    /// The line of its first character, from 1.
    line: usize,
    /// The column of its first character, in characters from 1.
    column: usize,
    /// The text that matched.
    matched: String,
    /// The capture groups of a regular expression, in order; null for one that did not take part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Option<String>>,
    /// The line that the match begins in.
    line_text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

/// Creates `text_search`.
pub(super) fn tool() -> Result<Tool, DefinitionError> {
    pure(Tool::new("text_search"))
        .title("Search a text")
        .describe(
            "Searches a text for a literal text or a regular expression (Rust syntax: no look-around, no \
             back-references; ^ and $ match at lines; (?s) lets . match line ends) and returns each match with its line, \
             column, capture groups and surrounding lines. Up to 500,000 characters of text, 100,000 bytes for a regular expression, and 200 matches.",
        )
        .example(json!({"text": "alpha\nbeta\ngamma", "pattern": "^b\\w+", "syntax": "regex"}))
        .example(json!({"text": "One two ONE", "pattern": "one", "letter_case": "insensitive"}))
        .try_blocking_handler(|params: TextSearchParams, cx: Cx| {
            let pattern = compile_for(&params.text, &params.pattern, params.syntax, params.letter_case)?;
            search(&params, &pattern, &SearchLimit::new(&cx))
        })
}

fn search(params: &TextSearchParams, pattern: &Regex, limit: &SearchLimit<'_>) -> Result<TextMatches, StandardFailure> {
    let lines: Vec<&str> = params.text.lines().collect();
    let mut cursor = LineCursor { text: &params.text, at: 0, line: 0, line_start: 0 };
    let mut matches = Vec::new();
    for captures in pattern.captures_iter(&params.text) {
        limit.check()?;
        if matches.len() == params.max_matches {
            return Ok(TextMatches { matches, truncated: true });
        }
        let Some(found) = captures.get(0) else { continue };
        cursor.advance(found.start());
        let line = cursor.line;
        let clipped = |lines: &[&str]| lines.iter().map(|line| clip(line, MAX_LINE)).collect();
        let before = line.saturating_sub(params.context_lines).min(lines.len());
        let after = (line + 1).min(lines.len());
        matches.push(TextMatch {
            line: line + 1,
            column: params.text[cursor.line_start..found.start()].chars().count() + 1,
            matched: clip(found.as_str(), MAX_LINE),
            groups: captures.iter().skip(1).map(|group| group.map(|group| clip(group.as_str(), MAX_LINE))).collect(),
            line_text: clip(lines.get(line).copied().unwrap_or_default(), MAX_LINE),
            before: clipped(&lines[before..line.min(lines.len())]),
            after: clipped(&lines[after..(after + params.context_lines).min(lines.len())]),
        });
    }
    Ok(TextMatches { matches, truncated: false })
}

/// Counts lines on the way from match to match.
struct LineCursor<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    line_start: usize,
}

impl LineCursor<'_> {
    fn advance(&mut self, to: usize) {
        for (offset, _) in self.text[self.at..to].match_indices('\n') {
            self.line += 1;
            self.line_start = self.at + offset + 1;
        }
        self.at = to;
    }
}
