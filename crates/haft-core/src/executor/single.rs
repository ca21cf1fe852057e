//! One call, one result.
//!
//! Most single calls need nothing but to be run: no limits of time, nobody to ask. Those take the short way here, with
//! the same checks and the same isolation. Everything else is a run of one.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, ready};

use futures_core::Stream;

use super::cap::hold;
use super::isolation::{isolated, isolated_future};
use super::option::RunOptions;
use super::run::Run;
use super::span::CallSpan;
use crate::call::ToolCall;
use crate::cx::Cx;
use crate::emit::Emitted;
use crate::event::ToolEvent;
use crate::failure::ToolFailure;
use crate::handler::BoxFuture;
use crate::result::{Outcome, ToolResult};
use crate::scope::Scope;
use crate::tool::Tool;
use crate::toolkit::Toolkit;

impl Toolkit {
    /// Runs one call and gives its one result. What it shows on the way is dropped.
    ///
    /// ```
    /// use haft_core::{Tool, ToolCall, Toolkit};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new().with(Tool::new("double").run(|n: i64, _cx| async move { n * 2 })?)?;
    /// let result = kit.run_call(&ToolCall::new("c1", "double", "21")).await;
    /// assert_eq!(result.value().unwrap().as_str(), "42");
    ///
    /// let result = kit.run_call(&ToolCall::new("c2", "doubel", "21")).await;
    /// assert_eq!(result.failure().unwrap().message, "there is no tool called 'doubel'; the nearest is 'double'");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_call(&self, call: &ToolCall) -> ToolResult {
        match self.set().find(&call.name) {
            Some((tool, scope)) if is_plain(tool) && self.set().problems(None).is_none() => {
                run_plain(tool, call, Cx::scoped_to(tool, call, scope.cloned())).await
            }
            // On the heap, so that the short way is not the size of the long one.
            _ => Box::pin(self.run_as_one(call, RunOptions::new())).await,
        }
    }

    /// Runs one call with options and gives its one result. What it shows on the way goes to the options'
    /// [sink](RunOptions::sink), or is dropped.
    pub async fn run_call_with(&self, call: &ToolCall, options: &RunOptions) -> ToolResult {
        match self.set().find(&call.name) {
            Some((tool, scope)) if options.is_plain() && is_plain(tool) && self.set().problems(None).is_none() => {
                let scope = Scope::layered(options.scope.as_ref(), scope);
                let cx = Cx::scoped_to(tool, call, scope).with_decode_options(options.decode);
                run_plain(tool, call, cx).await
            }
            _ => Box::pin(self.run_as_one(call, options.clone())).await,
        }
    }

    /// Time and cancels go on while the reader of the sink is slow: a call that they end is answered at once.
    async fn run_as_one(&self, call: &ToolCall, mut options: RunOptions) -> ToolResult {
        let sink = options.sink.take();
        let mut run = Run::new(Arc::clone(self.set()), vec![call.clone()]).with(options);
        let mut sending: Option<BoxFuture<()>> = None;
        poll_fn(|task| {
            loop {
                if let Some(sent) = &mut sending {
                    if sent.as_mut().poll(task).is_pending() {
                        return run.poll_cut_short(task);
                    }
                    sending = None;
                }
                let shown = match ready!(Pin::new(&mut run).poll_next(task)) {
                    Some(ToolEvent::Progress { data, .. }) => Emitted::Progress(data),
                    Some(ToolEvent::Preliminary { value, .. }) => Emitted::Preliminary(value),
                    Some(ToolEvent::Output { result, .. }) => return Poll::Ready(result),
                    Some(ToolEvent::ApprovalRequested { .. } | ToolEvent::ApprovalResolved { .. }) => continue,
                    // A run of one call gives one output; this is there for the type.
                    None => return Poll::Ready(ToolResult::cancelled(call, "")),
                };
                if let Some(sink) = sink.clone() {
                    sending = Some(Box::pin(async move { sink.send(shown).await }));
                }
            }
        })
        .await
    }
}

/// The short way: read, run, answer.
async fn run_plain(tool: &Tool, call: &ToolCall, cx: Cx) -> ToolResult {
    let mut span = CallSpan::open(call, Some(tool));
    let (outcome, repairs) = match isolated(|| tool.prepare(call, cx)) {
        Ok(Ok(prepared)) => {
            span.begin();
            let outcome = isolated_future(prepared.future, span.span()).await;
            let outcome = outcome.unwrap_or_else(|panicked| ToolFailure::from(panicked).into());
            let outcome = match tool.limits().output_cap {
                Some(cap) => hold(outcome, cap),
                None => outcome,
            };
            (begun(outcome, prepared.begun.as_deref()), prepared.repairs)
        }
        Ok(Err(failure)) => (failure.into(), Vec::new()),
        Err(panicked) => (ToolFailure::from(panicked).not_started().into(), Vec::new()),
    };
    span.end(&outcome);
    let mut result = ToolResult::named(tool.shared_name().clone(), call, outcome);
    result.repairs = repairs;
    result
}

/// A failure of something in front of the handler says whether that was reached.
fn begun(mut outcome: Outcome, begun: Option<&AtomicBool>) -> Outcome {
    if let (Outcome::Failed(failure), Some(begun)) = (&mut outcome, begun) {
        failure.started = begun.load(Ordering::Relaxed);
    }
    outcome
}

/// Whether the tool's calls need nothing but to be run.
fn is_plain(tool: &Tool) -> bool {
    let limits = tool.limits();
    tool.approval().is_never() && limits.timeout.is_none() && limits.idle_timeout.is_none()
}
