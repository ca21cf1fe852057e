//! Schemas generated from Rust types by schemars.

use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Returns the schema of "no parameters".
pub(super) fn empty_object() -> Value {
    json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
}

/// Returns the draft 2020-12 schema of a type: definitions in `$defs`, without `$schema` and without the type's name as
/// title.
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

/// Returns the schema of a tool's parameters: a type without content (`()`, a unit struct) accepts the empty object.
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

/// Reports whether this is the schema of a struct without fields. That of a map is not: it describes its keys.
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

/// Copies the description of the type, for tools that have no other.
fn with_description(mut schema: Value, from: &Map<String, Value>) -> Value {
    if let (Value::Object(schema), Some(description)) = (&mut schema, from.get("description")) {
        schema.insert("description".to_owned(), description.clone());
    }
    schema
}
