//! The definitions that a document offers, for comparison with those that a person has accepted.
//!
//! A definition has the form of MCP, because that is all that a model sees of a tool, with the request that it sends.

use haft_registry::{PinOrigin, PinnedImport, Recipient};
use serde_json::{Map, Value, json};

use super::import::ImportedOperation;

/// Returns the definitions of a document's tools.
pub(super) fn offered(file: &str, operations: &[ImportedOperation]) -> PinnedImport {
    let empty = PinnedImport::new("openapi", PinOrigin::file(file));
    operations.iter().fold(empty, |offered, operation| offered.tool(operation.tool.name(), definition(operation)))
}

fn definition(operation: &ImportedOperation) -> Value {
    let ImportedOperation { operation, tool, request, .. } = operation;
    let descriptor = tool.descriptor();
    let mut members = Map::new();
    members.insert("name".to_owned(), tool.name().into());
    for (key, text) in [("title", &descriptor.title), ("description", &descriptor.description)] {
        if let Some(text) = text {
            members.insert(key.to_owned(), text.as_str().into());
        }
    }
    members.insert("inputSchema".to_owned(), descriptor.input_schema.as_json().clone());
    // MCP knows objects only, and a definition must be one to be a tool again.
    let output = descriptor.output_schema.as_ref().filter(|schema| schema.as_json()["type"] == "object");
    if let Some(schema) = output {
        members.insert("outputSchema".to_owned(), schema.as_json().clone());
    }
    let hints = &descriptor.hints;
    members.insert(
        "annotations".to_owned(),
        json!({
            "readOnlyHint": hints.readonly,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        }),
    );
    let reach = request.reach();
    let servers: Vec<&str> = reach
        .recipients()
        .filter_map(|(recipient, _)| if let Recipient::Host(origin) = recipient { Some(origin.as_str()) } else { None })
        .collect();
    members.insert("_meta".to_owned(), json!({"operation": operation, "servers": servers}));
    Value::Object(members)
}
