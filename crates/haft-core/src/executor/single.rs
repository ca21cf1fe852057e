//! One call, one result.
//!
//! Most single calls need nothing but to be run: no limits of time, nobody to ask. Those take the short way here, with
//! the same checks and the same isolation. Everything else is a run of one.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::cap::hold;
use super::isolation::{drop_isolated, isolated, poll_isolated_by};
use super::option::RunOptions;
use super::run::Run;
use super::span::CallSpan;
use crate::call::ToolCall;
use crate::cx::Cx;
use crate::emit::Emitted;
use crate::event::ToolEvent;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{Aside, BoxFuture, BoxRunning};
use crate::result::{Outcome, ToolResult};
use crate::tool::Tool;
use crate::toolkit::Toolkit;

/// One call on its way to its one result. See [`Toolkit::run_call`].
#[must_use = "a call does nothing unless it is awaited"]
pub struct RunCall<'a> {
    kit: &'a Toolkit,
    call: &'a ToolCall,
    options: Option<&'a RunOptions>,
    way: Way<'a>,
}

enum Way<'a> {
    Untaken,
    Short(Short<'a>),
    Long(Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>>),
    Over,
}

/// The short way: read, run, answer. Written by hand, as every value that is moved once more shows in what a call costs.
struct Short<'a> {
    tool: &'a Tool,
    running: Option<BoxRunning>,
    refused: Option<Box<ToolFailure>>,
    aside: Option<Box<Aside>>,
    span: CallSpan,
}

impl Toolkit {
    /// Runs one call and gives its one result. What it shows on the way is dropped.
    ///
    /// A tool without limits of time takes the shortest way: no run is set up, so work of the handler's own that outlives
    /// the call is not told that it is over.
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
    pub fn run_call<'a>(&'a self, call: &'a ToolCall) -> RunCall<'a> {
        RunCall { kit: self, call, options: None, way: Way::Untaken }
    }

    /// Runs one call with options and gives its one result. What it shows on the way goes to the options'
    /// [sink](RunOptions::sink), or is dropped.
    pub fn run_call_with<'a>(&'a self, call: &'a ToolCall, options: &'a RunOptions) -> RunCall<'a> {
        RunCall { kit: self, call, options: Some(options), way: Way::Untaken }
    }

    /// Time and cancels go on while the reader of the sink is slow: a call that they end is answered at once.
    async fn run_as_one(&self, call: &ToolCall, mut options: RunOptions) -> ToolResult {
        let sink = options.sink.take();
        let mut run = Run::new(Arc::clone(self.set()), vec![call.clone()]).with(options).single();
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
                    Some(
                        ToolEvent::ApprovalRequested { .. }
                        | ToolEvent::ApprovalResolved { .. }
                        | ToolEvent::Suspended { .. },
                    ) => continue,
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

impl<'a> RunCall<'a> {
    /// Which way the call has to go.
    fn set_out(&self) -> Way<'a> {
        let (kit, call) = (self.kit, self.call);
        let set = kit.set();
        match set.place_of(&call.name).map(|place| (place, set.at(place).0)) {
            Some((place, tool))
                if is_plain(tool) && self.options.is_none_or(RunOptions::is_plain) && set.problems(None).is_none() =>
            {
                let cx = Cx::of_kit(set, place, call);
                let cx = match self.options {
                    None => cx,
                    Some(options) => cx.in_front(options.scope.as_ref()).with_decode_options(options.decode),
                };
                Way::Short(Short::new(tool, call, cx))
            }
            _ => Way::Long(Box::pin(kit.run_as_one(call, self.options.cloned().unwrap_or_default()))),
        }
    }
}

impl Future for RunCall<'_> {
    type Output = ToolResult;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<ToolResult> {
        let this = self.get_mut();
        // Most calls are over at their first poll: what they need is kept only if they have to wait.
        let mut way = match std::mem::replace(&mut this.way, Way::Over) {
            Way::Untaken => this.set_out(),
            way => way,
        };
        let result = match &mut way {
            Way::Short(short) => short.poll(task, this.call),
            Way::Long(long) => long.as_mut().poll(task),
            Way::Untaken | Way::Over => Poll::Pending,
        };
        if result.is_pending() {
            this.way = way;
        }
        result
    }
}

impl<'a> Short<'a> {
    /// Reads and checks the arguments.
    fn new(tool: &'a Tool, call: &ToolCall, cx: Cx) -> Self {
        let mut span = CallSpan::open(call, Some(tool));
        let (running, refused, aside) = match isolated(|| tool.prepare_found(call, cx)) {
            Ok(Ok(prepared)) => (Some(prepared.running), None, prepared.aside),
            Ok(Err(failure)) => (None, Some(failure), None),
            Err(panicked) => (None, Some(Box::new(ToolFailure::from(panicked).not_started())), None),
        };
        span.begin();
        Self { tool, running, refused, aside, span }
    }

    fn poll(&mut self, task: &mut Context<'_>, call: &ToolCall) -> Poll<ToolResult> {
        let outcome = match self.refused.take() {
            Some(failure) => Outcome::Failed(failure),
            None => match ready!(
                self.span
                    .within(|| poll_isolated_by(&mut self.running, |running| running.as_mut().poll(self.tool, task)))
            ) {
                Ok(outcome) => match self.tool.limits().output_cap {
                    Some(cap) => hold(outcome, cap),
                    None => outcome,
                },
                Err(panicked) => ToolFailure::from(panicked).into(),
            },
        };
        let mut result = ToolResult::named(self.tool.shared_name().clone(), call, outcome);
        if let Some(aside) = self.aside.take() {
            // A failure of something in front of the handler says whether that was reached.
            if let (Outcome::Failed(failure), Some(begun)) = (&mut result.outcome, Aside::has_begun(Some(&aside))) {
                failure.started = begun;
            }
            result.repairs = aside.repairs;
        }
        self.span.end(&result.outcome);
        Poll::Ready(result)
    }
}

/// Whatever is unfinished is dropped in isolation.
impl Drop for Short<'_> {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            drop_isolated(running);
            self.span.end(&ToolFailure::new(FailureKind::Cancelled, "").started().into());
        }
    }
}

impl fmt::Debug for RunCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunCall").field("call", self.call).finish_non_exhaustive()
    }
}

/// Whether the tool's calls need nothing but to be run.
fn is_plain(tool: &Tool) -> bool {
    let limits = tool.limits();
    tool.approval().is_never() && limits.timeout.is_none() && limits.idle_timeout.is_none()
}
