//! Tools as Gemini takes them: functions in one declaration list, built-in tools beside it.

use haft_core::{DescriptorKind, RenderFault, ToolDescriptor};
use serde_json::{Map, Value};

use crate::catalogue::{CallForm, FunctionSet, Vendor, entries_of, render_provider_tool};
use crate::profile::rendered_tools::{RenderedTool, RenderedTools, ToolMode};
use crate::profile::tool_form::{FunctionTool, ListedTool, ProviderToolJson, ToolForm};

/// The name under which options for Google are given.
const PROVIDER: &str = "google";

pub(crate) struct GeminiToolForm(pub(crate) SchemaCarrier);

/// The member that holds a function's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaCarrier {
    Parameters,
    JsonSchema,
}

/// One of the functions that a built-in tool stands for, such as a browser's.
#[derive(Debug)]
pub(super) struct FunctionOfSet<'t> {
    /// The built-in tool's name.
    pub(super) tool: &'t str,
    /// The function.
    function: &'t str,
    set: FunctionSet,
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
            // The API rejects an object without properties here; a function without parameters has no schema.
            SchemaCarrier::Parameters if !has_properties => {}
            SchemaCarrier::Parameters => {
                json.insert("parameters".to_owned(), tool.schema.clone());
            }
            SchemaCarrier::JsonSchema => {
                json.insert("parametersJsonSchema".to_owned(), tool.schema.clone());
            }
        }
        add_options(&mut json, tool.descriptor);
        Value::Object(json)
    }

    fn provider_tool(&self, descriptor: &ToolDescriptor) -> Result<ProviderToolJson, RenderFault> {
        let mut json = render_provider_tool(descriptor, Vendor::Google)?;
        if let Value::Object(members) = &mut json {
            add_options(members, descriptor);
        }
        let name = match &descriptor.kind {
            DescriptorKind::Provider { provider_name, .. } => provider_name,
            _ => &descriptor.name,
        };
        Ok(ProviderToolJson::new(json, name.as_str()))
    }

    fn output_member(&self) -> &'static str {
        match self.0 {
            SchemaCarrier::Parameters => "responseSchema",
            SchemaCarrier::JsonSchema => "responseJsonSchema",
        }
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

/// Adds a tool's options for this provider, which win.
fn add_options(json: &mut Map<String, Value>, descriptor: &ToolDescriptor) {
    if let Some(Value::Object(options)) = descriptor.provider_options.provider(PROVIDER) {
        json.extend(options.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
}

impl<'t> FunctionOfSet<'t> {
    /// Finds the built-in tool that a called function belongs to. An application tool with this name comes first.
    pub(super) fn find(tools: &'t RenderedTools, function: &'t str) -> Option<Self> {
        if tools.get_by_wire_name(function).is_some() {
            return None;
        }
        let tool_of = |tool: &'t RenderedTool| {
            let set = set_of(&tool.wire_name).filter(|set| set.contains(function))?;
            Some(Self { tool: &tool.wire_name, function, set })
        };
        tools.iter().filter(|tool| tool.mode == ToolMode::BuiltIn).find_map(tool_of)
    }

    /// Returns the tool's arguments, including the function's name. Returns `None` if the arguments are not an object.
    pub(super) fn join(&self, arguments: &str) -> Option<String> {
        let arguments: Map<String, Value> = serde_json::from_str(arguments).ok()?;
        Some(Value::Object(self.set.join(self.function, arguments)).to_string())
    }
}

/// Splits a built-in tool's arguments into the function and its arguments, if the tool stands for several functions.
pub(super) fn split_function(tools: &RenderedTools, tool: &str, arguments: &str) -> Option<(String, String)> {
    let tool = tools.get(tool).filter(|tool| tool.mode == ToolMode::BuiltIn)?;
    let set = set_of(&tool.wire_name)?;
    let (function, arguments) = set.split(serde_json::from_str(arguments).ok()?)?;
    Some((function, Value::Object(arguments).to_string()))
}

/// Reports whether a built-in tool stands for functions that the application runs.
pub(super) fn is_function_set(tool: &RenderedTool) -> bool {
    set_of(&tool.wire_name).is_some()
}

fn set_of(provider_name: &str) -> Option<FunctionSet> {
    let entry = entries_of(Vendor::Google).iter().find(|entry| entry.provider_name == provider_name)?;
    match entry.call {
        CallForm::Functions(set) => Some(set),
        CallForm::Function | CallForm::Items(_) | CallForm::Executed(_) => None,
    }
}
