//! Arguments and results, as far as they may be shown.

use serde_json::json;

use super::redaction::{REDACTED, Redaction};
use crate::middleware::Request;
use crate::result::Outcome;
use crate::tool::Tool;

/// The name of the field that holds arguments, on events and on spans.
pub(super) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";

/// The name of the field that holds a result.
pub(super) const RESULT: &str = "gen_ai.tool.call.result";

pub(super) fn shown_arguments(request: &Request) -> String {
    Redaction::of(request.tool().parameters()).apply(request.arguments()).to_string()
}

/// The value of a success, or the kind and the message of a failure. What only the model gets to see is not shown.
///
/// A message is free text that may repeat any part of the call, so a tool that marks anything as secret shows none.
pub(super) fn shown_result(tool: &Tool, outcome: &Outcome) -> String {
    let failure = match outcome {
        Outcome::Ok(output) => return Redaction::of(tool.success()).apply(&output.value.to_value()).to_string(),
        Outcome::Failed(failure) => failure,
    };
    let has_secrets =
        [tool.parameters(), tool.success(), tool.failure()].into_iter().any(|schema| Redaction::of(schema).marks_any());
    let message = if has_secrets { REDACTED } else { &failure.message };
    json!({"error": {"kind": failure.kind.as_str(), "message": message}}).to_string()
}
