//! Schemas that are sent as they are, in an object if the provider does not accept their root.
//!
//! References to `#/…` are relative to the root, so they change when the schema moves into a member. Everything else
//! stays, including keywords that haft does not know.

use haft_core::{RenderFault, Rendered};
use haft_schema::{Reshape, Schema, Subschema};
use serde_json::{Map, Value, json};

use crate::dialect::render::VALUE;

/// The pointer to a schema that is sent in an object.
const MOVED: &str = "/properties/value";

/// The roots that a provider accepts. All are objects.
#[derive(Debug)]
pub(crate) struct Roots {
    pub(crate) name: &'static str,
    /// Keywords that the root must not have.
    pub(crate) rejected: &'static [&'static str],
    pub(crate) keys: crate::dialect::rules::Keys,
}

/// Renders a schema as it is.
pub(crate) fn render(roots: &Roots, schema: &Schema) -> Result<Rendered, RenderFault> {
    let json = schema.as_json();
    if *json == false {
        return Err(RenderFault::new("", "no value is valid", "state a schema that accepts some values"));
    }
    if json.as_object().is_some_and(|root| roots.accept(root)) {
        return Ok(Rendered::exact(json.clone()));
    }
    let mut moved = json.clone();
    // If the schema has an address, its references are relative to that address.
    if json.get("$id").is_none() && json.get("id").is_none() {
        let all = schema.subschemas();
        move_references(all.root(), &mut moved);
    }
    let dialect = moved.as_object_mut().and_then(|root| root.shift_remove("$schema"));
    let mut reshape = Reshape::new();
    let root = reshape.add();
    reshape.send_wrapped(root, VALUE);
    let mut json = Map::new();
    if let Some(dialect) = dialect {
        json.insert("$schema".to_owned(), dialect);
    }
    json.insert("type".to_owned(), "object".into());
    json.insert("properties".to_owned(), json!({VALUE: moved}));
    json.insert("required".to_owned(), json!([VALUE]));
    json.insert("additionalProperties".to_owned(), false.into());
    Ok(Rendered::exact(Value::Object(json)).with_codec(reshape.finish(root)))
}

impl Roots {
    fn accept(&self, root: &Map<String, Value>) -> bool {
        let names = root.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        root.get("type") == Some(&Value::from("object"))
            && !self.rejected.iter().any(|keyword| root.contains_key(*keyword))
            && names.into_iter().all(|name| self.keys.accept(name, 0))
    }
}

/// Rewrites root-relative references for the schema's new place.
fn move_references(root: Subschema<'_>, moved: &mut Value) {
    let mut open = vec![root];
    while let Some(schema) = open.pop() {
        let has_own_address = schema.pointer() != "" && schema.as_json().get("$id").is_some();
        if has_own_address {
            continue;
        }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(Value::String(reference)) = schema.as_json().get(keyword) else { continue };
            let Some(pointer) = reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
            else {
                continue;
            };
            if let Some(place) = moved.pointer_mut(schema.pointer()).and_then(|schema| schema.get_mut(keyword)) {
                *place = format!("#{MOVED}{pointer}").into();
            }
        }
        open.extend(schema.parts());
    }
}
