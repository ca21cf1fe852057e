//! The import of OpenAPI documents.

#![allow(clippy::needless_pass_by_value, reason = "a test passes literals")]

mod argument;
mod dialect;
mod hostile;
mod kind;
mod naming;
mod parts;
mod reference;
mod request;
mod security;
mod server;

use haft_executor::Tool;
use haft_tools::openapi::{ImportOptions, Imported, OpenApi};
use serde_json::{Value, json};

/// A document with these paths and components.
fn document(version: &str, paths: Value, components: Value) -> OpenApi {
    let value = json!({
        "openapi": version,
        "info": {"title": "Test", "version": "1"},
        "servers": [{"url": "https://api.example/v1"}],
        "paths": paths,
        "components": components,
    });
    OpenApi::from_value(value).unwrap()
}

fn imported(version: &str, paths: Value, components: Value) -> Imported {
    document(version, paths, components).import(&ImportOptions::new())
}

/// The only operation of a document, as a tool.
fn only_tool(imported: &Imported) -> &Tool {
    assert!(imported.skipped.is_empty(), "{:?}", imported.skipped);
    assert_eq!(imported.operations.len(), 1);
    &imported.operations[0].tool
}

/// The codes of the operations that were not imported.
fn codes(imported: &Imported) -> Vec<(&str, &'static str)> {
    imported.skipped.iter().map(|skipped| (skipped.operation.as_str(), skipped.reason.code())).collect()
}

/// The schema for a JSON body as it becomes the argument `body`, with the tool's definitions.
fn body_schema(version: &str, schema: Value, schemas: Value) -> (Value, Value) {
    let paths = json!({"/x": {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}});
    let imported = imported(version, paths, json!({"schemas": schemas}));
    let all = only_tool(&imported).json_schema().clone();
    (all["properties"]["body"].clone(), all["$defs"].clone())
}
