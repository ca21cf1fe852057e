//! A handler in a task of its own.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::runtime::Handle as Runtime;
use tokio::task::JoinHandle;
use tracing::Span;

use super::isolation::Panicked;
use super::span::InSpan;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{BoxFuture, OPAQUE_MESSAGE, Prepared, broken};
use crate::result::Outcome;

/// A task that is aborted when it is no longer waited for.
struct Task(JoinHandle<Outcome>);

/// There is no runtime to spawn into.
#[derive(Debug, thiserror::Error)]
#[error("a spawned run needs a tokio runtime, and it is polled outside of one")]
struct NoRuntime;

/// Starts a prepared call in a task of its own.
pub(super) fn spawn(prepared: Prepared, span: Span) -> Result<Prepared, ToolFailure> {
    let Ok(runtime) = Runtime::try_current() else { return Err(broken(NoRuntime)) };
    let Prepared { future, repairs, begun } = prepared;
    // A task that was never polled has not begun, and only it can tell.
    let (begun, future) = match begun {
        Some(begun) => (begun, future),
        None => {
            let begun = Arc::new(AtomicBool::new(false));
            (Arc::clone(&begun), Box::pin(beginning(begun, future)) as BoxFuture<Outcome>)
        }
    };
    let task = Task(runtime.spawn(InSpan::new(future, span)));
    Ok(Prepared { future: Box::pin(task), repairs, begun: Some(begun) })
}

async fn beginning(begun: Arc<AtomicBool>, future: BoxFuture<Outcome>) -> Outcome {
    begun.store(true, Ordering::Relaxed);
    future.await
}

impl Future for Task {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Outcome> {
        Pin::new(&mut self.0).poll(task).map(|joined| match joined {
            Ok(outcome) => outcome,
            Err(error) if error.is_panic() => ToolFailure::from(Panicked::new(error.into_panic())).into(),
            // The runtime is shutting down.
            Err(error) => ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(error).into(),
        })
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
