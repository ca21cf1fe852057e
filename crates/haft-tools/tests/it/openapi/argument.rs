//! Parameters and bodies as arguments.

use serde_json::{Value, json};

use super::{codes, imported, only_tool};

fn schema_of(item: Value) -> Value {
    only_tool(&imported("3.0.0", json!({"/x/{id}": item}), json!({}))).json_schema().clone()
}

#[test]
fn parameters_and_body_are_one_closed_object() {
    let schema = schema_of(json!({
        "parameters": [
            {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}, "description": "The id."},
            {"name": "limit", "in": "query", "schema": {"type": "string"}},
        ],
        "post": {
            "parameters": [
                {"name": "limit", "in": "query", "required": true, "schema": {"type": "integer"}, "example": 5},
                {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                {"name": "session", "in": "cookie", "schema": {"type": "string"}},
                {"name": "Accept", "in": "header", "schema": {"type": "string"}},
                {"name": "content-type", "in": "header", "required": true, "schema": {"type": "string"}},
                {"name": "AUTHORIZATION", "in": "header", "required": true, "schema": {"type": "string"}},
                {"name": "Host", "in": "header", "schema": {"type": "string"}},
                {"name": "other", "in": "path", "required": true, "schema": {"type": "string"}},
            ],
            "requestBody": {"required": true, "description": "A pet.", "content": {
                "application/json": {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}},
            }},
        },
    }));
    let expected = json!({
        "type": "object",
        "properties": {
            "id": {"type": "integer", "description": "The id."},
            "limit": {"type": "integer", "examples": [5]},
            "X-Trace": {"type": "string"},
            "session": {"type": "string"},
            "body": {"type": "object", "properties": {"name": {"type": "string"}}, "description": "A pet."},
        },
        "required": ["id", "limit", "body"],
        "additionalProperties": false,
    });
    assert_eq!(schema, expected);
    // The order is part of what models see.
    assert_eq!(schema.to_string(), expected.to_string());
}

#[test]
fn a_variable_that_is_not_described_is_a_required_string() {
    let schema = schema_of(json!({"get": {}}));
    assert_eq!(schema["properties"], json!({"id": {"type": "string"}}));
    assert_eq!(schema["required"], json!(["id"]));
}

#[test]
fn names_that_clash_get_their_place_as_a_suffix() {
    let parameter = |name: &str, place: &str| json!({"name": name, "in": place, "schema": {"type": place_type(place)}});
    let schema = schema_of(json!({"post": {
        "parameters": [
            parameter("id", "cookie"),
            parameter("id", "header"),
            parameter("id", "query"),
            parameter("id", "path"),
            parameter("body", "query"),
            parameter("id_header", "query"),
        ],
        "requestBody": {"content": {"text/plain": {}}},
    }}));
    let types: Vec<(&str, &str)> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, schema)| (name.as_str(), schema["type"].as_str().unwrap()))
        .collect();
    let expected = [
        ("id_cookie", "boolean"),
        ("id_header_", "number"),
        ("id_query", "integer"),
        ("id", "string"),
        ("body_query", "integer"),
        ("id_header", "integer"),
        ("body", "string"),
    ];
    assert_eq!(types, expected);
    assert_eq!(schema["required"], json!(["id"]));
}

fn place_type(place: &str) -> &str {
    match place {
        "path" => "string",
        "query" => "integer",
        "header" => "number",
        _ => "boolean",
    }
}

#[test]
fn malformed_and_unsupported_parameters_skip_their_operation() {
    for (parameter, code) in [
        (json!({"in": "query"}), "invalid_operation"),
        (json!({"name": "", "in": "query"}), "invalid_operation"),
        (json!({"name": "a"}), "invalid_operation"),
        (json!({"name": "a", "in": "body"}), "invalid_operation"),
        (json!({"name": 1, "in": "query"}), "invalid_operation"),
        (json!("a"), "invalid_operation"),
        (json!({"name": "id", "in": "path", "style": "form"}), "unsupported_parameter"),
        (json!({"name": "a", "in": "query", "style": "simple"}), "unsupported_parameter"),
        (json!({"name": "a", "in": "header", "style": "form"}), "unsupported_parameter"),
        (json!({"name": "not a header", "in": "header"}), "invalid_tool"),
    ] {
        let imported = imported("3.0.0", json!({"/x/{id}": {"get": {"parameters": [parameter]}}}), json!({}));
        assert_eq!(codes(&imported), [("GET /x/{id}", code)], "{parameter}");
    }
}

#[test]
fn json_is_preferred_to_forms_and_forms_to_text() {
    let text = json!({"type": "string", "description": "A text of the type text/csv"});
    for (content, expected) in [
        (
            json!({"text/plain": {}, "application/json": {"schema": {"type": "integer"}}}),
            Ok(json!({"type": "integer"})),
        ),
        (
            json!({"application/xml": {}, "application/x+json; v=1": {"schema": {"type": "integer"}}}),
            Ok(json!({"type": "integer"})),
        ),
        (json!({"*/*": {"schema": {"type": "integer"}}}), Ok(json!({"type": "integer"}))),
        (
            json!({"application/x-www-form-urlencoded": {"schema": {"type": "object"}}, "text/csv": {}}),
            Ok(json!({"type": "object"})),
        ),
        (json!({"multipart/form-data": {"schema": {"type": "object"}}}), Ok(json!({"type": "object"}))),
        (
            json!({"multipart/form-data": {"schema": {"properties": {"f": {"type": "string", "format": "binary"}}}}}),
            Err("unsupported_body"),
        ),
        (
            json!({"multipart/form-data": {"schema": {"properties": {"f": {"items": {"format": "binary"}}}}}}),
            Err("unsupported_body"),
        ),
        (json!({"text/csv": {"schema": {"type": "object"}}}), Ok(text)),
        (json!({"application/octet-stream": {}}), Err("unsupported_body")),
        (json!({"image/png": {}, "nonsense": {}}), Err("unsupported_body")),
    ] {
        let paths = json!({"/x": {"post": {"requestBody": {"content": content}}}});
        let imported = imported("3.0.0", paths, json!({}));
        match expected {
            Ok(schema) => assert_eq!(only_tool(&imported).json_schema()["properties"]["body"], schema, "{content}"),
            Err(code) => assert_eq!(codes(&imported), [("POST /x", code)], "{content}"),
        }
    }
}

#[test]
fn a_body_without_content_is_none() {
    for body in [json!({}), json!({"content": {}}), json!({"content": 1})] {
        let imported = imported("3.0.0", json!({"/x": {"post": {"requestBody": body}}}), json!({}));
        assert_eq!(only_tool(&imported).json_schema()["properties"], json!({}));
    }
}
