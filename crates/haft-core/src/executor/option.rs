//! How a run runs.
//!
//! Options are one value, so that a run, a single call and whatever else dispatches take the same. Nothing in them is
//! needed: the default allows everything that is not gated, runs all calls at once and waits for ever.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::approve::{Approve, Approver};
use super::isolation::Isolated;
use super::permit::Permit;
#[cfg(feature = "approval")]
use crate::approval::{ApprovalMemory, SigningKeys};
use crate::approval::{ApprovalRecord, Gate};
use crate::cancellation::Cancellation;
use crate::cx::Caller;
use crate::emit::Emitter;
use crate::event::ToolEvent;
use crate::history::History;
use crate::schema::DecodeOptions;
use crate::scope::RunScope;
use crate::service::Services;
use crate::timestamp::Timestamp;
use crate::tool::{ApprovalPolicy, OutputCap};

/// How calls are run. Cloning is cheap.
///
/// ```
/// use std::time::Duration;
/// use haft_core::RunOptions;
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
    pub(super) policy: Option<Policy>,
    pub(super) permit: Option<Arc<dyn Permit>>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) approval_timeout: Option<Duration>,
    pub(super) gate: Option<Arc<Gate>>,
    pub(super) scope: Option<Arc<RunScope>>,
    pub(super) decode: DecodeOptions,
    pub(super) until: Option<Until>,
    pub(super) cancellation: Option<Cancellation>,
    pub(super) observer: Option<Arc<Observer>>,
    pub(super) sink: Option<Emitter>,
    pub(super) handler_task: HandlerTask,
}

pub(super) type Observer = dyn Fn(&ToolEvent) + Send + Sync;

/// The application's approval policy, beside or instead of the tools' own.
#[derive(Clone)]
pub(super) enum Policy {
    Also(ApprovalPolicy),
    Instead(ApprovalPolicy),
}

/// When a run must be done.
#[derive(Clone, Copy)]
pub(super) enum Until {
    Moment(Instant),
    /// Counted from the first poll.
    After(Duration),
}

/// The task that handlers run in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HandlerTask {
    /// The task that polls the run.
    #[default]
    Inline,
    /// A task of its own for each.
    Spawned,
}

impl RunOptions {
    /// The default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// At most this many handlers at a time; zero means as many as there are calls, which is the default.
    #[must_use]
    pub fn concurrency(mut self, most: usize) -> Self {
        self.concurrency = NonZeroUsize::new(most);
        self
    }

    /// The longest each call may take from the moment it has its place: waiting for a permit, an approval or the place
    /// doesn't count, waiting inside of a middleware does. Where its tool has a limit of its own, the tighter of the two
    /// holds.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// The longest each call may stay silent, from the moment it has its place: an event that it emits or a value that
    /// its stream gives starts the time anew. Where its tool has a limit of its own, the tighter of the two holds.
    #[must_use]
    pub fn call_idle_timeout(mut self, timeout: Duration) -> Self {
        self.call_idle_timeout = Some(timeout);
        self
    }

    /// The largest answer of each call, as [`OutputCap`] counts it. Where its tool has a cap of its own, the tighter of the two holds.
    #[must_use]
    pub fn output_cap(mut self, cap: OutputCap) -> Self {
        self.output_cap = Some(cap);
        self
    }

    /// Calls for which this policy asks need approval, besides those whose tool asks for it. It covers signals and
    /// interactions, but no call that the provider executes: nothing could prevent that.
    #[must_use]
    pub fn policy(mut self, policy: ApprovalPolicy) -> Self {
        self.policy = Some(Policy::Also(policy));
        self
    }

    /// Calls need approval when this policy asks for it, and never because their tool does.
    #[must_use]
    pub fn policy_instead(mut self, policy: ApprovalPolicy) -> Self {
        self.policy = Some(Policy::Instead(policy));
        self
    }

    /// Asks this permit about every call before its arguments are read.
    #[must_use]
    pub fn permit(mut self, permit: impl Permit) -> Self {
        self.permit = Some(Arc::new(Isolated::new(permit)));
        self
    }

    /// Asks this approver about gated calls, about several at the same time if there are several. Without one they are
    /// denied.
    #[must_use]
    pub fn approvals(mut self, approver: impl Approve) -> Self {
        self.approver = Some(Arc::new(Isolated::new(approver)));
        self
    }

    /// The longest to wait for each answer of the approver: a call that nobody has answered by then is `cancelled`.
    /// Without it only the question's [lifetime](Self::approval_lifetime) and the run's own time end the wait.
    #[must_use]
    pub fn approval_timeout(mut self, timeout: Duration) -> Self {
        self.approval_timeout = Some(timeout);
        self
    }

    /// How long a question stays open: a verdict that comes later is refused, and the call is `cancelled`. Unlike the
    /// [timeout](Self::approval_timeout) this travels with the question, and holds when a run is resumed elsewhere.
    #[must_use]
    pub fn approval_lifetime(self, lifetime: Duration) -> Self {
        self.gated(|gate| gate.lifetime = Some(lifetime))
    }

    /// Tells a function what became of every question: who decided what, when, and under which rule. A panic in it is
    /// ignored.
    #[must_use]
    pub fn audit(self, auditor: impl Fn(&ApprovalRecord) + Send + Sync + 'static) -> Self {
        let auditor = Isolated::new(auditor);
        self.gated(|gate| gate.auditor = Some(Arc::new(move |record| auditor(record))))
    }

