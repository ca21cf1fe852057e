//! Losses: every instance that a rendering accepts matches the tool's schema, or a reported loss says why not.
//!
//! The schemas combine keywords that change each other's meaning: closed `allOf` parts, key patterns, schemas for
//! further keys, and alternatives beside them.

use haft_core::{Dialect, LossKind, Rendered};
use haft_schema::Schema;
use haft_wire::{AnthropicDialect, GeminiDialect, OpenAiDialect};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::dialect::checker::dialects;
use crate::dialect::round_trip::Rendering;
use crate::seeded::for_all_from;

const NAMES: &[&str] = &["a", "b", "x_a", "x_b", "n_a"];

const PATTERNS: &[&str] = &["^x_", "^n_", "_a$", "^[a-z]+$"];

/// The dialects that rewrite schemas.
fn rewriting() -> [Box<dyn Dialect>; 4] {
    [
        Box::new(OpenAiDialect::Strict),
        Box::new(AnthropicDialect::Strict),
        Box::new(GeminiDialect::Parameters),
        Box::new(GeminiDialect::JsonSchema),
    ]
}

fn render(dialect: &dyn Dialect, schema: &Value) -> Rendered {
    dialect.render(&Schema::json(schema.clone()).unwrap()).unwrap()
}

fn names(object: &Value) -> Vec<&str> {
    object["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

fn has_loss(rendered: &Rendered, pointer: &str) -> bool {
    rendered.losses.iter().any(|loss| loss.pointer == pointer && loss.kind == LossKind::Keyword)
}

#[test]
fn the_pattern_of_keys_is_reported() {
    let labels = json!({
        "type": "object",
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": false,
    });
    let schema = json!({"type": "object", "properties": {"labels": labels}, "additionalProperties": false});
    for dialect in rewriting() {
        let rendered = render(&*dialect, &schema);
        let name = dialect.name();
        assert!(has_loss(&rendered, "/properties/labels/patternProperties"), "{name}: {:?}", rendered.losses);
        let description = rendered.json["properties"]["labels"]["description"].as_str().unwrap();
        assert!(description.contains(r#"Keys must match the regular expression "^x-"."#), "{name}: {description}");
    }
    let rendered = render(&GeminiDialect::JsonSchema, &schema);
    assert_eq!(rendered.json["properties"]["labels"]["additionalProperties"], json!({"type": "string"}));
}

#[test]
fn several_patterns_of_keys_are_reported() {
    let schema = json!({
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "patternProperties": {"^x-": {"type": "string"}, "^n-": {"type": "integer"}},
        "additionalProperties": false,
    });
    let rendered = render(&GeminiDialect::JsonSchema, &schema);
    assert!(has_loss(&rendered, "/patternProperties"), "{:?}", rendered.losses);
    for dialect in [&OpenAiDialect::Strict as &dyn Dialect, &AnthropicDialect::Strict, &GeminiDialect::Parameters] {
        let rendered = render(dialect, &schema);
        assert_eq!(rendered.losses[0].kind, LossKind::OpenObject, "{}", dialect.name());
    }
}

#[test]
fn a_closed_part_of_all_of_rejects_the_keys_of_the_others() {
    let schema = json!({
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false},
            {"type": "object", "properties": {"a": {"minLength": 1}, "b": {"type": "string"}}},
        ],
    });
    for dialect in rewriting() {
        let rendered = render(&*dialect, &schema);
        assert_eq!(names(&rendered.json), ["a"], "{}: {}", dialect.name(), rendered.json);
    }
}

#[test]
fn schemas_of_further_keys_apply_to_the_keys_of_other_parts() {
    let schema = json!({
        "type": "object",
        "properties": {"x_a": {"type": ["string", "integer"]}},
        "patternProperties": {"^x_": {"type": ["integer", "null"]}},
        "allOf": [{"properties": {"b": {}}, "required": ["b"]}],
        "additionalProperties": {"type": "boolean"},
    });
    for dialect in rewriting() {
        let rendered = render(&*dialect, &schema);
        let types = |name: &str| match &rendered.json["properties"][name]["type"] {
            Value::Array(names) => names[0].clone(),
            name => name.clone(),
        };
        assert_eq!(types("x_a"), "integer", "{}: {}", dialect.name(), rendered.json);
        assert_eq!(types("b"), "boolean", "{}: {}", dialect.name(), rendered.json);
    }
}

#[test]
fn a_required_key_that_is_rejected_is_a_fault() {
    let closed = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
    let schema = Schema::json(json!({"allOf": [closed, {"required": ["b"]}]})).unwrap();
    let alternative = json!({"anyOf": [{"allOf": [closed, {"required": ["b"]}]}, {"type": "string"}]});
    for dialect in rewriting() {
        assert_eq!(dialect.render(&schema).unwrap_err().message, "no value is valid", "{}", dialect.name());
        let rendered = render(&*dialect, &alternative);
        assert_eq!(rendered.json["properties"]["value"]["type"], "string", "{}", dialect.name());
    }
}

/// Schemas whose parts restrict each other.
fn combined() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec![
            json!({"type": "string"}),
            json!({"type": "integer"}),
            json!({"type": ["string", "null"]}),
            json!({"type": "boolean"}),
            json!({"type": "object"}),
            json!({"type": "array"}),
            json!({"enum": ["one", "Two", 3, null]}),
            json!({"enum": [{"a": 1}, "one"]}),
            json!({"const": "one"}),
            json!({"const": 3}),
            json!({"type": "string", "maxLength": 2}),
            json!({"minimum": 3}),
            json!({"minLength": 2, "minimum": 3}),
        ]),
        1 => prop::sample::select(vec![json!({}), json!(true), json!(false)]),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            5 => object(inner.clone()),
            3 => prop::collection::vec(prop_oneof![3 => object(inner.clone()).boxed(), 1 => inner.clone().boxed()], 1..4)
                .prop_map(|parts| json!({"allOf": parts})),
            2 => (object(inner.clone()), prop::sample::select(vec!["allOf", "anyOf", "oneOf"]), prop::collection::vec(object(inner.clone()), 1..3))
                .prop_map(|(mut schema, keyword, parts)| {
                    schema[keyword] = parts.into();
                    schema
                }),
            2 => (prop::sample::select(vec!["anyOf", "oneOf"]), prop::collection::vec(inner.clone(), 1..3))
                .prop_map(|(keyword, parts)| json!({keyword: parts})),
            1 => inner.clone().prop_map(|inner| json!({"anyOf": [inner, {"type": "null"}]})),
            1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let members = |names: &'static [&'static str], most: usize| {
        let names = prop::sample::subsequence(names, 0..=most);
        (names, prop::collection::vec(inner.clone(), most)).prop_map(|(names, schemas)| {
            names.into_iter().map(str::to_owned).zip(schemas).collect::<Map<String, Value>>()
        })
    };
    let others = prop_oneof![
        2 => Just(None),
        3 => Just(Some(json!(false))),
        1 => Just(Some(json!(true))),
        2 => inner.clone().prop_map(Some),
    ];
    let required = prop::sample::subsequence(NAMES, 0..2);
    (any::<bool>(), members(NAMES, 3), members(PATTERNS, 2), others, required).prop_map(
        |(is_typed, properties, patterns, others, required)| {
            let mut schema = Map::new();
            let stated = [
                ("type", is_typed.then(|| json!("object"))),
                ("properties", (!properties.is_empty()).then(|| properties.into())),
                ("patternProperties", (!patterns.is_empty()).then(|| patterns.into())),
                ("additionalProperties", others),
                ("required", (!required.is_empty()).then(|| json!(required))),
            ];
            for (keyword, value) in stated {
                schema.extend(value.map(|value| (keyword.to_owned(), value)));
            }
            schema.into()
        },
    )
}

/// Asserts that instances of renderings are valid, or that a loss explains why not.
fn check(seed: u64, cases: u32) {
    for_all_from(seed, cases, combined(), |json| {
        let schema = Schema::json(json).unwrap();
        for (dialect, _) in dialects() {
            let Ok(rendered) = dialect.render(&schema) else { continue };
            Rendering { dialect: dialect.name(), schema: &schema, rendered }.assert_reads_instances()?;
        }
        Ok(())
    });
}

#[test]
fn instances_of_combined_schemas_are_read() {
    check(26, 400);
}
