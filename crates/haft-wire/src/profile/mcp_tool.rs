//! Tools as MCP lists them.

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
            let icons = serde_json::to_value(&descriptor.icons).unwrap_or_default();
            json.insert("icons".to_owned(), icons);
        }
        if let Some(meta) = &descriptor.meta {
            json.insert("_meta".to_owned(), Value::Object(meta.clone()));
        }
        Value::Object(json)
    }
}
