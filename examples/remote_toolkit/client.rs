//! The side that has no tools: a source of tools whose calls are forwarded.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{Fuse, FusedFuture as _};
use haft::approval::{ApprovalAnswer, Approve};
use haft::prelude::*;
use haft::run::ToolOutput;
use haft::tool::{ForwardCx, ToolDescriptor};
use haft::toolkit::{SharedToolkit, ToolkitError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::wire::{Closed, Command, LineSender, Link, Report};

/// A connection to a process with tools.
struct Connection<A> {
    outgoing: LineSender,
    calls: Mutex<Calls>,
    next_number: AtomicU64,
    /// Decides about the approval requests of the other side.
    approver: A,
}

/// The calls in progress: the receivers of their events, by number.
enum Calls {
    Open(HashMap<u64, UnboundedSender<ToolEvent>>),
    /// The other side is gone.
    Closed,
}

/// Forgets a call, and cancels it on the other side unless its output has arrived.
struct CancelOnDrop<'a, A> {
    connection: &'a Connection<A>,
    number: u64,
}

/// Fills a source with the tools of another process, and returns when that process is gone. The source has no tools then;
/// another process may be connected to it. Approval requests of the other side are answered by the approver.
pub(crate) async fn connect(tools: SharedToolkit, mut link: Link, approver: impl Approve) {
    let calls = Mutex::new(Calls::Open(HashMap::new()));
    let connection = Arc::new(Connection { outgoing: link.outgoing, calls, next_number: AtomicU64::new(0), approver });
    while let Some(line) = link.incoming.recv().await {
        match serde_json::from_str(&line) {
            Ok(Report::Tools { tools: listed }) => {
                // A list that is no toolkit, because a name is listed twice, changes nothing.
                if let Ok(kit) = connection.toolkit(&listed) {
                    replace(&tools, &kit);
                }
            }
            Ok(Report::Event { number, event }) => connection.receive(number, event),
            // A line that this side does not understand concerns no call.
            Err(_) => {}
        }
    }
    // Calls in progress end first, and nothing is sent any more.
    *connection.calls() = Calls::Closed;
    replace(&tools, &Toolkit::new());
}

/// Replaces all tools of the source.
fn replace(tools: &SharedToolkit, kit: &Toolkit) {
    let Ok(_) = tools.update(|_| Ok::<_, Infallible>(kit.clone()));
}

impl<A: Approve> Connection<A> {
    /// Creates the toolkit of these tools: their arguments and results are checked here, and they are executed on the
    /// other side. Signals and interactions have nothing to execute. An invalid tool is left out.
    fn toolkit(self: &Arc<Self>, listed: &[ToolDescriptor]) -> Result<Toolkit, ToolkitError> {
        let tools = listed.iter().filter_map(|tool| Tool::from_descriptor(tool).ok());
        let (executed, others): (Vec<_>, Vec<_>) = tools.partition(Tool::requires_handler);
        let connection = Arc::clone(self);
        let forwarding: Toolkit =
            Toolkit::dynamic(executed).forward(move |tool: Tool, call: ToolCall, cx: ForwardCx| {
                let connection = Arc::clone(&connection);
                async move { connection.forward(&tool, call, &cx).await }
            })?;
        forwarding.with_all(others)
    }

    /// Forwards one call.
    async fn forward(&self, tool: &Tool, mut call: ToolCall, cx: &ForwardCx) -> Result<ToolOutput, ToolFailure> {
        cx.mark_unsent();
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let mut events = self.open(number).map_err(|Closed| not_started())?;
        let _cancel_on_drop = CancelOnDrop { connection: self, number };
        // The other side knows the tool by the name under which it listed it.
        tool.name().clone_into(&mut call.name);
        cx.mark_sending()?;
        let command = Command::Call { number, run_id: cx.run_id(), call };
        self.outgoing.send(&command).await.map_err(|Closed| not_started())?;
        let mut verdict = pin!(Fuse::terminated());
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                command = &mut verdict => {
                    cx.mark_sending()?;
                    self.outgoing.post(&command).ok();
                    continue;
                }
            };
            match event {
                Some(ToolEvent::Progress { data, .. }) => drop(cx.emit(data).await),
                Some(ToolEvent::Preliminary { value, .. }) => drop(cx.preliminary(value).await),
                // The other side waits, so the call has not started, and does not start without a verdict.
                Some(ToolEvent::ApprovalRequested { request, .. }) => {
                    cx.mark_waiting();
                    verdict.set(self.decide(number, *request, cx.cx().clone()).fuse());
                }
                // The executor of the other side knows whether its handler had started.
                Some(ToolEvent::Output { result, .. }) => return result.outcome.into_result(),
                Some(_) => {}
                None if !verdict.is_terminated() => return Err(not_started()),
                None => {
                    return Err(ToolFailure::new(FailureKind::OutcomeUnknown, "the process with this tool is gone"));
                }
            }
        }
    }

    /// Decides about an approval request of the other side. An approver that fails or panics has no verdict.
    async fn decide(&self, number: u64, request: ApprovalRequest, cx: Cx) -> Command {
        let answer = async { self.approver.approve(request, cx).await };
        match AssertUnwindSafe(answer).catch_unwind().await {
            Ok(Ok(ApprovalAnswer::Verdict(response))) => Command::Verdict { number, response: *response },
            Ok(Ok(_) | Err(_)) | Err(_) => Command::NoVerdict { number },
        }
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
}

impl<A> Connection<A> {
    /// Passes an event on to its call, if that is still in progress.
    fn receive(&self, number: u64, event: ToolEvent) {
        if let Calls::Open(calls) = &*self.calls()
            && let Some(call) = calls.get(&number)
        {
            call.send(event).ok();
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A> Drop for CancelOnDrop<'_, A> {
    fn drop(&mut self) {
        // After the output, and before the call was sent, this concerns no call.
        self.connection.outgoing.post(&Command::Cancel { number: self.number }).ok();
        if let Calls::Open(calls) = &mut *self.connection.calls() {
            calls.remove(&self.number);
        }
    }
}

/// Returns the failure of a call that the other side has not started, so that it may be repeated.
fn not_started() -> ToolFailure {
    ToolFailure::new(FailureKind::ExecutionError, "the process with this tool is gone").not_started().retryable()
}
