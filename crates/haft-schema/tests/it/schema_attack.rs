//! Schemas and values that are made to be expensive: each ends in an ordinary result, however it is built.
//!
//! No clock is used. A check that exceeded its budget would not end within the time of a test run at all: the work in
//! these cases doubles with every level.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use haft_schema::{DecodeOptions, Issues, JsonText, Limits, Schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Reads text that must be rejected.
#[track_caller]
fn rejected(schema: &Schema, text: &str) -> Issues {
    schema.decode::<Value>(text, &deepest()).expect_err("is rejected")
}

/// Returns options with the greatest depth.
fn deepest() -> DecodeOptions {
    DecodeOptions::default().limits(Limits::default().max_depth(256))
}

/// Asserts that the budget was exhausted, or that it was not and the fault was found.
#[track_caller]
fn assert_ends(issues: &Issues, is_fault: impl Fn(&str, &str) -> bool) {
    let ends = issues.iter().any(|issue| issue.keyword == "budget" || is_fault(&issue.pointer, &issue.keyword));
    assert!(ends, "{issues}");
}

/// Asserts that a schema is rejected because it costs too much.
#[track_caller]
fn assert_too_costly_to_build(schema: Value) {
    let error = Schema::json(schema).expect_err("is rejected");
    let keywords: Vec<&str> = error.issues().iter().map(|issue| issue.keyword.as_str()).collect();
    assert_eq!(keywords, ["budget"], "{error}");
}

