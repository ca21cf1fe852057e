//! Tools as the Responses API takes them.
//!
//! Functions are flat objects. A tool's `openai` options are added to its members, so you can set what has no name of
//! its own here. `{"type": "custom"}` among them sends the tool as a custom tool, whose calls have one free text as
//! their arguments.
//!
//! A namespace's tools keep their whole names inside it: they are the same in every request, and the name alone
//! identifies a call.

use haft_core::{DescriptorKind, RenderFault, ToolDescriptor};
use serde_json::{Map, Value};

use crate::catalogue::{Vendor, render_provider_tool};
use crate::profile::rendered_tools::ToolNamespace;
use crate::profile::tool_form::{FunctionTool, ListedTool, ProviderToolJson, ToolForm};

/// The caller name for a model's program.
const PROGRAMMATIC: &str = "programmatic";
/// The callers that the API knows. Other names belong to other providers.
const CALLERS: [&str; 2] = ["direct", PROGRAMMATIC];
/// The setting, and the call member, that names an MCP server.
pub(super) const MCP_SERVER: &str = "server_label";

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
        add_options(&mut json, tool.descriptor);
        if json.get("type").is_some_and(|tool_type| tool_type == "custom") {
            json.shift_remove("parameters");
            json.shift_remove("strict");
        }
        Value::Object(json)
    }

    fn is_called_by_programs(&self, descriptor: &ToolDescriptor) -> bool {
        let options = &descriptor.provider_options;
        let mut callers = options.allowed_callers.iter().flatten().map(String::as_str);
        let own = options.provider("openai").and_then(|own| own.get("allowed_callers")).and_then(Value::as_array);
        callers.any(|caller| caller == PROGRAMMATIC) || own.into_iter().flatten().any(|caller| caller == PROGRAMMATIC)
    }

    fn has_namespaces(&self) -> bool {
        true
    }

    /// Lists tools. A namespace takes the place of its first tool.
    fn list(&self, tools: &mut dyn Iterator<Item = ListedTool<'_>>) -> String {
        let mut entries: Vec<(Option<&ToolNamespace>, String)> = Vec::new();
        for tool in tools {
            let known = entries.iter_mut().find(|(namespace, _)| namespace.is_some() && *namespace == tool.namespace);
            match known {
                Some((_, list)) => {
                    list.push(',');
                    list.push_str(tool.json);
                }
                None => entries.push((tool.namespace, tool.json.to_owned())),
            }
        }
        let written = |(namespace, list): (Option<&ToolNamespace>, String)| match namespace {
            None => list,
            Some(ToolNamespace { name, description }) => {
                let (name, description) = (Value::from(name.as_str()), Value::from(description.as_str()));
                format!(r#"{{"type":"namespace","name":{name},"description":{description},"tools":[{list}]}}"#)
            }
        };
        format!("[{}]", entries.into_iter().map(written).collect::<Vec<_>>().join(","))
    }

    fn provider_tool(&self, descriptor: &ToolDescriptor) -> Result<ProviderToolJson, RenderFault> {
        let rendered = render_provider_tool(descriptor, Vendor::OpenAi)?;
        let Value::Object(mut json) = rendered else {
            return Err(RenderFault::new("", "the tool is no object", "correct its settings"));
        };
        add_options(&mut json, descriptor);
        let name = wire_name(&json, descriptor);
        Ok(ProviderToolJson::new(Value::Object(json), name))
    }
}

/// Returns the name of a provider's tool. A request may have several MCP servers, so labels tell their tools apart.
fn wire_name(json: &Map<String, Value>, descriptor: &ToolDescriptor) -> String {
    let name = match &descriptor.kind {
        DescriptorKind::Provider { provider_name, .. } => provider_name,
        _ => &descriptor.name,
    };
    match json.get(MCP_SERVER).and_then(Value::as_str) {
        Some(label) => format!("{name}:{label}"),
        None => name.clone(),
    }
}

/// Adds a tool's options for this provider.
fn add_options(json: &mut Map<String, Value>, descriptor: &ToolDescriptor) {
    let options = &descriptor.provider_options;
    if let Some(defer_loading) = options.defer_loading {
        json.insert("defer_loading".to_owned(), defer_loading.into());
    }
    let known = |caller: &&String| CALLERS.contains(&caller.as_str());
    let callers: Vec<&String> = options.allowed_callers.iter().flatten().filter(known).collect();
    if !callers.is_empty() {
        json.insert("allowed_callers".to_owned(), callers.into_iter().map(String::as_str).collect());
    }
    if let Some(Value::Object(own)) = options.provider("openai") {
        json.extend(own.clone());
    }
}
