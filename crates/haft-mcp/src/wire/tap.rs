//! The filter between a server and rmcp.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use haft_core::Progress;
use rmcp::model::{
    ClientJsonRpcMessage, JsonRpcMessage, ListToolsResult, ProgressNotificationParam, ProgressToken, RequestId,
    ServerJsonRpcMessage, ServerResult, Tool,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::message::{self, Envelope};
use super::slot::{Slot, SlotKind};
use crate::log::ServerLog;

/// The requests of a server that may be under way at the same time. A server that sends more is cut off.
const MAX_REQUESTS: usize = 64;

/// The lines or events in a row that may be no messages: what a server writes to its standard output by mistake.
const MAX_STRAY: usize = 10_000;

/// The reason why a connection ended, if this side ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// The server sent a message of more bytes than this.
    TooLarge(usize),
    /// The server sent too many requests at once.
    TooManyRequests,
    /// The server wrote this many lines in a row that are no messages.
    Stray(usize),
}

/// The filter of one connection, shared with its transport.
pub(crate) struct Tap {
    pending: Mutex<Pending>,
    /// The requests of the server that were not answered yet.
    requests: AtomicUsize,
    /// The lines without a message since the last message.
    stray: AtomicUsize,
    tools_changed: Notify,
    end: OnceLock<EndReason>,
    log: ServerLog,
}

#[derive(Default)]
struct Pending {
    slots: HashMap<RequestId, (Slot, Option<ProgressToken>)>,
    tokens: HashMap<ProgressToken, Slot>,
    /// The answers to the server's requests. rmcp logs those that it sends, so it gets empty ones.
    answers: HashMap<RequestId, Value>,
}

impl Tap {
    pub(crate) fn new(log: ServerLog) -> Arc<Self> {
        Arc::new(Self {
            pending: Mutex::default(),
            requests: AtomicUsize::new(0),
            stray: AtomicUsize::new(0),
            tools_changed: Notify::new(),
            end: OnceLock::new(),
            log,
        })
    }

    /// Looks at a message to the server, before it is sent. Returns its text.
    pub(super) fn outgoing(&self, message: &ClientJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
        match message {
            JsonRpcMessage::Request(_) => {
                if let Some((slot, id, token)) = message::slot(message) {
                    let mut pending = self.lock();
                    pending.tokens.extend(token.clone().map(|token| (token, slot.clone())));
                    pending.slots.insert(id, (slot, token));
                }
            }
            JsonRpcMessage::Response(response) => {
                if let Some(answer) = self.settle(&response.id) {
                    return message::encode_answer(&response.id, &answer);
                }
            }
            JsonRpcMessage::Error(error) => drop(error.id.as_ref().and_then(|id| self.settle(id))),
            JsonRpcMessage::Notification(_) => {}
        }
        message::encode(message)
    }

    /// Looks at a message of the server. Returns what rmcp gets of it.
    pub(super) fn incoming(&self, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(text) else {
            tracing::debug!(server = self.log.server(), bytes = text.len(), "ignored output that is no message");
            if self.stray.fetch_add(1, Ordering::Relaxed) >= MAX_STRAY {
                self.end(EndReason::Stray(MAX_STRAY));
            }
            return None;
        };
        self.stray.store(0, Ordering::Relaxed);
        match (envelope.method.as_deref(), envelope.id, envelope.result) {
            (Some(method), None, _) if !self.passes(method, envelope.params) => None,
            (Some(_), Some(_), _) => self.request(text),
            (None, Some(id), Some(result)) => self
                .response(&id)
                .map_or_else(|| serde_json::from_slice(text).ok(), |(id, slot)| Some(answer(&slot, id, result))),
            _ => serde_json::from_slice(text).ok(),
        }
    }

    /// Records that the answer to a request was not read, because it has more bytes than this.
    pub(super) fn too_large(&self, id: &RequestId, limit: usize) {
        if let Some((slot, _)) = self.lock().slots.get(id) {
            slot.too_large(limit);
        }
    }

    /// Keeps the answer to a request of the server until it is sent.
    pub(crate) fn keep_answer(&self, id: RequestId, answer: Value) {
        self.lock().answers.insert(id, answer);
    }

