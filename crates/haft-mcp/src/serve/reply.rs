//! The results of calls, as clients read them.
//!
//! A failure is a result as well, so that the model reads it. Its cause never is.

use haft_core::internal::{Shown, model_text};
use haft_core::{ContentPart, FailureKind, Outcome, ToolFailure, ToolOutput, ToolResult};
use haft_schema::JsonText;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};

use crate::convert::content;

/// The member of `_meta` that has a failure's parts, if structured content can't.
const FAILURE_META: &str = "haft/failure";
/// A part that the protocol has no form for.
const INEXPRESSIBLE: &str = "[a file that only its provider can open]";

/// The forms that the client can read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplyForm {
    /// True if structured content may be any value; otherwise it is an object.
    pub(super) any_structure: bool,
    /// True if the tool states the schema of its structured content, which clients check.
    pub(super) has_schema: bool,
}

/// Writes a result.
pub(super) fn write(result: &ToolResult, form: ReplyForm) -> CallToolResult {
    match &result.outcome {
        Outcome::Ok(output) => written_output(output, form),
        Outcome::Failed(failure) => write_failure(failure, form),
    }
}

fn written_output(output: &ToolOutput, form: ReplyForm) -> CallToolResult {
    let content = match output.shown() {
        Shown::Value(_) => vec![ContentBlock::text(model_text(output))],
        Shown::Content(parts) => blocks(parts),
    };
    let mut written = CallToolResult::success(content);
    written.structured_content = output.value().and_then(|value| structured(value, form));
    written.meta = meta(output.metadata());
    written
}

/// Writes a failure.
pub(super) fn write_failure(failure: &ToolFailure, form: ReplyForm) -> CallToolResult {
    let is_plain = failure.kind == FailureKind::ToolFailed && failure.issues.is_empty() && failure.details.is_none();
    let text =
        if is_plain && !failure.message.trim().is_empty() { failure.message.clone() } else { failure.to_model_text() };
    let mut parts = vec![ContentBlock::text(text)];
    parts.extend(blocks(failure.content()));
    let mut written = CallToolResult::error(parts);
    written.meta = meta(failure.metadata());
    let detail = detail(failure);
    if form.has_schema {
        written.meta.get_or_insert_default().0.insert(FAILURE_META.to_owned(), detail);
    } else {
        written.structured_content = Some(json!({"error": detail}));
    }
    written
}

/// Returns the parts of a failure that a program reads.
fn detail(failure: &ToolFailure) -> Value {
    let mut detail = json!({
        "kind": failure.kind.as_str(),
        "message": failure.message,
        "retryable": failure.retryable,
        "started": failure.started,
    });
    let parts = [
        ("issues", (!failure.issues.is_empty()).then(|| serde_json::to_value(&failure.issues).unwrap_or_default())),
        ("retry_after_seconds", failure.retry_after.map(|wait| wait.as_secs_f64().into())),
        ("details", failure.details.as_ref().map(|details| details.to_value())),
    ];
    for (name, part) in parts {
        if let Some(part) = part {
            detail[name] = part;
        }
    }
    detail
}

fn structured(value: &JsonText, form: ReplyForm) -> Option<Value> {
    let text = value.as_str();
    let is_object = text.starts_with('{');
    let fits = is_object || (form.any_structure && !text.starts_with('"') && text != "null");
    fits.then(|| value.to_value())
}

fn blocks(parts: &[ContentPart]) -> Vec<ContentBlock> {
    parts.iter().map(block).collect()
}

fn block(part: &ContentPart) -> ContentBlock {
    let Some(written) = content::write(part) else { return ContentBlock::text(INEXPRESSIBLE) };
    serde_json::from_value(written.clone()).unwrap_or_else(|_| ContentBlock::text(written.to_string()))
}

fn meta(metadata: Option<&Map<String, Value>>) -> Option<MetaObject> {
    match metadata?.get(content::PROVIDER) {
        Some(Value::Object(own)) => Some(MetaObject(own.clone())),
        _ => None,
    }
}
