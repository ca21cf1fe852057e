//! A response body's value.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use haft_core::{ContentPart, FailureKind, ToolFailure};
use haft_http::{HeaderMap, HeaderName};
use haft_registry::EntryFault;
use serde_json::{Value, json};
use serde_json_path::JsonPath;

use super::media;
use super::media_type::{Charset, MediaType, compression, essence};
use super::response::{ErrorDetail, ResponseMapping, ResultFormat, Selection};
use crate::json_path::cheap_path;

/// Response headers that can't be part of a result.
const CREDENTIALS: [&str; 3] = ["authentication-info", "set-cookie", "set-cookie2"];

/// The most values that a JSONPath selects.
const MAX_SELECTED: usize = 100_000;

/// A body's format and the part that is the value, checked.
#[derive(Debug)]
pub(super) struct ContentMapping {
    format: ResultFormat,
    selection: CheckedSelection,
    /// The names of the headers that are part of the result.
    headers: Vec<HeaderName>,
}

#[derive(Debug)]
enum CheckedSelection {
    Whole,
    Pointer(String),
    JsonPath(Box<JsonPath>),
}

impl ContentMapping {
    /// Checks the mapping and adds its faults.
    pub(super) fn checked(mapping: &ResponseMapping, faults: &mut Vec<EntryFault>) -> Self {
        let mut fault = |at: &str, message: String| faults.push(EntryFault::at(at, message));
        let selection = match &mapping.selection {
            Selection::Whole => CheckedSelection::Whole,
            Selection::Pointer(pointer) => {
                if !is_pointer(pointer) {
                    let message = "a JSON Pointer is empty or begins with `/`, and `~` must be written as `~0`";
                    fault("/result/pointer", message.to_owned());
                }
                CheckedSelection::Pointer(pointer.clone())
            }
            Selection::JsonPath(path) => match cheap_path(path) {
                Ok(path) => CheckedSelection::JsonPath(Box::new(path)),
                Err(error) => {
                    fault("/result/json-path", error.to_string());
                    CheckedSelection::Whole
                }
            },
        };
        let is_json = matches!(mapping.format, ResultFormat::Auto | ResultFormat::Json);
        if !is_json && !matches!(selection, CheckedSelection::Whole) {
            fault("/result/format", "a value can be selected from JSON only".to_owned());
        }
        if mapping.limit == 0 {
            fault("/result/max-bytes", "the maximum size must be at least 1".to_owned());
        }
        if let ErrorDetail::Pointer(pointer) = &mapping.errors
            && (pointer.is_empty() || !is_pointer(pointer))
        {
            let message = "is `status`, `body` or a JSON Pointer such as `/error/message`";
            fault("/errors", message.to_owned());
        }
        let mut headers = Vec::new();
        for (at, name) in mapping.headers.iter().enumerate() {
            match HeaderName::from_bytes(name.as_bytes()) {
                Ok(name) if CREDENTIALS.contains(&name.as_str()) => {
                    let message = format!("the header `{name}` contains a credential, which a model must not read");
                    fault(&format!("/result/headers/{at}"), message);
                }
                Ok(name) => headers.push(name),
                Err(_) => fault(&format!("/result/headers/{at}"), format!("`{name}` is no valid name of a header")),
            }
        }
        Self { format: mapping.format, selection, headers }
    }

    /// Returns the result with its headers.
    pub(super) fn with_headers(&self, value: Value, headers: &HeaderMap) -> Value {
        if self.headers.is_empty() {
            return value;
        }
        let text = |name: &HeaderName| {
            let values: Vec<_> =
                headers.get_all(name).iter().map(|value| Charset::Latin1.decode(value.as_bytes())).collect();
            (!values.is_empty()).then(|| (name.as_str().to_owned(), Value::from(values.join(", "))))
        };
        let headers: serde_json::Map<String, Value> = self.headers.iter().filter_map(text).collect();
        json!({"body": value, "headers": headers})
    }

