//! Arguments and results, as far as they may be logged.

use haft_core::Outcome;
use haft_executor::{Request, Tool};
use serde_json::json;

use super::redaction::{REDACTED, Redaction};

/// The field name for arguments, on events and on spans.
pub(super) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";

/// The field name for a result, on events and on spans.
pub(super) const RESULT: &str = "gen_ai.tool.call.result";

/// The field of a span for the tool's description.
pub(super) const DESCRIPTION: &str = "gen_ai.tool.description";

/// Returns the arguments without their secrets. If they have no exact tree, they are returned as written, or not at all
/// if any value in them may be secret.
pub(super) fn loggable_arguments(request: &Request) -> String {
    let redaction = Redaction::of(request.tool().parameters());
    match request.peek_arguments() {
        Some(arguments) => redaction.apply(arguments).to_string(),
        None if redaction.marks_any() => REDACTED.to_owned(),
        None => request.raw_arguments().to_owned(),
    }
}

/// Returns a success's value, or a failure's kind and message. Content made for the model alone is left out: a success
/// without a value is `null`.
///
/// A message is free text that may repeat any part of the call, so it is left out if the tool marks anything as secret.
pub(super) fn loggable_result(tool: &Tool, outcome: &Outcome) -> String {
    let failure = match outcome {
        Outcome::Ok(output) => {
            let value = output.value().map(|value| Redaction::of(tool.success()).apply(&value.to_value()));
            return value.unwrap_or_default().to_string();
        }
        Outcome::Failed(failure) => failure,
    };
    let has_secrets =
        [tool.parameters(), tool.success(), tool.failure()].into_iter().any(|schema| Redaction::of(schema).marks_any());
    let message = if has_secrets { REDACTED } else { &failure.message };
    json!({"error": {"kind": failure.kind.as_str(), "message": message}}).to_string()
}
