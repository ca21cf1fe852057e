//! Typical tools on every dialect, as snapshots.

use std::collections::BTreeMap;

use haft_schema::Schema;
use serde_json::{Value, json};

use crate::dialect::checker::dialects;

/// Returns the schemas, with their names.
pub(crate) fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("record", record()),
        ("collections", collections()),
        ("alternatives", shapes()),
        ("recursive", recursive()),
        ("text", text()),
    ]
}

/// Asserts the renderings of a schema on all dialects.
macro_rules! assert_renderings {
    ($name:literal, $schema:expr) => {
        let mut all = BTreeMap::new();
        let schema = Schema::json($schema).unwrap();
        for (dialect, _) in dialects() {
            let rendering = match dialect.render(&schema) {
                Ok(rendered) => json!({
                    "json": rendered.json,
                    "losses": rendered.losses.iter().map(|loss| format!("{} {:?}: {}", loss.pointer, loss.kind, loss.message)).collect::<Vec<_>>(),
                }),
                Err(fault) => json!({"fault": fault.to_string()}),
            };
            all.insert(dialect.name().to_owned(), rendering);
        }
        insta::assert_json_snapshot!($name, all);
    };
}

#[test]
fn a_record_with_optional_members() {
    assert_renderings!("record", record());
}

#[test]
fn maps_tuples_and_free_values() {
    assert_renderings!("collections", collections());
}

#[test]
fn alternatives() {
    assert_renderings!("alternatives", shapes());
}

#[test]
fn a_recursive_type() {
    assert_renderings!("recursive", recursive());
}

#[test]
fn a_text_and_an_empty_object() {
    assert_renderings!("text", text());
    let empty: Value = Schema::empty().as_json().clone();
    assert_renderings!("empty", empty);
}

fn text() -> Value {
    json!({"type": "string", "format": "uri", "pattern": "^https:(?!.*secret)"})
}

fn record() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city", "minLength": 2},
            "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
            "unit": {"enum": ["Celsius", "Fahrenheit"]},
            "note": {"type": ["string", "null"]},
            "$ref": {"type": "string", "description": "A member that is named like a keyword"},
        },
        "required": ["city"],
        "additionalProperties": false,
    })
}

fn collections() -> Value {
    json!({
        "type": "object",
        "properties": {
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "point": {
                "type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2, "maxItems": 2
            },
            "extra": {},
            "options": {"type": "object"},
        },
        "required": ["labels", "point"],
    })
}

fn shapes() -> Value {
    json!({
        "oneOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "exclusiveMinimum": 0}},
                "required": ["kind", "radius"], "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {"kind": {"const": "label"}, "text": {"type": "string"}},
                "required": ["kind"], "additionalProperties": false,
            },
        ],
    })
}

fn recursive() -> Value {
    json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree", "description": "The tree to draw"}},
        "required": ["tree"],
        "additionalProperties": false,
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                },
                "required": ["name"],
                "additionalProperties": false,
            },
        },
    })
}
