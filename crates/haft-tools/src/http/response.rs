//! The mapping from a response to the call's result.

use haft_core::FailureKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::status::StatusSet;

/// The default limit on a response body.
pub(super) const DEFAULT_LIMIT: usize = 4 * 1024 * 1024;

/// The mapping from a response to the call's result: what counts as success, and which part of the body is the value.
///
/// ```
/// use haft_tools::http::{ResponseMapping, StatusOutcome, StatusSet};
/// use serde_json::Value;
///
/// let mapping = ResponseMapping::new()
///     .status(StatusSet::one(404), StatusOutcome::Value(Value::Null))
///     .pointer("/items")
///     .limit(64 * 1024);
/// assert_eq!(mapping.limit, 64 * 1024);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResponseMapping {
    /// Outcomes by status; the first rule that contains the status applies. Without one, 2xx is success.
    pub rules: Vec<StatusRule>,
    /// A successful body's format.
    pub format: ResultFormat,
    /// The part of the body that is the value.
    pub selection: Selection,
    /// The maximum body size in bytes.
    pub limit: usize,
    /// The part of a failed response that the model reads.
    pub errors: ErrorDetail,
    /// The response headers in the result, which is then an object with `body` and `headers`.
    pub headers: Vec<String>,
}

/// The part of a failed response that the model reads, besides its status. It is cut after 2,000 characters, and the
/// tool's secrets are removed from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorDetail {
    /// Nothing. The body is for the operator: it is part of the failure's cause.
    #[default]
    Status,
    /// The beginning of the body, if it is text. Use it for servers whose errors disclose nothing.
    Body,
    /// The value at this JSON Pointer in the body, such as `/error/message`. Nothing if there is none.
    Pointer(String),
}

/// The outcome for some statuses.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StatusRule {
    /// The statuses.
    pub statuses: StatusSet,
    /// Their outcome.
    pub outcome: StatusOutcome,
}

/// A status's outcome.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StatusOutcome {
    /// The body is the result.
    Success,
    /// This value is the result, whatever the body is.
    Value(Value),
    /// The call fails with this kind and message, or with the usual ones for a failed status.
    Failure {
        /// The failure kind, `tool_failed` if unset.
        kind: Option<FailureKind>,
        /// The message for the model.
        message: Option<String>,
    },
}

/// The format of a successful response body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ResultFormat {
    /// By the header `content-type`: JSON is parsed, text is a string, anything else is an object with `content_type` and
    /// `base64`. The model reads images and audio as such.
    #[default]
    Auto,
    /// JSON, whatever the header says.
    Json,
    /// A string, whatever the header says.
    Text,
    /// A string of base64, whatever the header says.
    Base64,
}

/// The part of a JSON body that is the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// The whole body.
    #[default]
    Whole,
    /// The value at this JSON Pointer. The call fails if there is none.
    Pointer(String),
    /// An array with the values that this JSONPath (RFC 9535) selects. It may be empty.
    JsonPath(String),
}

impl ResponseMapping {
    /// Creates the default mapping: 2xx is success, the body is parsed by its type, up to 4 MiB, and the model reads a
    /// failure's status.
    #[must_use]
    pub fn new() -> Self {
        Self {
            rules: Vec::new(),
            format: ResultFormat::Auto,
            selection: Selection::Whole,
            limit: DEFAULT_LIMIT,
            errors: ErrorDetail::Status,
            headers: Vec::new(),
        }
    }

    /// Sets the part of a failed response that the model reads.
    #[must_use]
    pub fn errors(mut self, detail: ErrorDetail) -> Self {
        self.errors = detail;
        self
    }

    /// Adds a response header, such as `link` or `etag`, to the result, which becomes an object: `body` is the result
    /// without this, and `headers` has those of the headers that the response contains.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>) -> Self {
        self.headers.push(name.into());
        self
    }

    /// Adds the outcome for some statuses, after the existing rules.
    #[must_use]
    pub fn status(mut self, statuses: StatusSet, outcome: StatusOutcome) -> Self {
        self.rules.push(StatusRule { statuses, outcome });
        self
    }

    /// Sets the format.
    #[must_use]
    pub fn format(mut self, format: ResultFormat) -> Self {
        self.format = format;
        self
    }

    /// Selects the value at a JSON Pointer.
    #[must_use]
    pub fn pointer(mut self, pointer: impl Into<String>) -> Self {
        self.selection = Selection::Pointer(pointer.into());
        self
    }

    /// Selects a JSONPath's values.
    #[must_use]
    pub fn json_path(mut self, path: impl Into<String>) -> Self {
        self.selection = Selection::JsonPath(path.into());
        self
    }

    /// Sets the maximum body size in bytes.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
}

impl Default for ResponseMapping {
    fn default() -> Self {
        Self::new()
    }
}
