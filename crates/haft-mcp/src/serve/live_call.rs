//! A call that runs, and what passes between it and its client meanwhile.
//!
//! Everything is sent from the task that answers the request. In the new era a request can't be made of the client: the call
//! stops at its question and is kept, and the answer is part of another request.

use std::collections::{BTreeMap, VecDeque};
use std::future::ready;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use haft_core::{Progress, ToolEvent, ToolResult};
use haft_executor::{Cancellation, Run, Suspended};
use rmcp::model::{
    ClientCapabilities, CreateMessageResult, ElicitResult, ErrorData, InputRequests, ListRootsResult,
    LoggingMessageNotification, ProgressNotification, ProgressNotificationParam, ProgressToken, ServerNotification,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, ServiceError};
use rmcp::{RoleServer, model::InputRequest};
use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::mpsc;

use super::client_link::{Ask, AskClientError, Outgoing, ServedClient};

/// The messages that wait to be sent. Of more, the oldest are dropped.
const QUEUED: usize = 64;

/// A call that runs.
pub(super) struct LiveCall {
    run: Run,
    outgoing: mpsc::Receiver<Outgoing>,
    cancellation: Cancellation,
    /// The open requests to a client of the new era, by their keys.
    open: BTreeMap<String, Ask>,
    /// The answers of the client that no request has taken yet.
    answers: BTreeMap<String, Value>,
    asked: u32,
    client: ServedClient,
}

/// The state in which a call stopped.
pub(super) enum Step {
    Done(Box<ToolResult>),
    Suspended(Box<Suspended>),
    /// It waits for answers to its open requests.
    Asks,
}

impl LiveCall {
    pub(super) fn new(
        run: Run,
        (client, outgoing): (ServedClient, mpsc::Receiver<Outgoing>),
        cancellation: Cancellation,
    ) -> Self {
        let (open, answers) = (BTreeMap::new(), BTreeMap::new());
        Self { run, outgoing, cancellation, open, answers, asked: 0, client }
    }

    /// Returns the capability that the call needs and the client has not.
    pub(super) fn missing(&self) -> Option<&ClientCapabilities> {
        self.client.missing()
    }

    /// Returns the requests that are open.
    pub(super) fn requests(&self) -> InputRequests {
        self.open.iter().map(|(key, ask)| (key.clone(), ask.request.clone())).collect()
    }

    /// Passes on a client's answers. A request whose answer is missing or malformed stays open.
    pub(super) fn answer(&mut self, answers: BTreeMap<String, Value>) {
        self.answers.extend(answers);
        for (key, ask) in std::mem::take(&mut self.open) {
            self.open_or_answer(key, ask);
        }
    }

    fn open_or_answer(&mut self, key: String, ask: Ask) {
        match self.answers.remove(&key).filter(|answer| is_answer(&ask.request, answer)) {
            Some(answer) => drop(ask.reply.send(Ok(answer))),
            None => drop(self.open.insert(key, ask)),
        }
    }

    fn ask(&mut self, ask: Ask) {
        self.asked += 1;
        let own = ask.key.as_deref().filter(|key| !self.open.contains_key(*key));
        let key = own.map_or_else(|| self.asked.to_string(), str::to_owned);
        self.open_or_answer(key, ask);
    }

    /// Runs the call until it is done or waits. A cancelled request cancels it.
    pub(super) async fn drive(&mut self, cx: &RequestContext<RoleServer>, is_modern: bool) -> Step {
        let mut queue = Queue::new(cx);
        let mut answering = FuturesUnordered::new();
        let (mut result, mut is_cancelled) = (None, false);
        loop {
            tokio::select! {
                biased;
                () = cx.ct.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    self.cancellation.cancel();
                }
                () = queue.send(), if queue.has_any() => {}
                Some(()) = answering.next(), if !answering.is_empty() => {}
                event = self.run.next() => match event {
                    None => break,
                    Some(ToolEvent::Output { result: output, .. }) => result = Some(Box::new(output)),
                    Some(event) => queue.progress(event.progress()),
                },
                Some(outgoing) = self.outgoing.recv() => match outgoing {
                    Outgoing::Log(message) => queue.push(LoggingMessageNotification::new(message).into()),
                    Outgoing::Ask(ask) if is_modern => self.ask(ask),
                    Outgoing::Ask(ask) => answering.push(answered(cx.peer.clone(), ask)),
                },
                // Everything else waits.
                () = ready(()), if !self.open.is_empty() => {
                    self.open.retain(|_, ask| !ask.reply.is_closed());
                    if !self.open.is_empty() {
                        queue.flush(cx).await;
                        return Step::Asks;
                    }
                }
            }
        }
        while let Ok(outgoing) = self.outgoing.try_recv() {
            if let Outgoing::Log(message) = outgoing {
                queue.push(LoggingMessageNotification::new(message).into());
            }
        }
        queue.flush(cx).await;
        // Questions that nobody waits for any more are withdrawn.
        while answering.next().await.is_some() {}
        match (result, self.run.suspended()) {
            (Some(result), _) => Step::Done(result),
            (None, Some(suspended)) => Step::Suspended(Box::new(suspended)),
            // A run ends with a result of each call, or suspended.
            (None, None) => Step::Done(Box::new(ToolResult::cancelled(&self.run.calls()[0], ""))),
        }
    }
}

