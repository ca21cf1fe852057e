//! Text: search, split, count and diff.
//!
//! All tools take the text as an argument, so the parameters limit its size. Results are limited as well, and report
//! what they leave out.

mod count;
mod diff;
mod search;
mod split;

use haft_executor::{DefinitionError, Tool};

/// Creates the tools.
pub(super) fn tools() -> [Result<Tool, DefinitionError>; 4] {
    [search::tool(), split::tool(), count::tool(), diff::tool()]
}
