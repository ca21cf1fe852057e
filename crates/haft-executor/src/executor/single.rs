//! Running a single call.
//!
//! Most single calls need no timeouts and no approval. They take the fast path here, with the same checks and the same
//! isolation. All others are a [`Run`] of one call.

use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use haft_core::{FailureKind, Outcome, ResultParts, ToolCall, ToolEvent, ToolFailure, ToolResult};
use haft_schema::Repair;
use haft_schema::isolation::{Isolated, poll_isolated};

use super::execute::{HandlerExecution, internal_error, prepare_isolated};
use super::option::RunOptions;
use super::run::Run;
use super::span::CallSpan;
use crate::cx::Cx;
use crate::cx::emit::Emitted;
use crate::handler::BoxFuture;
use crate::resumable::take_wait;
use crate::tool::{ApprovalPolicy, OutputCap, Tool};
use crate::toolkit::Toolkit;

/// A future of the result of one call. See [`Toolkit::run_call`].
#[must_use = "a call does nothing unless it is awaited"]
pub struct RunCall<'a> {
    kit: &'a Toolkit,
    call: &'a ToolCall,
    options: Option<CallOptions<'a>>,
    stage: CallStage<'a>,
}

/// The options of one call. Those that it owns are boxed, to keep the future small.
enum CallOptions<'a> {
    Borrowed(&'a RunOptions),
    Owned(Box<RunOptions>),
}

enum CallStage<'a> {
    New,
    Fast(FastPath<'a>),
    Run(Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>>),
    Done,
}

/// The fast path: decode, run, answer. It skips work that a call does not need, but no decision. It is a hand-written
/// state machine because every move of a value adds to the cost of a call.
struct FastPath<'a> {
    tool: &'a Tool,
    execution: HandlerExecution,
    repairs: Vec<Repair>,
    span: CallSpan,
}

impl Toolkit {
    /// Runs one call and returns its result. Values that it emits are dropped.
    ///
    /// A call of a tool without timeouts takes a fast path that sets up no run. Work that its handler started and that
    /// outlives the call is then not notified that the call has ended.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new().with(Tool::new("double").handler(|n: i64, _cx| async move { n * 2 })?)?;
    /// let result = kit.run_call(&ToolCall::new("c1", "double", "21")).await;
    /// assert_eq!(result.value().unwrap().as_str(), "42");
    ///
    /// let result = kit.run_call(&ToolCall::new("c2", "doubel", "21")).await;
    /// assert_eq!(result.failure().unwrap().message, "there is no tool called 'doubel'; the nearest is 'double'");
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_call<'a>(&'a self, call: &'a ToolCall) -> RunCall<'a> {
        RunCall { kit: self, call, options: None, stage: CallStage::New }
    }

    /// Runs one call with options, given or borrowed, and returns its result. Values that it emits go to the options'
    /// [sink](RunOptions::sink), or are dropped.
    pub fn run_call_with<'a>(&'a self, call: &'a ToolCall, options: impl Into<Cow<'a, RunOptions>>) -> RunCall<'a> {
        let options = match options.into() {
            Cow::Borrowed(options) => CallOptions::Borrowed(options),
            Cow::Owned(options) => CallOptions::Owned(Box::new(options)),
        };
        RunCall { kit: self, call, options: Some(options), stage: CallStage::New }
    }
}

/// Runs a run of one call to its result. Emitted values go to the sink of its options. Timeouts and cancellations go on
/// while the reader of the sink is slow: a call that they end is answered at once.
pub(super) async fn run_single(mut run: Run) -> ToolResult {
    let sink = run.options.sink.take();
    let mut sending: Option<Isolated<BoxFuture<()>>> = None;
    poll_fn(|task| {
        loop {
            if sending.is_some() && poll_isolated(&mut sending, task).is_pending() {
                return run.poll_cut_short(task);
            }
            let emitted = match ready!(Pin::new(&mut run).poll_next(task)) {
                Some(ToolEvent::Progress { data, .. }) => Emitted::Progress(data),
                Some(ToolEvent::Preliminary { value, .. }) => Emitted::Preliminary(value),
                Some(ToolEvent::Output { result, .. }) => return Poll::Ready(result),
                Some(
                    ToolEvent::Started { .. }
                    | ToolEvent::ApprovalRequested { .. }
                    | ToolEvent::ApprovalResolved { .. }
                    | ToolEvent::Suspended { .. }
                    | ToolEvent::Unknown(_),
                ) => continue,
                None => {
                    let failure = internal_error("a run of one call ended without its result");
                    return Poll::Ready(ToolResult::from_failure(&run.calls()[0], failure));
                }
            };
            if let Some(sink) = sink.clone() {
                sending = Some(Isolated::new(Box::pin(async move { sink.send(emitted).await })));
            }
        }
    })
    .await
}

impl CallOptions<'_> {
    fn get(&self) -> &RunOptions {
        match self {
            Self::Borrowed(options) => options,
            Self::Owned(options) => options,
        }
    }
}

