//! Schemas made from Rust types, by schemars.

use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The exact form of "no parameters".
pub(super) fn empty_object() -> Value {
    json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
}

/// The draft 2020-12 schema of a type: without `$schema` and the type's name as title, definitions in `$defs`.
#[inline]
pub(super) fn schema<T: JsonSchema + ?Sized>(contract: Contract) -> Value {
    tidied(generator(contract).into_root_schema_for::<T>(), &T::schema_name())
}

fn generator(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.contract = contract;
        settings.meta_schema = None;
    });
    settings.into_generator()
}

fn tidied(schema: Schema, name: &str) -> Value {
    let mut schema = schema.to_value();
    if let Value::Object(root) = &mut schema {
        if root.get("title").is_some_and(|title| title == name) {
            root.shift_remove("title");
        }
        if is_empty_object(root) {
            return with_description(empty_object(), root);
        }
    }
    schema
}

/// The same for a tool's parameters: a type without content (`()`, a unit struct) takes the empty object.
#[inline]
pub(super) fn parameters<T: JsonSchema + ?Sized>() -> Value {
    of_parameters(schema::<T>(Contract::Deserialize))
}

fn of_parameters(schema: Value) -> Value {
    match &schema {
        Value::Object(root) if root.get("type").is_some_and(|kind| kind == "null") => {
            with_description(empty_object(), root)
        }
        _ => schema,
    }
}

/// Whether this is a struct without fields. A map is not: it speaks of its keys.
fn is_empty_object(root: &Map<String, Value>) -> bool {
    const SAYS_NOTHING: &[&str] = &["type", "description", "title", "additionalProperties", "properties", "required"];
    let is_empty = |word: &str| {
        root.get(word).is_none_or(|keyword| match keyword {
            Value::Object(map) => map.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        })
    };
    root.get("type").is_some_and(|kind| kind == "object")
        && root.keys().all(|key| SAYS_NOTHING.contains(&key.as_str()))
        && is_empty("properties")
        && is_empty("required")
        && root.get("additionalProperties").is_none_or(|additional| additional == false)
}

/// Carries the type's own description over, for tools that have no other.
fn with_description(mut schema: Value, from: &Map<String, Value>) -> Value {
    if let (Value::Object(schema), Some(description)) = (&mut schema, from.get("description")) {
        schema.insert("description".to_owned(), description.clone());
    }
    schema
}
