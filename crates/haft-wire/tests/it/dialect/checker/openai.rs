//! The rules of OpenAI.

use serde_json::{Map, Value, json};

use super::{ProviderRule, Visit, object_with, visit};

const KEYWORDS: &[&str] = &[
    "type",
    "description",
    "title",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

const FORMATS: &[&str] = &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

const TYPES: &[&str] = &["string", "number", "boolean", "integer", "object", "array", "null"];

/// Keywords that are listed as unsupported.
const UNSUPPORTED: &[&str] = &[
    "allOf",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "oneOf",
    "default",
    "minLength",
    "maxLength",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "prefixItems",
];

fn types(schema: &Value) -> Vec<&Value> {
    match &schema["type"] {
        Value::Array(names) => names.iter().collect(),
        Value::Null => Vec::new(),
        name => vec![name],
    }
}

fn total(root: &Value, count: fn(&Value) -> usize) -> usize {
    let mut sum = 0;
    visit(root, &mut |visit| sum += count(visit.schema));
    sum
}

fn enum_chars(schema: &Value) -> usize {
    let values = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    values.filter_map(Value::as_str).map(|text| text.chars().count()).sum()
}

fn name_chars(schema: &Value) -> usize {
    let names = ["properties", "$defs"].iter().filter_map(|keyword| schema[*keyword].as_object()).flat_map(Map::keys);
    names.map(|name| name.chars().count()).sum::<usize>() + enum_chars(schema)
}

fn numbered(count: usize, length: usize) -> Vec<String> {
    (0..count).map(|number| format!("{number:0length$}")).collect()
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({"type": "string"}), |inner, _| object_with(&inner))
}

pub(super) fn root_rules() -> Vec<ProviderRule> {
    vec![
        ProviderRule {
            text: "the root is an object",
            is_broken: |visit| visit.is_root && visit.schema["type"] != "object",
            rejected: || {
                vec![json!({"type": "string"}), json!({"type": ["object", "null"]}), json!({"properties": {}})]
            },
        },
        ProviderRule {
            text: "the root has no alternatives, no enumeration and no `not`",
            is_broken: |visit| {
                visit.is_root && ["oneOf", "anyOf", "allOf", "enum", "not"].iter().any(|keyword| visit.has(keyword))
            },
            rejected: || {
                let keywords = ["oneOf", "anyOf", "allOf", "enum", "not"];
                keywords.iter().map(|keyword| json!({"type": "object", *keyword: [{}]})).collect()
            },
        },
    ]
}

pub(crate) fn plain() -> Vec<ProviderRule> {
    root_rules()
}

pub(crate) fn strict() -> Vec<ProviderRule> {
    let mut rules = root_rules();
    rules.extend(structure_rules());
    rules.extend(value_rules());
    rules.extend(size_rules());
    rules
}

fn structure_rules() -> Vec<ProviderRule> {
    vec![
        ProviderRule {
            text: "only listed keywords",
            is_broken: |visit| visit.keys().any(|keyword| !KEYWORDS.contains(&keyword)),
            rejected: || {
                let schema = |keyword: &&str| object_with(&json!({"type": "string", *keyword: 1}));
                UNSUPPORTED.iter().chain(&["x-unknown", "$schema", "$id", "definitions"]).map(schema).collect()
            },
        },
        ProviderRule {
            text: "every object is closed",
            is_broken: |visit| visit.is_type("object") && visit.schema["additionalProperties"] != false,
            rejected: || {
                vec![
                    json!({"type": "object", "properties": {}, "required": []}),
                    object_with(&json!({"type": "object", "additionalProperties": {"type": "string"}})),
                ]
            },
        },
        ProviderRule {
            text: "every member is required",
            is_broken: |visit| {
                let required: Vec<&str> =
                    visit.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                visit.is_type("object") && !visit.property_names().eq(required.iter().copied())
            },
            rejected: || {
                let optional = json!({
                    "type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": false
                });
                vec![optional.clone(), object_with(&optional)]
            },
        },
        ProviderRule {
            text: "an array has typed items",
            is_broken: |visit| visit.is_type("array") && !is_typed(&visit.schema["items"]),
            rejected: || {
                let arrays = [json!({"type": "array"}), json!({"type": "array", "items": {}})];
                arrays.iter().map(object_with).collect()
            },
        },
        ProviderRule {
            text: "every schema has a type, alternatives or a reference",
            is_broken: |visit| !is_typed(visit.schema),
            rejected: || [json!({}), json!(true), json!({"description": "any"})].iter().map(object_with).collect(),
        },
        ProviderRule {
            text: "a reference has nothing beside it",
            is_broken: |visit| visit.has("$ref") && visit.keys().count() > 1,
            rejected: || vec![object_with(&json!({"$ref": "#/$defs/a", "description": "x"}))],
        },
        ProviderRule {
            text: "a reference leads to a definition or to the root",
            is_broken: |visit| {
                visit.schema["$ref"].as_str().is_some_and(|reference| {
                    let pointer = reference.strip_prefix('#');
                    pointer.is_none_or(|pointer| visit.root.pointer(pointer).is_none())
                })
            },
            rejected: || vec![object_with(&json!({"$ref": "#/$defs/a"})), object_with(&json!({"$ref": "https://x.y"}))],
        },
    ]
}

