//! This side of the protocol: requests that a server makes.
//!
//! In the old era a server sends requests while a call runs, and in the new one it answers the call with them. Both are
//! answered here, as JSON, so that each request has one answer.

use std::sync::Arc;

use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, ErrorData, Implementation, ProtocolVersion, ServerNotification,
    ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleClient, Service};
use serde_json::{Value, json};

use crate::sampling::{self, SamplingHandler};
use crate::server::McpServer;

/// The answers to a server's requests.
#[derive(Clone)]
pub(crate) struct Asking {
    pub(super) version: ProtocolVersion,
    roots: Arc<[(String, Option<String>)]>,
    sampling: Option<SamplingHandler>,
}

impl Asking {
    pub(super) fn new(server: &McpServer) -> Self {
        Self {
            version: ProtocolVersion::LATEST_WITH_INITIALIZE,
            roots: server.roots.clone().into(),
            sampling: server.sampling.clone(),
        }
    }

    /// Answers a request that is not for a person.
    pub(crate) async fn answer(&self, method: &str, params: &Value) -> Result<Value, ErrorData> {
        match (method, &self.sampling) {
            ("ping", _) => Ok(json!({})),
            ("roots/list", _) => {
                let root = |(uri, name): &(String, Option<String>)| match name {
                    Some(name) => json!({"uri": uri, "name": name}),
                    None => json!({"uri": uri}),
                };
                Ok(json!({"roots": self.roots.iter().map(root).collect::<Vec<_>>()}))
            }
            ("sampling/createMessage", Some(handler)) => {
                sampling::sample(handler, params).await.map_err(|reason| ErrorData::invalid_request(reason, None))
            }
            ("sampling/createMessage", None) => {
                Err(ErrorData::invalid_request("this client answers no requests for a model's answer", None))
            }
            _ => Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, "this client has no such method", None)),
        }
    }
}

impl Service<RoleClient> for Asking {
    async fn handle_request(
        &self,
        request: ServerRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let written = serde_json::to_value(&request).unwrap_or_default();
        let method = written["method"].as_str().unwrap_or_default();
        self.answer(method, &written["params"]).await.map(|answer| ClientResult::CustomResult(CustomResult(answer)))
    }

    /// The tap has handled what matters.
    async fn handle_notification(
        &self,
        _: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = json!({});
        if !self.roots.is_empty() {
            capabilities["roots"] = json!({});
        }
        if self.sampling.is_some() {
            capabilities["sampling"] = json!({});
        }
        let implementation = Implementation::new("haft", env!("CARGO_PKG_VERSION"));
        let capabilities = serde_json::from_value(capabilities).unwrap_or_default();
        ClientConfig::new(capabilities, implementation).with_protocol_version(self.version.clone())
    }
}
