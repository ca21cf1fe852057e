//! Tools as the Messages API takes them.

use serde_json::{Map, Value};

use crate::tool_form::{FunctionTool, ToolForm};

pub(crate) struct AnthropicToolForm;

impl ToolForm for AnthropicToolForm {
    fn function(&self, tool: &FunctionTool<'_>) -> Value {
        let mut json = Map::new();
        json.insert("name".to_owned(), tool.name.into());
        if let Some(description) = &tool.descriptor.description {
            json.insert("description".to_owned(), description.as_str().into());
        }
        json.insert("input_schema".to_owned(), tool.schema.clone());
        json.insert("strict".to_owned(), tool.strict.into());
        Value::Object(json)
    }
}
