//! The required form of a keyword's value, and the subschemas it contains.
//!
//! One description has three uses: it finds faults of a schema, it finds subschemas, and the meta-schema of a draft is
//! generated from it.

use serde_json::{Map, Value, json};

use super::message::excerpt;
use super::types::Types;

/// The form of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Any,
    Boolean,
    Text,
    Number,
    PositiveNumber,
    Count,
    /// Type names: one, or a list of different ones.
    TypeNames,
    /// An array of allowed values.
    Literals,
    /// Any array.
    List,
    /// A list of different names.
    Names,
    /// At least one name.
    SomeNames,
    /// Lists of names, by name.
    NamesByName,
    /// Any object.
    Object,
    Schema,
    /// A schema or a boolean, in a draft where a boolean is not a schema.
    SchemaOrBoolean,
    /// At least one schema.
    Schemas,
    /// One schema, or a list of them.
    SchemaOrSchemas,
    SchemasByName,
    /// A schema or a list of names, by name.
    SchemaOrNamesByName,
}

/// The names of all types, as faults list them.
const TYPE_NAMES: &str = "array, boolean, integer, null, number, object, string";

impl Shape {
    /// Returns the fault of a keyword's value. Subschemas are not examined: the caller visits them.
    pub(super) fn fault(self, value: &Value) -> Option<String> {
        let (fits, expected) = match self {
            // JSON that is not a schema is reported when it is visited.
            Self::Any | Self::Schema | Self::SchemaOrBoolean => return None,
            Self::Boolean => (value.is_boolean(), "a boolean"),
            Self::Text => (value.is_string(), "a string"),
            Self::Number => (value.is_number(), "a number"),
            Self::PositiveNumber => (value.as_f64().is_some_and(|number| number > 0.0), "a number greater than 0"),
            Self::Count => (is_count(value), "an integer that is 0 or greater"),
            Self::TypeNames if names_types(value) => return None,
            Self::TypeNames => {
                return Some(format!("must be one of {TYPE_NAMES}, or a list of them, not {}", excerpt(value)));
            }
            Self::Literals | Self::List => (value.is_array(), "an array"),
            Self::Names => (is_names(value), "an array of different strings"),
            Self::SomeNames => (is_names(value) && !is_empty(value), "a non-empty array of different strings"),
            Self::NamesByName => (all_members(value, is_names), "an object of arrays of different strings"),
            Self::Object => (value.is_object(), "an object"),
            Self::Schemas => (value.is_array() && !is_empty(value), "a non-empty array of schemas"),
            Self::SchemaOrSchemas => (!is_empty(value), "a schema or a non-empty array of schemas"),
            Self::SchemasByName => (value.is_object(), "an object of schemas"),
            Self::SchemaOrNamesByName => {
                let fits = all_members(value, |member| !member.is_array() || is_names(member));
                (fits, "an object of schemas or arrays of different strings")
            }
        };
        if fits {
            return None;
        }
        Some(format!("must be {expected}"))
    }

    /// Visits the subschemas in a keyword's value, each with its JSON Pointer step.
    pub(super) fn subschemas<'a>(self, value: &'a Value, visit: &mut dyn FnMut(PointerToken<'a>, &'a Value)) {
        let each = |list: &'a [Value], visit: &mut dyn FnMut(PointerToken<'a>, &'a Value)| {
            list.iter().enumerate().for_each(|(index, schema)| visit(PointerToken::Index(index), schema));
        };
        let by_name = |map: &'a Map<String, Value>, visit: &mut dyn FnMut(PointerToken<'a>, &'a Value)| {
            map.iter().for_each(|(name, schema)| visit(PointerToken::Name(name), schema));
        };
        match (self, value) {
            (Self::Schema | Self::SchemaOrSchemas, Value::Array(list)) if self == Self::SchemaOrSchemas => {
                each(list, visit);
            }
            (Self::SchemaOrBoolean, Value::Bool(_)) => {}
            (Self::Schema | Self::SchemaOrBoolean | Self::SchemaOrSchemas, schema) => visit(PointerToken::Here, schema),
            (Self::Schemas, Value::Array(list)) => each(list, visit),
            (Self::SchemasByName, Value::Object(map)) => by_name(map, visit),
            (Self::SchemaOrNamesByName, Value::Object(map)) => {
                map.iter().filter(|(_, member)| !member.is_array()).for_each(|(name, schema)| {
                    visit(PointerToken::Name(name), schema);
                });
            }
            _ => {}
        }
    }

    /// Returns the form as a JSON Schema, for the meta-schema of a draft.
    pub(super) fn as_schema(self, schema: &Value) -> Value {
        let names = json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true});
        let type_name = json!({"enum": TYPE_NAMES.split(", ").collect::<Vec<_>>()});
        match self {
            Self::Any => json!({}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Text => json!({"type": "string"}),
            Self::Number => json!({"type": "number"}),
            Self::PositiveNumber => json!({"allOf": [{"type": "number"}, {"not": {"maximum": 0}}]}),
            Self::Count => json!({"type": "integer", "minimum": 0}),
            Self::TypeNames => json!({"anyOf": [
                type_name,
                {"type": "array", "items": type_name, "minItems": 1, "uniqueItems": true},
            ]}),
            Self::Literals | Self::List => json!({"type": "array"}),
            Self::Names => names,
            Self::SomeNames => json!({"allOf": [names, {"minItems": 1}]}),
            Self::NamesByName => json!({"type": "object", "additionalProperties": names}),
            Self::Object => json!({"type": "object"}),
            Self::Schema => schema.clone(),
            Self::SchemaOrBoolean => json!({"anyOf": [{"type": "boolean"}, schema]}),
            Self::Schemas => json!({"type": "array", "items": schema, "minItems": 1}),
            Self::SchemaOrSchemas => json!({"anyOf": [{"type": "array", "items": schema, "minItems": 1}, schema]}),
            Self::SchemasByName => json!({"type": "object", "additionalProperties": schema}),
            Self::SchemaOrNamesByName => {
                json!({"type": "object", "additionalProperties": {"anyOf": [names, schema]}})
            }
        }
    }
}

/// One step of a JSON Pointer within a keyword's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum PointerToken<'a> {
    Here,
    Index(usize),
    Name(&'a str),
}

fn all_members(value: &Value, fits: impl Fn(&Value) -> bool) -> bool {
    value.as_object().is_some_and(|map| map.values().all(fits))
}

fn is_count(value: &Value) -> bool {
    value.as_u64().is_some() || value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}

fn names_types(value: &Value) -> bool {
    let is_type = |name: &Value| name.as_str().and_then(Types::named).is_some();
    match value {
        Value::Array(names) => !names.is_empty() && names.iter().all(is_type) && all_different(names),
        name => is_type(name),
    }
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string) && all_different(names))
}

fn all_different(names: &[Value]) -> bool {
    let mut sorted: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}
