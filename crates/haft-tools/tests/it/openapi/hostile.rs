//! Documents that are malformed, or made to do harm.

use haft_tools::openapi::{ImportOptions, OpenApi, OpenApiError};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{codes, imported};

#[test]
fn texts_that_are_no_documents_are_rejected_with_a_code() {
    for (value, code) in [
        (json!(null), "not_an_object"),
        (json!([]), "not_an_object"),
        (json!({}), "unsupported_version"),
        (json!({"swagger": "2.0", "paths": {}}), "unsupported_version"),
        (json!({"openapi": "4.0.0", "paths": {}}), "unsupported_version"),
        (json!({"openapi": "3.01", "paths": {}}), "unsupported_version"),
        (json!({"openapi": 3.0, "paths": {}}), "unsupported_version"),
        (json!({"openapi": "3.0.0"}), "no_paths"),
        (json!({"openapi": "3.0.0", "paths": []}), "no_paths"),
    ] {
        assert_eq!(OpenApi::from_value(value.clone()).unwrap_err().code(), code, "{value}");
    }
    assert_eq!(OpenApi::from_json("{").unwrap_err().code(), "json");
    assert_eq!(OpenApi::from_yaml("a: [").unwrap_err().code(), "yaml");
    assert!(matches!(OpenApi::read("/no/such/file"), Err(OpenApiError::Read { .. })));
}

#[test]
fn deep_nesting_is_rejected_in_every_form() {
    let depth = 10_000;
    let json = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    assert_eq!(OpenApi::from_json(&json).unwrap_err().code(), "json");
    assert_eq!(OpenApi::from_yaml(&json).unwrap_err().code(), "yaml");
    let indented = (0..1_000).map(|level| " ".repeat(level)).collect::<Vec<_>>().join("a:\n");
    assert_eq!(OpenApi::from_yaml(&indented).unwrap_err().code(), "yaml");
    let mut value = json!({});
    for _ in 0..depth {
        // `json!` would copy the value, level by level.
        value = Value::Array(vec![value]);
    }
    let mut document = serde_json::Map::new();
    document.insert("openapi".to_owned(), "3.0.0".into());
    document.insert("x".to_owned(), value);
    assert_eq!(OpenApi::from_value(document.into()).unwrap_err().code(), "document_too_deep");
}

#[test]
fn a_schema_that_nests_deeply_skips_its_operation() {
    let mut schema = json!({"type": "string"});
    for _ in 0..100 {
        schema = json!({"items": schema});
    }
    let body = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Deep"}}}});
    let imported = imported(
        "3.0.0",
        json!({"/x": {"post": {"requestBody": body}}, "/y": {"get": {}}}),
        json!({"schemas": {"Deep": schema}}),
    );
    assert_eq!(codes(&imported), [("POST /x", "schema_too_deep")]);
    assert_eq!(imported.operations.len(), 1);
}

#[test]
fn aliases_that_expand_without_end_are_rejected() {
    let mut bomb = String::from("openapi: 3.0.0\npaths: {}\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert_eq!(OpenApi::from_yaml(&bomb).unwrap_err().code(), "yaml");
}

#[test]
fn yaml_has_keys_that_are_no_strings_and_aliases() {
    let document = OpenApi::from_yaml(
        "
openapi: '3.0.3'
servers: [{url: https://a.example}]
x-schema: &schema {type: integer}
paths:
  /a:
    get:
      parameters: [{name: a, in: query, schema: *schema}, {name: no, in: query, schema: *schema}]
      responses: {200: {description: ok}, default: {description: no}}
  404: {get: {}}
",
    )
    .unwrap();
    let imported = document.import(&ImportOptions::new());
    assert_eq!(imported.operations[0].tool.json_schema()["properties"]["a"], json!({"type": "integer"}));
    assert_eq!(codes(&imported), [("GET 404", "invalid_path")]);
}

#[test]
fn definitions_are_not_copied_into_each_other() {
    // Each schema refers to the next one twice, so that copies would double 2^60 times.
    let schemas: serde_json::Map<String, Value> = (0..60)
        .map(|at| {
            let next = json!({"$ref": format!("#/components/schemas/S{}", at + 1)});
            (format!("S{at}"), json!({"properties": {"a": next, "b": next}}))
        })
        .chain([("S60".to_owned(), json!({"type": "string"}))])
        .collect();
    let body = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}});
    let imported = imported("3.0.0", json!({"/x": {"post": {"requestBody": body}}}), json!({"schemas": schemas}));
    assert_eq!(imported.operations[0].tool.json_schema()["$defs"].as_object().unwrap().len(), 61);
}

