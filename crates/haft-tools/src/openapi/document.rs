//! A document: its text, its version, and the values that its references lead to.
//!
//! References are resolved inside the document alone. Nothing is ever fetched, and no other file is read.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;

use haft_registry::reading::read_bounded;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::error::OpenApiError;
use super::skip::SkipReason;

/// The largest document text.
pub(super) const MAX_BYTES: usize = 64 << 20;
/// A document's deepest nesting.
pub(super) const MAX_DEPTH: usize = 128;
/// A YAML document's deepest nesting. Reading one level takes far more stack than in JSON.
const MAX_YAML_DEPTH: usize = 64;
/// The most references that lead from one to the next.
const MAX_HOPS: usize = 64;

/// An OpenAPI document, version 3.0 or 3.1.
///
/// ```
/// use haft_tools::openapi::OpenApi;
///
/// let document = OpenApi::from_yaml("
/// openapi: 3.0.3
/// info: {title: Pets, version: '1'}
/// servers: [{url: https://pets.example}]
/// paths:
///   /pets/{id}:
///     get:
///       operationId: getPet
///       parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
///       responses: {200: {description: A pet}}
/// ")?;
/// assert_eq!(document.title(), Some("Pets"));
/// # Ok::<_, haft_tools::openapi::OpenApiError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OpenApi {
    pub(super) root: Arc<Value>,
    pub(super) version: OpenApiVersion,
}

/// The supported versions, which differ in their JSON Schema dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenApiVersion {
    V3_0,
    V3_1,
}

impl OpenApi {
    /// Creates a document from a JSON value.
    pub fn from_value(value: Value) -> Result<Self, OpenApiError> {
        if !nests_within(&value, MAX_DEPTH) {
            dismantle(value);
            return Err(OpenApiError::TooDeep);
        }
        let root = value.as_object().ok_or(OpenApiError::NotAnObject)?;
        let version = OpenApiVersion::of(root)?;
        if !root.get("paths").is_some_and(Value::is_object) {
            return Err(OpenApiError::NoPaths);
        }
        Ok(Self { root: Arc::new(value), version })
    }

    /// Reads a document from JSON text.
    pub fn from_json(text: &str) -> Result<Self, OpenApiError> {
        within_size(text.len())?;
        let value = serde_json::from_str(text).map_err(|error| OpenApiError::Json(Arc::new(error)))?;
        Self::from_value(value)
    }

    /// Reads a document from YAML text. Aliases that expand to much more than was written are an error.
    pub fn from_yaml(text: &str) -> Result<Self, OpenApiError> {
        within_size(text.len())?;
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! { max_depth: MAX_YAML_DEPTH, max_events: 8_000_000, max_nodes: 8_000_000 },
            // OpenAPI has references instead of YAML's aliases, so documents have few aliases.
            alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 50_000 },
            with_snippet: false,
            // In YAML 1.2, `no` and `on` are texts.
            strict_booleans: true,
        };
        let value = serde_saphyr::from_str_with_options(text, options);
        Self::from_value(value.map_err(|error| OpenApiError::Yaml(yaml_fault(&error)))?)
    }

    /// Reads a document from a file: JSON if its text begins with a brace, else YAML. This blocks the thread.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, OpenApiError> {
        let path = path.as_ref();
        Self::from_file(path, read_bounded(path, MAX_BYTES as u64))
    }

    /// Reads a document from a file's content.
    pub(super) fn from_file(path: &Path, content: io::Result<Vec<u8>>) -> Result<Self, OpenApiError> {
        let text = content.and_then(|content| {
            let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text; save it as UTF-8");
            String::from_utf8(content).map_err(invalid)
        });
        let text = text.map_err(|error| OpenApiError::Read { path: path.to_owned(), source: Arc::new(error) })?;
        // A byte order mark is not part of JSON.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if text.trim_start().starts_with('{') { Self::from_json(text) } else { Self::from_yaml(text) }
    }

    /// Returns the API's title.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.root.get("info")?.get("title")?.as_str()
    }

    /// Returns the OpenAPI version that the document names.
    #[must_use]
    pub fn version(&self) -> &str {
        self.root.get("openapi").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the names of the security schemes that the document defines.
    pub fn security_schemes(&self) -> impl Iterator<Item = &str> {
        let schemes = self.root.get("components").and_then(|components| components.get("securitySchemes"));
        schemes.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Follows references to the first value that is not one.
    pub(super) fn follow<'d>(&'d self, value: &'d Value) -> Result<&'d Value, SkipReason> {
        let mut found = value;
        for _ in 0..MAX_HOPS {
            let Some(reference) = reference_of(found) else { return Ok(found) };
            found = self.at(reference, &pointer_of(reference)?)?;
        }
        Err(SkipReason::CyclicRef { reference: reference_of(value).unwrap_or_default().to_owned() })
    }

    /// Returns the value at a JSON Pointer, through references on the way to it.
    pub(super) fn at(&self, reference: &str, pointer: &str) -> Result<&Value, SkipReason> {
        let unresolved = || SkipReason::UnresolvedRef { reference: reference.to_owned() };
        let mut value = &*self.root;
        let mut hops = 0;
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            loop {
                if let Some(next) = member(value, &token) {
                    value = next;
                    break;
                }
                // The target may be inside what another reference leads to.
                let through = reference_of(value).ok_or_else(unresolved)?;
                hops += 1;
                if hops > MAX_HOPS {
                    return Err(SkipReason::CyclicRef { reference: reference.to_owned() });
                }
                value = self.root.pointer(&pointer_of(through)?).ok_or_else(unresolved)?;
            }
        }
        Ok(value)
    }
}

