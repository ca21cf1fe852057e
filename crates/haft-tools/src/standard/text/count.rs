//! `text_count`.

use haft_executor::{Cx, DefinitionError, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;
use crate::standard::pattern::{LetterCase, PatternSyntax, SearchLimit, compile_for};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextCountParams {
    /// The text to count in.
    #[schemars(length(max = 500_000))]
    text: String,
    /// A text or a regular expression whose occurrences are counted, without overlaps.
    #[schemars(length(min = 1, max = 1000))]
    pattern: Option<String>,
    /// The notation of the pattern.
    #[serde(default)]
    syntax: PatternSyntax,
    /// The treatment of letters in the pattern.
    #[serde(default)]
    letter_case: LetterCase,
}

/// The counts of a text.
#[derive(Debug, Serialize, JsonSchema)]
struct TextCounts {
    /// Unicode characters (code points).
    characters: usize,
    /// Characters other than white space.
    characters_without_spaces: usize,
    /// Bytes in UTF-8.
    bytes: usize,
    /// Words, separated by white space.
    words: usize,
    /// Lines; a line end at the end of the text begins no further one.
    lines: usize,
    /// Occurrences of the pattern, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    occurrences: Option<usize>,
    /// True if counting stopped at `occurrences`, which is the limit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more_occurrences: bool,
}

/// The occurrences at which counting stops.
const MAX_OCCURRENCES: usize = 100_000;

/// Creates `text_count`.
pub(super) fn tool() -> Result<Tool, DefinitionError> {
    pure(Tool::new("text_count"))
        .title("Count in a text")
        .describe(
            "Counts the characters, words, lines and bytes of a text and, if a pattern is given, how often a literal text \
             or a regular expression occurs in it. Up to 500,000 characters, 100,000 bytes for a regular expression, and 100,000 occurrences.",
        )
        .example(json!({"text": "strawberry", "pattern": "r"}))
        .try_blocking_handler(|params: TextCountParams, cx: Cx| count(&params, &cx))
}

fn count(params: &TextCountParams, cx: &Cx) -> Result<TextCounts, StandardFailure> {
    let text = params.text.as_str();
    let pattern = params
        .pattern
        .as_deref()
        .map(|pattern| compile_for(text, pattern, params.syntax, params.letter_case))
        .transpose()?;
    let limit = SearchLimit::new(cx);
    let matches = pattern.as_ref().map(|pattern| pattern.find_iter(text).take(MAX_OCCURRENCES + 1));
    let occurrences = matches
        .map(|mut matches| matches.try_fold(0, |count: usize, _| limit.check().map(|()| count + 1)))
        .transpose()?;
    Ok(TextCounts {
        characters: text.chars().count(),
        characters_without_spaces: text.chars().filter(|c| !c.is_whitespace()).count(),
        bytes: text.len(),
        words: text.split_whitespace().count(),
        lines: text.lines().count(),
        occurrences: occurrences.map(|count| count.min(MAX_OCCURRENCES)),
        more_occurrences: occurrences.is_some_and(|count| count > MAX_OCCURRENCES),
    })
}
