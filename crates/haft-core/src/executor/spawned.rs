//! A handler in a task of its own.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle as Runtime;
use tokio::task::JoinHandle;

use super::execute::{PollRight, run_isolated};
use super::isolation::drop_isolated;
use super::listener::IsolatedSpan;
use super::mailbox::OccupancyGuard;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{OPAQUE_MESSAGE, Prepared, Running, broken};
use crate::middleware::Nesting;
use crate::result::Outcome;
use crate::tool::Tool;

/// A task that is aborted when it is no longer waited for.
struct Task(JoinHandle<Outcome>);

/// There is no runtime to spawn into.
#[derive(Debug, thiserror::Error)]
#[error("a spawned run needs a tokio runtime, and it is polled outside of one")]
struct NoRuntime;

/// Starts a prepared call in a task of its own. The task keeps the call's place until it is gone: one that is given up
/// runs on until it next waits.
pub(super) fn spawn(
    prepared: Prepared,
    tool: Tool,
    occupy: OccupancyGuard,
    span: IsolatedSpan,
) -> Result<Prepared, ToolFailure> {
    let Ok(runtime) = Runtime::try_current() else {
        drop_isolated(prepared);
        return Err(broken(NoRuntime));
    };
    let Prepared { running, meta } = prepared;
    let mut meta = meta.unwrap_or_default();
    // A task that was never polled has not begun, and only it can tell; unless something stands in front of it, which
    // knows better.
    let polled = match &meta.start_flag {
        Some(_) => None,
        None => Some(Arc::clone(meta.start_flag.insert(Arc::default()))),
    };
    let nesting = Nesting::current();
    let work = async move {
        let _guard = occupy;
        if let Some(polled) = polled {
            polled.begin();
        }
        nesting.poll(run_isolated(running, tool, span)).await
    };
    let task = Task(runtime.spawn(work));
    Ok(Prepared { running: Box::pin(task), meta: Some(meta) })
}

impl Running for Task {
    fn poll(mut self: Pin<&mut Self>, _: &Tool, task: &mut Context<'_>, _: PollRight) -> Poll<Outcome> {
        Pin::new(&mut self.0).poll(task).map(|joined| match joined {
            Ok(outcome) => outcome,
            // The runtime is shutting down: a panic of the handler is an outcome.
            Err(error) => ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(error).into(),
        })
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
