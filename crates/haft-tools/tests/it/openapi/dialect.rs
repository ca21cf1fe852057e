//! The dialects of JSON Schema in versions 3.0 and 3.1.

use haft_schema::Schema;
use haft_tools::openapi::{ImportOptions, OutputCheck};
use serde_json::{Value, json};

use super::{body_schema, document, imported, only_tool};

#[test]
fn keywords_of_version_3_0_are_written_as_in_json_schema() {
    for (schema, expected) in [
        (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
        (
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (json!({"type": "string", "nullable": false}), json!({"type": "string"})),
        (
            json!({"allOf": [{"type": "string"}], "nullable": true, "description": "d"}),
            json!({"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}], "description": "d"}),
        ),
        (json!({"nullable": true}), json!({})),
        (json!({"minimum": 1, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 1})),
        (json!({"minimum": 1, "exclusiveMinimum": false}), json!({"minimum": 1})),
        (json!({"maximum": 9.5, "exclusiveMaximum": true}), json!({"exclusiveMaximum": 9.5})),
        (json!({"exclusiveMaximum": true}), json!({})),
        (json!({"type": "string", "example": "x"}), json!({"type": "string", "examples": ["x"]})),
        (json!({"type": "object", "example": {"a": 1}}), json!({"type": "object"})),
        (json!({"type": "string", "example": "x".repeat(300)}), json!({"type": "string"})),
        (
            json!({"oneOf": [{"type": "string"}], "discriminator": {"propertyName": "kind"}, "xml": {}, "x-note": 1}),
            json!({"oneOf": [{"type": "string"}]}),
        ),
        (json!({"type": "string", "enum": ["a", 1, true]}), json!({"type": "string", "enum": ["a", "1", "true"]})),
        (json!({"type": "file"}), json!({"type": "string"})),
        (json!({"type": "array", "items": {}}), json!({"type": "array", "items": {}})),
        (json!({"additionalProperties": false}), json!({"additionalProperties": false})),
        (
            json!({"$ref": "#/components/schemas/S", "description": "d", "nullable": true, "minLength": 5}),
            json!({"$ref": "#/$defs/S", "description": "d"}),
        ),
    ] {
        let (converted, _) = body_schema("3.0.3", schema.clone(), json!({"S": {"type": "string"}}));
        assert_eq!(converted, expected, "{schema}");
    }
}

#[test]
fn schemas_of_version_3_1_are_kept() {
    for schema in [
        json!({"type": ["string", "null"]}),
        json!({"exclusiveMinimum": 1, "minimum": 0}),
        json!({"const": {"a": 1}}),
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": false}),
        json!({"prefixItems": [{"type": "string"}, true], "items": false}),
        json!({"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}),
        json!({"dependentRequired": {"a": ["b"]}, "unevaluatedProperties": false, "properties": {"a": true}}),
        json!({"type": "string", "examples": ["a"], "default": "b", "format": "date", "deprecated": true}),
    ] {
        assert_eq!(body_schema("3.1.0", schema.clone(), json!({})).0, schema);
    }
    let beside = json!({"$ref": "#/components/schemas/S", "minLength": 5});
    let (converted, _) = body_schema("3.1.0", beside, json!({"S": {"type": "string"}}));
    assert_eq!(converted, json!({"$ref": "#/$defs/S", "minLength": 5}));
}

#[test]
fn what_is_only_read_is_no_part_of_a_request() {
    let pet = json!({
        "type": "object",
        "required": ["id", "name", "age"],
        "properties": {
            "id": {"type": "integer", "readOnly": true},
            "age": {"$ref": "#/components/schemas/Age"},
            "name": {"type": "string"},
            "password": {"type": "string", "writeOnly": true},
        },
    });
    let schemas = json!({"Pet": pet, "Age": {"type": "integer", "readOnly": true}});
    let (_, definitions) = body_schema("3.0.0", json!({"$ref": "#/components/schemas/Pet"}), schemas);
    assert_eq!(
        definitions,
        json!({"Pet": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "password": {"type": "string"}},
        }})
    );
}

#[test]
fn malformed_keywords_are_left_out_and_reported() {
    for (schema, expected, keyword) in [
        (json!({"type": "any", "minLength": 1}), json!({"minLength": 1}), "type"),
        (json!({"type": ["string", "any"]}), json!({}), "type"),
        (json!({"pattern": "(", "minLength": 1}), json!({"minLength": 1}), "pattern"),
        (json!({"required": true}), json!({}), "required"),
        (json!({"minLength": -1}), json!({}), "minLength"),
        (json!({"maxItems": 1.5}), json!({}), "maxItems"),
        (json!({"enum": []}), json!({}), "enum"),
        (json!({"multipleOf": 0}), json!({}), "multipleOf"),
        (json!({"allOf": []}), json!({}), "allOf"),
        (json!({"items": [{"type": "string"}]}), json!({}), "items"),
        (json!({"properties": []}), json!({}), "properties"),
        (
            json!({"patternProperties": {"(": {}, "a": {}}}),
            json!({"patternProperties": {"a": {}}}),
            "patternProperties",
        ),
        (json!({"properties": {"a": 5}}), json!({"properties": {"a": true}}), "schema"),
    ] {
        let paths = json!({"/x": {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}});
        let imported = imported("3.1.0", paths, json!({}));
        assert_eq!(only_tool(&imported).json_schema()["properties"]["body"], expected, "{schema}");
        let loosened: Vec<_> = imported.loosened.iter().map(|one| (&*one.place, &*one.keyword)).collect();
        assert_eq!(loosened, [("POST /x", keyword)], "{schema}");
    }
}

#[test]
fn long_descriptions_are_cut_off() {
    let (schema, _) = body_schema("3.0.0", json!({"description": "ä".repeat(5_000)}), json!({}));
    let text = schema["description"].as_str().unwrap();
    assert_eq!(text.chars().count(), 1_024);
    assert!(text.ends_with("ä…"));
}

#[test]
fn every_converted_schema_compiles() {
    let schemas = [json!({"type": "string", "nullable": true}), json!({"minimum": 1, "exclusiveMinimum": true})];
    for schema in schemas {
        let (converted, _): (Value, Value) = body_schema("3.0.0", schema, json!({}));
        assert!(Schema::json(converted).is_ok());
    }
}

#[test]
fn response_schemas_are_enforced_on_request_only() {
    let pet = json!({"type": "object", "required": ["id", "password"], "properties": {
        "id": {"type": "integer", "readOnly": true},
        "password": {"type": "string", "writeOnly": true},
    }});
    let responses = json!({"default": {"description": "no"}, "201": {"description": "ok", "content": {
        "text/html": {}, "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}},
    }}});
    let document =
        document("3.0.0", json!({"/x": {"get": {"responses": responses}}}), json!({"schemas": {"Pet": pet}}));
    let success = |check| {
        let imported = document.import(&ImportOptions::new().output_check(check));
        only_tool(&imported).success().as_json().clone()
    };
    assert_eq!(success(OutputCheck::Off), json!({}));
    let expected = json!({
        "$ref": "#/$defs/Pet",
        "$defs": {"Pet": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}},
    });
    assert_eq!(success(OutputCheck::Enforced), expected);

    // With headers the result is another one, and so is its schema.
    let options = ImportOptions::new().output_check(OutputCheck::Enforced).response_header("Link");
    let imported = document.import(&options);
    let expected = json!({
        "type": "object",
        "properties": {
            "body": {"$ref": "#/$defs/Pet"},
            "headers": {
                "type": "object", "properties": {"link": {"type": "string"}}, "additionalProperties": false,
            },
        },
        "required": ["body", "headers"],
        "additionalProperties": false,
        "$defs": {"Pet": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}},
    });
    let tool = only_tool(&imported);
    assert_eq!(tool.success().as_json(), &expected);
    let result = json!({"body": {"id": 1}, "headers": {"link": "</2>"}});
    assert!(tool.success().check(&result).is_ok(), "{result}");
}
