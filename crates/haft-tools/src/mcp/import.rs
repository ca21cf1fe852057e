//! A server behind the tools of an import.
//!
//! The server is created at the first call, because its secrets are read then and not before. Everything after that,
//! such as starting it again, is the client's business.

use std::sync::Arc;

use haft_core::{FailureKind, ToolCall, ToolFailure, ToolOutput};
use haft_executor::{ForwardCx, Services, Tool};
use haft_mcp::McpClient;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::redact::ServerSecrets;
use super::settings::ServerSettings;

/// An import's server, which runs once one of its tools was called.
#[derive(Debug)]
pub(super) struct McpImport {
    server: Arc<ServerSettings>,
    /// The definitions that were accepted.
    definitions: Vec<Value>,
    client: OnceCell<(McpClient, ServerSecrets)>,
}

impl McpImport {
    pub(super) fn new(server: Arc<ServerSettings>, definitions: Vec<Value>) -> Self {
        Self { server, definitions, client: OnceCell::new() }
    }

    /// Forwards a call to the server.
    pub(super) async fn call(
        self: Arc<Self>,
        tool: Tool,
        call: ToolCall,
        cx: ForwardCx,
    ) -> Result<ToolOutput, ToolFailure> {
        cx.mark_unsent();
        let (client, secrets) = self.client(cx.services()).await?;
        match client.forward(tool, call, cx).await {
            Ok(output) => Ok(secrets.output(output)),
            Err(failure) => Err(secrets.failure(failure)),
        }
    }

    async fn client(&self, services: &Services) -> Result<&(McpClient, ServerSecrets), ToolFailure> {
        let create = async || {
            let (server, secrets) = self.server.with_secrets(services)?;
            Ok((server.pinned(self.definitions.iter().cloned()), secrets))
        };
        self.client.get_or_try_init(create).await.map_err(|error: haft_executor::BoxError| {
            let message = "the tool can't be used now: its server can't be set up";
            ToolFailure::new(FailureKind::ExecutionError, message)
                .not_started()
                .not_retryable()
                .cause(error.to_string())
        })
    }
}
