//! The rules of the Model Context Protocol.

use haft_schema::Schema;
use serde_json::json;

use super::ProviderRule;

pub(crate) fn rules() -> Vec<ProviderRule> {
    vec![
        ProviderRule {
            text: "the root is an object",
            is_broken: |visit| visit.is_root && visit.schema["type"] != "object",
            rejected: || vec![json!({"type": "array"}), json!({}), json!({"type": ["object", "null"]})],
        },
        ProviderRule {
            text: "the schema is valid JSON Schema",
            is_broken: |visit| visit.is_root && Schema::json(visit.schema.clone()).is_err(),
            rejected: || vec![json!({"type": "object", "required": 1}), json!({"$ref": "#/$defs/missing"})],
        },
    ]
}
