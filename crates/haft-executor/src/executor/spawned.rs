//! Handlers in separate tasks.
//!
//! The task holds the call's slot until it has ended, and is aborted when its call is cancelled. It runs the handler
//! through `execute.rs` and never polls it directly.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use haft_core::internal::OPAQUE_MESSAGE;
use haft_core::{FailureKind, Outcome, ToolFailure};
use haft_schema::isolation::drop_isolated;
use tokio::runtime::Handle as Runtime;
use tokio::task::JoinHandle;

use super::execute::{PollRight, run_isolated};
use super::listener::IsolatedSpan;
use super::mailbox::OccupancyGuard;
use super::option::StartEvents;
use crate::ambient::Ambient;
use crate::handler::{Prepared, Running, broken, cancelled};
use crate::tool::Tool;

/// A task that is aborted when its call is dropped.
struct SpawnedHandler(JoinHandle<Outcome>);

/// A handler that needs a tokio runtime was polled outside of one.
#[derive(Debug, thiserror::Error)]
#[error("{0} require a tokio runtime, and this call is polled outside of one")]
pub(crate) struct MissingRuntime(pub(crate) &'static str);

/// Starts a prepared call in a separate task. The task keeps the call's slot until it has ended: an aborted task runs
/// on until it next awaits.
pub(super) fn spawn(
    prepared: Prepared,
    tool: Tool,
    occupy: OccupancyGuard,
    span: IsolatedSpan,
    start_events: StartEvents,
) -> Result<Prepared, ToolFailure> {
    let Ok(runtime) = Runtime::try_current() else {
        drop_isolated(prepared);
        return Err(broken(MissingRuntime("spawned runs")));
    };
    let Prepared { running, meta } = prepared;
    let mut meta = meta.unwrap_or_default();
    // Whether the handler was started is known only inside the task, so the task sets the start flag; where middleware
    // or a thread already sets it, that one is used.
    let polled = match &meta.start_flag {
        Some(_) => None,
        None => Some(Arc::clone(meta.start_flag.insert(Arc::default()))),
    };
    let ambient = Ambient::current();
    let work = async move {
        let guard = occupy;
        if let Some(polled) = polled {
            polled.begin();
            // The code that ends a call closes it first and then reads the flag, so the check comes after the flag is
            // set: a call that was reported as not started must not start.
            if guard.is_closed() {
                drop_isolated(running);
                return cancelled().into();
            }
            if start_events == StartEvents::Emitted {
                guard.report_started();
            }
        }
        ambient.scope(run_isolated(running, tool, span)).await
    };
    let task = SpawnedHandler(runtime.spawn(work));
    Ok(Prepared { running: Box::pin(task), meta: Some(meta) })
}

impl Running for SpawnedHandler {
    fn poll(mut self: Pin<&mut Self>, _: &Tool, task: &mut Context<'_>, _: PollRight) -> Poll<Outcome> {
        Pin::new(&mut self.0).poll(task).map(|joined| match joined {
            Ok(outcome) => outcome,
            // The runtime is shutting down. A panic of the handler would have been an outcome.
            Err(error) => ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(error).into(),
        })
    }
}

impl Drop for SpawnedHandler {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use haft_schema::JsonText;

    use super::*;
    use crate::executor::mailbox::Mailbox;
    use crate::executor::span::CallSpan;
    use crate::handler::OwnedRunning;

    /// A result that reports that a call has not started must stay true, also if the task reaches the handler only
    /// then.
    #[tokio::test]
    async fn a_task_does_not_start_the_handler_of_a_call_that_has_ended() {
        for has_ended in [false, true] {
            let has_run = Arc::new(AtomicBool::new(false));
            let running = Arc::clone(&has_run);
            let handler = async move {
                running.store(true, Ordering::SeqCst);
                Outcome::Ok(JsonText::null().into())
            };
            let prepared = Prepared { running: Box::pin(OwnedRunning(Box::pin(handler))), meta: None };
            let tool = Tool::new("t").handler(|(), _cx| async {}).unwrap();
            let mailbox = Mailbox::new(1);
            let span = CallSpan::none().to_span();
            let spawned = spawn(prepared, tool.clone(), mailbox.occupy(0), span, StartEvents::Emitted).unwrap();
            if has_ended {
                mailbox.close(0);
            }
            let outcome = run_isolated(spawned.running, tool, CallSpan::none().to_span()).await;
            assert_eq!(has_run.load(Ordering::SeqCst), !has_ended);
            assert_eq!(matches!(outcome, Outcome::Ok(_)), !has_ended);
        }
    }
}
