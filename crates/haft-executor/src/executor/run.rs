//! A run: many calls at once, as a stream of events.
//!
//! This file holds the state of a run and its public interface; [`driver`] advances the calls. A run never polls a
//! handler directly: each [`CallState`] does, through `execute.rs`.

mod driver;

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use haft_core::{FailureKind, RunId, ToolCall, ToolEvent, ToolFailure, ToolResult};
use haft_schema::isolation::{Isolated, wake_isolated};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::coop::has_budget_remaining;
use tokio::time::Instant;

use super::call_handle::RunShared;
use super::call_state::CallState;
use super::option::RunOptions;
use super::run_approvals::{RunApprovals, Suspending};
use super::slot::Slots;
use super::span::CallSpan;
use super::timer::Timer;
use crate::ambient::Ambient;
use crate::approval::{Finished, RequestedCall};
use crate::approval::{RejectedVerdict, Suspended};
use crate::cancellation::Cancellation;
use crate::cx::run_id::LazyRunId;
use crate::handler::{BoxFuture, invalid_input};
use crate::toolkit::{NotRunnable, ProblemScope, ToolSet, Toolkit};

/// The number of rounds per poll before the run yields to its runtime. A handler may wake itself in every round without
/// consuming any of tokio's budget, which would otherwise end the poll.
const ROUNDS: usize = 16;
/// The message about calls whose stream was dropped, for observers and traces.
const ABANDONED: &str = "the run was dropped before this call finished";

/// Calls that run concurrently, as a stream of events.
///
/// Nothing happens until the stream is polled. The first poll starts every call that the limits allow before it returns
/// the first event. Every call gets exactly one [`ToolEvent::Output`], after all its other events; the stream ends when
/// every call has its output. Events of different calls are interleaved as they happen, so outputs come in the order in
/// which calls finish; [`collect_results`](Run::collect_results) and
/// [`continue_with_results`](Run::continue_with_results) return results in the order of the calls.
///
/// Handlers run inside the task that polls the stream, so they make progress, and timeouts fire, only while it is
/// polled. A consumer that stops polling in order to wait for something that a handler holds deadlocks: poll to the end
/// ([`collect_results`](Run::collect_results) does), or run handlers in separate tasks with
/// [`spawned`](RunOptions::spawned). A handler that blocks its thread blocks all others, unless it is defined as
/// blocking.
///
/// Dropping the stream drops the handlers. [`cancel`](Run::cancel) cancels them instead, and the stream continues until
/// every call has a result.
///
/// ```
/// use haft_executor::{Tool, Toolkit};
/// use haft_core::{ToolCall, ToolEvent};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kit: Toolkit = Toolkit::new().with(Tool::new("count").handler(|to: u32, cx: haft_executor::Cx| async move {
///     for n in 1..=to {
///         let _ = cx.emit(n).await;
///     }
///     to
/// })?)?;
///
/// let mut run = kit.run([ToolCall::new("c1", "count", "2"), ToolCall::new("c2", "cuont", "2")]);
/// let mut shown = Vec::new();
/// while let Some(event) = run.next().await {
///     match event {
///         ToolEvent::Progress { call_id, data, .. } => shown.push(format!("{call_id}: {data}")),
///         ToolEvent::Output { result, .. } => shown.push(format!("{}: ok is {}", result.call_id, result.is_ok())),
///         _ => {}
///     }
/// }
/// assert_eq!(shown, ["c1: 1", "c1: 2", "c1: ok is true", "c2: ok is false"]);
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing unless it is polled"]
pub struct Run {
    pub(super) set: Arc<ToolSet>,
    pub(super) options: RunOptions,
    /// Its id until the first poll; then it is in the shared state.
    id: LazyRunId,
    /// Shared with the contexts of the calls.
    pub(super) calls: Arc<Vec<ToolCall>>,
    /// Empty before the first poll.
    pub(super) call_states: Vec<CallState>,
    /// The ambient values of the code that created the run, and from the first poll on also those of the code that
    /// polled it. They are current whenever code of the calls runs.
    ambient: Ambient,
    /// The state that the calls share, from the first poll on.
    shared: Option<Arc<RunShared>>,
    wakers: Vec<Option<Waker>>,
    /// The calls to be polled.
    woken: VecDeque<usize>,
    slots: Slots,
    /// Set when a call that waits for a slot may be able to take one.
    has_free_slot: bool,
    timer: Timer<Due>,
    deadline: Option<Instant>,
    /// The reasons that handlers can't run.
    problems: Option<Arc<NotRunnable>>,
    problem_scope: ProblemScope,
    /// Completes when a cancellation of the options is triggered. Holds the waker of the task.
    cancelled: Option<Isolated<BoxFuture<()>>>,
    is_cancelled: bool,
    /// Set when a call was ended by a timeout or a cancellation.
    was_cut_short: bool,
    pub(super) ready: VecDeque<ToolEvent>,
    pub(super) unfinished: usize,
    pub(super) suspending: Suspending,
    /// The approval state of the run, if it has any.
    pub(super) approvals: Option<Box<RunApprovals>>,
}

