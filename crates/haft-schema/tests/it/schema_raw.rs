//! Raw JSON Schemas: kept to the byte, enforced in full, and rejected whole when they can't be.

use haft_schema::{DecodeOptions, Schema, SchemaError, Validation};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn faults(error: &SchemaError) -> Vec<(&str, &str)> {
    error.issues().as_slice().iter().map(|issue| (issue.pointer.as_str(), issue.keyword.as_str())).collect()
}

/// Returns whether a value is valid; every way to check it must agree.
fn takes(schema: &Schema, value: &Value) -> bool {
    let read = schema.decode::<Value>(&value.to_string(), &DecodeOptions::default());
    assert_eq!(schema.check(value).is_ok(), read.is_ok(), "{value}: {read:?}");
    assert_eq!(schema.check(value).is_ok(), schema.encode(value).is_ok(), "{value}");
    if let Err(issues) = &read {
        assert!(!issues.is_empty());
    }
    read.is_ok()
}

/// Asserts which values a schema accepts and which it rejects.
#[allow(clippy::needless_pass_by_value, reason = "schemas are written where they are used")]
fn holds(schema: Value, good: &[Value], bad: &[Value]) {
    let compiled = Schema::json(schema.clone()).unwrap_or_else(|error| panic!("{schema}: {error}"));
    for value in good {
        assert!(takes(&compiled, value), "{schema} must take {value}");
    }
    for value in bad {
        assert!(!takes(&compiled, value), "{schema} must refuse {value}");
    }
}

/// Generates any JSON, for unknown keywords.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Generates a valid schema with keywords in any order, known and unknown.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        any::<bool>().prop_map(Value::Bool),
        Just(json!({"maximum": 1e2, "type": ["integer", "null"], "minimum": 1.0})),
        Just(json!({"enum": [1, 1.0, "1", {"b": 1, "a": 2}], "title": ""})),
        Just(json!({"pattern": "^\\p{L}+$", "minLength": 0, "format": "no-such-format"})),
        Just(json!({"$ref": "#/$defs/x", "description": "beside"})),
        ("x-[a-z]{1,5}", anything()).prop_map(|(word, value)| json!({ word: value })),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec((".{0,6}", inner.clone()), 0..4).prop_map(|named| {
                json!({"required": [], "properties": named.into_iter().collect::<Map<_, _>>(), "type": "object"})
            }),
            inner.clone().prop_map(|items| json!({"items": items, "x-order": {"z": 1, "a": [2]}})),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|all| json!({"oneOf": all})),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|all| json!({"prefixItems": all})),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"if": a, "$comment": "why", "then": b})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_schema_is_kept_to_the_byte(schema in schemas(), extra in anything()) {
        let whole = json!({"x-extra": extra, "allOf": [schema], "$defs": {"x": {"type": "string"}}, "default": [1, 1.0]});
        for validation in [Validation::Full, Validation::None] {
            let kept = Schema::json_with(whole.clone(), validation);
            prop_assert!(kept.is_ok(), "{whole}: {}", kept.unwrap_err());
            let kept = kept.unwrap();
            prop_assert_eq!(kept.as_json(), &whole);
            prop_assert_eq!(kept.as_json().to_string(), whole.to_string());
        }
    }
}

#[test]
fn two_schemas_that_differ_in_order_alone_each_keep_their_own() {
    let one = json!({"type": "object", "properties": {"a": {}, "b": {}}});
    let two = json!({"properties": {"b": {}, "a": {}}, "type": "object"});
    let (first, second) = (Schema::json(one.clone()).unwrap(), Schema::json(two.clone()).unwrap());
    assert_eq!(first.as_json().to_string(), one.to_string());
    assert_eq!(second.as_json().to_string(), two.to_string());
}

#[test]
fn every_fault_of_an_invalid_schema_is_reported() {
    let error = Schema::json(json!({
        "type": "strin",
        "properties": {"a": {"minimum": "1"}, "b/c": {"required": "a"}, "d": 7},
        "items": {"anyOf": []},
        "minLength": -1,
        "$defs": {"x": {"$ref": "#/$defs/none"}, "y": {"$ref": "https://example.com/y.json"}}
    }))
    .unwrap_err();
    let pointers: Vec<&str> = faults(&error).into_iter().map(|(pointer, _)| pointer).collect();
    for pointer in [
        "/type",
        "/properties/a/minimum",
        "/properties/b~1c/required",
        "/properties/d",
        "/items/anyOf",
        "/minLength",
        "/$defs/x/$ref",
        "/$defs/y/$ref",
    ] {
        assert!(pointers.contains(&pointer), "{pointer} is not in {pointers:?}");
    }
    assert!(error.to_string().starts_with("invalid schema: "), "{error}");
}

#[test]
fn a_schema_is_an_object_or_a_boolean() {
    for value in [json!(null), json!(1), json!("string"), json!([]), json!([{"type": "string"}])] {
        for validation in [Validation::Full, Validation::None] {
            let error = Schema::json_with(value.clone(), validation).unwrap_err();
            assert_eq!(faults(&error)[0].0, "", "{value}");
        }
    }
}

