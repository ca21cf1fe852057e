//! Tools as MCP lists them.

use haft_core::{DescribedAnnotation, Icon, IconTheme, McpMembers};
use serde_json::{Map, Value, json};

use crate::profile::tool_form::{FunctionTool, ToolForm};

pub(crate) struct McpToolForm;

impl ToolForm for McpToolForm {
    fn function(&self, tool: &FunctionTool<'_>) -> Value {
        let descriptor = tool.descriptor;
        let mut json = Map::new();
        json.insert("name".to_owned(), tool.name.into());
        let texts = [("title", &descriptor.title), ("description", &descriptor.description)];
        for (member, text) in texts {
            json.extend(text.iter().map(|text| (member.to_owned(), Value::from(text.as_str()))));
        }
        json.insert("inputSchema".to_owned(), tool.schema.clone());
        // Structured content is an object in MCP.
        let output = descriptor.output_schema.as_ref().map(haft_core::SchemaJson::as_json);
        if let Some(schema) = output.filter(|schema| schema["type"] == "object") {
            json.insert("outputSchema".to_owned(), schema.clone());
        }
        let hints = descriptor.hints;
        let mut annotations = json!({
            "readOnlyHint": hints.readonly,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        });
        if let Some(annotations) = annotations.as_object_mut() {
            if hints.idempotence_unset {
                annotations.remove("idempotentHint");
            }
            // It has a meaning for tools that change something only.
            if hints.readonly {
                annotations.remove("destructiveHint");
            }
        }
        json.insert("annotations".to_owned(), annotations);
        if !descriptor.icons.is_empty() {
            json.insert("icons".to_owned(), descriptor.icons.iter().map(icon).collect());
        }
        if let Some(meta) = &descriptor.meta {
            json.insert("_meta".to_owned(), Value::Object(meta.clone()));
        }
        if let Some(Value::Object(others)) = descriptor.annotations.get(McpMembers::KEY) {
            fill(&mut json, others);
        }
        Value::Object(json)
    }
}

fn icon(icon: &Icon) -> Value {
    let mut json = Map::new();
    json.insert("src".to_owned(), icon.src.as_str().into());
    json.extend(icon.mime_type.iter().map(|mime_type| ("mimeType".to_owned(), mime_type.as_str().into())));
    if !icon.sizes.is_empty() {
        json.insert("sizes".to_owned(), icon.sizes.clone().into());
    }
    let theme = icon.theme.and_then(|theme| match theme {
        IconTheme::Light => Some("light"),
        IconTheme::Dark => Some("dark"),
        _ => None,
    });
    json.extend(theme.map(|theme| ("theme".to_owned(), theme.into())));
    Value::Object(json)
}

/// Adds the members that haft has no setting for. They never replace what haft writes.
fn fill(json: &mut Map<String, Value>, others: &Map<String, Value>) {
    for (name, other) in others {
        match (json.get_mut(name), other) {
            (None, other) => drop(json.insert(name.clone(), other.clone())),
            (Some(Value::Object(members)), Value::Object(others)) if name == "annotations" => {
                for (hint, value) in others {
                    members.entry(hint).or_insert_with(|| value.clone());
                }
            }
            (Some(_), _) => {}
        }
    }
}
