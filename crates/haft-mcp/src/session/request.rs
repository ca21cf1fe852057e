//! The requests of a session: lists of tools, and calls.

use std::collections::HashSet;
use std::time::Duration;

use haft_core::Progress;
use haft_executor::Cx;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, ListToolsRequest,
    PaginatedRequestParams, RequestId, ServerResult, Tool,
};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use rmcp::{Peer, RoleClient, ServiceError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};

use super::asking::RunningCall;
use super::{CallFault, Session};
use crate::error::McpError;
use crate::limit::McpLimits;
use crate::listing::Listing;
use crate::log::ServerLog;
use crate::server::McpServer;
use crate::trace_context::{self, TraceSource};
use crate::wire::slot::{Slot, SlotKind};

/// The pages of a list. A server that never ends its list has as many as it likes.
const MAX_PAGES: usize = 1000;

/// A call to send.
pub(crate) struct OutgoingCall<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) input: &'a GivenInput,
    /// The HTTP transport copies some of the arguments to headers.
    pub(crate) has_headers: bool,
    pub(crate) limits: &'a McpLimits,
    pub(crate) trace: Option<&'a TraceSource>,
}

/// The answers to what a server asked in place of an answer, and what it left for itself.
#[derive(Default)]
pub(crate) struct GivenInput {
    pub(crate) responses: Map<String, Value>,
    pub(crate) state: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    /// Each is parsed by itself: one that can't be does not lose the others.
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// The tools of a list that is read page by page.
#[derive(Default)]
struct Gathered {
    definitions: Vec<Value>,
    /// The names of tools whose definitions can't be parsed, if they can be found.
    unreadable: Vec<Option<String>>,
    /// The tools that rmcp's HTTP transport has removed for their header annotations.
    dropped: HashSet<String>,
}

impl Session {
    /// Lists all tools, page by page.
    pub(crate) async fn list(&self, server: &McpServer) -> Result<Listing, McpError> {
        let error = |reason: String| McpError::List { server: server.name.clone(), reason };
        let (mut gathered, mut cursors) = (Gathered::default(), HashSet::new());
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let next = self.page(cursor.take(), &mut gathered).await.map_err(|fault| self.list_error(server, fault))?;
            if gathered.definitions.len() + gathered.unreadable.len() > server.limits.tools {
                return Err(error(format!("it has more than {} tools", server.limits.tools)));
            }
            // An empty cursor and one that was there before would begin the list again.
            let next = next.filter(|next| !next.is_empty() && cursors.insert(next.clone()));
            if next.is_none() {
                let mut listing = Listing::read(gathered.definitions);
                listing.reject_headers(&gathered.dropped);
                listing.add_unreadable(gathered.unreadable);
                return Ok(listing);
            }
            cursor = next;
        }
        Err(error(format!("the list has more than {MAX_PAGES} pages")))
    }

    /// Adds the tools of one page, and returns the cursor of the next.
    async fn page(&self, cursor: Option<String>, gathered: &mut Gathered) -> Result<Option<String>, CallFault> {
        let slot = Slot::new(SlotKind::List);
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let mut request = ListToolsRequest::with_param(params);
        request.extensions.insert(slot.clone());
        let mut pending = self.send(ClientRequest::ListToolsRequest(request), PeerRequestOptions::no_options()).await?;
        let result = pending.response().await;
        let (answer, result) = self.answer(&slot, result).await?;
        let page = Page::deserialize(&*answer);
        let page = page.map_err(|_| CallFault::Lost("has sent a list that haft can't read".to_owned()))?;
        if let ServerResult::ListToolsResult(kept) = result {
            let kept: HashSet<&str> = kept.tools.iter().map(|tool| &*tool.name).collect();
            let tools = page.tools.iter().filter_map(|tool| serde_json::from_str::<Tool>(tool.get()).ok());
            let names = tools.map(|tool| tool.name.into_owned());
            gathered.dropped.extend(names.filter(|name| !kept.contains(&**name)));
        }
        for tool in page.tools {
            match serde_json::from_str(tool.get()) {
                Ok(definition) => gathered.definitions.push(definition),
                Err(_) => gathered.unreadable.push(name_alone(tool)),
            }
        }
        Ok(page.next_cursor)
    }

    fn list_error(&self, server: &McpServer, fault: CallFault) -> McpError {
        let name = server.name.clone();
        let reason = match fault {
            CallFault::LoginRequired => return McpError::LoginRequired { server: name },
            CallFault::Lost(reason) | CallFault::NotSent(reason) => {
                let lines = self.log.last_lines();
                let source = (!lines.is_empty()).then(|| lines.join("\n").into());
                return McpError::Ended { server: name, reason, source };
            }
            CallFault::TooLarge(limit) => format!("the list has more than {limit} bytes"),
            CallFault::TimedOut(after) => return McpError::TimedOut { server: name, after },
            CallFault::Rejected(error) => format!("the server reports: {}", self.log.clean(&error.message)),
        };
        McpError::List { server: name, reason }
    }

