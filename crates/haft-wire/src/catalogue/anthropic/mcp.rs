//! Anthropic's use of MCP servers.

use std::collections::BTreeMap;

use haft_core::NoFailure;
use serde_json::Value;

use crate::catalogue::anthropic::{FunctionConfig, executed};
use crate::catalogue::typed::{setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueTool, IntoSetting, ToolSettings};

settings! {
    /// The settings of [`mcp_toolset`].
    pub struct AnthropicMcpToolset {
        required {
            /// The name of the server, which the request defines.
            mcp_server_name: String,
        }
        optional {
            /// The settings of tools, by name.
            configs: BTreeMap<String, FunctionConfig>,
            /// The settings of all other tools.
            default_config: FunctionConfig,
            /// The tools, if the server is not to be asked for them.
            tools: Vec<McpToolDefinition>,
        }
    }
}

setting_object! {
    /// A tool of an MCP server.
    pub struct McpToolDefinition {
        required {
            /// The name.
            name: String,
            /// The schema of the arguments.
            input_schema: Value,
        }
        optional {
            /// The description.
            description: String,
        }
    }
}

impl ToolSettings for AnthropicMcpToolset {
    const ENTRY: CatalogueEntry =
        executed("anthropic.mcp_toolset", "AnthropicMcpToolset", "mcp_toolset", "mcp_toolset")
            .named_by("mcp_server_name")
            .beta("mcp-client-2025-11-20")
            .reported(&[], "mcp_tool_use", &["mcp_tool_result"])
            .types::<Self>();
    type Params = Value;
    type Success = Value;
    type Failure = NoFailure;
}

/// Creates the tool that stands for the tools of an MCP server, which the provider calls.
pub fn mcp_toolset(server: impl IntoSetting<String>) -> CatalogueTool<AnthropicMcpToolset> {
    CatalogueTool::new(AnthropicMcpToolset::new(server.into_setting()))
}