#[test]
fn an_invalid_pattern_is_a_fault() {
    let error = Schema::json(json!({"properties": {"a": {"pattern": "("}}})).unwrap_err();
    assert!(error.to_string().contains("pattern") || error.to_string().contains("regex"), "{error}");
}

#[test]
fn nothing_is_ever_fetched() {
    let outside = [
        "http://example.com/a.json",
        "https://example.com/a.json#/$defs/x",
        "file:///etc/passwd",
        "file:/etc/passwd",
        "/etc/passwd",
        "//example.com/a.json",
        "a.json",
        "../a.json#/x",
        "ftp://example.com/a",
        "urn:example:a",
        "data:,1",
    ];
    for address in outside {
        for schema in [
            json!({"$ref": address}),
            json!({"properties": {"a": {"items": {"$ref": address}}}}),
            json!({"$id": "https://example.com/root.json", "not": {"$ref": address}}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"$ref": address}]}),
        ] {
            let error = Schema::json(schema.clone()).expect_err(address);
            assert!(faults(&error).iter().any(|(_, keyword)| *keyword == "$ref"), "{schema}: {error}");
        }
    }
    let all: Map<String, Value> =
        outside.iter().map(|address| ((*address).to_owned(), json!({"$ref": address}))).collect();
    let error = Schema::json(json!({"properties": all})).unwrap_err();
    assert_eq!(error.issues().len(), outside.len(), "{error}");
}

#[test]
fn a_dangling_reference_is_a_fault_with_a_pointer() {
    let error = Schema::json(json!({"items": {"$ref": "#/$defs/none"}, "not": {"$ref": "#/none"}})).unwrap_err();
    assert_eq!(faults(&error), [("/items/$ref", "$ref"), ("/not/$ref", "$ref")]);
}

#[test]
fn the_named_draft_applies() {
    let seven = "http://json-schema.org/draft-07/schema#";
    holds(
        json!({"$schema": seven, "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": false}),
        &[json!([1, "a"]), json!([1]), json!([])],
        &[json!(["a"]), json!([1, "a", 2])],
    );
    holds(
        json!({"$schema": seven, "definitions": {"x": {"maximum": 3}}, "$ref": "#/definitions/x", "minimum": 2}),
        &[json!(1), json!(3)],
        &[json!(4)],
    );
    holds(
        json!({"$schema": seven, "prefixItems": [{"type": "string"}], "dependencies": {"a": ["b"]}}),
        &[json!([1]), json!({"a": 1, "b": 2}), json!({"b": 1})],
        &[json!({"a": 1})],
    );
    let newest = "https://json-schema.org/draft/2020-12/schema";
    for schema in
        [json!({"$schema": newest, "prefixItems": [{"type": "string"}]}), json!({"prefixItems": [{"type": "string"}]})]
    {
        holds(schema, &[json!(["a", 1])], &[json!([1])]);
    }
    holds(
        json!({"$defs": {"x": {"maximum": 3}}, "$ref": "#/$defs/x", "minimum": 2}),
        &[json!(2), json!(3)],
        &[json!(4), json!(1)],
    );
    holds(
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "items": [{"type": "string"}]}),
        &[json!(["a", 1])],
        &[json!([1])],
    );
    holds(
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true}),
        &[json!(2)],
        &[json!(1)],
    );
}

#[test]
fn an_unknown_draft_is_a_fault() {
    for address in [json!("https://example.com/schema"), json!("http://json-schema.org/schema#"), json!(7), json!("")] {
        for validation in [Validation::Full, Validation::None] {
            let error = Schema::json_with(json!({"$schema": address}), validation).unwrap_err();
            assert_eq!(faults(&error), [("/$schema", "$schema")], "{address}");
        }
    }
}

#[test]
fn a_schema_may_refer_to_itself() {
    let tree = json!({
        "$defs": {"tree": {
            "type": "object",
            "properties": {"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}, "n": {"type": "integer"}},
            "required": ["n"],
            "additionalProperties": false
        }},
        "$ref": "#/$defs/tree"
    });
    holds(
        tree,
        &[json!({"n": 1}), json!({"n": 1, "left": {"n": 2, "right": {"n": 3}}})],
        &[json!({}), json!({"n": 1, "left": {"n": 2, "right": {"n": "3"}}}), json!({"n": 1, "left": {"n": 1, "x": 1}})],
    );
    let list = json!({"type": ["array", "integer"], "items": {"$ref": "#"}});
    holds(list, &[json!(1), json!([1, [2, []]])], &[json!("1"), json!([1, [2, ["3"]]])]);
    let mutual = json!({
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}, "additionalProperties": false},
            "b": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]}
        }
    });
    holds(mutual, &[json!({"b": {"b": null}}), json!({})], &[json!({"b": {"b": 1}}), json!({"b": {"c": null}})]);
}