    /// Returns what the model reads instead of a result: an image or audio, and the headers. Returns `None` if it reads
    /// the result. A body from which a secret was removed is not shown as an image or audio.
    pub(super) fn media(&self, headers: &HeaderMap, body: &[u8], result: &Value) -> Option<Vec<ContentPart>> {
        if self.format != ResultFormat::Auto || !matches!(self.selection, CheckedSelection::Whole) {
            return None;
        }
        let essence = essence(content_type(headers));
        if !essence.starts_with("image/") && !essence.starts_with("audio/") {
            return None;
        }
        let value = if self.headers.is_empty() { result } else { &result["body"] };
        let base64 = value.get("base64")?.as_str()?;
        let is_whole = base64.len() == body.len().div_ceil(3) * 4 && !base64.contains('[');
        let part = media::part(&essence, body, base64).filter(|_| is_whole)?;
        let shown = (!self.headers.is_empty()).then(|| ContentPart::text(result["headers"].to_string()));
        Some(std::iter::once(part).chain(shown).collect())
    }

    /// Returns a body's value.
    pub(super) fn value(&self, headers: &HeaderMap, body: &[u8]) -> Result<Value, ToolFailure> {
        if compression(headers).is_some() {
            return Err(unusable("the server sent a compressed response, which it was not asked for"));
        }
        let value = match (self.format, MediaType::of(content_type(headers), body)) {
            (ResultFormat::Base64, _) => return Ok(BASE64_STANDARD.encode(body).into()),
            (ResultFormat::Text, MediaType::Text(charset)) => return Ok(charset.decode(body).into()),
            (ResultFormat::Text, MediaType::Json | MediaType::Binary) => return Ok(Charset::Utf8.decode(body).into()),
            (ResultFormat::Auto | ResultFormat::Json, _) if body.is_empty() => return Ok(Value::Null),
            (ResultFormat::Auto, MediaType::Text(charset)) => charset.decode(body).into(),
            (ResultFormat::Auto, MediaType::Binary) => {
                json!({"content_type": essence(content_type(headers)), "base64": BASE64_STANDARD.encode(body)})
            }
            (ResultFormat::Json, _) | (ResultFormat::Auto, MediaType::Json) => {
                let text = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
                serde_json::from_slice(text)
                    .map_err(|error| unusable("the server sent a response that is not valid JSON").cause(error))?
            }
        };
        self.selection.apply(value)
    }
}

impl ResponseMapping {
    /// Returns the mapping's faults.
    pub(crate) fn faults(&self) -> Vec<EntryFault> {
        let mut faults = Vec::new();
        ContentMapping::checked(self, &mut faults);
        faults
    }
}

impl CheckedSelection {
    fn apply(&self, mut value: Value) -> Result<Value, ToolFailure> {
        match self {
            Self::Whole => Ok(value),
            Self::Pointer(pointer) => value
                .pointer_mut(pointer)
                .map(Value::take)
                .ok_or_else(|| unusable(&format!("the response of the server has no value at `{pointer}`"))),
            Self::JsonPath(path) => {
                let selected = path.query(&value).all();
                if selected.len() > MAX_SELECTED {
                    let message = format!("the JSONPath of the tool selects more than {MAX_SELECTED} values");
                    return Err(ToolFailure::new(FailureKind::OutputTooLarge, message));
                }
                Ok(selected.into_iter().cloned().collect())
            }
        }
    }
}

/// Returns a body as text for a failure, or `None` if it is not text.
pub(super) fn excerpt_text(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    if compression(headers).is_some() {
        return None;
    }
    MediaType::of(content_type(headers), body).charset().map(|charset| charset.decode(body))
}

fn unusable(message: &str) -> ToolFailure {
    ToolFailure::new(FailureKind::ExecutionError, message)
}

fn is_pointer(pointer: &str) -> bool {
    let is_escaped = |(at, _)| matches!(pointer.as_bytes().get(at + 1), Some(b'0' | b'1'));
    (pointer.is_empty() || pointer.starts_with('/')) && pointer.match_indices('~').all(is_escaped)
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default()
}
