//! Tools as Gemini takes them: functions in one list of declarations, built-in tools beside it.

use serde_json::{Map, Value};

use crate::tool_form::{FunctionTool, ListedTool, ToolForm};

pub(crate) struct GeminiToolForm(pub(crate) SchemaCarrier);

/// The member that holds the schema of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaCarrier {
    Parameters,
    JsonSchema,
}

impl ToolForm for GeminiToolForm {
    fn function(&self, tool: &FunctionTool<'_>) -> Value {
        let mut json = Map::new();
        json.insert("name".to_owned(), tool.name.into());
        if let Some(description) = &tool.descriptor.description {
            json.insert("description".to_owned(), description.as_str().into());
        }
        let has_properties = tool.schema["properties"].as_object().is_some_and(|properties| !properties.is_empty());
        match self.0 {
            // An object without properties is rejected here; a function without parameters has no schema.
            SchemaCarrier::Parameters if !has_properties => {}
            SchemaCarrier::Parameters => {
                json.insert("parameters".to_owned(), tool.schema.clone());
            }
            SchemaCarrier::JsonSchema => {
                json.insert("parametersJsonSchema".to_owned(), tool.schema.clone());
            }
        }
        Value::Object(json)
    }

    fn list(&self, tools: &mut dyn Iterator<Item = ListedTool<'_>>) -> String {
        let (mut functions, mut built_in) = (String::new(), String::new());
        for tool in tools {
            let list = if tool.built_in { &mut built_in } else { &mut functions };
            if !list.is_empty() {
                list.push(',');
            }
            list.push_str(tool.json);
        }
        match (functions.is_empty(), built_in.is_empty()) {
            (true, _) => format!("[{built_in}]"),
            (false, true) => format!(r#"[{{"functionDeclarations":[{functions}]}}]"#),
            (false, false) => format!(r#"[{{"functionDeclarations":[{functions}]}},{built_in}]"#),
        }
    }
}
