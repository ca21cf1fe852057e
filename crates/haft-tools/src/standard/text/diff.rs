//! `text_diff`.

use std::time::Duration;

use haft_executor::{Cx, DefinitionError, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use similar::{ChangeTag, TextDiff};

use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;
use crate::standard::pattern::clip;

/// The most lines in both texts together: a comparison takes quadratic time in the lines that differ.
const MAX_LINES: usize = 20_000;
/// The time after which a difference is no longer the smallest one. It stays correct.
const REFINING_TIME: Duration = Duration::from_secs(2);
/// The most characters in the result.
const MAX_DIFF: usize = 100_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextDiffParams {
    /// The text before.
    #[schemars(length(max = 500_000))]
    old: String,
    /// The text after.
    #[schemars(length(max = 500_000))]
    new: String,
    /// The equal lines around each change.
    #[serde(default = "default_context")]
    #[schemars(range(max = 20))]
    context_lines: usize,
}

fn default_context() -> usize {
    3
}

/// The difference of two texts.
#[derive(Debug, Serialize, JsonSchema)]
struct TextDifference {
    /// True if the texts are equal.
    equal: bool,
    /// The number of lines that only the new text has.
    added: usize,
    /// The number of lines that only the old text has.
    removed: usize,
    /// The unified diff; empty if the texts are equal. One of more than 100,000 characters is cut off with an ellipsis.
    diff: String,
}

/// Creates `text_diff`.
pub(super) fn tool() -> Result<Tool, DefinitionError> {
    pure(Tool::new("text_diff"))
        .title("Compare two texts")
        .describe(
            "Compares two texts line by line and returns a unified diff with the numbers of added and removed lines. Up \
             to 20,000 lines together.",
        )
        .example(json!({"old": "a\nb\nc\n", "new": "a\nB\nc\n"}))
        .try_blocking_handler(|params: TextDiffParams, _cx: Cx| diff(&params))
}

fn diff(params: &TextDiffParams) -> Result<TextDifference, StandardFailure> {
    let lines = params.old.lines().count() + params.new.lines().count();
    if lines > MAX_LINES {
        let message =
            format!("the texts have {lines} lines, at most {MAX_LINES} can be compared; compare parts of them");
        return Err(StandardFailure::new("too_many_lines", message));
    }
    let diff = TextDiff::configure().timeout(REFINING_TIME).diff_lines(&params.old, &params.new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let unified = diff.unified_diff().context_radius(params.context_lines).header("old", "new").to_string();
    Ok(TextDifference {
        equal: params.old == params.new,
        added: count(ChangeTag::Insert),
        removed: count(ChangeTag::Delete),
        diff: clip(&unified, MAX_DIFF),
    })
}
