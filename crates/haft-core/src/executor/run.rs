//! Many calls at once, as a stream of what happens.

mod driver;

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::coop::has_budget_remaining;
use tokio::time::Instant;

use super::approve::Approve;
use super::call_handle::RunShared;
use super::call_state::CallState;
use super::isolation::{Isolated, isolated, wake_isolated};
use super::option::RunOptions;
use super::permit::Permit;
use super::run_approvals::{RunApprovals, Suspending};
use super::slot::Slots;
use super::span::CallSpan;
use super::timer::Timer;
use crate::approval::{Finished, RequestedCall};
#[cfg(feature = "approval")]
use crate::approval::{RefusedVerdict, Suspended};
use crate::arguments::Arguments;
use crate::call::ToolCall;
use crate::cancellation::Cancellation;
use crate::cx::Caller;
use crate::event::ToolEvent;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{BoxFuture, invalid_input};
use crate::history::History;
use crate::result::ToolResult;
use crate::schema::DecodeOptions;
use crate::service::Services;
use crate::tool::{ApprovalPolicy, OutputCap};
use crate::toolkit::{NotRunnable, ToolSet, Toolkit};

/// How often calls are looked at before others in the runtime get their turn: a handler may wake itself for ever, and use
/// nothing of tokio's that would tell when it is enough.
const ROUNDS: usize = 16;
/// What is said about calls whose stream was dropped.
const ABANDONED: &str = "the run was dropped before the call was done";

/// Calls that run beside each other, as a stream of events.
///
/// Nothing happens until the stream is polled. The first poll starts every call that the limits allow, before it gives
/// the first event. Every call gets exactly one [`ToolEvent::Output`], after everything else it had to say; the stream
/// ends when all have theirs. Between calls events come as they happen, so outputs come as calls finish;
/// [`collect_results`](Run::collect_results) and [`continue_with_results`](Run::continue_with_results) put results in the
/// order of the calls.
///
/// Handlers run inside the task that polls the stream, so they advance, and timeouts fire, only while it is polled. A
/// consumer that stops polling to wait for something that a handler holds waits for ever: poll to the end
/// ([`collect_results`](Run::collect_results) does), or let handlers run in tasks of their own with
/// [`spawned`](Run::spawned). A handler that blocks its thread blocks all others, unless it is defined as blocking.
///
/// Dropping the stream drops the handlers. [`cancel`](Run::cancel) calls them off instead and goes on to a result for
/// every call.
///
/// ```
/// use haft_core::{Tool, ToolCall, ToolEvent, Toolkit};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kit: Toolkit = Toolkit::new().with(Tool::new("count").run(|to: u32, cx: haft_core::Cx| async move {
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
    /// Shared with the contexts of the calls.
    pub(super) calls: Arc<Vec<ToolCall>>,
    /// There from the first poll on.
    pub(super) call_states: Vec<CallState>,
    /// What the calls have in common, from the first poll on.
    shared: Option<Arc<RunShared>>,
    wakers: Vec<Option<Waker>>,
    /// The calls to look at.
    woken: VecDeque<usize>,
    slots: Slots,
    /// Whether somebody may have stopped waiting for a place.
    has_free_slot: bool,
    timer: Timer<Due>,
    deadline: Option<Instant>,
    /// Why nothing can be run.
    problems: Option<Arc<NotRunnable>>,
    /// Ends when the flag of the options is raised. Holds the waker of the task.
    cancelled: Option<Isolated<BoxFuture<()>>>,
    is_cancelled: bool,
    /// Whether a call was ended by time or a cancel.
    was_cut_short: bool,
    pub(super) ready: VecDeque<ToolEvent>,
    pub(super) unfinished: usize,
    pub(super) suspending: Suspending,
    /// What is known about approvals, where that matters.
    pub(super) approvals: Option<Box<RunApprovals>>,
}

/// What a time is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Run,
    CallState(usize),
}

impl Toolkit {
    /// Runs calls beside each other and gives what happens as a stream.
    ///
    /// Calls are taken as a model asked for them, or with what is known about their approval: a
    /// call of a [`CallPlan`](crate::CallPlan) or an [`ApprovedCall`](crate::ApprovedCall) that has its verdict is not asked
    /// about again. Calls of one plan run with the options of the plan, and their events have the indexes of the plan, also
    /// when some of its calls are left out.
    pub fn run<C: Into<RequestedCall>>(&self, calls: impl IntoIterator<Item = C>) -> Run {
        let (calls, approvals) = RunApprovals::split(calls.into_iter().map(Into::into));
        let set = Arc::clone(self.set());
        match approvals {
            None => Run::new(set, calls),
            Some(approvals) => approvals.into_run(set, calls),
        }
    }
}

