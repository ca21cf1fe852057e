//! Tool definitions: an element of the `tools` that a server lists.

use haft_core::internal::sha256;
use haft_executor::{DefinitionError, Tool};
use haft_schema::canonical_text;
use serde_json::Value;

/// Creates a tool from its definition. See [`Tool::from_mcp`].
pub fn read(definition: &Value) -> Result<Tool, DefinitionError> {
    Tool::from_mcp(definition)
}

/// Returns the digest of a definition as the server gave it: every member counts, `_meta` included, but neither the
/// order of members nor the spelling of numbers.
#[must_use]
pub fn digest(definition: &Value) -> String {
    sha256(&canonical_text(definition))
}

/// Reports whether arguments of a tool are HTTP headers as well.
#[must_use]
pub fn has_headers(definition: &Value) -> bool {
    definition.get("inputSchema").is_some_and(|schema| has_member(schema, "x-mcp-header"))
}

/// Reports whether a value has a member of this name, at any depth.
fn has_member(value: &Value, wanted: &str) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(name, value)| name == wanted || has_member(value, wanted)),
        Value::Array(values) => values.iter().any(|value| has_member(value, wanted)),
        _ => false,
    }
}

/// Reports whether a tool is meant for models: `_meta.ui.visibility` may limit it to apps.
#[must_use]
pub fn is_for_models(definition: &Value) -> bool {
    match definition.pointer("/_meta/ui/visibility") {
        Some(Value::Array(audiences)) => audiences.iter().any(|audience| audience == "model"),
        Some(Value::String(audience)) => audience == "model",
        _ => true,
    }
}