#[test]
fn schemas_that_are_too_large_skip_their_operation() {
    let properties: serde_json::Map<String, Value> =
        (0..20_000).map(|at| (format!("property-{at}"), json!({"type": "string"}))).collect();
    let large = json!({"properties": properties});
    let body = |schema: Value| json!({"requestBody": {"content": {"application/json": {"schema": schema}}}});
    let paths = json!({
        "/inline": {"post": body(large.clone())},
        "/reference": {"post": body(json!({"$ref": "#/components/schemas/Large"}))},
        "/part": {"post": body(json!({"$ref": "#/components/schemas/Large/properties/property-1"}))},
    });
    let document = super::document("3.0.0", paths, json!({"schemas": {"Large": large}}));
    let imported = document.import(&ImportOptions::new());
    assert_eq!(codes(&imported), [("POST /inline", "schema_too_large"), ("POST /reference", "schema_too_large")]);
    let raised = document.import(&ImportOptions::new().max_schema_bytes(8 << 20));
    assert_eq!(codes(&raised), []);
}

#[test]
fn one_large_part_that_all_operations_share_is_not_examined_for_each_of_them() {
    let large = json!({"name": "a", "in": "query", "schema": {"default": "x".repeat(300 << 10)}});
    let operation = json!({"parameters": [{"$ref": "#/components/parameters/Large"}]});
    let paths: serde_json::Map<String, Value> =
        (0..300).map(|at| (format!("/p{at}"), json!({"get": operation}))).collect();
    let imported = imported("3.0.0", paths.into(), json!({"parameters": {"Large": large}}));
    let count = |code: &str| codes(&imported).iter().filter(|(_, found)| *found == code).count();
    assert_eq!((count("schema_too_large"), count("import_too_large")), (256, 44));

    let many: Vec<Value> = (0..1_001).map(|at| json!({"name": format!("p{at}"), "in": "query"})).collect();
    let schemes: serde_json::Map<String, Value> = (0..17).map(|at| (format!("s{at}"), json!([]))).collect();
    let paths = json!({"/a": {"get": {"parameters": many}}, "/b": {"get": {"security": [schemes]}}});
    let imported = super::imported("3.0.0", paths, json!({}));
    assert_eq!(codes(&imported), [("GET /a", "invalid_operation"), ("GET /b", "unsupported_security")]);
}

#[test]
fn parts_that_are_not_what_they_should_be_skip_their_operation_at_most() {
    for (item, expected) in [
        (json!(1), vec![("/x", "invalid_operation")]),
        (json!({"get": 1}), vec![("GET /x", "invalid_operation")]),
        (json!({"get": null, "post": {}}), vec![("GET /x", "invalid_operation")]),
        (json!({"trace": {}}), vec![("TRACE /x", "unsupported_method")]),
        (json!({"get": {"parameters": 1, "tags": 1, "operationId": 1, "summary": 1, "security": 1}}), vec![]),
        (json!({"get": {"requestBody": 1, "responses": 1, "servers": 1}, "parameters": {}, "servers": 1}), vec![]),
        (json!({"post": {"requestBody": {"content": {"application/json": 1}}}}), vec![]),
        (json!({"post": {"requestBody": {"content": {"application/json": {"schema": 1}}}}}), vec![]),
        (json!({"query": {}, "x-extra": 1, "summary": "a"}), vec![]),
    ] {
        assert_eq!(codes(&imported("3.1.0", json!({"/x": item}), json!({}))), expected, "{item}");
    }
    for (path, expected) in [("x", "invalid_path"), ("https://a.example/x", "invalid_path"), ("/{", "invalid_path")] {
        let imported = imported("3.0.0", json!({path: {"get": {}}}), json!({}));
        assert_eq!(codes(&imported), [(format!("GET {path}").as_str(), expected)]);
    }
    assert_eq!(codes(&imported("3.0.0", json!({"/../x": {"get": {}}}), json!({}))), [("GET /../x", "invalid_tool")]);
    assert!(imported("3.0.0", json!({"x-extension": 1}), json!({})).skipped.is_empty());
}

