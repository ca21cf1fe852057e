//! Handlers in separate tasks.
//!
//! The task holds the call's slot until it has ended, and is aborted when its call is cancelled. It runs the handler
//! through `execute.rs` and never polls it directly.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle as Runtime;
use tokio::task::JoinHandle;

use super::execute::{PollRight, run_isolated};
use super::listener::IsolatedSpan;
use super::mailbox::OccupancyGuard;
use super::option::StartEvents;
use crate::ambient::Ambient;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{OPAQUE_MESSAGE, Prepared, Running, broken};
use crate::isolation::drop_isolated;
use crate::result::Outcome;
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
