//! Tools as the Responses API takes them.

use serde_json::{Map, Value};

use crate::tool_form::{FunctionTool, ToolForm};

pub(crate) struct ResponsesToolForm;

impl ToolForm for ResponsesToolForm {
    fn function(&self, tool: &FunctionTool<'_>) -> Value {
        let mut json = Map::new();
        json.insert("type".to_owned(), "function".into());
        json.insert("name".to_owned(), tool.name.into());
        if let Some(description) = &tool.descriptor.description {
            json.insert("description".to_owned(), description.as_str().into());
        }
        json.insert("parameters".to_owned(), tool.schema.clone());
        // Without the member the provider tries strict mode, whatever the schema.
        json.insert("strict".to_owned(), tool.strict.into());
        Value::Object(json)
    }
}
