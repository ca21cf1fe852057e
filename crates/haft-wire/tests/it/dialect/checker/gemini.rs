//! The rules of Gemini.

use serde_json::{Value, json};

use super::{ProviderRule, Visit, is_recursive, object_with};

/// The fields of `Schema`, without those that the Gemini Developer API rejects.
const FIELDS: &[&str] = &[
    "anyOf",
    "default",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
];

const KEYWORDS: &[&str] = &[
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
];

fn is_identifier(name: &str) -> bool {
    name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn shared() -> Vec<ProviderRule> {
    vec![
        ProviderRule {
            text: "the names of members are identifiers",
            is_broken: |visit| visit.property_names().any(|name| !is_identifier(name)),
            rejected: || {
                let names = ["", "1st", "a b", "a-b", "$ref", "é", &"x".repeat(65)].map(String::from);
                let schema = |name: &String| json!({"type": "object", "properties": {name: {"type": "string"}}});
                names.iter().map(schema).chain(names.iter().map(schema).map(|inner| object_with(&inner))).collect()
            },
        },
        ProviderRule {
            text: "the root is an object",
            is_broken: |visit| visit.is_root && !visit.schema.is_null() && visit.schema["type"] != "object",
            rejected: || vec![json!({"type": "string"}), json!({"anyOf": []})],
        },
        ProviderRule {
            text: "propertyOrdering lists the members in order",
            is_broken: |visit| {
                let ordering = visit.schema["propertyOrdering"].as_array();
                ordering.is_some_and(|names| !names.iter().filter_map(Value::as_str).eq(visit.property_names()))
            },
            rejected: || {
                let properties = json!({"a": {"type": "string"}, "b": {"type": "string"}});
                vec![json!({"type": "object", "properties": properties, "propertyOrdering": ["b", "a"]})]
            },
        },
    ]
}

pub(crate) fn parameters() -> Vec<ProviderRule> {
    let mut rules = shared();
    rules.extend([
        ProviderRule {
            text: "only the fields of `Schema`",
            is_broken: |visit| visit.keys().any(|keyword| !FIELDS.contains(&keyword)),
            rejected: || {
                let keywords = [
                    "$schema",
                    "$id",
                    "$ref",
                    "$defs",
                    "oneOf",
                    "allOf",
                    "not",
                    "const",
                    "exclusiveMinimum",
                    "exclusiveMaximum",
                    "uniqueItems",
                    "examples",
                    "prefixItems",
                    "additionalProperties",
                    "x-unknown",
                ];
                keywords.iter().map(|keyword| object_with(&json!({"type": "string", *keyword: 1}))).collect()
            },
        },
        ProviderRule {
            text: "a type is one name",
            is_broken: |visit| visit.has("type") && !visit.schema["type"].is_string(),
            rejected: || vec![object_with(&json!({"type": ["string", "null"]}))],
        },
        ProviderRule {
            text: "every schema has a type or alternatives",
            is_broken: |visit| !visit.schema.is_null() && !visit.has("type") && !visit.has("anyOf"),
            rejected: || vec![object_with(&json!({})), object_with(&json!({"description": "any"}))],
        },
        ProviderRule {
            text: "enumerated values are strings, and the format says so",
            is_broken: |visit: &Visit<'_>| {
                let values = visit.schema["enum"].as_array();
                values.is_some_and(|values| !values.iter().all(Value::is_string) || visit.schema["format"] != "enum")
            },
            rejected: || {
                vec![
                    object_with(&json!({"type": "integer", "format": "enum", "enum": [1]})),
                    object_with(&json!({"type": "integer", "enum": ["1"]})),
                ]
            },
        },
        ProviderRule {
            text: "the root has members, or is left out",
            is_broken: |visit| visit.is_root && !visit.schema.is_null() && visit.property_names().next().is_none(),
            rejected: || vec![json!({"type": "object", "properties": {}}), json!({"type": "object"})],
        },
        ProviderRule {
            text: "an array has items",
            is_broken: |visit| visit.is_type("array") && !visit.has("items"),
            rejected: || vec![object_with(&json!({"type": "array"}))],
        },
    ]);
    rules
}

pub(crate) fn json_schema() -> Vec<ProviderRule> {
    let mut rules = shared();
    rules.extend([
        ProviderRule {
            text: "only listed keywords",
            is_broken: |visit| visit.keys().any(|keyword| !KEYWORDS.contains(&keyword)),
            rejected: || {
                let keywords =
                    ["const", "discriminator", "examples", "exclusiveMinimum", "pattern", "allOf", "not", "default"];
                keywords.iter().map(|keyword| object_with(&json!({"type": "string", *keyword: 1}))).collect()
            },
        },
        ProviderRule {
            text: "enumerated values are strings or numbers",
            is_broken: |visit| {
                let values = visit.schema["enum"].as_array().into_iter().flatten();
                values.into_iter().any(|value| !value.is_string() && !value.is_number())
            },
            rejected: || vec![object_with(&json!({"enum": [true]})), object_with(&json!({"enum": [{}]}))],
        },
        ProviderRule {
            text: "a reference has only keywords with `$` beside it",
            is_broken: |visit| visit.has("$ref") && visit.keys().any(|keyword| !keyword.starts_with('$')),
            rejected: || vec![object_with(&json!({"$ref": "#/$defs/a", "title": "x"}))],
        },
        ProviderRule {
            text: "references are not recursive",
            is_broken: |visit| visit.schema["$ref"].as_str().is_some_and(|text| is_recursive(visit.root, text)),
            rejected: || {
                let list = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/list"}}});
                vec![json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/list"}}, "$defs": {"list": list}})]
            },
        },
    ]);
    rules
}
