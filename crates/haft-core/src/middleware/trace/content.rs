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

/// The arguments without their secrets. Those that have no exact tree are shown as they are written, or not at all where
/// anything in them may be secret.
pub(super) fn shown_arguments(request: &Request) -> String {
    let redaction = Redaction::of(request.tool().parameters());
    match request.tree_if_exact() {
        Some(arguments) => redaction.apply(arguments).to_string(),
        None if redaction.marks_any() => REDACTED.to_owned(),
        None => request.raw_arguments().to_owned(),
    }
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
