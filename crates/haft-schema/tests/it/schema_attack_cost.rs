//! Schemas and values that once cost far more than their size. Their growth is measured by `cargo xtask growth`, and
//! others are searched for by the fuzz target `schema_cost`.

use haft_schema::{DecodeOptions, Issues, Schema};
use serde_json::{Map, Value, json};

fn definitions(count: usize, definition: impl Fn(usize) -> Value) -> Map<String, Value> {
    (0..count).map(|n| (format!("d{n}"), definition(n))).collect()
}

fn size(issues: &Issues) -> usize {
    let each = issues.as_slice().iter();
    each.map(|issue| issue.pointer.len() + issue.expected.len() + issue.found.len() + issue.message.len()).sum()
}

/// Each was a table by type with six entries, and building searched all of them at every level.
#[test]
fn a_chain_of_single_alternatives_builds() {
    for keyword in ["anyOf", "oneOf"] {
        for count in [40, 2_000] {
            let link = |n: usize| json!({keyword: [{"$ref": format!("#/$defs/d{}", n + 1)}]});
            let definition = |n| if n + 1 == count { json!({"type": "string"}) } else { link(n) };
            let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions(count, definition)});
            let schema = Schema::json(schema).unwrap();
            assert!(schema.check(&json!("text")).is_ok());
            assert!(schema.check(&json!(1)).is_err());
            assert!(schema.decode::<Value>("null", &DecodeOptions::default()).is_err());
        }
    }
}

/// Following a reference costs as much as its length, wherever it is followed from.
#[test]
fn a_long_reference_with_many_uses_is_rejected() {
    let long = "x".repeat(50_000);
    let branches = vec![json!({"$ref": "#/$defs/short"}); 5_000];
    let definitions = json!({"short": {"$ref": format!("#/$defs/{long}")}, &*long: {"type": "string"}});
    let error = Schema::json(json!({"anyOf": branches, "$defs": definitions})).unwrap_err();
    assert_eq!(error.issues().as_slice()[0].keyword, "budget");
}

/// The whole path of every subschema was stored, which took gigabytes where they are deep.
#[test]
fn many_deep_subschemas_take_memory_proportional_to_their_size() {
    let wide: Map<String, Value> = (0..20_000).map(|n| (n.to_string(), json!({}))).collect();
    let deep = (0..60).fold(json!({"properties": wide}), |inner, _| json!({"properties": {"k".repeat(250): inner}}));
    let error = Schema::json(deep).unwrap_err();
    assert_eq!(error.issues().as_slice()[0].keyword, "budget");
}

/// A subschema of a few bytes is a whole node.
#[test]
fn many_short_subschemas_build() {
    let schemas: [fn(usize) -> Value; 4] = [
        |n| json!({"not": {"const": n}}),
        |n| json!({"not": {"not": {"minLength": n}}}),
        |n| json!({"anyOf": [{"const": n}, {"minimum": n}]}),
        |_| json!({"items": {"items": {"type": "null"}}}),
    ];
    for schema in schemas {
        for count in [3_000, 9_000] {
            let properties: Map<String, Value> = (0..count).map(|n| (format!("p{n}"), schema(n))).collect();
            let schema = Schema::json(json!({"properties": properties})).unwrap();
            assert!(schema.check(&json!({})).is_ok());
        }
    }
}

/// Names of dynamic anchors were compared with each other for every subschema.
#[test]
fn many_dynamic_anchors_build() {
    let count = 3_000;
    let definition = |n: usize| json!({"$dynamicAnchor": format!("a{n}"), "items": {"$dynamicRef": format!("#a{n}")}});
    let schema = json!({"$dynamicRef": "#a7", "$defs": definitions(count, definition)});
    assert!(Schema::json(schema).unwrap().check(&json!([[[]]])).is_ok());
}

