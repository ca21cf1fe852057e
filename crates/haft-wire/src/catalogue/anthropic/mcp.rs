//! Anthropic's MCP connector.

use std::collections::BTreeMap;

use haft_executor::NoFailure;
use serde_json::Value;

use crate::catalogue::anthropic::{FunctionConfig, executed};
use crate::catalogue::typed::{setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, IntoSetting, SecretSetting};

settings! {
    /// Settings for [`mcp_toolset`].
    pub struct AnthropicMcpToolset {
        required {
            /// The server's name.
            mcp_server_name: String,
        }
        optional {
            /// The server, which the request then defines. Without it, `mcp_servers` in the provider options must
            /// define a server with this name.
            server: AnthropicMcpServer,
            /// Per-tool settings, by name.
            configs: BTreeMap<String, FunctionConfig>,
            /// Settings for all other tools.
            default_config: FunctionConfig,
            /// The server's tools, if the provider should not ask it for them.
            tools: Vec<McpToolDefinition>,
        }
    }
}

setting_object! {
    /// An MCP server, which the provider connects to.
    pub struct AnthropicMcpServer {
        required {
            /// The address, which starts with `https://`.
            url: String,
        }
        optional {
            /// The access token for the server.
            authorization_token: SecretSetting,
        }
    }
}

setting_object! {
    /// An MCP server's tool.
    pub struct McpToolDefinition {
        required {
            /// The name.
            name: String,
            /// The argument schema.
            input_schema: Value,
        }
        optional {
            /// The description.
            description: String,
        }
    }
}

impl CatalogueSettings for AnthropicMcpToolset {
    const ENTRY: CatalogueEntry =
        executed("anthropic.mcp_toolset", "AnthropicMcpToolset", "mcp_toolset", "mcp_toolset")
            .beta("mcp-client-2025-11-20")
            .beside("server")
            .reported(&[], "mcp_tool_use", &["mcp_tool_result"])
            .types::<Self>();
    type Params = Value;
    type Success = Value;
    type Failure = NoFailure;
}

impl IntoSetting<AnthropicMcpServer> for &str {
    /// Takes the text as an address.
    fn into_setting(self) -> AnthropicMcpServer {
        AnthropicMcpServer::new(self)
    }
}

/// Creates the tool that stands for an MCP server's tools, which the provider calls. A request has one toolset per
/// server.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_wire::catalogue::anthropic::{self, AnthropicMcpServer};
/// use haft_wire::{AnthropicMessages, Delivery, Wire};
///
/// let server = AnthropicMcpServer::new("https://mcp.example.org").authorization_token("t-123");
/// let docs = anthropic::mcp_toolset("docs").server(server).define()?;
/// assert!(!format!("{:?}", docs.descriptor()).contains("t-123"), "the token is seen nowhere");
///
/// let request = TurnRequest::new("claude-opus-5-5", vec![Item::user("How do I start?")]).tools(&[docs.descriptor()]);
/// let sent = AnthropicMessages::new().request(&request, Delivery::Whole)?;
/// assert!(sent.body.contains(r#""tools":[{"type":"mcp_toolset","mcp_server_name":"docs"}]"#));
/// assert!(sent.body.contains(
///     r#""mcp_servers":[{"type":"url","name":"docs","url":"https://mcp.example.org","authorization_token":"t-123"}]"#
/// ));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn mcp_toolset(server: impl IntoSetting<String>) -> CatalogueTool<AnthropicMcpToolset> {
    CatalogueTool::new(AnthropicMcpToolset::new(server.into_setting()))
}
