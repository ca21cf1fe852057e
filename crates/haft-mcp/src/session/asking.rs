//! This side of the protocol: requests that a server makes.
//!
//! In the old era a server sends requests while a call runs, and in the new one it answers the call with them. Both are
//! answered here, as JSON, so that each request has one answer. A request of the old era belongs to a call: that whose
//! stream it came on. The protocol has no other sign of it, so where there is none (a program has one stream for all) the
//! question goes to the last call whose run can ask somebody. Set `in_flight` to one where that must not be another.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_core::Question;
use haft_executor::Cx;
use rmcp::model::{
    ClientConfig, ClientResult, ErrorData, Implementation, ProtocolVersion, RequestId, ServerNotification,
    ServerRequest,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext};
use rmcp::{RoleClient, Service};
use serde_json::{Value, json};

use crate::convert::elicitation;
use crate::log::ServerLog;
use crate::sampling::{self, SamplingHandler};
use crate::server::McpServer;
use crate::wire::slot::Slot;
use crate::wire::tap::Tap;

/// The answers to a server's requests, and the calls that they may belong to. Clones share the calls.
#[derive(Clone)]
pub(crate) struct Asking {
    pub(super) version: ProtocolVersion,
    roots: Arc<[(String, Option<String>)]>,
    sampling: Option<SamplingHandler>,
    log: ServerLog,
    calls: Arc<Mutex<Vec<RunningCall>>>,
    tap: Arc<Tap>,
}

/// A call that waits for its answer.
#[derive(Clone)]
pub(super) struct RunningCall {
    pub(super) id: RequestId,
    pub(super) cx: Cx,
    pub(super) slot: Slot,
}

impl Asking {
    pub(super) fn new(server: &McpServer, log: &ServerLog, tap: Arc<Tap>) -> Self {
        Self {
            version: ProtocolVersion::LATEST_WITH_INITIALIZE,
            roots: server.roots.clone().into(),
            sampling: server.sampling.clone(),
            log: log.clone(),
            calls: Arc::default(),
            tap,
        }
    }

    pub(super) fn begin(&self, call: RunningCall) {
        self.calls().push(call);
    }

    pub(super) fn end(&self, id: &RequestId) {
        self.calls().retain(|call| call.id != *id);
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

    /// Reads a question for a person, without secrets.
    pub(crate) fn question(&self, params: &Value) -> Option<Question> {
        let mut params = params.clone();
        self.log.redact(&mut params);
        elicitation::read(&params)
    }

    /// Asks the person behind a call. Where nobody can be asked, the server's question is cancelled.
    async fn elicit(&self, params: &Value, origin: Option<&InboundStreamOrigin>) -> Result<Value, ErrorData> {
        let Some(question) = self.question(params) else {
            return Err(ErrorData::invalid_params("the question is neither a form nor a page", None));
        };
        let Some(call) = self.call_of(origin).filter(|call| call.cx.can_ask()) else {
            return Ok(elicitation::cancelled());
        };
        let _paused = call.slot.pause();
        let answer = tokio::select! {
            answer = call.cx.ask(question) => answer,
            () = call.cx.cancelled() => return Ok(elicitation::cancelled()),
        };
        Ok(match answer {
            Ok(answer) => elicitation::write(params, &answer),
            Err(error) => {
                tracing::debug!(%error, "a question of an MCP server has no answer");
                elicitation::cancelled()
            }
        })
    }

    /// Returns the call that a request belongs to.
    fn call_of(&self, origin: Option<&InboundStreamOrigin>) -> Option<RunningCall> {
        let calls = self.calls();
        match origin {
            Some(InboundStreamOrigin::OutboundRequest(id)) => calls.iter().find(|call| call.id == *id).cloned(),
            _ => calls.iter().rfind(|call| call.cx.can_ask()).cloned(),
        }
    }

    fn calls(&self) -> MutexGuard<'_, Vec<RunningCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service<RoleClient> for Asking {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let written = serde_json::to_value(&request).unwrap_or_default();
        let method = written["method"].as_str().unwrap_or_default();
        let params = &written["params"];
        let answer = if method == "elicitation/create" {
            let eliciting = self.elicit(params, context.extensions.get::<InboundStreamOrigin>());
            tokio::select! {
                answer = eliciting => answer?,
                // The server does not want the answer any more.
                () = context.ct.cancelled() => elicitation::cancelled(),
            }
        } else {
            self.answer(method, params).await?
        };
        self.tap.keep_answer(context.id, answer);
        Ok(ClientResult::empty(()))
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
        let mut capabilities = json!({"elicitation": {"form": {}, "url": {}}});
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
