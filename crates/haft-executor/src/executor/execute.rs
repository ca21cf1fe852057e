//! Running a handler: the only code that polls one.
//!
//! Every public way to run a call ends here, whether the handler runs in the task of its run, in a separate task or
//! behind middleware. So these hold for all of them: a panic becomes the failure of its own call, the first poll sets
//! [`started`](ToolFailure::started), the handler runs inside the span of its call, and its outcome is held to the
//! output cap. Nothing that a handler or a middleware claims about `started` is believed, with one exception: a
//! forwarding handler knows whether it sent the call, and records it in the call's start flag (`handler/forward.rs`).

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use haft_core::{Outcome, ToolFailure};
use haft_schema::isolation::{Isolated, drop_isolated, isolated, poll_isolated_by};

use super::cap::cap_outcome;
use super::listener::IsolatedSpan;
use super::span::CallSpan;
use crate::handler::{BoxRunning, Prepared, PreparedMeta, broken};
use crate::middleware::Request;
use crate::tool::{OutputCap, Tool};

/// A handler at work on one call, from before its first poll until it has its outcome.
pub(super) struct HandlerExecution {
    /// Taken when the handler has returned or panicked.
    running: Option<BoxRunning>,
    meta: Option<Box<PreparedMeta>>,
    is_polled: bool,
}

/// The right to poll a handler. It can be made in this file only.
pub(crate) struct PollRight(());

/// A state of a call that the executor's own rules do not allow: a bug in this crate, which is never silent.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("internal error of the executor: {0}; please report it")]
struct InternalError(&'static str);

/// Returns the failure of a call whose state is not what the executor's own rules allow.
#[cold]
pub(super) fn internal_error(what: &'static str) -> ToolFailure {
    broken(InternalError(what))
}

impl HandlerExecution {
    #[inline]
    pub(super) fn new(prepared: Prepared) -> Self {
        let Prepared { running, meta } = prepared;
        Self { running: Some(running), meta, is_polled: false }
    }

    /// Polls the handler. The outcome is final: isolated, capped and with the true `started`.
    #[inline]
    pub(super) fn poll(
        &mut self,
        tool: &Tool,
        cap: OutputCap,
        span: &CallSpan,
        task: &mut Context<'_>,
    ) -> Poll<Outcome> {
        if self.running.is_none() {
            return Poll::Ready(internal_error("a handler was polled after it had returned").into());
        }
        self.is_polled = true;
        let polled = span
            .within(|| poll_isolated_by(&mut self.running, |running| running.as_mut().poll(tool, task, PollRight(()))));
        let mut outcome = match polled {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(outcome)) => outcome,
            Poll::Ready(Err(panicked)) => ToolFailure::from(panicked).into(),
        };
        outcome = cap_outcome(outcome, cap);
        if let Outcome::Failed(failure) = &mut outcome {
            failure.started = self.has_started();
        }
        Poll::Ready(outcome)
    }

    /// Drops a handler that has not returned, and sets the true `started` in the failure that ends its call.
    pub(super) fn cancel(mut self, mut failure: ToolFailure) -> ToolFailure {
        failure.started = self.has_started();
        drop_isolated(self.running.take());
        failure
    }

    /// Reports whether the handler was polled and has not returned.
    pub(super) fn is_unfinished(&self) -> bool {
        self.running.is_some()
    }

    /// Reports whether the next poll reaches the handler, with no middleware, thread or task in front of it.
    pub(super) fn is_direct(&self) -> bool {
        PreparedMeta::has_begun(self.meta.as_deref()).is_none()
    }

    /// Reports whether user code of the handler has run. Behind middleware, a thread or a task this is recorded only in
    /// the start flag.
    fn has_started(&self) -> bool {
        self.is_polled && PreparedMeta::has_begun(self.meta.as_deref()).unwrap_or(true)
    }
}

impl Drop for HandlerExecution {
    #[inline]
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            drop_isolated(running);
        }
    }
}

/// Runs a handler to its end behind a middleware or a task, which is polled instead of the handler.
///
/// A panic unwinds to the code that polls: it unwinds the middlewares, and the call's [`HandlerExecution`] or its task
/// catches it. An outcome that was returned is kept even if dropping the handler panics.
async fn run_to_end(mut running: BoxRunning, tool: Tool) -> Outcome {
    let outcome = poll_fn(|task| running.as_mut().poll(&tool, task, PollRight(()))).await;
    drop_isolated(running);
    outcome
}

/// Runs the handler of a request that passed all middlewares. The request allows it only with the arguments that were
/// approved.
pub(crate) async fn run_request(request: Request) -> Outcome {
    match request.into_handler() {
        Ok((running, tool)) => run_to_end(running, tool).await,
        Err(outcome) => outcome,
    }
}

/// Runs a handler to its end inside a span, in isolation: the body of a spawned task.
pub(super) async fn run_isolated(running: BoxRunning, tool: Tool, span: IsolatedSpan) -> Outcome {
    let mut work = Some(Isolated::new(Box::pin(run_to_end(running, tool))));
    let polled = poll_fn(|task| {
        let _entered = span.enter();
        poll_isolated_by(&mut work, |work| Pin::new(work).poll(task))
    });
    match polled.await {
        Ok(outcome) => outcome,
        Err(panicked) => ToolFailure::from(panicked).into(),
    }
}

/// Reads and checks arguments in isolation: reading them runs user code.
#[inline]
pub(super) fn prepare_isolated(
    prepare: impl FnOnce() -> Result<Prepared, Box<ToolFailure>>,
) -> Result<Prepared, Box<ToolFailure>> {
    isolated(prepare).unwrap_or_else(|panicked| Err(Box::new(panicked.into())))
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::future::{pending, ready};
    use std::task::Waker;

    use haft_core::FailureKind;
    use haft_schema::JsonText;

    use super::*;
    use crate::handler::OwnedRunning;

    fn execution(handler: impl Future<Output = Outcome> + Send + 'static) -> (Tool, HandlerExecution) {
        let running: BoxRunning = Box::pin(OwnedRunning(Box::pin(handler)));
        let tool = Tool::new("t").handler(|(), _cx| async {}).unwrap();
        (tool, HandlerExecution::new(Prepared { running, meta: None }))
    }

    fn poll(execution: &mut HandlerExecution, tool: &Tool) -> Poll<Outcome> {
        execution.poll(tool, OutputCap::default(), &CallSpan::none(), &mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_handler_that_has_returned_is_an_internal_error_when_it_is_polled_again() {
        let (tool, mut execution) = execution(ready(Outcome::Ok(JsonText::null().into())));
        assert!(matches!(poll(&mut execution, &tool), Poll::Ready(Outcome::Ok(_))));
        assert!(!execution.is_unfinished());
        let Poll::Ready(Outcome::Failed(failure)) = poll(&mut execution, &tool) else { panic!("no outcome") };
        assert_eq!(failure.kind, FailureKind::ExecutionError);
        assert!(failure.source().unwrap().to_string().contains("polled after it had returned"));
    }

    #[test]
    fn a_failure_that_ends_a_handler_reports_whether_it_was_polled() {
        for is_polled in [false, true] {
            let (tool, mut execution) = execution(pending());
            if is_polled {
                assert!(poll(&mut execution, &tool).is_pending());
            }
            let lie =
                if is_polled { ToolFailure::new("x", "").not_started() } else { ToolFailure::new("x", "").started() };
            assert_eq!(execution.cancel(lie).started, is_polled);
        }
    }
}