/// A document with everything that an import reads.
fn rich() -> Value {
    json!({
        "openapi": "3.1.0",
        "servers": [{"url": "https://{a}.example/{b}", "variables": {"a": {"default": "x"}, "b": {"default": "y"}}}],
        "security": [{"key": [], "oauth": ["read"]}, {}],
        "paths": {
            "/pets/{id}": {
                "parameters": [{"$ref": "#/components/parameters/Id"}],
                "get": {"operationId": "getPet", "tags": ["pets"], "summary": "Get", "description": "Gets."},
                "put": {"requestBody": {"$ref": "#/components/requestBodies/Pet"}, "servers": [{"url": "//b.example"}]},
            },
            "/forms": {"post": {"requestBody": {"content": {
                "multipart/form-data": {"schema": {"properties": {"a": {"type": "string", "format": "byte"}}}},
            }}}},
            "/alias": {"$ref": "#/paths/~1forms"},
        },
        "components": {
            "parameters": {"Id": {"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Id"}}},
            "requestBodies": {"Pet": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}},
            "schemas": {
                "Id": {"type": ["integer", "null"], "minimum": 1, "exclusiveMinimum": true},
                "Pet": {"type": "object", "required": ["id"], "properties": {
                    "id": {"$ref": "#/components/schemas/Id", "readOnly": true},
                    "parent": {"$ref": "#/components/schemas/Pet"},
                    "name": {"type": "string", "pattern": "^[a-z]+$", "enum": ["a", 1], "nullable": true},
                }},
            },
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
                "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://id.example"}}},
            },
        },
    })
}

/// Returns the JSON Pointers of all values.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let escape = |key: &str| key.replace('~', "~0").replace('/', "~1");
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (escape(key), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (key, child) in children {
        found.extend(pointers(child).into_iter().map(|pointer| format!("/{key}{pointer}")));
    }
    found
}

fn replacement() -> impl Strategy<Value = Value> {
    let pointers = pointers(&rich());
    let reference = (0..pointers.len()).prop_map(move |at| json!({"$ref": format!("#{}", pointers[at])}));
    prop_oneof![
        Just(Value::Null),
        Just(json!({})),
        Just(json!([])),
        Just(json!(true)),
        Just(json!(-1.5)),
        Just(json!(u64::MAX)),
        Just(json!([[{"a": []}]])),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["/", "{}", "{", "..", "#/", "\u{0}", "ä"]).prop_map(Value::from),
        reference.clone(),
        reference,
    ]
}

proptest! {
    #[test]
    fn no_change_of_a_document_stops_an_import(changes in prop::collection::vec((0_usize..10_000, replacement()), 1..6)) {
        let mut document = rich();
        for (at, value) in changes {
            let all = pointers(&document);
            let pointer = &all[at % all.len()];
            *document.pointer_mut(pointer).unwrap() = value;
        }
        if let Ok(document) = OpenApi::from_value(document) {
            let one = document.import(&ImportOptions::new());
            let other = document.import(&ImportOptions::new());
            let names = |imported: &haft_tools::openapi::Imported| {
                imported.tools().map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
            };
            prop_assert_eq!(names(&one), names(&other));
            prop_assert_eq!(one.skipped, other.skipped);
        }
    }

    #[test]
    fn no_text_stops_a_reader(text in "[\\[\\]{}:&*a, \\n\"'#-]{0,60}") {
        let _ = OpenApi::from_json(&text);
        let _ = OpenApi::from_yaml(&text);
    }
}

#[test]
fn the_number_of_operations_is_bounded() {
    let paths: serde_json::Map<String, Value> =
        (0..70_000).map(|number| (format!("/{number}"), json!({"trace": {}}))).collect();
    let document = OpenApi::from_value(json!({"openapi": "3.1.0", "paths": paths})).unwrap();
    let imported = document.import(&ImportOptions::new());
    assert_eq!(imported.skipped.len(), 70_000);
    assert_eq!(imported.skipped[0].reason.code(), "unsupported_method");
    assert_eq!(imported.skipped[69_999].reason.code(), "import_too_large");
}