impl RunCall<'_> {
    /// Starts the call, on the fast path if it can take it, and polls it.
    fn start(&mut self, task: &mut Context<'_>) -> Poll<ToolResult> {
        let (kit, call, given) = (self.kit, self.call, self.options.take());
        let options = given.as_ref().map(CallOptions::get);
        let set = kit.set();
        let found = set.index_of(&call.name).map(|index| (index, set.at(index).0));
        let is_plain = |tool: &Tool| {
            let is_runnable = || set.problems(options.and_then(RunOptions::scope)).is_none();
            tool.is_plain() && options.is_none_or(RunOptions::is_plain) && is_runnable()
        };
        let Some((index, tool)) = found.filter(|(_, tool)| is_plain(tool)) else {
            self.stage = CallStage::Run(Box::pin(run_single(
                Run::new(Arc::clone(set), vec![call.clone()], options.cloned().unwrap_or_default()).single(),
            )));
            return self.poll_started(task);
        };
        let mut span = CallSpan::open(call, Some(tool));
        let prepared = prepare_isolated(|| {
            let cx = Cx::of_kit(set, index, call);
            let cx = match options {
                None => cx,
                Some(options) => {
                    let cx = cx.layered_under(options.scope.as_ref()).with_decode_options(options.decode);
                    let cx = match &options.run_id {
                        None => cx,
                        Some(run_id) => cx.with_run_id(run_id),
                    };
                    match options.asking() {
                        None => cx,
                        Some(asking) => cx.with_asking(asking),
                    }
                }
            };
            tool.prepare_found(call, cx)
        });
        let mut prepared = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => {
                self.stage = CallStage::Done;
                let mut failure = *failure;
                failure.started = false;
                let outcome = failure.into();
                span.end(&outcome);
                return Poll::Ready(ToolResult::named(tool.shared_name().clone(), call, outcome));
            }
        };
        span.begin();
        let repairs = prepared.take_repairs();
        let mut fast = FastPath { tool, execution: HandlerExecution::new(prepared), repairs, span };
        match fast.poll(task) {
            Poll::Ready(outcome) => {
                self.stage = CallStage::Done;
                Poll::Ready(fast.answer(call, outcome))
            }
            // Most calls never wait: only a call that has to is stored.
            Poll::Pending => {
                self.stage = CallStage::Fast(fast);
                Poll::Pending
            }
        }
    }

    /// Polls a call that was started. A call that has returned its result stays pending.
    fn poll_started(&mut self, task: &mut Context<'_>) -> Poll<ToolResult> {
        let result = match &mut self.stage {
            CallStage::Fast(fast) => {
                let outcome = ready!(fast.poll(task));
                fast.answer(self.call, outcome)
            }
            CallStage::Run(run) => ready!(run.as_mut().poll(task)),
            CallStage::New | CallStage::Done => return Poll::Pending,
        };
        self.stage = CallStage::Done;
        Poll::Ready(result)
    }
}

impl Future for RunCall<'_> {
    type Output = ToolResult;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<ToolResult> {
        let this = self.get_mut();
        if matches!(this.stage, CallStage::New) { this.start(task) } else { this.poll_started(task) }
    }
}

impl FastPath<'_> {
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Outcome> {
        let cap = OutputCap::applied(self.tool.limits().output_cap, None);
        let mut outcome = ready!(self.execution.poll(self.tool, cap, &self.span, task));
        if let Outcome::Failed(failure) = &mut outcome {
            // Its handler is not one of those that wait.
            drop(take_wait(failure));
        }
        Poll::Ready(outcome)
    }

    fn answer(&mut self, call: &ToolCall, outcome: Outcome) -> ToolResult {
        let mut result = ToolResult::named(self.tool.shared_name().clone(), call, outcome);
        result.repairs = std::mem::take(&mut self.repairs);
        // The span knows its call and its tool.
        let ResultParts { call_id: _, tool: _, outcome, repairs: _ } = result.parts();
        self.span.end(outcome);
        result
    }
}

/// Lets a function take options by value or by reference.
impl From<RunOptions> for Cow<'_, RunOptions> {
    fn from(options: RunOptions) -> Self {
        Self::Owned(options)
    }
}

impl<'a> From<&'a RunOptions> for Cow<'a, RunOptions> {
    fn from(options: &'a RunOptions) -> Self {
        Self::Borrowed(options)
    }
}

/// Options with this policy, and defaults for everything else.
impl From<ApprovalPolicy> for Cow<'_, RunOptions> {
    fn from(policy: ApprovalPolicy) -> Self {
        Self::Owned(policy.into())
    }
}

/// Ends the span of a call that is dropped before it has finished, as cancelled.
impl Drop for FastPath<'_> {
    fn drop(&mut self) {
        if self.execution.is_unfinished() {
            self.span.end(&ToolFailure::new(FailureKind::Cancelled, "").started().into());
        }
    }
}

impl fmt::Debug for RunCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunCall").field("call", self.call).finish_non_exhaustive()
    }
}