/// An entry of the run's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Run,
    Call(usize),
}

impl Toolkit {
    /// Runs calls concurrently and returns their events as a stream.
    ///
    /// A call is passed as the model requested it, or with facts about its approval: no approval is requested again for
    /// a call of a [`CallPlan`](crate::CallPlan).
    /// Calls of one plan run with the options of the plan, and their events carry the indexes of the plan, even if some
    /// of its calls are left out.
    pub fn run<C: Into<RequestedCall>>(&self, calls: impl IntoIterator<Item = C>) -> Run {
        let (calls, approvals) = RunApprovals::split(calls.into_iter().map(Into::into));
        let set = Arc::clone(self.set());
        match approvals {
            None => Run::new(set, calls, RunOptions::new()),
            Some(approvals) => approvals.into_run(set, calls, None),
        }
    }

    /// Runs calls concurrently with options, and returns a stream of events. Calls of a plan are run with these options
    /// in place of the plan's.
    pub fn run_with<C: Into<RequestedCall>>(
        &self,
        calls: impl IntoIterator<Item = C>,
        options: impl Into<RunOptions>,
    ) -> Run {
        let (calls, approvals) = RunApprovals::split(calls.into_iter().map(Into::into));
        let (set, options) = (Arc::clone(self.set()), options.into());
        match approvals {
            None => Run::new(set, calls, options),
            Some(approvals) => approvals.into_run(set, calls, Some(options)),
        }
    }
}

impl Run {
    pub(super) fn new(set: Arc<ToolSet>, calls: Vec<ToolCall>, mut options: RunOptions) -> Self {
        Self {
            set,
            id: options.run_id.take().into(),
            options,
            unfinished: calls.len(),
            calls: Arc::new(calls),
            call_states: Vec::new(),
            ambient: Ambient::current(),
            shared: None,
            wakers: Vec::new(),
            woken: VecDeque::new(),
            slots: Slots::default(),
            has_free_slot: false,
            timer: Timer::new(),
            deadline: None,
            problems: None,
            problem_scope: ProblemScope::WholeToolkit,
            cancelled: None,
            is_cancelled: false,
            was_cut_short: false,
            ready: VecDeque::new(),
            suspending: Suspending::Allowed,
            approvals: None,
        }
    }

    /// Lets the calls run whose own tools can be run, whatever the others lack.
    pub(super) fn with_each_tool_alone(mut self) -> Self {
        self.problem_scope = ProblemScope::EachTool;
        self
    }

    /// Cancels the run: every unfinished call is answered with `cancelled` at the next poll, and the stream continues
    /// to its end.
    pub fn cancel(&mut self) {
        self.is_cancelled = true;
    }

