//! The side that has no tools: a toolkit whose calls are forwarded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::approval::ApprovalDecision;
use haft::prelude::*;
use haft::run::ToolOutput;
use haft::tool::{DefinitionError, ForwardCx, Idempotent, ToolDescriptor};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use super::wire::{Closed, Command, LineSender, Link, Report};

/// A connection to a process with tools.
#[derive(Clone)]
pub(crate) struct Remote(Arc<Connection>);

struct Connection {
    outgoing: LineSender,
    /// The calls in progress.
    calls: Mutex<Calls>,
    is_open: watch::Sender<bool>,
    next: AtomicU64,
    /// Decides about the approval requests of the other side.
    person: Box<dyn Fn(&ApprovalRequest) -> ApprovalDecision + Send + Sync>,
}

/// The receivers of events, by the numbers of their calls; none once the other side is gone.
enum Calls {
    Open(HashMap<u64, UnboundedSender<ToolEvent>>),
    Closed,
}

/// Cancels a call on the other side if it is dropped before its output has arrived.
struct CancelOnDrop<'a> {
    remote: &'a Remote,
    number: u64,
}

impl Remote {
    /// Connects, and returns the tools of the other side.
    pub(crate) async fn connect(
        mut link: Link,
        person: impl Fn(&ApprovalRequest) -> ApprovalDecision + Send + Sync + 'static,
    ) -> anyhow::Result<(Self, Vec<ToolDescriptor>)> {
        link.outgoing.send(&Command::List).map_err(|Closed| anyhow::anyhow!("the other process is gone"))?;
        let first = link.incoming.recv().await.ok_or_else(|| anyhow::anyhow!("the other process is gone"))?;
        let Report::Tools { tools } = serde_json::from_str(&first)? else { anyhow::bail!("not a list: {first}") };
        let remote = Self(Arc::new(Connection {
            outgoing: link.outgoing,
            calls: Mutex::new(Calls::Open(HashMap::new())),
            is_open: watch::Sender::new(true),
            next: AtomicU64::new(0),
            person: Box::new(person),
        }));
        tokio::spawn(remote.clone().read(link.incoming));
        Ok((remote, tools))
    }

    /// Creates the toolkit of these tools: they are checked here, and executed on the other side.
    pub(crate) fn toolkit(&self, tools: &[ToolDescriptor]) -> anyhow::Result<Toolkit> {
        let definitions = tools.iter().map(definition).collect::<Result<Vec<_>, _>>()?;
        let remote = self.clone();
        Ok(Toolkit::dynamic(definitions).forward(move |tool: Tool, call: ToolCall, cx: ForwardCx| {
            let remote = remote.clone();
            async move { remote.forward(&tool, call, &cx).await }
        })?)
    }

    /// Waits until the other side is gone.
    pub(crate) async fn closed(&self) {
        self.0.is_open.subscribe().wait_for(|is_open| !is_open).await.ok();
    }

    /// Forwards one call.
    async fn forward(&self, tool: &Tool, mut call: ToolCall, cx: &ForwardCx) -> Result<ToolOutput, ToolFailure> {
        cx.mark_unsent();
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let mut events = self.open(number).map_err(|Closed| not_sent())?;
        // The other side knows the tool by the name under which it listed it.
        tool.name().clone_into(&mut call.name);
        cx.mark_sending()?;
        self.0.outgoing.send(&Command::Call { number, call }).map_err(|Closed| not_sent())?;
        let _cancel_on_drop = CancelOnDrop { remote: self, number };
        while let Some(event) = events.recv().await {
            match event {
                ToolEvent::Progress { data, .. } => drop(cx.emit(data).await),
                ToolEvent::Preliminary { value, .. } => drop(cx.preliminary(value).await),
                ToolEvent::ApprovalRequested { request, .. } => {
                    let response = request.respond((self.0.person)(&request));
                    self.0.outgoing.send(&Command::Verdict { number, response }).ok();
                }
                // The executor of the other side knows whether its handler had started.
                ToolEvent::Output { result, .. } => return result.outcome.into_result(),
                _ => {}
            }
        }
        Err(ToolFailure::new(FailureKind::OutcomeUnknown, "the other process ended before it answered"))
    }

    /// Registers a call, unless the other side is gone.
    fn open(&self, number: u64) -> Result<UnboundedReceiver<ToolEvent>, Closed> {
        let (sender, events) = unbounded_channel();
        match &mut *self.calls() {
            Calls::Open(calls) => drop(calls.insert(number, sender)),
            Calls::Closed => return Err(Closed),
        }
        Ok(events)
    }

    /// Hands events to their calls until the other side is gone, which ends all of them.
    async fn read(self, mut incoming: UnboundedReceiver<String>) {
        while let Some(line) = incoming.recv().await {
            if let (Ok(Report::Event { number, event }), Calls::Open(calls)) =
                (serde_json::from_str(&line), &*self.calls())
                && let Some(call) = calls.get(&number)
            {
                call.send(event).ok();
            }
        }
        *self.calls() = Calls::Closed;
        self.0.is_open.send_replace(false);
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        // After the output this concerns no call any more.
        self.remote.0.outgoing.send(&Command::Cancel { number: self.number }).ok();
        if let Calls::Open(calls) = &mut *self.remote.calls() {
            calls.remove(&self.number);
        }
    }
}

/// Returns the failure of a call that was not sent, so that it may be repeated.
fn not_sent() -> ToolFailure {
    ToolFailure::new(FailureKind::ExecutionError, "the process with this tool is gone").not_started().retryable()
}

/// Creates the definition of a tool that the other side lists.
fn definition(tool: &ToolDescriptor) -> Result<Tool, DefinitionError> {
    let mut definition = Tool::dynamic(&tool.name)
        .params_json(tool.input_schema.as_json().clone())
        .annotate(Idempotent(tool.hints.idempotent))
        .annotate(Readonly(tool.hints.readonly));
    if let Some(description) = &tool.description {
        definition = definition.describe(description);
    }
    match &tool.output_schema {
        Some(schema) => definition.success_json(schema.as_json().clone()).define(),
        None => definition.define(),
    }
}
