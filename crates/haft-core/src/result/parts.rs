//! A result's parts, which every reader must decide about.

use haft_schema::Repair;

use super::{Outcome, ToolResult};
use crate::call::CallId;
use crate::tool_name::ToolName;

/// The parts of a result, for code that shows, sends or records all of it. Destructure it without `..`: a new part does
/// not compile there until somebody has decided about it.
///
/// ```
/// use haft_core::{ResultParts, ToolCall, ToolResult};
/// use serde_json::json;
///
/// let result = ToolResult::ok(&ToolCall::new("c1", "greet", "{}"), json!("hello"));
/// let ResultParts { call_id, tool, outcome, repairs } = result.parts();
/// assert!(call_id == "c1" && tool.as_str() == "greet" && outcome.failure().is_none() && repairs.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a new part must be decided about wherever results are read")]
pub struct ResultParts<'r> {
    /// The id of the call.
    pub call_id: &'r CallId,
    /// The name of the tool, as the call spelled it.
    pub tool: &'r ToolName,
    /// The outcome.
    pub outcome: &'r Outcome,
    /// The repairs of the arguments that were made before the handler ran.
    pub repairs: &'r [Repair],
}

impl ToolResult {
    /// Returns the parts.
    #[must_use]
    pub fn parts(&self) -> ResultParts<'_> {
        let Self { v: _, call_id, tool, outcome, repairs } = self;
        ResultParts { call_id, tool, outcome, repairs }
    }
}
