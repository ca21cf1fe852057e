//! The meta-schemas of the drafts, for schemas that refer to one: "this argument is itself a JSON Schema".
//!
//! They are generated from the table of keywords, so they describe what is enforced.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::keyword::Keyword;

/// Returns the meta-schema at an address, and its draft.
pub(super) fn at(address: &str) -> Option<(Draft, &'static Value)> {
    static WRITTEN: [OnceLock<Value>; 5] = [const { OnceLock::new() }; 5];
    let draft = Draft::named(address)?;
    Some((draft, WRITTEN[draft as usize].get_or_init(|| write(draft))))
}

fn write(draft: Draft) -> Value {
    let schema = json!({"$ref": "#"});
    let properties: Map<String, Value> =
        Keyword::of(draft).map(|keyword| (keyword.name.to_owned(), keyword.shape.as_schema(&schema))).collect();
    let types = if draft == Draft::Draft4 { json!("object") } else { json!(["object", "boolean"]) };
    json!({"type": types, "properties": properties})
}
