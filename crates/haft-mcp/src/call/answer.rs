//! The answer to a call, as an output or a failure.

use haft_core::{ContentPart, FailureKind, ToolFailure, ToolOutput};
use haft_executor::Tool;
use haft_schema::JsonText;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::convert::content;
use crate::result_policy::ResultPolicy;
use crate::server::McpServer;

/// The key of the protocol's own metadata of a result.
const META: &str = "mcp";
/// The longest message of a failure. The output cap applies as well.
const MAX_MESSAGE: usize = 64 * 1024;

/// An answer that was read.
pub(super) enum Reading {
    Output(ToolOutput),
    /// The server asks something first. It keeps nothing meanwhile.
    InputRequired(InputRequired),
}

/// The requests that must be answered before a call goes on.
pub(super) struct InputRequired {
    /// The requests, each with its `method` and `params`, by a name that the answer has as well.
    pub(super) requests: Map<String, Value>,
    /// Data that the server gets back as it is.
    pub(super) state: Option<String>,
}

/// A result, of which each member is read by itself: one that is malformed does not lose the others.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(default)]
    result_type: Option<String>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(rename = "_meta", default)]
    meta: Option<Map<String, Value>>,
    #[serde(default)]
    input_requests: Option<Map<String, Value>>,
    #[serde(default)]
    request_state: Option<String>,
}

/// Reads a member that may be `null`, which is not the same as an absent one.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads an answer. The output's value is checked by the executor.
pub(super) fn read(answer: &RawValue, tool: &Tool, server: &McpServer) -> Result<Reading, ToolFailure> {
    let answer = Answer::deserialize(answer).map_err(|error| unreadable(server).cause(error))?;
    match answer.result_type.as_deref() {
        None | Some("complete") => {}
        Some("task") => {
            let message = format!(
                "the MCP server `{}` runs the tool `{}` as a task, which haft does not wait for",
                server.name,
                tool.name()
            );
            return Err(ToolFailure::new(FailureKind::OutcomeUnknown, message));
        }
        Some("input_required") => {
            let requests = answer.input_requests.unwrap_or_default();
            return Ok(Reading::InputRequired(InputRequired { requests, state: answer.request_state }));
        }
        Some(_) => return Err(unreadable(server)),
    }
    let content = match answer.content {
        None => Vec::new(),
        Some(content) => {
            let content: Value =
                serde_json::from_str(content.get()).map_err(|error| unreadable(server).cause(error))?;
            content::read_all(&content)
        }
    };
    let structured = answer.structured_content.map(RawValue::get);
    let structured = structured.map(JsonText::parse).transpose().map_err(|error| unreadable(server).cause(error))?;
    if answer.is_error == Some(true) {
        return Err(with_meta_failure(reported(content, structured), answer.meta));
    }
    let output = match structured {
        Some(value) => output(value, content, server.results),
        None => ToolOutput::content_only(content),
    };
    Ok(Reading::Output(match answer.meta.filter(|meta| !meta.is_empty()) {
        Some(meta) => output.with_metadata(META, meta),
        None => output,
    }))
}

fn with_meta_failure(failure: ToolFailure, meta: Option<Map<String, Value>>) -> ToolFailure {
    match meta.filter(|meta| !meta.is_empty()) {
        Some(meta) => failure.with_metadata(META, meta),
        None => failure,
    }
}

/// Returns the failure of a call that was answered in a form that can't be read.
fn unreadable(server: &McpServer) -> ToolFailure {
    let message = format!("the MCP server `{}` sent a result that haft can't read", server.name);
    ToolFailure::new(FailureKind::OutputValidationError, message)
}

/// Returns the output of a result with both forms.
fn output(value: JsonText, content: Vec<ContentPart>, policy: ResultPolicy) -> ToolOutput {
    let is_text = |part: &ContentPart| part.as_text().is_some();
    let parts: Vec<ContentPart> = match policy {
        ResultPolicy::StructuredFirst if content.iter().all(is_text) => return ToolOutput::new(value),
        ResultPolicy::StructuredFirst => {
            let others = content.into_iter().filter(|part| !is_text(part));
            [ContentPart::text(model_text(&value))].into_iter().chain(others).collect()
        }
        ResultPolicy::ContentFirst | ResultPolicy::Both if content.is_empty() => return ToolOutput::new(value),
        ResultPolicy::ContentFirst => content,
        ResultPolicy::Both if content.iter().any(|part| repeats(part, &value)) => content,
        ResultPolicy::Both => {
            let text = ContentPart::text(model_text(&value));
            content.into_iter().chain([text]).collect()
        }
    };
    ToolOutput::new(value).for_model(parts)
}

/// Returns a value as the model reads it.
fn model_text(value: &JsonText) -> String {
    match value.to_value() {
        Value::String(text) => text,
        _ => value.as_str().to_owned(),
    }
}

/// Reports whether a part is the text of this value.
fn repeats(part: &ContentPart, value: &JsonText) -> bool {
    let Some(text) = part.as_text() else { return false };
    match value.to_value() {
        Value::String(value) => value == text,
        value => serde_json::from_str::<Value>(text).is_ok_and(|text| text == value),
    }
}

