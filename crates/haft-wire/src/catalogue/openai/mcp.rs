//! OpenAI's MCP connector.

use std::collections::BTreeMap;

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::openai::executed;
use crate::catalogue::typed::{open_enum, setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, IntoSetting, SecretSetting};

settings! {
    /// Settings for [`mcp`]. You must set `server_url`, `connector_id` or `tunnel_id`.
    pub struct OpenAiMcp {
        required {
            /// The server's label, which identifies its calls.
            server_label: String,
        }
        optional {
            /// The server's address.
            server_url: String,
            /// A server that the provider runs, such as `connector_gmail`.
            connector_id: String,
            /// A tunnel to a private server.
            tunnel_id: String,
            /// The access token for the server.
            authorization: SecretSetting,
            /// Headers for requests to the server.
            headers: BTreeMap<String, SecretSetting>,
            /// The tools that may be called.
            allowed_tools: McpAllowedTools,
            /// The tools whose calls require approval. By default all do.
            require_approval: McpApproval,
            /// The server's description.
            server_description: String,
        }
    }
}

/// The server tools that may be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum McpAllowedTools {
    /// The tools with these names.
    Names(Vec<String>),
    /// Those that a filter accepts.
    Filter(McpToolFilter),
}

setting_object! {
    /// A tool filter.
    pub struct McpToolFilter {
        optional {
            /// The required `readOnlyHint`.
            read_only: bool,
            /// The names.
            tool_names: Vec<String>,
        }
    }
}

/// The server tools whose calls require approval.
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
    /// The approval mode for calls to all of a server's tools.
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

/// A result from an MCP server's tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct McpCallResult {
    /// The tool's name.
    pub name: String,
    /// The arguments, as JSON text.
    pub arguments: String,
    /// The server's label.
    pub server_label: String,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The reason that the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The call's status.
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

/// Creates the tool that stands for an MCP server's tools, which the provider calls.
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
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
pub fn mcp(server_label: impl IntoSetting<String>) -> CatalogueTool<OpenAiMcp> {
    CatalogueTool::new(OpenAiMcp::new(server_label.into_setting()))
}
