//! An operation's request body: the media type to send, and its argument's schema.
//!
//! JSON is preferred, then forms, then texts. Tools send no binary data, so an upload is not imported.

use serde_json::{Map, Value, json};

use super::argument::Losses;
use super::document::OpenApi;
use super::operation::Operation;
use super::schema::{Draft, Schemas};
use super::skip::SkipReason;
use super::style::{NESTED, is_composite, is_nested, named_style};
use super::text::capped;
use crate::http::{BodyFormat, BodyMapping, FormField, ParameterPlace, ParameterStyle};

/// The argument name for the request body.
pub(super) const BODY: &str = "body";

/// The most schemas to examine for files in one form.
const MAX_EXAMINED: usize = 1_000;
/// The most fields of a form to read the notation of.
const MAX_ENCODINGS: usize = 10_000;
/// The nesting below which a form has no files: deeper values are written as JSON.
const MAX_FIELD_DEPTH: usize = 8;

/// A request body.
#[derive(Debug)]
pub(super) struct RequestBody {
    pub(super) mapping: BodyMapping,
    pub(super) schema: Value,
    pub(super) is_required: bool,
    pub(super) losses: Losses,
}

/// Returns an operation's request body, if it has one.
pub(super) fn request_body<'d>(
    document: &'d OpenApi,
    operation: &Operation<'d>,
    schemas: &mut Schemas<'d>,
    draft: &mut Draft<'_>,
) -> Result<Option<RequestBody>, SkipReason> {
    let Some(body) = operation.fields.get("requestBody") else { return Ok(None) };
    let body = document.follow(body)?;
    let Some(content) = body.get("content").and_then(Value::as_object).filter(|content| !content.is_empty()) else {
        return Ok(None);
    };
    let (media_type, format, media) = choose(document, content)?;
    let mapping = BodyMapping::argument(BODY, format);
    let mapping = match format {
        BodyFormat::Form | BodyFormat::Multipart => mapping,
        _ if media_type.contains('*') || media_type == format.media_type() => mapping,
        _ => mapping.content_type(media_type),
    };
    let schema = match media.get("schema") {
        _ if format == BodyFormat::Text => json!({"type": "string"}),
        Some(schema) => schemas.convert(schema, draft)?,
        None => json!({}),
    };
    let mut schema = match schema {
        Value::Object(schema) => schema,
        Value::Bool(true) => Map::new(),
        other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
    };
    let description = body.get("description").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = match (description, format) {
        (Some(text), _) => Some(capped(text)),
        (None, BodyFormat::Text) => Some(format!("A text of the type {media_type}")),
        (None, _) => None,
    };
    if let Some(text) = text {
        schema.insert("description".to_owned(), text.into());
    }
    let is_required = body.get("required") == Some(&Value::Bool(true));
    let mut losses = Losses::new();
    let mapping = match format {
        BodyFormat::Form | BodyFormat::Multipart => encoded(document, media, mapping, &mut losses),
        _ => mapping,
    };
    Ok(Some(RequestBody { mapping, schema: schema.into(), is_required, losses }))
}

/// Sets the notations of a form's fields: those that the document states, and no others.
fn encoded(document: &OpenApi, media: &Value, mut mapping: BodyMapping, losses: &mut Losses) -> BodyMapping {
    let Some(encoding) = media.get("encoding").and_then(Value::as_object) else { return mapping };
    // Version 3.0 ignores styles in multipart forms, but a document that states one there means it.
    for (name, encoding) in encoding.iter().take(MAX_ENCODINGS) {
        let schema = media.get("schema").and_then(|schema| property(document, schema, name));
        let mut lose = |loss: String| losses.push((format!("the field `{name}` of the body"), loss));
        let mut field = FormField::default();
        let is_styled = ["style", "explode", "allowReserved"].iter().any(|key| encoding.get(key).is_some());
        if is_styled {
            let named = encoding.get("style").and_then(Value::as_str).unwrap_or("form");
            let explode = encoding.get("explode").and_then(Value::as_bool).unwrap_or(named == "form");
            field.style = named_style(ParameterPlace::Query, named, explode);
            field.allow_reserved = encoding.get("allowReserved") == Some(&Value::Bool(true));
            match field.style {
                None => lose(format!("the style `{named}` is unknown; it is sent as if it had none")),
                Some(ParameterStyle::DeepObject) => {}
                Some(_) if is_nested(document, schema.unwrap_or(&Value::Null)) => lose(NESTED.to_owned()),
                Some(_) => {}
            }
        } else if let Some(content_type) = encoding.get("contentType").and_then(Value::as_str) {
            let is_composite = schema.is_some_and(is_composite);
            if is_json(content_type) {
                field.style = Some(ParameterStyle::Json);
            } else if is_composite && content_type != "text/plain" {
                lose(format!("it can't be written as `{content_type}`; its arrays and objects are sent as JSON"));
            }
            // A list of types or a pattern leaves the choice open.
            if !content_type.contains([',', '*']) && mapping.format == BodyFormat::Multipart {
                field.content_type = Some(content_type.to_owned());
            }
        }
        if encoding.get("headers").and_then(Value::as_object).is_some_and(|headers| !headers.is_empty()) {
            lose("the headers of its part are not sent".to_owned());
        }
        if field != FormField::default() {
            mapping = mapping.field(name, field);
        }
    }
    mapping
}

