//! OpenAI's use of MCP servers.

use std::collections::BTreeMap;

use haft_core::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::openai::executed;
use crate::catalogue::typed::{open_enum, setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, IntoSetting, SecretSetting};

settings! {
    /// The settings of [`mcp`]. One of `server_url`, `connector_id` and `tunnel_id` is required.
    pub struct OpenAiMcp {
        required {
            /// The label of the server, by which calls are identified.
            server_label: String,
        }
        optional {
            /// The address of the server.
            server_url: String,
            /// A server of the provider, such as `connector_gmail`.
            connector_id: String,
            /// A tunnel to a private server.
            tunnel_id: String,
            /// The access token for the server.
            authorization: SecretSetting,
            /// Headers of requests to the server.
            headers: BTreeMap<String, SecretSetting>,
            /// The tools that may be called.
            allowed_tools: McpAllowedTools,
            /// The tools whose calls require approval, which are all by default.
            require_approval: McpApproval,
            /// A description of the server.
            server_description: String,
        }
    }
}

/// The tools of a server that may be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum McpAllowedTools {
    /// Those of these names.
    Names(Vec<String>),
    /// Those that a filter accepts.
    Filter(McpToolFilter),
}

setting_object! {
    /// A filter of tools.
    pub struct McpToolFilter {
        optional {
            /// The value of the hint `readOnlyHint`.
            read_only: bool,
            /// The names.
            tool_names: Vec<String>,
        }
    }
}

/// The tools of a server whose calls require approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum McpApproval {
    /// All, or none.
    Every(McpApprovalMode),
    /// Those that filters accept.
    Filter(McpApprovalFilter),
}

open_enum! {
    /// The approval of calls to all tools of a server.
    pub enum McpApprovalMode {
        /// Every call requires approval.
        Always,
        /// No call requires approval.
        Never,
    }
}

setting_object! {
    /// The tools whose calls always or never require approval.
    pub struct McpApprovalFilter {
        optional {
            /// Those whose calls always do.
            always: McpToolFilter,
            /// Those whose calls never do.
            never: McpToolFilter,
        }
    }
}

/// The result of a call to a tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct McpCallResult {
    /// The name of the tool.
    pub name: String,
    /// The arguments, as JSON text.
    pub arguments: String,
    /// The label of the server.
    pub server_label: String,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The reason that the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The status of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

impl IntoSetting<McpApproval> for McpApprovalMode {
    fn into_setting(self) -> McpApproval {
        McpApproval::Every(self)
    }
}

impl<S: Into<String>, const N: usize> IntoSetting<McpAllowedTools> for [S; N] {
    fn into_setting(self) -> McpAllowedTools {
        McpAllowedTools::Names(self.into_setting())
    }
}

impl CatalogueSettings for OpenAiMcp {
    const ENTRY: CatalogueEntry = executed("openai.mcp", "OpenAiMcp", "mcp", "mcp_call").types::<Self>();
    type Params = Value;
    type Success = McpCallResult;
    type Failure = NoFailure;
}

/// Creates the tool that stands for the tools of an MCP server, which the provider calls.
///
/// ```
/// use haft_wire::catalogue::openai::{self, McpApprovalMode};
///
/// let docs = openai::mcp("docs")
///     .server_url("https://mcp.example.org")
///     .allowed_tools(["search"])
///     .require_approval(McpApprovalMode::Never)
///     .define()?;
/// assert_eq!(docs.name(), "OpenAiMcp");
/// # Ok::<_, haft_core::DefinitionError>(())
/// ```
pub fn mcp(server_label: impl IntoSetting<String>) -> CatalogueTool<OpenAiMcp> {
    CatalogueTool::new(OpenAiMcp::new(server_label.into_setting()))
}