impl Run {
    pub(super) fn new(set: Arc<ToolSet>, calls: Vec<ToolCall>) -> Self {
        Self {
            set,
            options: RunOptions::new(),
            unfinished: calls.len(),
            calls: Arc::new(calls),
            call_states: Vec::new(),
            shared: None,
            wakers: Vec::new(),
            woken: VecDeque::new(),
            slots: Slots::default(),
            has_free_slot: false,
            timer: Timer::new(),
            deadline: None,
            problems: None,
            cancelled: None,
            is_cancelled: false,
            was_cut_short: false,
            ready: VecDeque::new(),
            suspending: Suspending::Allowed,
            approvals: None,
        }
    }

    /// The same run with all options replaced. Options count when the run is first polled, not later.
    pub fn with(self, options: RunOptions) -> Self {
        self.changed(|_| options)
    }

    /// Calls everything off: what is not done is answered with `cancelled` at the next poll, and the stream goes on to
    /// its end.
    pub fn cancel(&mut self) {
        self.is_cancelled = true;
    }

    /// The calls, in order.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// Reads the arguments of a call as the run reads them, checked: with the run's options, and as a person edited them
    /// if one did. This is how a loop reads a signal or an interaction that the run surfaced.
    ///
    /// # Panics
    ///
    /// Panics if the run has no call at this index.
    pub fn decode_args<P: DeserializeOwned>(&self, index: usize) -> Result<P, ToolFailure> {
        let call = &self.calls[index];
        let Some(place) = self.set.index_of(&call.name) else {
            return Err(ToolResult::unknown_tool(call, &[]).into_failure());
        };
        let decoded = self.set.at(place).0.parameters().decode::<P>(&call.arguments, &self.options.decode);
        decoded.map(|decoded| decoded.value).map_err(invalid_input)
    }

    /// Reads the arguments of a call as a tree that holds them exactly, as [`Tool::argument_tree`](crate::Tool::argument_tree)
    /// does, with the run's options and as a person edited them if one did.
    ///
    /// # Panics
    ///
    /// Panics if the run has no call at this index.
    pub fn argument_tree(&self, index: usize) -> Result<Value, ToolFailure> {
        let call = &self.calls[index];
        let Some(place) = self.set.index_of(&call.name) else {
            return Err(ToolResult::unknown_tool(call, &[]).into_failure());
        };
        Arguments::tree(self.set.at(place).0, &call.arguments, &self.options.decode).map_err(invalid_input)
    }

    /// The next event; `None` when every call has its output.
    pub async fn next(&mut self) -> Option<ToolEvent> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Runs everything to the end and gives the results in the order of the calls. Those whose output was already read by
    /// [`next`](Run::next) are not among them. To see the events on the way as well, use
    /// [`continue_with_results`](Run::continue_with_results). Calls that are suspended have no result yet:
    /// where there may be some, use [`collect_or_suspend`](Run::collect_or_suspend).
    pub async fn collect_results(mut self) -> Vec<ToolResult> {
        self.collect().await
    }

    /// Runs everything to the end and gives the results in the order of the calls, or what is left when some of them
    /// wait for verdicts. Results from before the run was suspended are among them.
    #[cfg(feature = "approval")]
    pub async fn collect_or_suspend(mut self) -> Result<Vec<ToolResult>, Box<Suspended>> {
        let results = self.collect().await;
        self.take_suspended().map_or(Ok(results), |suspended| Err(Box::new(suspended)))
    }

    /// What is left of the run when it has ended and calls of it wait for verdicts. Given once.
    #[cfg(feature = "approval")]
    pub fn suspended(&mut self) -> Option<Suspended> {
        self.take_suspended()
    }

    /// The verdicts that reached the run and did not count, and why: those it was resumed with, and those its approver gave.
    /// Complete when the run has ended.
    #[cfg(feature = "approval")]
    #[must_use]
    pub fn refused_verdicts(&self) -> &[RefusedVerdict] {
        self.refused()
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

    /// Whether the run was called off.
    pub(super) fn was_cancelled(&self) -> bool {
        self.is_cancelled || self.options.cancellation.as_ref().is_some_and(Cancellation::is_cancelled)
    }

    /// Lets time and cancels go on without handing out events; gives the result of the first call that they ended.
    pub(super) fn poll_cut_short(&mut self, task: &mut Context<'_>) -> Poll<ToolResult> {
        let rests = (0..ROUNDS).any(|_| {
            self.tick(task);
            self.unfinished == 0 || self.rest(task)
        });
        if !rests {
            wake_isolated(task.waker());
        }
        let result = self.ready.iter().find_map(ToolEvent::result).filter(|_| self.was_cut_short);
        result.cloned().map_or(Poll::Pending, Poll::Ready)
    }

    /// Settles and moves everything once.
    fn tick(&mut self, task: &mut Context<'_>) {
        if self.shared.is_none() {
            self.start();
        }
        self.end_cancelled(task);
        self.end_timed_out();
        self.move_on();
    }

    /// The next event, if there is one without waiting.
    fn next_ready(&mut self) -> Option<ToolEvent> {
        let event = self.ready.pop_front()?;
        if let (ToolEvent::Progress { index, .. } | ToolEvent::Preliminary { index, .. }, Some(shared)) =
            (&event, &self.shared)
        {
            shared.mailbox.make_room(*index);
        }
        self.show(&event);
        Some(event)
    }

    fn show(&self, event: &ToolEvent) {
        if let Some(observer) = self.options.observer.as_ref().filter(|_| !self.is_planning()) {
            // It watches and can't change anything: that it broke is its own business.
            drop(isolated(|| observer(event)));
        }
    }
}

/// Options, one by one. They count when the run is first polled, not later.
impl Run {
    /// See [`RunOptions::concurrency`].
    pub fn concurrency(self, most: usize) -> Self {
        self.changed(|options| options.concurrency(most))
    }

