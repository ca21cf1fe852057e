//! References and recursion.

use haft_schema::DecodeOptions;
use serde_json::{Value, json};

use super::{body_schema, codes, imported, only_tool};

#[test]
fn a_recursive_schema_is_a_definition_that_refers_to_itself() {
    let tree = json!({
        "type": "object",
        "required": ["value"],
        "properties": {
            "value": {"type": "integer"},
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
        },
    });
    let body = json!({"required": true, "content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/Tree"},
    }}});
    let imported =
        imported("3.0.3", json!({"/t": {"post": {"requestBody": body}}}), json!({"schemas": {"Tree": tree}}));
    let tool = only_tool(&imported);
    let schema = tool.json_schema();
    assert_eq!(schema["properties"]["body"], json!({"$ref": "#/$defs/Tree"}));
    assert_eq!(schema["$defs"]["Tree"]["properties"]["children"]["items"], json!({"$ref": "#/$defs/Tree"}));

    let check = |arguments: Value| tool.parameters().decode::<Value>(&arguments.to_string(), &DecodeOptions::default());
    assert!(check(json!({"body": {"value": 1, "children": [{"value": 2, "children": []}]}})).is_ok());
    assert!(check(json!({"body": {"value": 1, "children": [{"children": []}]}})).is_err());
}

#[test]
fn references_are_followed_in_every_place_that_has_them() {
    let components = json!({
        "parameters": {
            "Id": {"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Id"}},
            "Alias": {"$ref": "#/components/parameters/Id"},
        },
        "requestBodies": {"Pet": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}},
        "schemas": {"Id": {"type": "integer"}, "Pet": {"properties": {"id": {"$ref": "#/components/schemas/Id"}}}},
        "pathItems": {"Pet": {
            "parameters": [{"$ref": "#/components/parameters/Alias"}],
            "put": {"requestBody": {"$ref": "#/components/requestBodies/Pet"}},
        }},
    });
    let imported = imported("3.1.0", json!({"/pets/{id}": {"$ref": "#/components/pathItems/Pet"}}), components);
    let schema = only_tool(&imported).json_schema();
    assert_eq!(schema["properties"], json!({"id": {"$ref": "#/$defs/Id"}, "body": {"$ref": "#/$defs/Pet"}}));
    assert_eq!(schema["required"], json!(["id"]));
    assert_eq!(schema["$defs"]["Id"], json!({"type": "integer"}));
}

#[test]
fn a_reference_into_the_middle_of_the_document_gets_a_name_of_its_own() {
    let paths = json!({
        "/a/{b}": {"post": {"requestBody": {"content": {"application/json": {"schema": {
            "properties": {"x": {"type": "string"}, "y": {"$ref": "#/paths/~1a~1%7Bb%7D/post/requestBody/content/application~1json/schema/properties/x"}},
        }}}}}},
    });
    let imported = imported("3.0.0", paths, json!({}));
    let schema = only_tool(&imported).json_schema();
    let reference = schema["properties"]["body"]["properties"]["y"]["$ref"].as_str().unwrap();
    let name = reference.strip_prefix("#/$defs/x_").unwrap();
    assert_eq!(schema["$defs"][format!("x_{name}")], json!({"type": "string"}));
}

#[test]
fn names_that_are_no_plain_text_stay_apart() {
    let schemas = json!({"a b": {"type": "string"}, "a_b": {"type": "integer"}, "ä/~b": {"type": "boolean"}});
    let schema = json!({"properties": {
        "one": {"$ref": "#/components/schemas/a%20b"},
        "two": {"$ref": "#/components/schemas/a_b"},
        "three": {"$ref": "#/components/schemas/ä~1~0b"},
    }});
    let (body, definitions) = body_schema("3.0.0", schema, schemas);
    let target = |name: &str| {
        let reference = body["properties"][name]["$ref"].as_str().unwrap();
        definitions[reference.strip_prefix("#/$defs/").unwrap()]["type"].clone()
    };
    assert_eq!([target("one"), target("two"), target("three")], ["string", "integer", "boolean"]);
}

#[test]
fn references_that_lead_nowhere_skip_their_operation_and_no_other() {
    let schema = |schema: Value| json!({"requestBody": {"content": {"application/json": {"schema": schema}}}});
    let paths = json!({
        "/missing": {"post": schema(json!({"$ref": "#/components/schemas/Nobody"}))},
        "/deep": {"post": schema(json!({"items": {"properties": {"a": {"$ref": "#/components/schemas/Nobody"}}}}))},
        "/indirect": {"post": schema(json!({"$ref": "#/components/schemas/Broken"}))},
        "/file": {"post": schema(json!({"$ref": "pet.yaml#/Pet"}))},
        "/url": {"post": schema(json!({"$ref": "https://example.com/pet.json"}))},
        "/anchor": {"post": schema(json!({"$ref": "#pet"}))},
        "/self": {"$ref": "#/paths/~1self"},
        "/parameter": {"get": {"parameters": [{"$ref": "#/components/parameters/A"}]}},
        "/body": {"post": {"requestBody": {"$ref": "#/components/requestBodies/A"}}},
        "/fine": {"get": {}},
    });
    let components = json!({
        "parameters": {"A": {"$ref": "#/components/parameters/B"}, "B": {"$ref": "#/components/parameters/A"}},
        "requestBodies": {"A": {"$ref": "#/components/requestBodies/A/content"}},
        "schemas": {"Broken": {"allOf": [{"$ref": "#/nothing"}]}},
    });
    let imported = imported("3.1.0", paths, components);
    assert_eq!(imported.tools().map(haft_executor::Tool::name).collect::<Vec<_>>(), ["get_fine"]);
    let expected = [
        ("/self", "cyclic_ref"),
        ("POST /missing", "unresolved_ref"),
        ("POST /deep", "unresolved_ref"),
        ("POST /indirect", "unresolved_ref"),
        ("POST /file", "external_ref"),
        ("POST /url", "external_ref"),
        ("POST /anchor", "unresolved_ref"),
        ("GET /parameter", "cyclic_ref"),
        ("POST /body", "unresolved_ref"),
    ];
    assert_eq!(codes(&imported), expected);
    let text = imported.skipped[1].to_string();
    assert!(text.contains("POST /missing") && text.contains("`#/components/schemas/Nobody`"), "{text}");
}

#[test]
fn schemas_that_are_only_references_to_each_other_are_invalid() {
    for schemas in [
        json!({"A": {"$ref": "#/components/schemas/A"}}),
        json!({"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}),
        json!({"A": {"allOf": [{"$ref": "#/components/schemas/A"}]}}),
    ] {
        let body = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}});
        let imported = imported("3.0.0", json!({"/x": {"post": {"requestBody": body}}}), json!({"schemas": schemas}));
        assert_eq!(imported.operations.len(), 0);
        assert!(
            matches!(codes(&imported)[..], [("POST /x", "cyclic_ref" | "invalid_schema")]),
            "{:?}",
            imported.skipped
        );
    }
}
