//! Schemas and values on which haft was once wrong, found by comparing it with another checker.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use haft_core::Schema;
use serde_json::{Value, json};

/// Asserts that a schema is rejected, at one place.
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
fn a_reference_leads_to_a_schema_or_nowhere() {
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