/// Alternatives that are constants are one set of values, of any type.
#[test]
fn constants_of_any_type_are_distinguished_by_value() {
    let any =
        Schema::json(json!({"anyOf": [{"const": 1}, {"const": 1.0, "title": "one"}, {"enum": [[2], null]}]})).unwrap();
    let one = Schema::json(json!({"oneOf": [{"const": 1}, {"const": 1.0}, {"enum": [[2], null]}]})).unwrap();
    for (value, fits_any, fits_one) in
        [(json!(1.0), true, false), (json!([2.0]), true, true), (json!(null), true, true), (json!([1]), false, false)]
    {
        assert_eq!((any.check(&value).is_ok(), one.check(&value).is_ok()), (fits_any, fits_one), "{value}");
    }
    let issues = any.check(&json!("x")).unwrap_err();
    assert!(issues.as_slice()[0].message.contains("one of 1, 1.0, [2], null"), "{issues}");
    let draft_4 =
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "anyOf": [{"const": "a"}, {"const": "b"}]});
    assert!(Schema::json(draft_4).unwrap().check(&json!("c")).is_ok(), "no keyword of draft 4");
}

#[test]
fn the_issues_of_a_rejection_stay_small_together() {
    let long = "long ".repeat(20_000);
    let list: Vec<Value> = (0..3_000).map(|n| json!([n])).collect();
    let objects: Vec<String> = (0..3_000).map(|n| format!(r#"{{"{}{n}":1,"a":1,"a":2}}"#, "k".repeat(200))).collect();
    let nested = format!("{}[{}]{}", r#"{"key_of_some_length":"#.repeat(60), objects.join(","), "}".repeat(60));
    let texts = [Value::from(list).to_string(), nested, format!("[{}]", vec!["{}"; 3_000].join(","))];
    for schema in [
        json!({"items": {"const": long}}),
        json!({"items": {"enum": [long, 1]}}),
        json!({"items": {"pattern": long[..9_000], "required": [long]}}),
        json!({"items": {"properties": {&*long: {}}, "additionalProperties": false, "minProperties": 9}}),
        json!({"items": {"dependentRequired": {"a": [long]}, "type": "string"}}),
    ] {
        let schema = Schema::json(schema).unwrap();
        for text in &texts {
            if let Err(issues) = schema.decode::<Value>(text, &DecodeOptions::default()) {
                assert!(size(&issues) <= 300 << 10, "{}", size(&issues));
            }
        }
        assert!(schema.decode::<Value>(&texts[1], &DecodeOptions::default()).is_err());
    }
}

#[test]
fn the_fault_of_a_schema_quotes_little_of_it() {
    let long = "long ".repeat(100_000);
    for schema in
        [json!({"$schema": {"a": long}}), json!({"$schema": long}), json!({"type": [long]}), json!({"$ref": long})]
    {
        let error = Schema::json(schema).unwrap_err();
        assert!(size(error.issues()) <= 2_048, "{}", size(error.issues()));
    }
}

/// Every string of a result had a separate budget.
#[test]
fn the_patterns_of_a_result_draw_on_one_budget() {
    let schema = Schema::json(json!({"items": {"pattern": "^(?:(a|aa)+)+\\1b|a$"}})).unwrap();
    let fits = |count: usize, length: usize| schema.encode(&vec!["a".repeat(length); count]).is_ok();
    let longest = (1..200).take_while(|length| fits(1, *length)).last().unwrap();
    assert!(longest < 199, "a single string can be too costly");
    assert!(!fits(100, longest));
}

#[test]
fn an_unknown_key_is_compared_with_the_declared_ones_while_that_is_cheap() {
    let properties: Map<String, Value> = (0..1_000).map(|n| (format!("property_{n}"), json!({}))).collect();
    let schema = Schema::json(json!({"properties": properties, "additionalProperties": false})).unwrap();
    let object: Map<String, Value> = (0..900).map(|n| (format!("propperty_{n}"), json!(1))).collect();
    let issues = schema.check(&object.into()).unwrap_err();
    let suggests = |at: usize| issues.as_slice()[at].message.contains("did you mean \"property_");
    assert!(suggests(0) && suggests(10));
    assert!(!suggests(899));
}
