//! Works of schemas: building them, and checking values against them.

use haft_schema::{DecodeOptions, Schema};
use serde_json::{Map, Value, json};

use crate::{Work, measured};

pub(crate) const WORKS: [Work; 14] = [
    ("enum-fitting", 20_000, enum_fitting),
    ("enum-wrong", 20_000, enum_wrong),
    ("enum-numbers", 20_000, enum_numbers),
    ("enum-objects", 10_000, enum_objects),
    ("properties", 20_000, properties),
    ("one-of-constants", 20_000, one_of_constants),
    ("any-of-constants", 20_000, any_of_constants),
    ("one-of-tagged", 10_000, one_of_tagged),
    ("any-of-tagged", 10_000, any_of_tagged),
    ("unknown-keys", 20_000, unknown_keys),
    ("refs", 20_000, refs),
    ("ref-chain", 20_000, ref_chain),
    ("unique-items", 20_000, unique_items),
    ("duplicate-keys", 100_000, duplicate_keys),
];

/// Decodes and checks a value; returns how many of the two accept it.
fn accepted(schema: &Schema, value: &Value) -> usize {
    let text = value.to_string();
    let decoded = || schema.decode::<Value>(&text, &DecodeOptions::default()).is_ok();
    measured(|| usize::from(decoded()) + usize::from(schema.check(value).is_ok()))
}

fn list_of(literals: &[Value]) -> Schema {
    Schema::json(json!({"type": "array", "items": {"enum": literals}})).unwrap()
}

fn strings(count: usize) -> Vec<Value> {
    (0..count).map(|n| format!("value {n}").into()).collect()
}

/// Checks a list of strings, each of which is one of as many.
fn enum_fitting(count: usize) {
    let literals = strings(count);
    assert_eq!(accepted(&list_of(&literals), &literals.into()), 2);
}

/// Checks a list of strings, each of which is none of as many.
fn enum_wrong(count: usize) {
    let wrong: Vec<Value> = (0..count).map(|n| format!("other {n}").into()).collect();
    assert_eq!(accepted(&list_of(&strings(count)), &wrong.into()), 0);
}

/// Checks a list of numbers, each of which is one of as many, except one.
fn enum_numbers(count: usize) {
    let literals: Vec<Value> = (0..count).map(Value::from).collect();
    let schema = list_of(&literals);
    let mut values = literals;
    values.push("none".into());
    assert_eq!(accepted(&schema, &values.into()), 0);
}

/// Checks a list of objects, half of them among as many that are allowed.
fn enum_objects(count: usize) {
    let object = |n: usize| json!({"n": n, "list": [n]});
    let schema = list_of(&(0..count).map(object).collect::<Vec<_>>());
    assert_eq!(accepted(&schema, &(count / 2..count + count / 2).map(object).collect()), 0);
}

/// Builds a schema of required properties.
fn properties(count: usize) {
    let properties: Map<String, Value> = (0..count).map(|n| (format!("p{n}"), json!({"type": "integer"}))).collect();
    let required: Vec<&String> = properties.keys().collect();
    let schema = json!({"type": "object", "required": required, "properties": properties});
    built(schema);
}

fn built(schema: Value) -> Schema {
    measured(|| Schema::json(schema)).unwrap()
}

/// Builds a union and checks a value that matches its last alternative, and one that matches none.
fn union(schema: Value, last: &Value, none: &Value) {
    let (fits, misfits) = measured(|| {
        let schema = Schema::json(schema).unwrap();
        let decoded = |value: &Value| schema.decode::<Value>(&value.to_string(), &DecodeOptions::default()).is_ok();
        (decoded(last) && schema.check(last).is_ok(), decoded(none) || schema.check(none).is_ok())
    });
    assert!(fits && !misfits);
}

/// Builds alternatives that are a constant each, exactly one of which must match.
fn one_of_constants(count: usize) {
    let constants: Vec<Value> = (0..count).map(|n| json!({"const": format!("c{n}"), "title": "one"})).collect();
    union(json!({"oneOf": constants}), &format!("c{}", count - 1).into(), &json!("none"));
}

/// Builds alternatives that are a constant of any type each.
fn any_of_constants(count: usize) {
    let constants: Vec<Value> = (0..count).map(|n| json!({"const": [n]})).collect();
    union(json!({"anyOf": constants}), &json!([count - 1]), &json!("none"));
}

fn tagged(count: usize) -> Vec<Value> {
    let branch =
        |n: usize| json!({"type": "object", "properties": {"kind": {"const": format!("k{n}")}}, "required": ["kind"]});
    (0..count).map(branch).collect()
}

/// Builds alternatives that are an object with a constant tag each, exactly one of which must match.
fn one_of_tagged(count: usize) {
    union(json!({"oneOf": tagged(count)}), &json!({"kind": format!("k{}", count - 1)}), &json!({"kind": "none"}));
}

/// Builds the same alternatives, any of which may match.
fn any_of_tagged(count: usize) {
    union(json!({"anyOf": tagged(count)}), &json!({"kind": format!("k{}", count - 1)}), &json!({"kind": "none"}));
}

/// Checks an object of undeclared keys that are all similar to a declared one.
fn unknown_keys(count: usize) {
    let properties: Map<String, Value> = (0..count).map(|n| (format!("property_{n}"), json!({}))).collect();
    let schema = Schema::json(json!({"properties": properties, "additionalProperties": false})).unwrap();
    let object: Map<String, Value> = (0..count).map(|n| (format!("propperty_{n}"), json!(1))).collect();
    assert_eq!(accepted(&schema, &object.into()), 0);
}

fn definitions(count: usize, definition: impl Fn(usize) -> Value) -> Map<String, Value> {
    (0..count).map(|n| (format!("d{n}"), definition(n))).collect()
}

/// Builds properties that each refer to a separate definition.
fn refs(count: usize) {
    let properties: Map<String, Value> =
        (0..count).map(|n| (format!("p{n}"), json!({"$ref": format!("#/$defs/d{n}")}))).collect();
    let definitions = definitions(count, |_| json!({"type": "integer"}));
    let schema = built(json!({"properties": properties, "$defs": definitions}));
    assert!(schema.check(&json!({"p1": 1})).is_ok());
}

/// Builds definitions that each refer to the next.
fn ref_chain(count: usize) {
    let definition =
        |n| if n + 1 == count { json!({"type": "integer"}) } else { json!({"$ref": format!("#/$defs/d{}", n + 1)}) };
    let schema = built(json!({"$ref": "#/$defs/d0", "$defs": definitions(count, definition)}));
    assert!(schema.check(&json!(1)).is_ok() && schema.check(&json!("1")).is_err());
}

/// Checks items that must all differ, and do.
fn unique_items(count: usize) {
    let schema = Schema::json(json!({"uniqueItems": true})).unwrap();
    assert_eq!(accepted(&schema, &(0..count).map(|n| json!({"n": [n]})).collect()), 2);
}

/// Checks an object that repeats every key.
fn duplicate_keys(count: usize) {
    let schema = Schema::json(json!({"type": "object"})).unwrap();
    let members: Vec<String> = (0..count).map(|n| format!(r#""k{}":1"#, n / 2)).collect();
    let text = format!("{{{}}}", members.join(","));
    let issues = measured(|| schema.decode::<Value>(&text, &DecodeOptions::default())).unwrap_err();
    assert!(!issues.is_empty());
}