    /// Returns the id of the run, which is created when it is first asked for unless the options
    /// [set](RunOptions::run_id) it.
    ///
    /// ```
    /// use haft_executor::{RunOptions, Toolkit};
    /// use haft_core::ToolCall;
    ///
    /// let kit: Toolkit = Toolkit::new();
    /// let run = kit.run([ToolCall::new("c1", "pay", "500")]);
    /// assert_eq!(run.run_id().as_str().len(), 32);
    ///
    /// let run = kit.run_with([ToolCall::new("c1", "pay", "500")], RunOptions::new().run_id("order-17"));
    /// assert_eq!(run.run_id(), &"order-17");
    /// ```
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        self.shared.as_ref().map_or_else(|| self.id.get(), |run_shared| run_shared.run_id())
    }

    /// Returns the calls, in order.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// Reads and checks the arguments of a call with the run's options, including a person's edit if there was one, and
    /// before the tool [refines](crate::ToolBuilder::refine) them. A loop reads a signal or an interaction that the run
    /// surfaced with this method.
    ///
    /// # Panics
    ///
    /// Panics if the run has no call at this index.
    pub fn decode_args<P: DeserializeOwned>(&self, index: usize) -> Result<P, ToolFailure> {
        let call = &self.calls[index];
        let Some(tool) = self.set.index_of(&call.name) else {
            return Err(ToolResult::unknown_tool(call, &[]).into_failure());
        };
        self.set.at(tool).0.decode_canonical(&call.arguments, &self.options.decode).map_err(invalid_input)
    }

    /// Reads the arguments of a call as a tree that represents them exactly, as
    /// [`Tool::argument_tree`](crate::Tool::argument_tree) does, with the run's options and including a person's edit
    /// if there was one.
    ///
    /// # Panics
    ///
    /// Panics if the run has no call at this index.
    pub fn argument_tree(&self, index: usize) -> Result<Value, ToolFailure> {
        let call = &self.calls[index];
        let Some(tool) = self.set.index_of(&call.name) else {
            return Err(ToolResult::unknown_tool(call, &[]).into_failure());
        };
        self.set.at(tool).0.canonical_tree(&call.arguments, &self.options.decode).map_err(invalid_input)
    }

    /// Returns the next event, or `None` when every call has its output.
    pub async fn next(&mut self) -> Option<ToolEvent> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Runs all calls to the end and returns the results in the order of the calls. Outputs that were already read with
    /// [`next`](Run::next) are not included. To receive the events as well, use
    /// [`continue_with_results`](Run::continue_with_results). Calls that are suspended have no result yet: if there may
    /// be some, use [`collect_or_suspend`](Run::collect_or_suspend).
    pub async fn collect_results(mut self) -> Vec<ToolResult> {
        self.collect().await
    }

    /// Runs all calls to the end and returns the results in the order of the calls, or the suspended run if some calls
    /// wait for verdicts. Results from before the run was suspended are included.
    pub async fn collect_or_suspend(mut self) -> Result<Vec<ToolResult>, Box<Suspended>> {
        let results = self.collect().await;
        self.take_suspended().map_or(Ok(results), |suspended| Err(Box::new(suspended)))
    }

    /// Returns the suspended run, once, if the run has ended and calls of it wait for verdicts.
    pub fn suspended(&mut self) -> Option<Suspended> {
        self.take_suspended()
    }

    /// Returns the verdicts that were rejected, with the reasons: those the run was resumed with, and those its
    /// approver returned. Complete when the run has ended.
    #[must_use]
    pub fn rejected_verdicts(&self) -> &[RejectedVerdict] {
        self.rejected()
    }

    async fn collect(&mut self) -> Vec<ToolResult> {
        let mut results: Vec<Option<ToolResult>> = self.calls.iter().map(|_| None).collect();
        for Finished { index, result } in self.earlier() {
            results[*index] = Some(result.clone());
        }
        while let Some(event) = self.next().await {
            if let ToolEvent::Output { index, result } = event {
                results[index] = Some(result);
            }
        }
        results.into_iter().flatten().collect()
    }

    pub(super) fn has_begun(&self) -> bool {
        self.shared.is_some()
    }

    /// Reports whether the run was cancelled.
    pub(super) fn was_cancelled(&self) -> bool {
        self.is_cancelled || self.options.cancellations.as_slice().iter().any(Cancellation::is_cancelled)
    }

    /// Applies timeouts and cancellation without returning events. Ready with the result of the first call that they
    /// ended.
    pub(super) fn poll_cut_short(&mut self, task: &mut Context<'_>) -> Poll<ToolResult> {
        let is_parked = (0..ROUNDS).any(|_| {
            self.tick(task);
            self.unfinished == 0 || self.park(task)
        });
        if !is_parked {
            wake_isolated(task.waker());
        }
        let result = self.ready.iter().find_map(ToolEvent::result).filter(|_| self.was_cut_short);
        result.cloned().map_or(Poll::Pending, Poll::Ready)
    }

    /// Ends what was cancelled or timed out, and advances everything else once.
    fn tick(&mut self, task: &mut Context<'_>) {
        if self.shared.is_none() {
            self.ambient = Ambient::current().over(&self.ambient);
        }
        if self.ambient.is_empty() {
            return self.tick_inside(task);
        }
        self.ambient.clone().sync_scope(|| self.tick_inside(task));
    }

    fn tick_inside(&mut self, task: &mut Context<'_>) {
        if self.shared.is_none() {
            self.start();
        }
        self.end_cancelled(task);
        self.end_timed_out();
        self.advance_woken();
    }

    /// Returns the next event if there is one without waiting.
    fn next_ready(&mut self) -> Option<ToolEvent> {
        let event = self.ready.pop_front()?;
        if let (ToolEvent::Progress { index, .. } | ToolEvent::Preliminary { index, .. }, Some(shared)) =
            (&event, &self.shared)
        {
            shared.mailbox.release_capacity(*index);
        }
        self.notify_observers(&event);
        Some(event)
    }

    fn notify_observers(&self, event: &ToolEvent) {
        if !self.is_planning() {
            self.options.notify_observers(event);
        }
    }
}