/// Returns the schema of a property, in this schema or in one that it combines.
fn property<'d>(document: &'d OpenApi, schema: &'d Value, name: &str) -> Option<&'d Value> {
    let mut pending = vec![schema];
    for _ in 0..MAX_EXAMINED {
        let schema = document.follow(pending.pop()?).ok()?;
        if let Some(property) = schema.get("properties").and_then(|properties| properties.get(name)) {
            return document.follow(property).ok();
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            pending.extend(schema.get(keyword).and_then(Value::as_array).into_iter().flatten());
        }
    }
    None
}

/// Returns the media type to send, with its format and description.
fn choose<'d>(
    document: &'d OpenApi,
    content: &'d Map<String, Value>,
) -> Result<(&'d str, BodyFormat, &'d Value), SkipReason> {
    let mut best: Option<(u8, &str, BodyFormat, &Value)> = None;
    for (name, media) in content {
        let Some((rank, format)) = rank(name) else { continue };
        if format == BodyFormat::Multipart && has_files(document, media) {
            continue;
        }
        if best.is_none_or(|(other, ..)| rank < other) {
            best = Some((rank, name, format, media));
        }
    }
    best.map(|(_, name, format, media)| (name, format, media)).ok_or_else(|| {
        let names: Vec<&str> = content.keys().take(8).map(String::as_str).collect();
        SkipReason::UnsupportedBody { media_types: names.join(", ").chars().take(200).collect() }
    })
}

/// Returns a media type's format, with a rank: lower is preferred.
fn rank(media_type: &str) -> Option<(u8, BodyFormat)> {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (kind, subtype) = essence.split_once('/')?;
    Some(match (kind, subtype) {
        ("application", "json") => (0, BodyFormat::Json),
        ("text", "json") => (2, BodyFormat::Json),
        ("application" | "*", "*") => (3, BodyFormat::Json),
        (_, subtype) if subtype.ends_with("+json") => (1, BodyFormat::Json),
        ("application", "x-www-form-urlencoded") => (4, BodyFormat::Form),
        ("multipart", "form-data") => (5, BodyFormat::Multipart),
        ("text", "plain") => (6, BodyFormat::Text),
        ("text", _) => (7, BodyFormat::Text),
        ("application", "xml" | "yaml" | "x-yaml" | "x-ndjson" | "graphql" | "sql" | "javascript" | "jwt") => {
            (8, BodyFormat::Text)
        }
        (_, subtype) if subtype.ends_with("+xml") || subtype.ends_with("+yaml") => (8, BodyFormat::Text),
        _ => return None,
    })
}

/// Reports whether a media type's values are JSON.
pub(super) fn is_json(media_type: &str) -> bool {
    matches!(rank(media_type), Some((_, BodyFormat::Json)))
}

/// Reports whether a form has a file field.
fn has_files(document: &OpenApi, media: &Value) -> bool {
    let Some(schema) = media.get("schema") else { return false };
    let mut pending = vec![(schema, 0)];
    let mut examined = 0;
    while let Some((schema, depth)) = pending.pop() {
        examined += 1;
        // What can't be examined counts as a file, so that nothing is sent in the wrong form.
        let Ok(schema) = document.follow(schema) else { return true };
        if examined > MAX_EXAMINED {
            return true;
        }
        if depth > MAX_FIELD_DEPTH {
            continue;
        }
        if is_binary(schema) {
            return true;
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        pending.extend(properties.into_iter().flatten().map(|(_, property)| (property, depth + 1)));
        pending.extend(schema.get("items").map(|items| (items, depth + 1)));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let list = schema.get(keyword).and_then(Value::as_array);
            pending.extend(list.into_iter().flatten().map(|schema| (schema, depth + 1)));
        }
    }
    false
}

fn is_binary(schema: &Value) -> bool {
    let text = |field: &str| schema.get(field).and_then(Value::as_str).unwrap_or_default();
    matches!(text("format"), "binary" | "file")
        || text("type") == "file"
        || (!text("contentMediaType").is_empty()
            && text("contentEncoding").is_empty()
            && !text("contentMediaType").starts_with("text/"))
}