    /// See [`RunOptions::call_timeout`].
    pub fn call_timeout(self, timeout: Duration) -> Self {
        self.changed(|options| options.call_timeout(timeout))
    }

    /// See [`RunOptions::call_idle_timeout`].
    pub fn call_idle_timeout(self, timeout: Duration) -> Self {
        self.changed(|options| options.call_idle_timeout(timeout))
    }

    /// See [`RunOptions::output_cap`].
    pub fn output_cap(self, cap: OutputCap) -> Self {
        self.changed(|options| options.output_cap(cap))
    }

    /// See [`RunOptions::policy`].
    pub fn policy(self, policy: ApprovalPolicy) -> Self {
        self.changed(|options| options.policy(policy))
    }

    /// See [`RunOptions::policy_instead`].
    pub fn policy_instead(self, policy: ApprovalPolicy) -> Self {
        self.changed(|options| options.policy_instead(policy))
    }

    /// See [`RunOptions::permit`].
    pub fn permit(self, permit: impl Permit) -> Self {
        self.changed(|options| options.permit(permit))
    }

    /// See [`RunOptions::approvals`].
    pub fn approvals(self, approver: impl Approve) -> Self {
        self.changed(|options| options.approvals(approver))
    }

    /// See [`RunOptions::approval_timeout`].
    pub fn approval_timeout(self, timeout: Duration) -> Self {
        self.changed(|options| options.approval_timeout(timeout))
    }

    /// See [`RunOptions::services`].
    pub fn services(self, services: Services) -> Self {
        self.changed(|options| options.services(services))
    }

    /// See [`RunOptions::extension`].
    pub fn extension<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.changed(|options| options.extension(value))
    }

    /// See [`RunOptions::decode_options`].
    pub fn decode_options(self, decode: DecodeOptions) -> Self {
        self.changed(|options| options.decode_options(decode))
    }

    /// See [`RunOptions::caller`].
    pub fn caller(self, caller: impl Into<Caller>) -> Self {
        self.changed(|options| options.caller(caller))
    }

    /// See [`RunOptions::messages`].
    pub fn messages(self, messages: impl Into<History>) -> Self {
        self.changed(|options| options.messages(messages))
    }

    /// See [`RunOptions::deadline`].
    pub fn deadline(self, deadline: Instant) -> Self {
        self.changed(|options| options.deadline(deadline))
    }

    /// See [`RunOptions::timeout`].
    pub fn timeout(self, timeout: Duration) -> Self {
        self.changed(|options| options.timeout(timeout))
    }

    /// See [`RunOptions::cancellation`].
    pub fn cancellation(self, cancellation: Cancellation) -> Self {
        self.changed(|options| options.cancellation(cancellation))
    }

    /// See [`RunOptions::observe`].
    pub fn observe(self, observer: impl Fn(&ToolEvent) + Send + Sync + 'static) -> Self {
        self.changed(|options| options.observe(observer))
    }

    /// See [`RunOptions::spawned`]. Calls that wait for a place start only when the run is polled.
    pub fn spawned(self) -> Self {
        self.changed(RunOptions::spawned)
    }

    fn changed(mut self, change: impl FnOnce(RunOptions) -> RunOptions) -> Self {
        if self.shared.is_some() {
            return self;
        }
        self.options = change(std::mem::take(&mut self.options));
        self
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
            if run.rest(task) {
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

/// Nobody reads any more: handlers are dropped, and the observer is told of everything the reader missed, as is tracing.
impl Drop for Run {
    fn drop(&mut self) {
        if self.shared.is_none() {
            // Never polled: there is nothing to drop, and still every call is answered.
            let done = self.approvals.as_ref().map(|approvals| approvals.done()).unwrap_or_default();
            for (index, call) in self.calls.iter().enumerate().filter(|(index, _)| !done.contains(index)) {
                let result = ToolResult::cancelled(call, ABANDONED);
                CallSpan::pass(call, &result.outcome);
                self.show(&ToolEvent::Output { index, result });
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
