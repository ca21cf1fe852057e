//! Schemas and values that haft once handled wrongly, found by comparing it with another checker.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use haft_schema::{DecodeOptions, Repairs, Schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Asserts that a schema is rejected, at one position.
#[track_caller]
fn assert_rejected_at(schema: Value, pointer: &str) {
    let text = schema.to_string();
    let error = Schema::json(schema).expect_err(&text);
    let pointers: Vec<&str> = error.issues().iter().map(|issue| issue.pointer.as_str()).collect();
    assert_eq!(pointers, [pointer], "{text}");
}

#[test]
fn an_empty_list_under_items_is_no_schema() {
    for draft in ["http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2019-09/schema"] {
        assert_rejected_at(json!({"$schema": draft, "items": []}), "/items");
    }
}

#[test]
fn an_exclusive_bound_of_draft_4_needs_the_bound() {
    let draft = "http://json-schema.org/draft-04/schema#";
    assert_rejected_at(json!({"$schema": draft, "exclusiveMinimum": true}), "/exclusiveMinimum");
    let definition = json!({"$schema": draft, "definitions": {"a": {"minimum": 1, "exclusiveMaximum": false}}});
    assert_rejected_at(definition, "/definitions/a/exclusiveMaximum");
    let schema = Schema::json(json!({"$schema": draft, "maximum": 1, "exclusiveMaximum": true})).unwrap();
    assert!(schema.check(&json!(0)).is_ok() && schema.check(&json!(1)).is_err());
}

#[test]
fn a_reference_must_lead_to_a_schema() {
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"] {
        let schema = json!({"$schema": draft, "items": [{"type": "string"}], "properties": {"a": {"$ref": "#/items"}}});
        assert_rejected_at(schema, "/properties/a/$ref");
    }
    assert_rejected_at(json!({"minimum": 1, "$defs": {"a": {"$ref": "#/minimum"}}}), "/$defs/a/$ref");
    let draft = "http://json-schema.org/draft-04/schema#";
    let boolean = json!({"$schema": draft, "additionalProperties": false, "items": {"$ref": "#/additionalProperties"}});
    assert_rejected_at(boolean, "/items/$ref");
    let schema =
        Schema::json(json!({"additionalProperties": false, "items": {"$ref": "#/additionalProperties"}})).unwrap();
    assert!(schema.check(&json!([])).is_ok() && schema.check(&json!([1])).is_err());
}

#[test]
fn a_float_that_the_schema_forbids_reaches_no_handler() {
    let between = json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 5});
    for schema in [between.clone(), json!({"allOf": [between]}), json!({"not": {"enum": [0, 5]}})] {
        let schema = Schema::json(schema).unwrap();
        let read = |text: &str| schema.decode::<f64>(text, &DecodeOptions::default());
        for text in ["4.99999999999999999999", "1e-400", "0.0000000000000000000001e-400"] {
            assert!(read(text).is_err(), "{text} for {}", schema.as_json());
        }
        assert_eq!(read("4.999999999999").unwrap().value.to_string(), "4.999999999999");
        assert_eq!(read("1.00000000000000000000001").unwrap().value.to_string(), "1");
    }
}