    /// Makes a call, and emits its progress. Dropping the future cancels the call at the server.
    pub(crate) async fn call(&self, call: OutgoingCall<'_>, cx: &Cx) -> Result<Box<RawValue>, CallFault> {
        let invalid = |_| CallFault::NotSent("takes JSON arguments only".to_owned());
        let arguments = RawValue::from_string(call.arguments.to_owned()).map_err(invalid)?;
        let mut params = CallToolRequestParams::new(call.tool.to_owned());
        let responses = &call.input.responses;
        params.input_responses = (!responses.is_empty()).then(|| responses.clone().into_iter().collect());
        params.request_state.clone_from(&call.input.state);
        // rmcp logs what it knows, so it gets no arguments that it does not need.
        if call.has_headers {
            params.arguments = serde_json::from_str(call.arguments).ok();
        }
        let slot = Slot::new(SlotKind::Call { arguments: Some(arguments) });
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(slot.clone());
        let mut options = PeerRequestOptions::no_options();
        options.meta = trace_context::meta(call.trace);
        let mut pending = self.send(ClientRequest::CallToolRequest(request), options).await?;
        let id = pending.handle.id.clone();
        self.asking().begin(RunningCall { id, cx: cx.clone(), slot: slot.clone() });
        let result = wait(&mut pending, &slot, call.limits, &self.log, cx).await?;
        while let Some(progress) = slot.take_progress() {
            emit(&self.log, cx, progress).await;
        }
        self.answer(&slot, result).await.map(|(answer, _)| answer)
    }

    async fn send(&self, request: ClientRequest, options: PeerRequestOptions) -> Result<PendingRequest<'_>, CallFault> {
        let peer = self.running.peer();
        match peer.send_request_with_option(request, options).await {
            Ok(handle) => Ok(PendingRequest { session: self, handle, is_open: true }),
            // The connection was closed before the request reached it.
            Err(_) => Err(CallFault::NotSent(self.end_phrase().await)),
        }
    }

    async fn answer(
        &self,
        slot: &Slot,
        result: Result<ServerResult, ServiceError>,
    ) -> Result<(Box<RawValue>, ServerResult), CallFault> {
        match (result, slot.take_answer()) {
            (Ok(result), Some(answer)) => Ok((answer, result)),
            (Ok(_), None) => Err(CallFault::Lost("has sent an answer that haft can't read".to_owned())),
            (Err(error), _) => {
                let ended = if self.has_ended() { self.end_phrase().await } else { "has closed the stream".to_owned() };
                match CallFault::of(error, slot.exceeded(), ended) {
                    // The connection has ended while the request waited to be sent.
                    CallFault::Lost(reason) if !slot.is_sent() => Err(CallFault::NotSent(reason)),
                    fault => Err(fault),
                }
            }
        }
    }
}

/// Returns the name in a definition of which nothing else is parsed.
fn name_alone(definition: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    Named::deserialize(definition).ok().map(|named| named.name)
}

/// Waits for the answer to a call.
async fn wait(
    pending: &mut PendingRequest<'_>,
    slot: &Slot,
    limits: &McpLimits,
    log: &ServerLog,
    cx: &Cx,
) -> Result<Result<ServerResult, ServiceError>, CallFault> {
    let (mut end, mut silence) = (after(limits.call_total), after(limits.call_timeout));
    // Set while a person is asked.
    let mut paused: Option<Instant> = None;
    loop {
        match (slot.is_paused(), paused) {
            (true, None) => paused = Some(Instant::now()),
            (false, Some(since)) => {
                end += since.elapsed();
                silence = after(limits.call_timeout);
                paused = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
        let progress = tokio::select! {
            biased;
            result = pending.response() => return Ok(result),
            progress = slot.next_change() => progress,
            () = sleep_until(silence.min(end)), if paused.is_none() => {
                let limit = if silence <= end { limits.call_timeout } else { limits.call_total };
                return Err(CallFault::TimedOut(limit));
            }
        };
        if let Some(progress) = progress {
            emit(log, cx, progress).await;
            silence = after(limits.call_timeout);
        }
    }
}

/// Returns the time at which a timeout that starts now ends.
fn after(timeout: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);
    Instant::now() + timeout.min(FAR)
}

async fn emit(log: &ServerLog, cx: &Cx, mut progress: Progress) {
    progress.message = log.clean(&progress.message);
    // The only error is that the value does not have the form that the tool declares, and these tools declare none.
    let _ = cx.emit(progress).await;
}

/// A request that was sent. Dropping it before its answer arrived cancels it at the server.
struct PendingRequest<'a> {
    session: &'a Session,
    handle: RequestHandle<RoleClient>,
    is_open: bool,
}

impl PendingRequest<'_> {
    async fn response(&mut self) -> Result<ServerResult, ServiceError> {
        let response = (&mut self.handle.rx).await;
        self.is_open = false;
        response.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        self.session.tap.forget(&self.handle.id);
        self.session.asking().end(&self.handle.id);
        if self.is_open
            && !self.session.has_ended()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(cancel(self.session.running.peer().clone(), self.handle.id.clone()));
        }
    }
}

async fn cancel(peer: Peer<RoleClient>, id: RequestId) {
    let reason = Some("the call was cancelled".to_owned());
    // The only error is that the connection has ended.
    let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
}