/// Returns the failure that a server reports. Its texts are the message, and all other parts its content.
fn reported(content: Vec<ContentPart>, structured: Option<JsonText>) -> ToolFailure {
    let (texts, others): (Vec<_>, Vec<_>) = content.into_iter().partition(|part| part.as_text().is_some());
    let repeats_value = structured.as_ref().is_some_and(|value| texts.iter().any(|part| repeats(part, value)));
    let mut message = texts.iter().filter_map(ContentPart::as_text).collect::<Vec<_>>().join("\n");
    if message.len() > MAX_MESSAGE {
        let end = haft_schema::internal::CharBoundary::floor_char_boundary_at(&*message, MAX_MESSAGE);
        message.truncate(end);
        message.push_str(" [truncated]");
    }
    let failure = ToolFailure::new(FailureKind::ToolFailed, message).for_model(others);
    match structured.filter(|_| !repeats_value) {
        Some(value) => failure.details(value),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use haft_core::internal::model_text as shown;
    use serde_json::json;

    use super::*;

    fn read_with(policy: ResultPolicy, answer: &Value) -> Result<ToolOutput, ToolFailure> {
        let tool = Tool::dynamic("t").define().unwrap();
        let answer = RawValue::from_string(answer.to_string()).unwrap();
        output_of(read(&answer, &tool, &McpServer::command("s", ["x"; 0]).results(policy)))
    }

    fn output_of(reading: Result<Reading, ToolFailure>) -> Result<ToolOutput, ToolFailure> {
        match reading? {
            Reading::Output(output) => Ok(output),
            Reading::InputRequired(_) => panic!("nothing is asked"),
        }
    }

    fn texts(output: &ToolOutput) -> Vec<String> {
        match output.content() {
            Some(parts) => parts.iter().map(|part| serde_json::to_string(part).unwrap()).collect(),
            None => vec![shown(output)],
        }
    }

    #[test]
    fn the_model_never_reads_the_same_value_twice() {
        let both = json!({"content": [{"type": "text", "text": "{ \"a\": 1 }"}], "structuredContent": {"a": 1}});
        for (policy, expected) in [
            (ResultPolicy::StructuredFirst, r#"{"a":1}"#),
            (ResultPolicy::ContentFirst, r#"{"type":"text","text":"{ \"a\": 1 }"}"#),
            (ResultPolicy::Both, r#"{"type":"text","text":"{ \"a\": 1 }"}"#),
        ] {
            let output = read_with(policy, &both).unwrap();
            assert_eq!(texts(&output), [expected], "{policy:?}");
            assert_eq!(output.value().unwrap().as_str(), r#"{"a":1}"#);
        }
    }

    #[test]
    fn both_forms_are_read_if_they_differ() {
        let both = json!({"content": [{"type": "text", "text": "one a"}], "structuredContent": {"a": 1}});
        let output = read_with(ResultPolicy::Both, &both).unwrap();
        assert_eq!(texts(&output), [r#"{"type":"text","text":"one a"}"#, r#"{"type":"text","text":"{\"a\":1}"}"#]);
    }

    #[test]
    fn parts_that_are_no_text_are_kept_beside_structured_content() {
        let image = json!({"type": "image", "data": "aWNvbg==", "mimeType": "image/png"});
        let both = json!({"content": [{"type": "text", "text": "x"}, image], "structuredContent": {"a": 1}});
        let output = read_with(ResultPolicy::StructuredFirst, &both).unwrap();
        assert_eq!(output.content().unwrap().len(), 2);
        assert!(matches!(output.content().unwrap()[1], ContentPart::Image(_)));
    }

    #[test]
    fn an_unknown_part_does_not_lose_the_others() {
        let answer = json!({"content": [{"type": "hologram"}, {"type": "text", "text": "x"}], "tools": []});
        let output = read_with(ResultPolicy::default(), &answer).unwrap();
        assert_eq!(output.content().unwrap().len(), 2);
    }

    #[test]
    fn a_reported_failure_has_its_texts_as_message_and_its_other_parts_as_content() {
        let image = json!({"type": "image", "data": "aWNvbg==", "mimeType": "image/png"});
        let text = |text: &str| json!({"type": "text", "text": text});
        let answer =
            json!({"isError": true, "content": [text("no"), image, text("disk")], "structuredContent": {"c": 1}});
        let failure = read_with(ResultPolicy::default(), &answer).unwrap_err();
        assert_eq!((failure.kind.clone(), &*failure.message), (FailureKind::ToolFailed, "no\ndisk"));
        assert_eq!(failure.content().len(), 1);
        assert_eq!(failure.details.unwrap().as_str(), r#"{"c":1}"#);
    }

    #[test]
    fn a_task_and_a_form_that_nobody_knows_are_failures() {
        let task = read_with(ResultPolicy::default(), &json!({"resultType": "task", "taskId": "1"})).unwrap_err();
        assert_eq!(task.kind, FailureKind::OutcomeUnknown);
        assert!(task.message.contains("as a task"), "{task}");
        for answer in [json!({"resultType": "other"}), json!(17), json!({"content": [], "isError": "no"})] {
            let failure = read_with(ResultPolicy::default(), &answer).unwrap_err();
            assert_eq!(failure.kind, FailureKind::OutputValidationError, "{answer}");
        }
    }

    #[test]
    fn structured_content_may_be_null() {
        let output = read_with(ResultPolicy::default(), &json!({"content": [], "structuredContent": null})).unwrap();
        assert_eq!(output.value().unwrap().as_str(), "null");
    }

    #[test]
    fn numbers_keep_every_digit() {
        let answer = r#"{"content":[],"structuredContent":{"n":123456789012345678901234567890}}"#;
        let tool = Tool::dynamic("t").define().unwrap();
        let raw = RawValue::from_string(answer.to_owned()).unwrap();
        let output = output_of(read(&raw, &tool, &McpServer::command("s", ["x"; 0]))).unwrap();
        assert_eq!(output.value().unwrap().as_str(), r#"{"n":123456789012345678901234567890}"#);
    }
}
