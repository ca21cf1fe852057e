//! The settings of the response.

use haft_core::FailureKind;
use haft_registry::EntryFault;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::http::response::{ErrorDetail, ResponseMapping, ResultFormat, StatusOutcome};

/// The part of the response that is the result.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ResultSettings {
    /// The JSON Pointer of the value in the body, such as `/items`. The call fails if there is none.
    pointer: Option<String>,
    /// The JSONPath of the values in the body, such as `$.items[*].name`. The result is an array.
    json_path: Option<String>,
    /// Response headers that are part of the result, such as `["link", "etag"]`. The result is then an object of `body` and
    /// `headers`.
    #[serde(default)]
    headers: Vec<String>,
    /// The format of the body. Without it, the header `content-type` decides.
    #[serde(default)]
    format: ResultFormat,
    /// The maximum size of the body in bytes, 4 MiB by default.
    #[schemars(range(min = 1))]
    max_bytes: Option<usize>,
}

/// The part of a failed response that the model reads besides its status: `status`, which is nothing, `body`, or a JSON
/// Pointer such as `/error/message`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct ErrorsSetting(#[schemars(regex(pattern = "^(status|body|/.*)$"))] String);

/// The outcome of a status.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum StatusSettings {
    /// `"success"`: the body is the result. `"null"`: the result is null. `"failure"`: the call fails.
    Word(StatusWord),
    /// A value that is the result, whatever the body is.
    Value(StatusValueSettings),
    /// A failure with a message.
    Failure(StatusFailureSettings),
}

/// The outcome of a status.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StatusWord {
    /// The body is the result.
    Success,
    /// The result is null.
    Null,
    /// The call fails.
    Failure,
}

/// A value that is the result.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct StatusValueSettings {
    /// The result.
    value: Value,
}

/// A failure with a message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct StatusFailureSettings {
    /// The message for the model, in place of the status. `errors` adds the body to it.
    failure: String,
    /// The kind of the failure, `tool_failed` by default.
    kind: Option<String>,
}

impl ErrorsSetting {
    /// Returns the setting. A text that is no pointer is reported when a tool is built.
    pub(crate) fn into_detail(self) -> ErrorDetail {
        match self.0.as_str() {
            "status" => ErrorDetail::Status,
            "body" => ErrorDetail::Body,
            _ => ErrorDetail::Pointer(self.0),
        }
    }
}

impl ResultSettings {
    pub(super) fn into_mapping(self, faults: &mut Vec<EntryFault>) -> ResponseMapping {
        let mut mapping = ResponseMapping::new().format(self.format);
        mapping.headers = self.headers;
        if self.pointer.is_some() && self.json_path.is_some() {
            faults.push(EntryFault::at("/result", "either `pointer` or `json-path` can be set, not both"));
        }
        if let Some(pointer) = self.pointer {
            mapping = mapping.pointer(pointer);
        }
        if let Some(path) = self.json_path {
            mapping = mapping.json_path(path);
        }
        match self.max_bytes {
            Some(bytes) => mapping.limit(bytes),
            None => mapping,
        }
    }
}

impl StatusSettings {
    pub(super) fn into_outcome(self) -> StatusOutcome {
        match self {
            Self::Word(StatusWord::Success) => StatusOutcome::Success,
            Self::Word(StatusWord::Null) => StatusOutcome::Value(Value::Null),
            Self::Word(StatusWord::Failure) => StatusOutcome::Failure { kind: None, message: None },
            Self::Value(StatusValueSettings { value }) => StatusOutcome::Value(value),
            Self::Failure(StatusFailureSettings { failure, kind }) => {
                StatusOutcome::Failure { kind: kind.map(FailureKind::from), message: Some(failure) }
            }
        }
    }
}