impl Stream for Run {
    type Item = ToolEvent;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<ToolEvent>> {
        let run = self.get_mut();
        for _ in 0..ROUNDS {
            run.tick(task);
            if let Some(event) = run.next_ready() {
                return Poll::Ready(Some(event));
            }
            if run.unfinished == 0 {
                return Poll::Ready(None);
            }
            if run.park(task) {
                return Poll::Pending;
            }
            if !has_budget_remaining() {
                break;
            }
        }
        wake_isolated(task.waker());
        Poll::Pending
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.unfinished + self.ready.len(), None)
    }
}

/// Drops the handlers. The observers and tracing receive the events that were not read and a `cancelled` output for
/// each unfinished call.
impl Drop for Run {
    fn drop(&mut self) {
        if self.shared.is_none() {
            // The run was never polled: there are no handlers to drop, but every call is still answered.
            let done = self.approvals.as_ref().map(|approvals| approvals.done()).unwrap_or_default();
            for (index, call) in self.calls.iter().enumerate().filter(|(index, _)| !done.contains(index)) {
                let result = ToolResult::cancelled(call, ABANDONED);
                CallSpan::record_unstarted(call, &result.outcome);
                self.notify_observers(&ToolEvent::Output { index, result });
            }
            return;
        }
        self.drain_mailbox();
        self.cancel_all(|| ToolFailure::new(FailureKind::Cancelled, ABANDONED));
        while self.next_ready().is_some() {}
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("calls", &self.calls.len())
            .field("unfinished", &self.unfinished)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
