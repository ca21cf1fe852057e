//! The notations of OpenAPI: `style` and `explode`, and what they leave undefined.

use serde_json::Value;

use super::document::OpenApi;
use crate::http::{ParameterPlace, ParameterStyle};

/// The loss of a value that nests in a notation that does not.
pub(super) const NESTED: &str = "its notation has no arrays or objects inside others; they are sent as JSON";

/// The most schemas to examine for one part of a request.
const MAX_EXAMINED: usize = 256;

/// Returns the style with this name, or `None` if there is none in this place.
pub(super) fn named_style(place: ParameterPlace, name: &str, explode: bool) -> Option<ParameterStyle> {
    use ParameterPlace::{Cookie, Header, Path, Query};
    Some(match (place, name, explode) {
        (Path | Header, "simple", false) | (Query | Cookie, "form", false) => ParameterStyle::Comma,
        (Path | Header, "simple", true) => ParameterStyle::CommaPairs,
        (Path, "label", false) => ParameterStyle::Label,
        (Path, "label", true) => ParameterStyle::LabelPairs,
        (Path, "matrix", false) => ParameterStyle::Matrix,
        (Path, "matrix", true) => ParameterStyle::MatrixPairs,
        (Query | Cookie, "form" | "spaceDelimited" | "pipeDelimited", true) => ParameterStyle::Spread,
        (Query, "spaceDelimited", false) => ParameterStyle::Space,
        (Query, "pipeDelimited", false) => ParameterStyle::Pipe,
        (Query, "deepObject", _) => ParameterStyle::DeepObject,
        _ => return None,
    })
}

/// Reports whether values of a schema have arrays or objects inside others. What can't be examined is not reported.
pub(super) fn is_nested(document: &OpenApi, schema: &Value) -> bool {
    let mut pending = vec![(schema, 0)];
    let mut examined = 0;
    while let Some((schema, depth)) = pending.pop() {
        examined += 1;
        let Ok(schema) = document.follow(schema) else { continue };
        if examined > MAX_EXAMINED {
            return false;
        }
        if depth > 0 && is_composite(schema) {
            return true;
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let list = schema.get(keyword).and_then(Value::as_array);
            pending.extend(list.into_iter().flatten().map(|schema| (schema, depth)));
        }
        if depth == 0 {
            let properties = schema.get("properties").and_then(Value::as_object);
            pending.extend(properties.into_iter().flatten().map(|(_, property)| (property, 1)));
            let others = [schema.get("items"), schema.get("additionalProperties")];
            pending.extend(others.into_iter().flatten().filter(|schema| schema.is_object()).map(|schema| (schema, 1)));
        }
    }
    false
}

/// Reports whether a schema is that of an array or an object.
pub(super) fn is_composite(schema: &Value) -> bool {
    let is_named = |name: &Value| matches!(name.as_str(), Some("array" | "object"));
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(is_named),
        Some(name) => is_named(name),
        None => schema.get("properties").is_some() || schema.get("items").is_some(),
    }
}
