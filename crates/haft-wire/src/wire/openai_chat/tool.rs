//! Tools as the Chat Completions API takes them.

use serde_json::{Map, Value, json};

use crate::profile::tool_form::{FunctionTool, ToolForm};

pub(crate) struct ChatToolForm;

impl ToolForm for ChatToolForm {
    fn function(&self, tool: &FunctionTool<'_>) -> Value {
        let mut function = Map::new();
        function.insert("name".to_owned(), tool.name.into());
        if let Some(description) = &tool.descriptor.description {
            function.insert("description".to_owned(), description.as_str().into());
        }
        function.insert("parameters".to_owned(), tool.schema.clone());
        function.insert("strict".to_owned(), tool.strict.into());
        json!({"type": "function", "function": function})
    }
}
