//! `text_split`.

use haft_executor::{Cx, DefinitionError, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;
use crate::standard::pattern::{LetterCase, PatternSyntax, SearchLimit, compile, compile_for};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextSplitParams {
    /// The text to split.
    #[schemars(length(max = 500_000))]
    text: String,
    /// The places to split at: line ends, white space, empty lines, a literal separator, or matches of a regular expression.
    by: SplitBy,
    /// The separator, for `separator` and `regex`.
    #[schemars(length(min = 1, max = 1000))]
    separator: Option<String>,
    /// True to remove white space around the parts.
    #[serde(default)]
    trim: bool,
    /// True to leave out empty parts.
    #[serde(default)]
    skip_empty: bool,
    /// The number of parts to leave out at the beginning, to read on after `max_parts`.
    #[serde(default)]
    first: usize,
    /// The maximum number of parts.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 2000))]
    max_parts: usize,
}

fn default_limit() -> usize {
    500
}

/// The places at which a text is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SplitBy {
    Lines,
    Words,
    Paragraphs,
    Separator,
    Regex,
}

/// The parts of a text.
#[derive(Debug, Serialize, JsonSchema)]
struct TextParts {
    parts: Vec<String>,
    /// The number of all parts.
    total: usize,
}

/// Creates `text_split`.
pub(super) fn tool() -> Result<Tool, DefinitionError> {
    pure(Tool::new("text_split"))
        .title("Split a text")
        .describe(
            "Splits a text at line ends, at white space, at empty lines, at a literal separator or at a regular \
             expression, and returns the parts and their number. Up to 500,000 characters, 100,000 bytes for a regular expression, and 2,000 parts per call; \
             read on with `first`.",
        )
        .example(json!({"text": "a, b,, c", "by": "separator", "separator": ",", "trim": true, "skip_empty": true}))
        .example(json!({"text": "one\ntwo", "by": "lines"}))
        .try_blocking_handler(|params: TextSplitParams, cx: Cx| split(&params, &SearchLimit::new(&cx)))
}

fn split(params: &TextSplitParams, limit: &SearchLimit<'_>) -> Result<TextParts, StandardFailure> {
    let text = params.text.as_str();
    let pattern = match (params.by, params.separator.as_deref()) {
        (SplitBy::Separator, Some(separator)) => {
            Some(compile(separator, PatternSyntax::Literal, LetterCase::Sensitive)?)
        }
        (SplitBy::Regex, Some(separator)) => {
            Some(compile_for(text, separator, PatternSyntax::Regex, LetterCase::Sensitive)?)
        }
        (SplitBy::Paragraphs, None) => {
            Some(compile(r"(?:\r?\n[ \t]*){2,}", PatternSyntax::Regex, LetterCase::Sensitive)?)
        }
        (SplitBy::Lines | SplitBy::Words, None) => None,
        (SplitBy::Separator | SplitBy::Regex, None) => {
            return Err(StandardFailure::new("missing_separator", "`separator` is required to split by it"));
        }
        (SplitBy::Lines | SplitBy::Words | SplitBy::Paragraphs, Some(_)) => {
            let message =
                "`separator` is not used to split by lines, words or paragraphs; omit it, or split by `separator`";
            return Err(StandardFailure::new("unused_separator", message));
        }
    };
    let parts: Box<dyn Iterator<Item = &str>> = match (&pattern, params.by) {
        (Some(pattern), _) => Box::new(pattern.split(text)),
        (None, SplitBy::Words) => Box::new(text.split_whitespace()),
        (None, _) => Box::new(text.lines()),
    };
    let parts = parts.map(|part| if params.trim { part.trim() } else { part });
    let parts = parts.filter(|part| !(params.skip_empty && part.is_empty()));
    let mut kept = Vec::new();
    let mut total = 0;
    for part in parts {
        limit.check()?;
        if total >= params.first && kept.len() < params.max_parts {
            kept.push(part.to_owned());
        }
        total += 1;
    }
    Ok(TextParts { parts: kept, total })
}
