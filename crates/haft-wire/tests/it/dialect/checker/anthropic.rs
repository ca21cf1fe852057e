//! The rules of Anthropic.

use serde_json::json;

use super::{ProviderRule, is_recursive, object_with};

const KEYWORDS: &[&str] = &[
    "type",
    "description",
    "title",
    "enum",
    "const",
    "anyOf",
    "allOf",
    "$ref",
    "$defs",
    "definitions",
    "default",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "pattern",
    "format",
    "minItems",
];

const FORMATS: &[&str] = &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

const UNSUPPORTED: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "prefixItems",
];

fn is_plain_key(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

pub(crate) fn plain() -> Vec<ProviderRule> {
    vec![
        ProviderRule {
            text: "the root is an object",
            is_broken: |visit| visit.is_root && visit.schema["type"] != "object",
            rejected: || vec![json!({"type": "array"}), json!({})],
        },
        ProviderRule {
            text: "the root has no alternatives",
            is_broken: |visit| visit.is_root && ["oneOf", "anyOf", "allOf"].iter().any(|keyword| visit.has(keyword)),
            rejected: || {
                let schema = |keyword: &&str| json!({"type": "object", *keyword: [{}]});
                ["oneOf", "anyOf", "allOf"].iter().map(schema).collect()
            },
        },
        ProviderRule {
            text: "the names of the root's members are plain",
            is_broken: |visit| visit.is_root && visit.property_names().any(|name| !is_plain_key(name)),
            rejected: || {
                let names = ["", "a b", "$ref", "é", &"x".repeat(65)].map(String::from);
                names.iter().map(|name| json!({"type": "object", "properties": {name: {}}})).collect()
            },
        },
    ]
}

pub(crate) fn strict() -> Vec<ProviderRule> {
    let mut rules = plain();
    rules.extend(structure_rules());
    rules.extend(value_rules());
    rules
}

fn structure_rules() -> Vec<ProviderRule> {
    vec![
        ProviderRule {
            text: "only listed keywords",
            is_broken: |visit| visit.keys().any(|keyword| !KEYWORDS.contains(&keyword)),
            rejected: || {
                let schema = |keyword: &&str| object_with(&json!({"type": "string", *keyword: 1}));
                UNSUPPORTED.iter().chain(&["x-unknown"]).map(schema).collect()
            },
        },
        ProviderRule {
            text: "every object is closed",
            is_broken: |visit| visit.is_type("object") && visit.schema["additionalProperties"] != false,
            rejected: || {
                vec![json!({"type": "object"}), object_with(&json!({"type": "object", "additionalProperties": {}}))]
            },
        },
        ProviderRule {
            text: "references are local",
            is_broken: |visit| {
                let reference = visit.schema["$ref"].as_str();
                reference.is_some_and(|text| text.strip_prefix('#').is_none_or(|at| visit.root.pointer(at).is_none()))
            },
            rejected: || {
                vec![object_with(&json!({"$ref": "https://example.com/a"})), object_with(&json!({"$ref": "#/x"}))]
            },
        },
        ProviderRule {
            text: "references are not recursive",
            is_broken: |visit| visit.schema["$ref"].as_str().is_some_and(|text| is_recursive(visit.root, text)),
            rejected: || {
                let list = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/list"}}});
                vec![json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/list"}}, "$defs": {"list": list}})]
            },
        },
        ProviderRule {
            text: "allOf has no references",
            is_broken: |visit| {
                visit.schema["allOf"].as_array().into_iter().flatten().any(|part| part.get("$ref").is_some())
            },
            rejected: || vec![object_with(&json!({"allOf": [{"$ref": "#"}]}))],
        },
    ]
}

fn value_rules() -> Vec<ProviderRule> {
    vec![
        ProviderRule {
            text: "every schema has a type, alternatives or a reference",
            is_broken: |visit| {
                !["type", "anyOf", "allOf", "$ref", "enum", "const"].iter().any(|keyword| visit.has(keyword))
            },
            rejected: || vec![object_with(&json!({})), object_with(&json!(true))],
        },
        ProviderRule {
            text: "enumerations have neither objects nor arrays",
            is_broken: |visit| {
                let values = visit.schema["enum"].as_array().into_iter().flatten();
                values.into_iter().any(|value| value.is_object() || value.is_array())
            },
            rejected: || vec![object_with(&json!({"enum": [{}]})), object_with(&json!({"enum": ["a", []]}))],
        },
        ProviderRule {
            text: "only listed formats",
            is_broken: |visit| {
                visit.has("format") && !visit.schema["format"].as_str().is_some_and(|format| FORMATS.contains(&format))
            },
            rejected: || vec![object_with(&json!({"type": "string", "format": "regex"}))],
        },
        ProviderRule {
            text: "minItems is 0 or 1",
            is_broken: |visit| visit.schema["minItems"].as_f64().is_some_and(|least| least > 1.0),
            rejected: || vec![object_with(&json!({"type": "array", "items": {"type": "string"}, "minItems": 2}))],
        },
        ProviderRule {
            text: "patterns are simple",
            is_broken: |visit| visit.schema["pattern"].as_str().is_some_and(|pattern| !is_simple(pattern)),
            rejected: || {
                let patterns = ["(?=a)", "(?!a)", "(?<=a)", r"(a)\1", r"\bx", r"\Bx", "a{1,5000}"];
                patterns.iter().map(|text| object_with(&json!({"type": "string", "pattern": text}))).collect()
            },
        },
    ]
}

/// Looks for what is listed as unsupported.
fn is_simple(pattern: &str) -> bool {
    let has_large_bound = pattern.split('{').skip(1).any(|rest| {
        let bounds = rest.split('}').next().unwrap_or_default();
        bounds.split(',').any(|bound| bound.parse::<u64>().is_ok_and(|bound| bound > 1_000))
    });
    let escapes: Vec<char> = pattern.split('\\').skip(1).filter_map(|rest| rest.chars().next()).collect();
    !has_large_bound
        && !pattern.contains("(?=")
        && !pattern.contains("(?!")
        && !pattern.contains("(?<")
        && !escapes.iter().any(|char| matches!(char, 'b' | 'B' | 'k' | '1'..='9'))
}
