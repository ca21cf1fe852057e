//! The options of a run.
//!
//! Options are one value, so that a run, a single call and [`Dispatch`](super::Dispatch) take the same. All are
//! optional: by default every call that requires no approval is allowed, all calls run concurrently and nothing times
//! out.
//!
//! Permits, policies and observers add up: giving another one never replaces an earlier one. So do services and
//! extensions, where the last one of a type applies. Every other option is a single value, and the last one given
//! applies.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use haft_core::history::History;
use haft_core::{Caller, RunId, Timestamp, ToolEvent};
use haft_schema::DecodeOptions;
use haft_schema::isolation::{Isolated, isolated};
use tokio::time::Instant;

use super::approve::{Approve, Approver};
use super::lane::Lane;
use super::option_list::OptionList;
use super::permit::Permit;
use super::run_deadline::RunDeadline;
use crate::approval::{ApprovalMemory, SigningKeys};
use crate::approval::{AuditRecord, Gate};
use crate::cancellation::Cancellation;
use crate::cx::emit::Emitter;
use crate::scope::RunScope;
use crate::service::Services;
use crate::tool::{ApprovalPolicy, OutputCap};

/// Options for running calls. Cloning is cheap.
///
/// ```
/// use haft_executor::RunOptions;
/// use std::time::Duration;
///
/// let options = RunOptions::new().concurrency(4).timeout(Duration::from_secs(60)).caller("user:ana");
/// # let _ = options;
/// ```
#[derive(Clone, Default)]
pub struct RunOptions {
    pub(super) concurrency: Option<NonZeroUsize>,
    pub(super) call_timeout: Option<Duration>,
    pub(super) call_idle_timeout: Option<Duration>,
    pub(super) output_cap: Option<OutputCap>,
    pub(super) policies: OptionList<ApprovalPolicy>,
    pub(super) tool_policies: ToolPolicies,
    pub(super) permits: OptionList<Arc<dyn Permit>>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) approval_timeout: Option<Duration>,
    pub(super) gate: Option<Arc<Gate>>,
    pub(super) scope: Option<Arc<RunScope>>,
    pub(super) decode: DecodeOptions,
    pub(super) until: Option<RunDeadline>,
    pub(super) cancellations: OptionList<Cancellation>,
    pub(super) observers: OptionList<Arc<Observer>>,
    pub(super) sink: Option<Emitter>,
    pub(super) handler_task: HandlerTask,
    pub(super) run_id: Option<RunId>,
    pub(super) start_events: StartEvents,
    pub(super) lanes: OptionList<Lane>,
}

pub(super) type Observer = dyn Fn(&ToolEvent) + Send + Sync;

/// The part that the tools' own approval policies have in a run. Merged options take the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ToolPolicies {
    /// They apply beside those of the run.
    #[default]
    Applied,
    /// Those of the run apply instead.
    Replaced,
}

/// The task that handlers run in. Merged options take the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HandlerTask {
    /// The task that polls the run.
    #[default]
    Inline,
    /// A separate task for each.
    Spawned,
}

/// The treatment of the moment at which an attempt reaches its handler. Merged options take the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StartEvents {
    /// It is no event.
    #[default]
    Omitted,
    /// It is a [`ToolEvent::Started`].
    Emitted,
}