impl OpenApiVersion {
    fn of(root: &Map<String, Value>) -> Result<Self, OpenApiError> {
        let found = match (root.get("openapi"), root.get("swagger")) {
            (Some(Value::String(version)), _) if version == "3.0" || version.starts_with("3.0.") => {
                return Ok(Self::V3_0);
            }
            (Some(Value::String(version)), _) if version == "3.1" || version.starts_with("3.1.") => {
                return Ok(Self::V3_1);
            }
            (Some(version), _) => format!("the OpenAPI version {}", short(version)),
            (None, Some(version)) => format!("the Swagger version {}", short(version)),
            (None, None) => "no OpenAPI version".to_owned(),
        };
        Err(OpenApiError::Version { found })
    }
}

/// Returns the reason and the place without the text: the file may be any, and nothing from it may be shown.
fn yaml_fault(error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error;
    let reason = match error {
        Error::DuplicateMappingKey { .. } => "a key is written twice",
        Error::UnknownAnchor { .. } => "an alias refers to nothing",
        Error::MultipleDocuments { .. } => "it has several documents",
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "it nests too deeply, or aliases expand to far more than was written"
        }
        _ => "it is malformed",
    };
    match error.location() {
        Some(place) => format!("{reason}, at line {}, column {}", place.line(), place.column()),
        None => reason.to_owned(),
    }
}

/// Returns the reference if a value is one.
pub(super) fn reference_of(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()
}

/// Returns the JSON Pointer that a reference has into the document.
pub(super) fn pointer_of(reference: &str) -> Result<Cow<'_, str>, SkipReason> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return Err(SkipReason::ExternalRef { reference: reference.to_owned() });
    };
    let decoded = percent_decode_str(fragment).decode_utf8();
    match decoded {
        Ok(pointer) if pointer.is_empty() || pointer.starts_with('/') => Ok(pointer),
        _ => Err(SkipReason::UnresolvedRef { reference: reference.to_owned() }),
    }
}

fn member<'d>(value: &'d Value, token: &str) -> Option<&'d Value> {
    match value {
        Value::Object(map) => map.get(token),
        Value::Array(list) => token.parse::<usize>().ok().and_then(|index| list.get(index)),
        _ => None,
    }
}

fn within_size(bytes: usize) -> Result<(), OpenApiError> {
    if bytes > MAX_BYTES { Err(OpenApiError::TooLarge) } else { Ok(()) }
}

/// Reports whether a value nests at most this deep, without recursion.
fn nests_within(value: &Value, depth: usize) -> bool {
    let mut pending = vec![(value, 0)];
    while let Some((value, level)) = pending.pop() {
        if level > depth {
            return false;
        }
        match value {
            Value::Array(list) => pending.extend(list.iter().map(|value| (value, level + 1))),
            Value::Object(map) => pending.extend(map.values().map(|value| (value, level + 1))),
            _ => {}
        }
    }
    true
}

/// Drops a value without recursion, which would exhaust the stack for a deep one.
fn dismantle(value: Value) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(list) => pending.extend(list),
            Value::Object(map) => pending.extend(map.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}
