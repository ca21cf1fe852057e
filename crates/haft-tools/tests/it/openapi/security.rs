//! Security schemes.

use haft_tools::openapi::{ImportOptions, SchemeCredential};
use serde_json::{Value, json};

use super::{codes, document};

fn schemes() -> Value {
    json!({"securitySchemes": {
        "key": {"type": "apiKey", "in": "query", "name": "key"},
        "tls": {"type": "mutualTLS"},
        "digest": {"type": "http", "scheme": "digest"},
        "odd": {"type": "apiKey", "in": "body", "name": "key"},
        "nameless": {"type": "apiKey", "in": "query"},
        "cycle": {"$ref": "#/components/securitySchemes/cycle"},
        "client": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://id.example/token", "scopes": {}}}},
        "code": {"type": "oauth2", "flows": {"authorizationCode": {}}},
    }})
}

#[test]
fn an_operation_is_skipped_if_every_alternative_is_unsupported() {
    for (security, expected) in [
        (json!([{"tls": []}]), Some("unsupported_security")),
        (json!([{"digest": []}]), Some("unsupported_security")),
        (json!([{"odd": []}]), Some("unsupported_security")),
        (json!([{"nameless": []}]), Some("unsupported_security")),
        (json!([{"unknown": []}]), Some("unsupported_security")),
        (json!([{"cycle": []}]), Some("cyclic_ref")),
        (json!([{"tls": [], "key": []}]), Some("unsupported_security")),
        (json!([{"tls": []}, {"key": []}]), None),
        (json!([{"tls": []}, {}]), None),
        (json!([]), None),
        (json!("nonsense"), None),
    ] {
        let paths = json!({"/x": {"get": {"security": security}}});
        let imported = document("3.1.0", paths, schemes()).import(&ImportOptions::new());
        let expected: Vec<_> = expected.map(|code| ("GET /x", code)).into_iter().collect();
        assert_eq!(codes(&imported), expected, "{security}");
    }
}

#[test]
fn the_security_of_the_document_applies_to_operations_without_their_own() {
    let value = json!({
        "openapi": "3.0.0",
        "servers": [{"url": "https://api.example"}],
        "paths": {"/a": {"get": {}}, "/b": {"get": {"security": []}}},
        "components": schemes(),
        "security": [{"key": []}],
    });
    let document = haft_tools::openapi::OpenApi::from_value(value).unwrap();
    let imported = document.import(&ImportOptions::new().credential("key", SchemeCredential::new("s")));
    let secrets: Vec<Vec<&str>> =
        imported.operations.iter().map(|one| one.request.secret_names().into_iter().collect()).collect();
    assert_eq!(secrets, [vec!["s"], vec![]]);
}

#[test]
fn an_oauth_client_needs_a_flow_of_its_own() {
    let credential = SchemeCredential::new("s").client_id("c");
    for (scheme, expected) in [("client", vec![]), ("code", vec![("GET /x", "unsupported_security")])] {
        let paths = json!({"/x": {"get": {"security": [{scheme: ["read"]}]}}});
        let options = ImportOptions::new().credential(scheme, credential.clone());
        assert_eq!(codes(&document("3.0.0", paths, schemes()).import(&options)), expected);
    }
}

#[test]
fn what_a_secret_fills_is_no_argument() {
    let parameters = json!([{"name": "key", "in": "query", "required": true, "schema": {"type": "string"}}]);
    let paths = json!({"/x": {"get": {"security": [{"key": []}], "parameters": parameters}}});
    let document = document("3.0.0", paths, schemes());
    let properties =
        |options: ImportOptions| document.import(&options).tools().next().unwrap().json_schema()["properties"].clone();
    assert_eq!(properties(ImportOptions::new()), json!({"key": {"type": "string"}}));
    assert_eq!(properties(ImportOptions::new().credential("key", SchemeCredential::new("s"))), json!({}));
}