fn is_typed(schema: &Value) -> bool {
    ["type", "anyOf", "$ref", "enum", "const"].iter().any(|keyword| schema.get(*keyword).is_some())
}

fn value_rules() -> Vec<ProviderRule> {
    vec![
        ProviderRule {
            text: "only listed types",
            is_broken: |visit| {
                types(visit.schema).iter().any(|name| !name.as_str().is_some_and(|name| TYPES.contains(&name)))
            },
            rejected: || vec![object_with(&json!({"type": "any"})), object_with(&json!({"type": ["string", "file"]}))],
        },
        ProviderRule {
            text: "only listed formats",
            is_broken: |visit| {
                visit.has("format") && !visit.schema["format"].as_str().is_some_and(|format| FORMATS.contains(&format))
            },
            rejected: || {
                ["uri", "int32", "x"]
                    .iter()
                    .map(|format| object_with(&json!({"type": "string", "format": format})))
                    .collect()
            },
        },
        ProviderRule {
            text: "no look-around in patterns",
            is_broken: |visit| {
                let pattern = visit.schema["pattern"].as_str().unwrap_or_default();
                ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|opening| pattern.contains(opening))
            },
            rejected: || {
                let patterns = ["(?=a)", "(?!a)", "(?<=a)", "(?<!a)"];
                patterns.iter().map(|text| object_with(&json!({"type": "string", "pattern": text}))).collect()
            },
        },
        ProviderRule {
            text: "keywords stand beside the type that they restrict",
            is_broken: |visit: &Visit<'_>| {
                let belongs = [
                    (&["pattern"][..], &["string"][..]),
                    (
                        &["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
                        &["number", "integer"],
                    ),
                    (&["minItems", "maxItems", "items"], &["array"]),
                    (&["properties", "required", "additionalProperties"], &["object"]),
                ];
                belongs.iter().any(|(keywords, names)| {
                    keywords.iter().any(|keyword| visit.has(keyword)) && !names.iter().any(|name| visit.is_type(name))
                })
            },
            rejected: || {
                let schemas = [
                    json!({"type": "integer", "pattern": "a"}),
                    json!({"type": "string", "minimum": 1}),
                    json!({"type": "object", "minItems": 1}),
                    json!({"type": "string", "required": []}),
                ];
                schemas.iter().map(object_with).collect()
            },
        },
    ]
}

fn size_rules() -> Vec<ProviderRule> {
    vec![
        ProviderRule {
            text: "at most 5,000 members",
            is_broken: |visit| {
                visit.is_root
                    && total(visit.root, |schema| schema["properties"].as_object().map_or(0, Map::len)) > 5_000
            },
            rejected: || {
                let properties: Map<String, Value> =
                    numbered(5_001, 5).into_iter().map(|name| (name, json!({}))).collect();
                vec![json!({"type": "object", "properties": properties})]
            },
        },
        ProviderRule {
            text: "at most 10 levels",
            is_broken: |visit| visit.depth >= 10 && (visit.is_type("object") || visit.is_type("array")),
            rejected: || vec![nested(11)],
        },
        ProviderRule {
            text: "at most 120,000 characters of names and constants",
            is_broken: |visit| visit.is_root && total(visit.root, name_chars) > 120_000,
            rejected: || vec![object_with(&json!({"type": "string", "enum": ["x".repeat(120_000)]}))],
        },
        ProviderRule {
            text: "at most 1,000 enumerated values",
            is_broken: |visit| {
                visit.is_root && total(visit.root, |schema| schema["enum"].as_array().map_or(0, Vec::len)) > 1_000
            },
            rejected: || vec![object_with(&json!({"type": "string", "enum": numbered(1_001, 4)}))],
        },
        ProviderRule {
            text: "at most 15,000 characters in an enumeration of more than 250 strings",
            is_broken: |visit| {
                visit.schema["enum"].as_array().is_some_and(|values| values.len() > 250)
                    && enum_chars(visit.schema) > 15_000
            },
            rejected: || vec![object_with(&json!({"type": "string", "enum": numbered(251, 60)}))],
        },
    ]
}