/// Asks a client of the old era, and withdraws the question if nobody waits for its answer any more.
async fn answered(peer: Peer<RoleServer>, ask: Ask) {
    let Ask { request, mut reply, .. } = ask;
    let request = match request {
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        _ => return,
    };
    let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let mut handle = match sent {
        Ok(handle) => handle,
        Err(error) => return drop(reply.send(Err(fault(&error)))),
    };
    tokio::select! {
        answer = &mut handle.rx => {
            let answer = answer.map_err(|_| AskClientError::Gone).and_then(|answer| answer.map_err(|error| fault(&error)));
            let answer = answer.and_then(|answer| serde_json::to_value(answer).map_err(|_| AskClientError::Gone));
            drop(reply.send(answer));
        }
        () = reply.closed() => drop(handle.cancel(Some("the call has ended".to_owned())).await),
    }
}

/// Reports whether an answer has the form that a request asks for.
fn is_answer(request: &InputRequest, answer: &Value) -> bool {
    match request {
        InputRequest::Elicitation(_) => ElicitResult::deserialize(answer).is_ok(),
        InputRequest::CreateMessage(_) => CreateMessageResult::deserialize(answer).is_ok(),
        InputRequest::ListRoots(_) => ListRootsResult::deserialize(answer).is_ok(),
        _ => false,
    }
}

fn fault(error: &ServiceError) -> AskClientError {
    match error {
        ServiceError::McpError(ErrorData { message, .. }) => AskClientError::Rejected { message: message.to_string() },
        _ => AskClientError::Gone,
    }
}

/// The notifications of a call, which are sent in order, one at a time.
struct Queue {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    reached: f64,
    waiting: VecDeque<ServerNotification>,
    sending: Option<BoxFuture<'static, ()>>,
}

impl Queue {
    fn new(cx: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: cx.peer.clone(),
            token: cx.meta.get_progress_token(),
            reached: f64::NEG_INFINITY,
            waiting: VecDeque::new(),
            sending: None,
        }
    }

    /// Adds progress, which must increase, if the client wants it.
    fn progress(&mut self, progress: Option<Progress>) {
        let (Some(progress), Some(token)) = (progress, self.token.clone()) else { return };
        if progress.done > self.reached {
            self.reached = progress.done;
            let mut params = ProgressNotificationParam::new(token, progress.done);
            params.total = progress.total;
            params.message = (!progress.message.is_empty()).then_some(progress.message);
            self.push(ProgressNotification::new(params).into());
        }
    }

    fn push(&mut self, notification: ServerNotification) {
        if self.waiting.len() == QUEUED {
            self.waiting.pop_front();
        }
        self.waiting.push_back(notification);
    }

    fn has_any(&self) -> bool {
        self.sending.is_some() || !self.waiting.is_empty()
    }

    /// Sends the next one. If this is dropped, the next call goes on with it.
    async fn send(&mut self) {
        if self.sending.is_none()
            && let Some(notification) = self.waiting.pop_front()
        {
            let peer = self.peer.clone();
            self.sending = Some(Box::pin(async move { drop(peer.send_notification(notification).await) }));
        }
        if let Some(sending) = &mut self.sending {
            sending.await;
            self.sending = None;
        }
    }

    /// Sends everything, unless the client is gone.
    async fn flush(&mut self, cx: &RequestContext<RoleServer>) {
        while self.has_any() && !cx.ct.is_cancelled() {
            tokio::select! {
                () = self.send() => {}
                () = cx.ct.cancelled() => {}
            }
        }
    }
}
