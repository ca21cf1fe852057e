//! Schema keywords, and the few that versions 3.0 and 3.1 write differently.

use serde_json::{Map, Value, json};

use super::super::text::capped;

/// The form of a keyword's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keyword {
    /// A schema.
    Schema,
    /// A schema list.
    Schemas,
    /// Schemas by name.
    SchemaMap,
    /// A regular expression.
    Pattern,
    /// Property names.
    Required,
    /// Type names.
    Type,
    /// A lower or upper bound, whose meaning depends on other keywords.
    Bound,
    /// A constraint whose value is kept if it has the right form.
    Plain(fn(&Value) -> bool),
    /// A description for people and models, which constrains nothing.
    Annotation(fn(&Value) -> bool),
}

/// The longest example, in bytes.
const MAX_EXAMPLE: usize = 256;

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];

impl Keyword {
    /// Returns the keyword with this name. All others describe nothing that a tool needs.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "type" => Self::Type,
            "properties" | "patternProperties" | "dependentSchemas" => Self::SchemaMap,
            "items"
            | "additionalProperties"
            | "not"
            | "contains"
            | "propertyNames"
            | "if"
            | "then"
            | "else"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Self::Schema,
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Self::Schemas,
            "pattern" => Self::Pattern,
            "required" => Self::Required,
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Self::Bound,
            "multipleOf" => Self::Plain(|value| value.as_f64().is_some_and(|factor| factor > 0.0)),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
            | "maxContains" => Self::Plain(Value::is_u64),
            "uniqueItems" => Self::Plain(Value::is_boolean),
            "enum" => Self::Plain(|value| value.as_array().is_some_and(|list| !list.is_empty())),
            "const" => Self::Plain(|_| true),
            "dependentRequired" => Self::Plain(is_map_of_names),
            "title" | "description" | "format" | "contentEncoding" | "contentMediaType" => {
                Self::Annotation(Value::is_string)
            }
            "default" => Self::Annotation(|_| true),
            "deprecated" => Self::Annotation(|value| *value == Value::Bool(true)),
            "examples" => Self::Annotation(|value| {
                value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_example))
            }),
            _ => return None,
        })
    }
}

/// Returns a keyword's value as it is kept.
pub(super) fn plain(name: &str, value: &Value) -> Value {
    match (name, value) {
        ("description" | "title", Value::String(text)) => capped(text).into(),
        _ => value.clone(),
    }
}

/// Returns the types that a value names, without those that JSON lacks.
pub(super) fn types(value: &Value) -> Option<Value> {
    let is_known = |name: &&Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::String(name) if name == "file" => Some("string".into()),
        Value::String(_) => Some(value).filter(is_known).cloned(),
        Value::Array(names) => {
            let mut known: Vec<Value> = Vec::new();
            for name in names.iter().filter(is_known) {
                if !known.contains(name) {
                    known.push(name.clone());
                }
            }
            (known.len() == names.len() && !known.is_empty()).then_some(Value::Array(known))
        }
        _ => None,
    }
}

/// Adds a schema's bounds. Version 3.0 makes a bound exclusive with a flag beside it, version 3.1 with another keyword.
/// Each is read in both, because their values differ.
pub(super) fn bounds(schema: &Map<String, Value>, converted: &mut Map<String, Value>) {
    for (inclusive, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let bound = schema.get(inclusive).filter(|bound| bound.is_number());
        match (bound, schema.get(exclusive)) {
            (Some(bound), Some(Value::Bool(true))) => insert(converted, exclusive, bound),
            (bound, other) => {
                if let Some(bound) = bound {
                    insert(converted, inclusive, bound);
                }
                if let Some(other) = other.filter(|other| other.is_number()) {
                    insert(converted, exclusive, other);
                }
            }
        }
    }
    strings_of_enum(converted);
}

/// Returns a schema that accepts null as well.
pub(super) fn nullable(mut schema: Map<String, Value>) -> Value {
    if schema.contains_key("$ref") || !matches!(schema.get("type"), Some(Value::String(_) | Value::Array(_))) {
        if ["$ref", "allOf", "anyOf", "oneOf", "enum", "const", "not"].iter().all(|name| !schema.contains_key(*name)) {
            return schema.into();
        }
        let description = schema.remove("description");
        let mut either = Map::new();
        either.insert("anyOf".to_owned(), json!([schema, {"type": "null"}]));
        either.extend(description.map(|text| ("description".to_owned(), text)));
        return either.into();
    }
    match schema.get_mut("type") {
        Some(Value::Array(names)) if !names.contains(&json!("null")) => names.push("null".into()),
        Some(name @ Value::String(_)) if name != "null" => *name = json!([name, "null"]),
        _ => {}
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    schema.into()
}

/// Reports whether a value is an example that is worth its size: a scalar, but not a long text.
pub(in super::super) fn is_example(value: &Value) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) => false,
        Value::String(text) => text.len() <= MAX_EXAMPLE,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Writes a string enumeration's values as strings. YAML reads an unquoted `1` or `true` as something else, and then no
/// value would be valid.
fn strings_of_enum(schema: &mut Map<String, Value>) {
    if schema.get("type").and_then(Value::as_str) != Some("string") {
        return;
    }
    let Some(Value::Array(values)) = schema.get_mut("enum") else { return };
    for value in values {
        if matches!(value, Value::Number(_) | Value::Bool(_)) {
            *value = value.to_string().into();
        }
    }
}

fn insert(schema: &mut Map<String, Value>, keyword: &str, value: &Value) {
    schema.insert(keyword.to_owned(), value.clone());
}

fn is_map_of_names(value: &Value) -> bool {
    let is_names = |names: &Value| names.as_array().is_some_and(|names| names.iter().all(Value::is_string));
    value.as_object().is_some_and(|map| map.values().all(is_names))
}