    /// Ends a request of the server, and returns its answer.
    fn settle(&self, id: &RequestId) -> Option<Value> {
        let _ = self.requests.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| Some(open.saturating_sub(1)));
        self.lock().answers.remove(id)
    }

    /// Removes the slot of a request whose answer is not wanted any more.
    pub(crate) fn forget(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    /// Completes when the server has reported other tools since this was last called.
    pub(crate) async fn tools_changed(&self) {
        self.tools_changed.notified().await;
    }

    /// Ends the connection. The first reason counts.
    pub(super) fn end(&self, reason: EndReason) {
        let _ = self.end.set(reason);
        // The message was not read, so its id is unknown. If one answer is missing, it was that.
        if let EndReason::TooLarge(limit) = reason
            && let Some((slot, _)) = self.lock().only()
        {
            slot.too_large(limit);
        }
    }

    pub(crate) fn end_reason(&self) -> Option<EndReason> {
        self.end.get().copied()
    }

    /// Handles a notification, and reports whether rmcp needs it as well.
    fn passes(&self, method: &str, params: Option<&RawValue>) -> bool {
        match method {
            "notifications/progress" => {
                self.progress(params);
                false
            }
            "notifications/message" => {
                self.log.message(params);
                false
            }
            "notifications/tools/list_changed" => {
                self.tools_changed.notify_one();
                false
            }
            "notifications/cancelled" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Cancelled {
                    request_id: RequestId,
                }
                if let Some(cancelled) = params.and_then(|params| Cancelled::deserialize(params).ok()) {
                    self.settle(&cancelled.request_id);
                }
                true
            }
            "notifications/subscriptions/acknowledged" => true,
            _ => false,
        }
    }

    fn progress(&self, params: Option<&RawValue>) {
        let Some(params) = params.and_then(|params| ProgressNotificationParam::deserialize(params).ok()) else {
            return;
        };
        let slot = self.lock().tokens.get(&params.progress_token).cloned();
        if let Some(slot) = slot {
            let message = params.message.unwrap_or_default();
            slot.progress(Progress::new(params.progress).total(params.total).message(message));
        }
    }

    fn request(&self, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        if self.requests.fetch_add(1, Ordering::Relaxed) >= MAX_REQUESTS {
            self.end(EndReason::TooManyRequests);
            return None;
        }
        serde_json::from_slice(text).ok()
    }

    /// Returns the slot of an answered request, and its id as it was sent.
    fn response(&self, id: &RequestId) -> Option<(RequestId, Slot)> {
        let mut pending = self.lock();
        if let Some(slot) = pending.remove(id) {
            return Some((id.clone(), slot));
        }
        // Some servers return numbers as texts.
        let RequestId::String(text) = id else { return None };
        let id = RequestId::Number(text.parse().ok()?);
        pending.remove(&id).map(|slot| (id, slot))
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// Returns the only request without an answer, if it is the only one.
    fn only(&self) -> Option<&(Slot, Option<ProgressToken>)> {
        self.slots.values().next().filter(|_| self.slots.len() == 1)
    }

    fn remove(&mut self, id: &RequestId) -> Option<Slot> {
        let (slot, token) = self.slots.remove(id)?;
        if let Some(token) = token {
            self.tokens.remove(&token);
        }
        Some(slot)
    }
}

/// Keeps the answer, and returns what rmcp gets in its place.
fn answer(slot: &Slot, id: RequestId, result: &RawValue) -> ServerJsonRpcMessage {
    slot.answer(result.to_owned());
    let placeholder = match slot.kind() {
        SlotKind::Call { .. } => ServerResult::empty(()),
        SlotKind::List => ServerResult::ListToolsResult(well_formed(result)),
    };
    ServerJsonRpcMessage::response(placeholder, id)
}

/// Returns the tools that rmcp can read. Its HTTP transport removes those with invalid header annotations.
fn well_formed(result: &RawValue) -> ListToolsResult {
    #[derive(Deserialize)]
    struct ListedTools<'a> {
        #[serde(borrow)]
        tools: Vec<&'a RawValue>,
    }
    let listed = ListedTools::deserialize(result).unwrap_or(ListedTools { tools: Vec::new() });
    let tools = listed.tools.into_iter().filter_map(|tool| serde_json::from_str::<Tool>(tool.get()).ok()).collect();
    ListToolsResult { tools, ..ListToolsResult::default() }
}