#[test]
fn a_repaired_float_must_fit_as_it_is_rounded() {
    let schema = Schema::json(json!({"type": "number", "exclusiveMaximum": 5})).unwrap();
    let options = DecodeOptions::default().repairs(Repairs::all());
    let read = |text: &str| schema.decode::<f64>(text, &options).map(|decoded| decoded.value.to_string());
    assert_eq!(read(r#""4.5""#).unwrap(), "4.5");
    assert!(read(r#""4.99999999999999999999""#).is_err());
}

#[test]
fn minus_zero_is_an_integer() {
    let schema = Schema::json(json!({"type": "integer"})).unwrap();
    let options = DecodeOptions::default();
    for text in ["-0", "-0.0", "-0e5"] {
        assert_eq!(schema.decode::<i64>(text, &options).unwrap().value, 0, "{text}");
        assert_eq!(schema.decode::<u8>(text, &options).unwrap().value, 0, "{text}");
        let tree = schema.decode::<Value>(text, &options).unwrap().value;
        assert_eq!(tree.as_f64().unwrap().abs().to_string(), "0", "{text}");
    }
}

#[test]
fn a_float_stays_one_where_the_schema_demands_no_integer() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Mixed {
        count: i64,
        share: f64,
        #[serde(default)]
        any: Value,
    }
    // The integer that is written as a float sends the whole text through the rewriting.
    for count in ["2", "2.0"] {
        let text = format!(r#"{{"count": {count}, "share": -0.0}}"#);
        let mixed = Schema::of::<Mixed>().unwrap().decode::<Mixed>(&text, &DecodeOptions::default()).unwrap().value;
        assert_eq!((mixed.count, mixed.share.is_sign_negative()), (2, true), "{text}");
    }
    let text = r#"{"count": 2.0, "share": -0, "any": [-0.0]}"#;
    let repairs = DecodeOptions::default().repairs(Repairs::all());
    let quoted = text.replace("2.0", "\"2.0\"");
    for (text, options) in [(text, DecodeOptions::default()), (quoted.as_str(), repairs)] {
        let mixed = Schema::of::<Mixed>().unwrap().decode::<Mixed>(text, &options).unwrap().value;
        assert_eq!((mixed.count, mixed.share.is_sign_negative()), (2, true), "{text}");
        assert_eq!(mixed.any[0].as_f64().map(f64::is_sign_negative), Some(true), "{text}");
    }
}

#[test]
fn an_untagged_enum_takes_a_float_for_the_variant_that_serde_chooses() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Amount {
        Whole(i64),
        Part(f64),
        Named { whole: i64, by: i64 },
        Shared { whole: f64, by: i64 },
    }
    let schema = Schema::of::<Vec<Amount>>().unwrap();
    let read = |text: &str| schema.decode::<Vec<Amount>>(text, &DecodeOptions::default()).map(|read| read.value);
    let shared = |whole, by| Amount::Shared { whole, by };
    // The last one is rejected by serde, and allowed by the schema. With exact numbers serde rejects most.
    for (text, amounts) in [
        ("[-1.0]", vec![Amount::Part(-1.0)]),
        ("[-1]", vec![Amount::Whole(-1)]),
        ("[-0.0, 1e3]", vec![Amount::Part(-0.0), Amount::Part(1000.0)]),
        (r#"[{"whole": 1.0, "by": 2}]"#, vec![shared(1.0, 2)]),
        (r#"[{"whole": 1, "by": 2}]"#, vec![Amount::Named { whole: 1, by: 2 }]),
        (r#"[{"whole": 1.0, "by": 2.0}]"#, vec![shared(1.0, 2)]),
    ] {
        assert_eq!(read(text).unwrap(), amounts, "{text}");
    }
}

#[test]
fn a_float_becomes_an_integer_where_only_the_type_demands_it() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Loose {
        #[schemars(with = "f64")]
        count: i64,
        #[schemars(with = "Value")]
        other: i64,
    }
    let schema = Schema::of::<Loose>().unwrap();
    let loose = schema.decode::<Loose>(r#"{"count": 3.0, "other": -4.0}"#, &DecodeOptions::default()).unwrap().value;
    assert_eq!((loose.count, loose.other), (3, -4));
}

#[test]
fn an_untagged_alternative_is_known_by_its_keys() {
    let filters = json!({"type": "array", "items": {"$ref": "#/$defs/filter"}});
    let schema = Schema::json(json!({
        "$ref": "#/$defs/filter",
        "$defs": {"filter": {"anyOf": [
            {"type": "object", "properties": {"and": filters}, "required": ["and"], "additionalProperties": false},
            {"type": "object", "properties": {"or": filters}, "required": ["or"], "additionalProperties": false},
            {
                "type": "object",
                "properties": {"field": {"type": "string"}, "op": {"enum": ["eq", "lt"]}, "value": {}},
                "required": ["field", "op", "value"],
                "additionalProperties": false,
            },
        ]}},
    }))
    .unwrap();
    let wrong = |value: Value| schema.check(&value).unwrap_err().to_string();
    let leaf = json!({"field": "a", "op": "equals", "value": 1});
    assert_eq!(wrong(leaf.clone()), r#"/op: must be one of "eq", "lt", not "equals""#);
    let deep = json!({"and": [{"or": [{"and": [leaf]}]}]});
    assert_eq!(wrong(deep), r#"/and/0/or/0/and/0/op: must be one of "eq", "lt", not "equals""#);
    let missing = wrong(json!({"field": "a", "value": 1}));
    assert_eq!(missing, r#"the key "op" (a string) is missing and must be given"#);
    assert_eq!(wrong(json!({})), "matches none of the 3 forms that are allowed here; look at the schema of this value");
}

#[test]
fn faults_of_patterns_come_with_all_others() {
    let error = Schema::json(json!({
        "properties": {"a": {"pattern": "("}, "b": {"minimum": "1"}, "c": {"$ref": "#/nope"}},
        "patternProperties": {"[z-a]": {}},
    }))
    .unwrap_err();
    let mut pointers: Vec<&str> = error.issues().iter().map(|issue| issue.pointer.as_str()).collect();
    pointers.sort_unstable();
    assert_eq!(
        pointers,
        ["/patternProperties", "/properties/a/pattern", "/properties/b/minimum", "/properties/c/$ref"]
    );
}

#[test]
fn a_list_under_items_of_the_newest_draft_comes_with_advice() {
    let error = Schema::json(json!({"items": [{}, {}]})).unwrap_err();
    assert!(error.to_string().contains("a list of schemas goes under `prefixItems`"), "{error}");
}

#[test]
fn a_schema_that_no_value_could_be_checked_by_is_rejected_when_it_is_built() {
    let link = |n: usize| json!({"allOf": [{"$ref": format!("#/$defs/d{}", n + 1)}, {"minProperties": 1}]});
    let mut definitions: serde_json::Map<String, Value> = (0..2_000).map(|n| (format!("d{n}"), link(n))).collect();
    definitions.insert("d2000".to_owned(), json!({"type": "object"}));
    let error = Schema::json(json!({"$ref": "#/$defs/d0", "$defs": definitions})).unwrap_err();
    assert!(error.to_string().contains("make it flatter"), "{error}");
}