impl RunOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the number of handlers that run at a time. Zero, the default, means no limit.
    #[must_use]
    pub fn concurrency(mut self, most: usize) -> Self {
        self.concurrency = NonZeroUsize::new(most);
        self
    }

    /// Sets the timeout of each call, counted from the moment it holds its slot: waiting for a permit, an approval or
    /// the slot doesn't count, waiting inside a middleware does. If its tool has a timeout as well, the shorter one
    /// applies.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// Sets the idle timeout of each call, counted from the moment it holds its slot: every event that it emits and
    /// every value of its stream restarts it. If its tool has an idle timeout as well, the shorter one applies.
    #[must_use]
    pub fn call_idle_timeout(mut self, timeout: Duration) -> Self {
        self.call_idle_timeout = Some(timeout);
        self
    }

    /// Limits the size of each call's output, as [`OutputCap`] counts it, in place of the default of 256 KiB. If its
    /// tool has a cap as well, the smaller one applies.
    #[must_use]
    pub fn output_cap(mut self, cap: OutputCap) -> Self {
        self.output_cap = Some(cap);
        self
    }

    /// Adds an approval policy: a call requires approval if its tool's policy or any of the run's requires it. It
    /// covers signals and interactions, but not calls that the provider executes, which can't be prevented.
    #[must_use]
    pub fn policy(mut self, policy: ApprovalPolicy) -> Self {
        self.policies.add(policy);
        self
    }

    /// Adds an approval policy and disables those of the tools: a call requires approval only if a policy of the run
    /// requires it. Policies that were added before, or are added later, still apply.
    #[must_use]
    pub fn policy_instead(mut self, policy: ApprovalPolicy) -> Self {
        self.tool_policies = ToolPolicies::Replaced;
        self.policy(policy)
    }

    /// Adds a permit, which decides about every call: before its arguments are read, and if it wants to, about the
    /// arguments. All permits must allow a call. They are asked in the order in which they were added, one after the
    /// other, and the first denial decides. A tool is visible only if every permit sees it.
    ///
    /// A closure states the types of its parameters: `|tool: &Tool, call: &ToolCall, cx: &Cx| …`.
    #[must_use]
    pub fn permit(mut self, permit: impl Permit) -> Self {
        self.permits.add(Arc::new(Isolated::new(permit)));
        self
    }

    /// Sets the approver, which decides about calls that require approval. Several requests may be pending at the same
    /// time. Without an approver such calls are denied.
    #[must_use]
    pub fn approvals(mut self, approver: impl Approve) -> Self {
        self.approver = Some(Arc::new(Isolated::new(approver)));
        self
    }

    /// Sets the longest wait for each answer of the approver: a call without an answer by then is `cancelled`. Without
    /// it only the request's [lifetime](Self::approval_lifetime) and the run's deadline end the wait.
    #[must_use]
    pub fn approval_timeout(mut self, timeout: Duration) -> Self {
        self.approval_timeout = Some(timeout);
        self
    }

    /// Sets the lifetime of approval requests: a verdict that arrives later is rejected, and the call is `cancelled`.
    /// Unlike the [timeout](Self::approval_timeout) the lifetime is part of the request, and also applies when a run is
    /// resumed elsewhere.
    #[must_use]
    pub fn approval_lifetime(self, lifetime: Duration) -> Self {
        self.gated(|gate| gate.lifetime = Some(lifetime))
    }

    /// Adds a function that receives a record of every approval request's outcome (who decided what, when, and under
    /// which rule) and of every call that a permit denied. A panic in it is ignored. Several of them receive each
    /// record in the order in which they were added.
    #[must_use]
    pub fn audit(self, auditor: impl Fn(&AuditRecord) + Send + Sync + 'static) -> Self {
        let auditor = Isolated::new(auditor);
        self.gated(|gate| gate.auditors.add(Arc::new(move |record| auditor(record))))
    }

    /// Sets the clock by which approval requests expire, instead of the system's. While it panics, calls that require
    /// approval are denied.
    #[must_use]
    pub fn approval_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let clock = Isolated::new(clock);
        #[allow(clippy::redundant_closure, reason = "passing the function directly would bypass its isolation")]
        self.gated(|gate| gate.clock = Some(Arc::new(move || clock())))
    }

    /// Sets the memory for verdicts that apply to more than one call. It is consulted before the approver.
    #[must_use]
    pub fn approval_memory(self, memory: impl Into<ApprovalMemory>) -> Self {
        self.gated(|gate| gate.memory = Some(memory.into()))
    }

    /// Signs every approval request, and rejects verdicts that don't carry the signature of their request.
    #[must_use]
    pub fn approval_keys(self, keys: SigningKeys) -> Self {
        self.gated(|gate| gate.keys = Some(keys))
    }

    /// Adds services for this run, which take precedence over those of the toolkit.
    #[must_use]
    pub fn services(self, services: Services) -> Self {
        self.scoped(|scope| scope.services = services.over(std::mem::take(&mut scope.services)))
    }

    /// Adds a service for this run, which takes precedence over one of the toolkit. A tool that
    /// [requires](crate::PerRun) it from each run is checked before anything starts.
    #[must_use]
    pub fn service<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.services(Services::new().with(service))
    }

    /// Adds a shared service for this run, which may be a trait object. See [`service`](Self::service).
    #[must_use]
    pub fn shared_service<T: ?Sized + Send + Sync + 'static>(self, service: Arc<T>) -> Self {
        self.services(Services::new().with_shared(service))
    }

    /// Adds a value that middlewares and handlers read with [`Cx::extension`](crate::Cx::extension), one per type.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.scoped(|scope| scope.extensions = std::mem::take(&mut scope.extensions).with(value))
    }

    /// Sets the conversation up to the calls.
    #[must_use]
    pub fn messages(self, messages: impl Into<History>) -> Self {
        self.scoped(|scope| scope.messages = Some(messages.into()))
    }

    /// Sets the caller: the user, tenant or session that the calls run for.
    #[must_use]
    pub fn caller(self, caller: impl Into<Caller>) -> Self {
        self.scoped(|scope| scope.caller = Some(caller.into()))
    }

    /// Sets the options by which argument text is read.
    #[must_use]
    pub fn decode_options(mut self, options: DecodeOptions) -> Self {
        self.decode = options;
        self
    }

    /// Sets the deadline of the run: calls that are unfinished then time out.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.until = Some(RunDeadline::At(deadline));
        self
    }

    /// Sets the timeout of the run, counted from its first poll.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.until = Some(RunDeadline::After(timeout));
        self
    }

    /// Cancels the run when this cancellation is triggered. Of several, each cancels the run.
    #[must_use]
    pub fn cancellation(mut self, cancellation: Cancellation) -> Self {
        self.cancellations.add(cancellation);
        self
    }

    /// Adds a function that receives every event when the reader does. When the stream is dropped, it receives what the
    /// reader missed: the events that were not read, and a `cancelled` output for each unfinished call.
    ///
    /// It must return quickly, and a panic in it is ignored: an observer can't affect the run. Several observers
    /// receive each event in the order in which they were added, also when one of them panics.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&ToolEvent) + Send + Sync + 'static) -> Self {
        let observer = Isolated::new(observer);
        self.observers.add(Arc::new(move |event| observer(event)));
        self
    }

    /// Sets the receiver of a single call's emitted values. A run of many calls reports them as events and ignores
    /// this.
    #[must_use]
    pub fn sink(mut self, sink: impl Into<Emitter>) -> Self {
        self.sink = Some(sink.into());
        self
    }

    /// Runs each handler in a separate task, so that handlers use several cores and make progress while the run is not
    /// polled. Requires a tokio runtime. Only handlers that have started make progress on their own: the first poll
    /// starts every call that the limits allow, and a call that waits for a slot, a permit or an approval starts when
    /// the run is polled again.
    ///
    /// Cancelling a call, or dropping the run, aborts the task: the handler stops when it next awaits, which may be
    /// shortly after its `cancelled` or `timed_out` was reported.
    #[must_use]
    pub fn spawned(mut self) -> Self {
        self.handler_task = HandlerTask::Spawned;
        self
    }

    /// Emits a [`ToolEvent::Started`] whenever an attempt at a call reaches its handler. Without this option nothing is
    /// emitted then, as most readers only want results and every event has a cost.
    ///
    /// ```
    /// use haft_executor::{RunOptions, Tool, Toolkit};
    /// use haft_core::{ToolCall, ToolEvent};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new().with(Tool::new("greet").handler(|(), _cx| async { "hello" })?)?;
    /// let calls = [ToolCall::new("c1", "greet", ""), ToolCall::new("c2", "great", "")];
    /// let mut run = kit.run_with(calls, RunOptions::new().started_events());
    /// let mut started = Vec::new();
    /// while let Some(event) = run.next().await {
    ///     if let ToolEvent::Started { call_id, attempt, .. } = event {
    ///         started.push((call_id.to_string(), attempt));
    ///     }
    /// }
    /// assert_eq!(started, [("c1".to_owned(), 1)], "there is no tool for the second call");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn started_events(mut self) -> Self {
        self.start_events = StartEvents::Emitted;
        self
    }

    /// Sets the id of the run, in place of a random one: an id that the application knows the work by, such as that of
    /// a job. Handlers read it with [`Cx::run_id`](crate::Cx::run_id).
    ///
    /// It must name one run. Calls with the same call id, in two runs with the same id, have the same
    /// [idempotency key](crate::Cx::idempotency_key): that is right if the second run repeats the first, and wrong
    /// otherwise.
    ///
    /// ```
    /// use haft_executor::{Cx, RunOptions, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let key = Tool::new("key").handler(|(), cx: Cx| async move { cx.idempotency_key() })?;
    /// let kit: Toolkit = Toolkit::new().with(key)?;
    /// let (call, job) = (ToolCall::new("c1", "key", ""), RunOptions::new().run_id("job-17"));
    ///
    /// let first = kit.run_call_with(&call, &job).await;
    /// assert_eq!(kit.run_call_with(&call, &job).await, first, "the job is repeated");
    /// assert_ne!(kit.run_call(&call).await, first);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn run_id(mut self, run_id: impl Into<RunId>) -> Self {
        self.run_id = Some(run_id.into());
        self
    }

    /// Reports whether a single call with these options can take the fast path. Every option is named, so that a new
    /// one does not compile until it is decided here.
    pub(super) fn is_plain(&self) -> bool {
        let Self {
            // There is only one call.
            concurrency: _,
            call_timeout,
            call_idle_timeout,
            output_cap,
            policies,
            // The tools' policies are replaced only together with a policy.
            tool_policies: _,
            permits,
            // Without a policy no approval is requested.
            approver: _,
            approval_timeout: _,
            gate: _,
            // These are passed to the call's context.
            scope: _,
            decode: _,
            until,
            cancellations,
            observers,
            sink,
            handler_task,
            // It is passed to the call's context.
            run_id: _,
            // A single call has no reader of events but an observer.
            start_events: _,
            lanes,
        } = self;
        call_timeout.is_none()
            && call_idle_timeout.is_none()
            && output_cap.is_none()
            && policies.is_empty()
            && permits.is_empty()
            && lanes.is_empty()
            && until.is_none()
            && cancellations.is_empty()
            && observers.is_empty()
            && sink.is_none()
            && *handler_task == HandlerTask::Inline
    }

    /// Returns the id of the run, if one is set.
    pub(crate) fn known_run_id(&self) -> Option<&RunId> {
        self.run_id.as_ref()
    }

    /// Sets the id of the run if none is set.
    pub(crate) fn or_run_id(mut self, run_id: impl FnOnce() -> Option<RunId>) -> Self {
        self.run_id = self.run_id.or_else(run_id);
        self
    }

    /// Returns the services and other values that all calls share.
    pub(crate) fn scope(&self) -> Option<&RunScope> {
        self.scope.as_deref()
    }

    pub(crate) fn caller_ref(&self) -> Option<&Caller> {
        self.scope.as_ref()?.caller.as_ref()
    }

    /// Passes an event to every observer. An observer can't affect the run or another observer, so a panic is ignored.
    pub(super) fn notify_observers(&self, event: &ToolEvent) {
        for observer in self.observers.as_slice() {
            drop(isolated(|| observer(event)));
        }
    }

    /// Returns the options by which argument text is read.
    pub(crate) fn decode(&self) -> &DecodeOptions {
        &self.decode
    }

    /// Returns the settings for approval requests and verdicts.
    pub(crate) fn gate(&self) -> &Gate {
        Gate::or_plain(self.gate.as_deref())
    }

    fn gated(mut self, change: impl FnOnce(&mut Gate)) -> Self {
        change(Arc::make_mut(self.gate.get_or_insert_default()));
        self
    }

    fn scoped(mut self, change: impl FnOnce(&mut RunScope)) -> Self {
        change(Arc::make_mut(self.scope.get_or_insert_default()));
        self
    }
}

/// Options with this policy, and defaults for everything else.
impl From<ApprovalPolicy> for RunOptions {
    fn from(policy: ApprovalPolicy) -> Self {
        Self::new().policy(policy)
    }
}

impl From<&Self> for RunOptions {
    fn from(options: &Self) -> Self {
        options.clone()
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("concurrency", &self.concurrency)
            .field("call_timeout", &self.call_timeout)
            .field("permits", &self.permits.as_slice().len())
            .field("policies", &self.policies.as_slice().len())
            .field("observers", &self.observers.as_slice().len())
            .field("approvals", &self.approver.is_some())
            .field("caller", &self.caller_ref())
            .field("handler_task", &self.handler_task)
            .finish_non_exhaustive()
    }
}
