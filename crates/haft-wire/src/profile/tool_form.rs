//! One tool's JSON on a wire.
//!
//! The schema, the name and the mode are decided before; a form only writes them where the provider expects them. The
//! form alone writes a tool that is built into the provider.

use haft_core::{RenderFault, ToolDescriptor};
use haft_schema::Codec;
use serde_json::Value;

use crate::profile::rendered_tools::ToolNamespace;

/// The JSON that a wire writes for tools.
///
/// ```
/// use haft_core::{RenderFault, ToolDescriptor};
/// use haft_wire::{FunctionTool, ToolForm};
/// use serde_json::{Value, json};
///
/// /// `{"name": …, "schema": …}`
/// struct Acme;
///
/// impl ToolForm for Acme {
///     fn function(&self, tool: &FunctionTool<'_>) -> Value {
///         json!({"name": tool.name, "about": tool.descriptor.description, "schema": tool.schema})
///     }
/// }
/// ```
///
/// A closure is a form without provider tools:
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_executor::Tool;
/// use haft_wire::{FunctionTool, McpDialect, Profile, RenderTools};
/// use serde_json::json;
///
/// let profile = Profile::new("acme", McpDialect, |tool: &FunctionTool<'_>| json!({"name": tool.name}));
/// let ping = Tool::new("ping").handler(|(), _cx| async { "pong" })?;
/// let request = TurnRequest::new("any", vec![Item::user("hi")]).tools(&[ping.descriptor()]);
/// assert_eq!(request.render_tools(&profile).list(), r#"[{"name":"ping"}]"#);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub trait ToolForm: Send + Sync {
    /// Writes a tool that the application runs.
    fn function(&self, tool: &FunctionTool<'_>) -> Value;

    /// Writes a tool that is built into the provider. By default a form has no such tools and rejects them all.
    fn provider_tool(&self, descriptor: &ToolDescriptor) -> Result<ProviderToolJson, RenderFault> {
        let message = format!("the tool `{}` is built into another provider", descriptor.id);
        Err(RenderFault::new("", message, "offer it to models of that provider only"))
    }

    /// Reports whether programs at the provider may call a tool. Such a tool is not sent as strict: a program passes
    /// what it has computed.
    fn is_called_by_programs(&self, descriptor: &ToolDescriptor) -> bool {
        let _ = descriptor;
        false
    }

    /// Reports whether [`list`](Self::list) writes namespaces.
    fn has_namespaces(&self) -> bool {
        false
    }

    /// Returns the request member that holds the answer schema, for an API with several.
    fn output_member(&self) -> &'static str {
        "schema"
    }

    /// Joins the tools to the list to send. The default is an array.
    fn list(&self, tools: &mut dyn Iterator<Item = ListedTool<'_>>) -> String {
        let mut list = String::from("[");
        for tool in tools {
            if list.len() > 1 {
                list.push(',');
            }
            list.push_str(tool.json);
        }
        list.push(']');
        list
    }
}

impl<F: Fn(&FunctionTool<'_>) -> Value + Send + Sync> ToolForm for F {
    fn function(&self, tool: &FunctionTool<'_>) -> Value {
        self(tool)
    }
}

/// A tool that your application runs, ready to be written.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FunctionTool<'a> {
    /// The tool.
    pub descriptor: &'a ToolDescriptor,
    /// The name on the wire.
    pub name: &'a str,
    /// The schema in the wire's dialect.
    pub schema: &'a Value,
    /// True in strict mode. The wire writes it wherever it has a member for it.
    pub strict: bool,
    codec: Option<&'a Codec>,
}

/// A provider's tool, as sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProviderToolJson {
    /// The tool.
    pub json: Value,
    /// The name by which the provider's responses call it.
    pub wire_name: String,
    /// The preview feature that a request with this tool must name in the provider's header.
    pub beta: Option<String>,
    /// Settings that the request contains outside the tool, such as a toolset's MCP server.
    pub beside: Option<Value>,
}

/// A written tool, to be listed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ListedTool<'a> {
    /// The tool as JSON text.
    pub json: &'a str,
    /// True for a provider's tool.
    pub built_in: bool,
    /// The namespace to send it in, where the provider supports namespaces.
    pub namespace: Option<&'a ToolNamespace>,
}

impl<'a> FunctionTool<'a> {
    /// Creates a tool to be written.
    #[must_use]
    pub fn new(descriptor: &'a ToolDescriptor, name: &'a str, schema: &'a Value, strict: bool) -> Self {
        Self { descriptor, name, schema, strict, codec: None }
    }

    /// Sets the conversion from arguments to the schema's shape.
    #[must_use]
    pub fn codec(mut self, codec: &'a Codec) -> Self {
        self.codec = Some(codec);
        self
    }

    /// Returns the example arguments in the schema's shape. Leaves out those that can't be converted.
    #[must_use]
    pub fn examples(&self) -> Vec<Value> {
        let converted = |example: &Value| match self.codec {
            None => Some(example.clone()),
            Some(codec) => serde_json::from_str(&codec.encode(&example.to_string()).ok()?).ok(),
        };
        self.descriptor.examples.iter().filter_map(converted).collect()
    }
}

impl<'a> ListedTool<'a> {
    pub(crate) fn new(json: &'a str, built_in: bool, namespace: Option<&'a ToolNamespace>) -> Self {
        Self { json, built_in, namespace }
    }
}

impl ProviderToolJson {
    /// Creates a provider's tool.
    #[must_use]
    pub fn new(json: Value, wire_name: impl Into<String>) -> Self {
        Self { json, wire_name: wire_name.into(), beta: None, beside: None }
    }

    /// Sets the preview feature that the tool belongs to.
    #[must_use]
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.beta = Some(beta.into());
        self
    }

    /// Sets the settings that the request contains outside the tool.
    #[must_use]
    pub fn beside(mut self, json: Value) -> Self {
        self.beside = Some(json);
        self
    }
}