const DRAFTS: [&str; 3] = [
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Creates a filter as search tools have it: a comparison, or filters joined by `and` or `or`.
fn filter(draft: &str) -> Schema {
    let joined = |word: &str| {
        json!({
            "type": "object", "required": [word], "unevaluatedProperties": false,
            "properties": {word: {"type": "array", "items": {"$ref": "#/definitions/filter"}}},
        })
    };
    let comparison = json!({
        "type": "object", "required": ["field", "value"], "additionalProperties": false,
        "properties": {"field": {"type": "string"}, "value": {"type": ["string", "number"]}},
    });
    Schema::json(json!({
        "$schema": draft,
        "$ref": "#/definitions/filter",
        "definitions": {"filter": {"anyOf": [joined("and"), joined("or"), comparison, {"$ref": "#/definitions/not"}],
            "title": "a filter"},
            "not": {"type": "object", "required": ["not"], "properties": {"not": {"$ref": "#/definitions/filter"}}}},
    }))
    .unwrap()
}

#[test]
fn a_filter_that_is_wrong_at_a_leaf_is_rejected_for_it_however_deep() {
    for schema in DRAFTS.map(filter) {
        for depth in [14, 16, 18, 20, 40, 60, 120] {
            let open: String =
                (0..depth).map(|level| if level % 2 == 0 { r#"{"and":["# } else { r#"{"or":["# }).collect();
            let text = format!(r#"{open}{{"field":"a","value":true}}{}"#, "]}".repeat(depth));
            let issues = rejected(&schema, &text);
            assert!(issues.len() <= 2 && issues.iter().all(|issue| issue.keyword != "budget"), "{depth}: {issues}");
            assert!(schema.decode::<Value>(&text.replace("true", "1"), &deepest()).is_ok(), "{depth}");
        }
    }
}

/// A filter in which both alternatives at each level continue, so that neither can be excluded early.
#[test]
fn ambiguous_alternatives_are_not_tried_in_every_combination() {
    for draft in DRAFTS {
        let leads_on = |more: &str| {
            json!({"type": "object", "properties": {"a": {"$ref": "#/definitions/n"}, more: {"type": "integer"}},
                "required": ["a"], "unevaluatedProperties": false})
        };
        let node = json!({"oneOf": [leads_on("b"), leads_on("c"), {"type": "string"}]});
        let schema =
            Schema::json(json!({"$schema": draft, "$ref": "#/definitions/n", "definitions": {"n": node}})).unwrap();
        for depth in [14, 20, 60, 120] {
            let text = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
            assert!(!rejected(&schema, &text).is_empty());
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only read into")]
enum Tree {
    Leaf(bool),
    ByNumber(BTreeMap<u32, Tree>),
    Numbers { numbers: BTreeMap<u32, Tree> },
    Named { name: Box<Tree> },
}

#[test]
fn a_recursive_untagged_type_is_tried_once_at_each_position() {
    let schema = Schema::of::<Tree>().unwrap();
    let decode = |text: &str| schema.decode::<Tree>(text, &deepest()).map(drop);
    for depth in [10, 20, 60, 120] {
        for open in [r#"{"1":"#, r#"{"name":"#] {
            let nested = |leaf: &str| format!("{}{leaf}{}", open.repeat(depth), "}".repeat(depth));
            // To serde, a key within an untagged type is a string and never a number.
            assert_eq!(decode(&nested("true")).is_ok(), open.contains("name"), "{depth}");
            assert!(!decode(&nested("\"wrong\"")).unwrap_err().is_empty(), "{depth}");
        }
    }
}

/// Creates `n` definitions that each apply the next one twice.
fn diamonds(word: &str, n: usize, last: &Value) -> Map<String, Value> {
    let mut definitions = Map::new();
    for level in 0..n {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({word: [next, next]}));
    }
    definitions.insert(format!("d{n}"), last.clone());
    definitions
}

#[test]
fn diamonds_beside_unevaluated_properties_are_walked_once() {
    let last = json!({"properties": {"a": {"type": "integer"}}});
    for n in [20, 40, 100, 200] {
        for word in ["allOf", "anyOf"] {
            for draft in &DRAFTS[1..] {
                let schema = Schema::json(json!({
                    "$schema": draft, "$ref": "#/$defs/d0", "unevaluatedProperties": false,
                    "$defs": diamonds(word, n, &last),
                }))
                .unwrap();
                assert!(schema.check(&json!({"a": 1})).is_ok(), "{word} {n}");
                let issues = schema.check(&json!({"a": 1, "b": 1})).unwrap_err();
                assert!(issues.iter().any(|issue| issue.pointer == "/b"), "{word} {n}: {issues}");
                let issues = schema.check(&json!({"a": "1"})).unwrap_err();
                assert!(
                    issues.len() <= 2 && issues.iter().all(|issue| issue.keyword != "budget"),
                    "{word} {n}: {issues}"
                );
            }
        }
    }
}

#[test]
fn unevaluated_properties_at_every_level_end() {
    let mut definitions = Map::new();
    for level in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions
            .insert(format!("d{level}"), json!({"anyOf": [next, next], "unevaluatedProperties": {"type": "integer"}}));
    }
    definitions.insert("d60".to_owned(), json!({"properties": {"a": {}}}));
    let schema = Schema::json(json!({"$ref": "#/$defs/d0", "$defs": definitions})).unwrap();
    assert!(schema.check(&json!({"a": "1", "b": 1})).is_ok());
    assert_ends(&schema.check(&json!({"a": "1", "b": "1"})).unwrap_err(), |pointer, _| pointer == "/b");
}

#[test]
fn patterns_draw_on_the_budget_of_the_whole_check() {
    let hard = ["^(?:(a|aa)+)+(?=b)c$", r"^(a+)+\1\1b$", r"^(?:(a*)*\1)*b$", r"^(.*)(.*)(.*)\3\2\1!$"];
    for pattern in hard {
        let schema = Schema::json(json!({"items": {"type": "string", "pattern": pattern}})).unwrap();
        let strings: Vec<String> = (0..36).map(|length| "a".repeat(980 + length)).collect();
        let issues = rejected(&schema, &json!(strings).to_string());
        assert_ends(&issues, |_, keyword| keyword == "pattern");
        assert!(issues.len() <= strings.len() + 1);
    }
    let keys: Map<String, Value> = (0..36).map(|length| ("a".repeat(980 + length), json!(1))).collect();
    let by_key = Schema::json(json!({"patternProperties": {hard[0]: false}, "additionalProperties": false})).unwrap();
    assert_ends(&rejected(&by_key, &json!(keys).to_string()), |_, keyword| keyword == "additionalProperties");
}

#[test]
fn schemas_that_are_many_in_one_are_rejected_when_they_are_built() {
    // Each of these resources is reached in the scope of every set of the others.
    let mut definitions = Map::new();
    for at in 0..18 {
        let others: Vec<Value> = (0..18).map(|other| json!({"$ref": format!("r{other}")})).collect();
        let (id, anchor) = (format!("r{at}"), format!("a{at}"));
        definitions
            .insert(id.clone(), json!({"$id": id, "$dynamicAnchor": anchor, "properties": {"x": {"anyOf": others}}}));
    }
    assert_too_costly_to_build(json!({"$id": "http://schemas.test/root", "$ref": "r0", "$defs": definitions}));
    // A short pattern that expands to a much longer one.
    let error = Schema::json(json!({"pattern": "^(?:(?:(?:a{1000}){1000}){1000}){1000}$"})).unwrap_err();
    assert!(error.issues().iter().all(|issue| issue.pointer.is_empty() || issue.pointer == "/pattern"), "{error}");
}

#[test]
fn diamonds_are_built_once() {
    for word in ["allOf", "anyOf", "oneOf"] {
        let of = |n| json!({"$ref": "#/$defs/d0", "$defs": diamonds(word, n, &json!({"type": "string"}))});
        // Too many for a check, but building costs no more than their size.
        let error = Schema::json(of(2_000)).unwrap_err();
        assert!(error.to_string().contains("make it flatter"), "{error}");
        let schema = Schema::json(of(200)).unwrap();
        assert_ends(&schema.check(&json!(1)).unwrap_err(), |_, keyword| keyword == "type" || keyword == word);
    }
}

#[test]
fn results_are_checked_within_the_same_bounds() {
    let depth = 60;
    let result = format!("{}true{}", r#"{"not":"#.repeat(depth), "}".repeat(depth));
    let issues = filter(DRAFTS[1]).check_output(&JsonText::parse(&result).unwrap()).unwrap_err();
    assert!(!issues.is_empty());
}