    /// Sets the clock that questions lapse by, instead of the system's. While it panics, calls that require approval are
    /// denied.
    #[must_use]
    pub fn approval_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let clock = Isolated::new(clock);
        #[allow(clippy::redundant_closure, reason = "the function by itself would be out of its isolation")]
        self.gated(|gate| gate.clock = Some(Arc::new(move || clock())))
    }

    /// Verdicts that hold for more than one call are remembered here, and found here before anybody is asked.
    #[cfg(feature = "approval")]
    #[must_use]
    pub fn approval_memory(self, memory: impl Into<ApprovalMemory>) -> Self {
        self.gated(|gate| gate.memory = Some(memory.into()))
    }

    /// Signs every question, and takes a verdict only with the signature of its question.
    #[cfg(feature = "approval")]
    #[must_use]
    pub fn approval_keys(self, keys: SigningKeys) -> Self {
        self.gated(|gate| gate.keys = Some(keys))
    }

    /// Services of this run: they win over those of the toolkit.
    #[must_use]
    pub fn services(self, services: Services) -> Self {
        self.scoped(|scope| scope.services = services.over(std::mem::take(&mut scope.services)))
    }

    /// A value that middlewares and handlers find with [`Cx::extension`](crate::Cx::extension), one per type.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.scoped(|scope| scope.extensions = std::mem::take(&mut scope.extensions).with(value))
    }

    /// The conversation up to the calls.
    #[must_use]
    pub fn messages(self, messages: impl Into<History>) -> Self {
        self.scoped(|scope| scope.messages = Some(messages.into()))
    }

    /// Who asks.
    #[must_use]
    pub fn caller(self, caller: impl Into<Caller>) -> Self {
        self.scoped(|scope| scope.caller = Some(caller.into()))
    }

    /// Returns the options by which argument text is read.
    #[must_use]
    pub fn decode_options(mut self, options: DecodeOptions) -> Self {
        self.decode = options;
        self
    }

    /// When everything must be done: what is unfinished then has timed out.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.until = Some(Until::Moment(deadline));
        self
    }

    /// The longest the run may take, counted from its first poll.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.until = Some(Until::After(timeout));
        self
    }

    /// Calls everything off when this flag is raised.
    #[must_use]
    pub fn cancellation(mut self, cancellation: Cancellation) -> Self {
        self.cancellation = Some(cancellation);
        self
    }

    /// Tells a function of every event, as the reader gets it. When the stream is dropped, it is told of what the
    /// reader missed: the events that were waiting, and a `cancelled` output for each unfinished call.
    ///
    /// It must be quick, and a panic in it is ignored: it watches the run and can't change it.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&ToolEvent) + Send + Sync + 'static) -> Self {
        let observer = Isolated::new(observer);
        self.observer = Some(Arc::new(move |event| observer(event)));
        self
    }

    /// Where a single call's progress goes. A run of many calls has events instead and ignores this.
    #[must_use]
    pub fn sink(mut self, sink: impl Into<Emitter>) -> Self {
        self.sink = Some(sink.into());
        self
    }

    /// Runs each handler in a task of its own, so that they use several cores and go on while nobody polls the run.
    /// Needs a tokio runtime. Only what has begun goes on by itself: the first poll starts every call that the limits
    /// allow, and a call that waits for a place, a permit or an approval starts when the run is polled again.
    ///
    /// A call that is given up, or a run that is dropped, aborts its task: what the handler does ends when it next waits,
    /// which may be a moment after its `cancelled` or `timed_out` was given.
    #[must_use]
    pub fn spawned(mut self) -> Self {
        self.handler_task = HandlerTask::Spawned;
        self
    }

    /// Reports whether a single call needs nothing but to be run. Every option is named, so that a new one does not compile until
    /// it is decided here.
    pub(super) fn is_plain(&self) -> bool {
        let Self {
            // There is one call, and nothing that it could wait for.
            concurrency: _,
            call_timeout,
            call_idle_timeout,
            output_cap,
            policy,
            permit,
            // Nobody is asked without a policy.
            approver: _,
            approval_timeout: _,
            gate: _,
            // These are handed on.
            scope: _,
            decode: _,
            until,
            cancellation,
            observer,
            sink,
            handler_task,
        } = self;
        call_timeout.is_none()
            && call_idle_timeout.is_none()
            && output_cap.is_none()
            && policy.is_none()
            && permit.is_none()
            && until.is_none()
            && cancellation.is_none()
            && observer.is_none()
            && sink.is_none()
            && *handler_task == HandlerTask::Inline
    }

    pub(super) fn caller_ref(&self) -> Option<&Caller> {
        self.scope.as_ref()?.caller.as_ref()
    }

    /// Returns the options by which argument text is read.
    #[cfg(feature = "approval")]
    pub(crate) fn decode(&self) -> &DecodeOptions {
        &self.decode
    }

    /// What is known about asking.
    pub(crate) fn gate(&self) -> &Gate {
        static PLAIN: Gate = Gate::PLAIN;
        self.gate.as_deref().unwrap_or(&PLAIN)
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

/// The application's policy, and nothing else said.
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
            .field("permit", &self.permit.is_some())
            .field("approvals", &self.approver.is_some())
            .field("caller", &self.caller_ref())
            .field("handler_task", &self.handler_task)
            .finish_non_exhaustive()
    }
}
