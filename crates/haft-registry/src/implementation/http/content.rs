//! The value of a response body.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use haft_core::{FailureKind, ToolFailure};
use haft_http::HeaderMap;
use serde_json::{Value, json};
use serde_json_path::JsonPath;

use super::response::{ResponseMapping, ResultFormat, Selection};
use crate::implementation::EntryFault;

/// The maximum number of values that a JSONPath selects.
const MAX_SELECTED: usize = 100_000;

/// The format of a body and the part of it that is the value, checked.
#[derive(Debug)]
pub(super) struct ContentMapping {
    format: ResultFormat,
    selection: CheckedSelection,
}

#[derive(Debug)]
enum CheckedSelection {
    Whole,
    Pointer(String),
    JsonPath(Box<JsonPath>),
}

/// The type of a body, by its header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MediaType {
    Json,
    Text(Charset),
    Binary,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Charset {
    Utf8,
    Latin1,
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
            Selection::JsonPath(path) => match JsonPath::parse(path) {
                Ok(path) => CheckedSelection::JsonPath(Box::new(path)),
                Err(error) => {
                    fault("/result/json-path", format!("the JSONPath is invalid: {error}"));
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
        Self { format: mapping.format, selection }
    }

    /// Returns the value of a body.
    pub(super) fn value(&self, headers: &HeaderMap, body: &[u8]) -> Result<Value, ToolFailure> {
        if is_compressed(headers) {
            return Err(unusable("the server sent a compressed response, which it was not asked for"));
        }
        let value = match (self.format, media_type(headers, body)) {
            (ResultFormat::Base64, _) => return Ok(BASE64_STANDARD.encode(body).into()),
            (ResultFormat::Text, MediaType::Text(charset)) => return Ok(text(body, charset).into()),
            (ResultFormat::Text, MediaType::Json | MediaType::Binary) => return Ok(text(body, Charset::Utf8).into()),
            (ResultFormat::Auto | ResultFormat::Json, _) if body.is_empty() => return Ok(Value::Null),
            (ResultFormat::Auto, MediaType::Text(charset)) => text(body, charset).into(),
            (ResultFormat::Auto, MediaType::Binary) => {
                json!({"content_type": essence(headers), "base64": BASE64_STANDARD.encode(body)})
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

/// Returns a body as text for a failure; none if it is no text.
pub(super) fn excerpt_text(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    if is_compressed(headers) {
        return None;
    }
    match media_type(headers, body) {
        MediaType::Json => Some(text(body, Charset::Utf8)),
        MediaType::Text(charset) => Some(text(body, charset)),
        MediaType::Binary => None,
    }
}

fn unusable(message: &str) -> ToolFailure {
    ToolFailure::new(FailureKind::ExecutionError, message)
}

/// Reports whether the body is encoded. The client asks for none, and the size of a compressed body says nothing.
fn is_compressed(headers: &HeaderMap) -> bool {
    let encodings = headers.get_all("content-encoding").iter();
    encodings.into_iter().any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

fn is_pointer(pointer: &str) -> bool {
    let is_escaped = |(at, _)| matches!(pointer.as_bytes().get(at + 1), Some(b'0' | b'1'));
    (pointer.is_empty() || pointer.starts_with('/')) && pointer.match_indices('~').all(is_escaped)
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Returns the media type without its parameters, in lower case.
fn essence(headers: &HeaderMap) -> String {
    content_type(headers).split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn media_type(headers: &HeaderMap, body: &[u8]) -> MediaType {
    let essence = essence(headers);
    let charset = || {
        let parameters = content_type(headers).split(';').skip(1);
        let charset = parameters.filter_map(|parameter| parameter.split_once('=')).find_map(|(name, value)| {
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_ascii_lowercase())
        });
        match charset.as_deref() {
            Some("iso-8859-1" | "latin1" | "windows-1252") => Charset::Latin1,
            _ => Charset::Utf8,
        }
    };
    match essence.as_str() {
        "application/json" | "text/json" => MediaType::Json,
        json if json.ends_with("+json") => MediaType::Json,
        "" if std::str::from_utf8(body).is_ok() => MediaType::Text(Charset::Utf8),
        "application/xml"
        | "application/yaml"
        | "application/x-yaml"
        | "application/javascript"
        | "application/x-ndjson"
        | "application/jsonl"
        | "application/x-www-form-urlencoded" => MediaType::Text(charset()),
        text if text.starts_with("text/") || text.ends_with("+xml") || text.ends_with("+yaml") => {
            MediaType::Text(charset())
        }
        _ => MediaType::Binary,
    }
}

/// Decodes a text. Invalid bytes are replaced by U+FFFD.
fn text(body: &[u8], charset: Charset) -> String {
    match charset {
        Charset::Utf8 => String::from_utf8_lossy(body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body)).into_owned(),
        // The characters of windows-1252 that differ are control characters in the other, which nobody sends.
        Charset::Latin1 => body.iter().map(|byte| char::from(*byte)).collect(),
    }
}
