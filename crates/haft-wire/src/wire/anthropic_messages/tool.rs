//! Tools as the Messages API takes them.

use haft_core::{DescriptorKind, ProviderOptions, RenderFault, ToolDescriptor};
use serde_json::{Map, Value, json};

use crate::catalogue::{self, CallForm, FunctionSet, Vendor};
use crate::profile::tool_form::{FunctionTool, ProviderToolJson, ToolForm};

/// The name under which tool options are given.
const PROVIDER: &str = "anthropic";
/// The prefix of caller names that are the model's programs.
const PROGRAM: &str = "code_execution";
/// The setting that names a toolset's MCP server.
pub(super) const MCP_SERVER: &str = "mcp_server_name";
/// The name member in a server definition.
pub(super) const NAME: &str = "name";

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
        let examples: Vec<Value> = tool.examples().into_iter().filter(Value::is_object).collect();
        if !examples.is_empty() {
            json.insert("input_examples".to_owned(), examples.into());
        }
        add_options(&mut json, &tool.descriptor.provider_options);
        Value::Object(json)
    }

    fn is_called_by_programs(&self, descriptor: &ToolDescriptor) -> bool {
        let options = &descriptor.provider_options;
        let mut callers = options.allowed_callers.iter().flatten().map(String::as_str);
        let own = options.provider(PROVIDER).and_then(|own| own.get("allowed_callers")).and_then(Value::as_array);
        let mut own = own.into_iter().flatten().filter_map(Value::as_str);
        callers.any(|caller| caller.starts_with(PROGRAM)) || own.any(|caller| caller.starts_with(PROGRAM))
    }

    fn provider_tool(&self, descriptor: &ToolDescriptor) -> Result<ProviderToolJson, RenderFault> {
        let rendered = catalogue::render_provider_tool(descriptor, Vendor::Anthropic);
        let fault = |message: &str| RenderFault::new("", message, "correct the definition of the tool");
        let Value::Object(mut json) = rendered? else {
            return Err(fault("the tool is no object"));
        };
        add_options(&mut json, &descriptor.provider_options);
        let DescriptorKind::Provider { id, provider_name, args, .. } = &descriptor.kind else {
            return Err(fault("the tool is not defined by a provider"));
        };
        let entry = catalogue::find(id);
        let wire_name = match entry.map(|entry| &entry.call) {
            // Calls to its functions carry the toolset's name.
            Some(CallForm::Functions(FunctionSet { toolset: Some(toolset), .. })) => (*toolset).to_owned(),
            // A request may have several MCP servers.
            _ => match json.get(MCP_SERVER).and_then(Value::as_str) {
                Some(server) => format!("{provider_name}:{server}"),
                None => provider_name.clone(),
            },
        };
        let server =
            entry.and_then(|entry| args.get(entry.beside?)).and_then(|server| server_definition(server, &json));
        let mut tool = ProviderToolJson::new(Value::Object(json), wire_name);
        tool.beta = entry.and_then(|entry| entry.beta).map(str::to_owned);
        tool.beside = server;
        Ok(tool)
    }
}

/// Returns the definition of a toolset's MCP server.
fn server_definition(settings: &Value, toolset: &Map<String, Value>) -> Option<Value> {
    let mut server = Map::new();
    server.insert("type".to_owned(), "url".into());
    server.insert(NAME.to_owned(), toolset.get(MCP_SERVER)?.clone());
    server.extend(settings.as_object()?.clone());
    Some(Value::Object(server))
}

/// Returns the argument of a toolset's tool that names the called function.
pub(super) fn function_member(toolset: &str) -> &'static str {
    let sets = catalogue::entries_of(Vendor::Anthropic).iter().filter_map(|entry| match &entry.call {
        CallForm::Functions(set) => Some(set),
        _ => None,
    });
    sets.into_iter().find(|set| set.toolset == Some(toolset)).map_or("action", |set| set.member)
}

/// Adds a tool's options for this provider.
fn add_options(json: &mut Map<String, Value>, options: &ProviderOptions) {
    if let Some(cache) = &options.cache_control {
        let control = match &cache.ttl {
            Some(ttl) => json!({"type": "ephemeral", "ttl": ttl}),
            None => json!({"type": "ephemeral"}),
        };
        json.insert("cache_control".to_owned(), control);
    }
    if let Some(deferred) = options.defer_loading {
        json.insert("defer_loading".to_owned(), deferred.into());
    }
    if let Some(callers) = &options.allowed_callers {
        json.insert("allowed_callers".to_owned(), callers.as_slice().into());
    }
    if let Some(Value::Object(own)) = options.provider(PROVIDER) {
        json.extend(own.clone());
    }
}