#[test]
fn a_schema_that_only_refers_to_itself_does_not_hang() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}),
    ] {
        // It has no meaning, so it may be rejected when it is built; if it isn't, its check must end.
        if let Ok(compiled) = Schema::json(schema) {
            let _ = takes(&compiled, &json!("a"));
            let _ = takes(&compiled, &json!({"a": [1]}));
        }
    }
}

#[test]
fn any_root_is_a_schema() {
    holds(json!(true), &[json!(null), json!({"a": 1})], &[]);
    holds(json!(false), &[], &[json!(null), json!({})]);
    holds(json!({}), &[json!(1), json!([])], &[]);
    holds(json!({"type": "array", "items": {"type": "integer"}}), &[json!([1, 2])], &[json!({}), json!(["a"])]);
    holds(json!({"type": "string", "maxLength": 2}), &[json!("ßß")], &[json!("abc"), json!(1)]);
    holds(
        json!({"oneOf": [{"type": "integer"}, {"minimum": 2}]}),
        &[json!(1), json!(2.5), json!("a")],
        &[json!(3), json!(1.5)],
    );
    holds(json!({"type": ["string", "null"]}), &[json!(null), json!("a")], &[json!(1)]);
    holds(json!({"const": {"a": [1, {"b": null}]}}), &[json!({"a": [1.0, {"b": null}]})], &[json!({"a": [1]})]);
    holds(json!({"not": {}}), &[], &[json!(0)]);
}

#[test]
fn keywords_beyond_the_fast_path_are_enforced_too() {
    holds(
        json!({"type": "object", "patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": false}),
        &[json!({"n1": 1}), json!({})],
        &[json!({"n1": "a"}), json!({"x": 1})],
    );
    holds(json!({"propertyNames": {"maxLength": 2}}), &[json!({"ab": 1})], &[json!({"abc": 1})]);
    holds(json!({"contains": {"const": 1}, "maxContains": 1}), &[json!([1, 2])], &[json!([2]), json!([1, 1])]);
    holds(
        json!({"properties": {"a": {}}, "unevaluatedProperties": false, "allOf": [{"properties": {"b": {}}}]}),
        &[json!({"a": 1, "b": 1})],
        &[json!({"c": 1})],
    );
    holds(
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}),
        &[json!({"a": 1, "b": 1}), json!({"c": 1})],
        &[json!({"a": 1}), json!({"b": 1})],
    );
    holds(json!({"multipleOf": 0.1}), &[json!(0.3), json!(2)], &[json!(0.25)]);
    holds(
        json!({"$defs": {"x": {"$anchor": "here", "type": "string"}}, "items": {"$ref": "#here"}}),
        &[json!(["a"])],
        &[json!([1])],
    );
}

#[test]
fn a_property_may_be_named_like_a_keyword() {
    let names =
        ["$ref", "type", "properties", "required", "items", "$defs", "$id", "$schema", "enum", "constructor", "if"];
    let properties: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({"type": "integer"}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false});
    let all = |value: Value| names.iter().map(|name| ((*name).to_owned(), value.clone())).collect::<Value>();
    holds(schema, &[all(json!(1))], &[all(json!("x")), json!({"$ref": 1})]);
    // It can be declared; the key itself is still rejected where text is read.
    let proto = Schema::json(json!({"properties": {"__proto__": {"type": "integer"}}})).unwrap();
    assert!(proto.check(&json!({"__proto__": "x"})).is_err());
    let issues = proto.decode::<Value>(r#"{"__proto__": 1}"#, &DecodeOptions::default()).unwrap_err();
    assert_eq!(issues.as_slice()[0].keyword, "forbiddenKey");
}

#[test]
fn a_literal_that_looks_like_a_reference_is_a_literal() {
    let literal = json!({"$ref": "http://example.com/a.json"});
    holds(
        json!({"const": literal, "default": literal, "examples": [literal]}),
        std::slice::from_ref(&literal),
        &[json!({})],
    );
    holds(json!({"enum": [literal, 1]}), &[literal, json!(1)], &[json!(2)]);
}

#[test]
fn a_schema_that_is_too_deep_is_rejected() {
    let around = |inner: Value, _| Value::Object([("items".to_owned(), inner)].into_iter().collect());
    let deep = |levels: usize| (0..levels).fold(json!({"type": "string"}), around);
    assert!(Schema::json(deep(50)).is_ok());
    let error = Schema::json(deep(5_000)).unwrap_err();
    assert_eq!(faults(&error), [("", "maxDepth")]);
}

#[test]
fn only_schemas_given_as_json_are_raw() {
    assert!(Schema::json(json!({"type": "integer"})).unwrap().is_raw());
    assert!(Schema::json_with(json!({}), Validation::None).unwrap().is_raw());
    for made in [Schema::of::<u8>().unwrap(), Schema::empty(), Schema::unknown(), Schema::unit(), Schema::never()] {
        assert!(!made.is_raw(), "{}", made.as_json());
    }
    // Equal JSON shares its compiled form, and is still distinguished.
    assert!(Schema::json(Schema::unknown().as_json().clone()).unwrap().is_raw());
}
