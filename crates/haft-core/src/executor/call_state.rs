//! One call on its way through a run.
//!
//! A call passes the steps look up, permit, read and check, approve, wait, run, and stops where it has to wait for
//! something. It owns only what it waits for; everything shared it is lent for the length of a step. It ends with one
//! outcome, whatever happens: the step that gives it also drops whatever was still running, in isolation.

mod admission;
mod consent;
mod prior_approval;
mod verdict;

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

pub(crate) use self::consent::decoded;
use self::consent::{Consent, Deciding};
use super::approve::ApprovalAnswer;
use super::call_handle::RunShared;
use super::cap::hold;
use super::isolation::{drop_isolated, poll_isolated_by};
use super::mailbox::Mailbox;
use super::option::{Place, RunOptions};
use super::permit::Permission;
#[cfg(feature = "approval")]
use super::run_approvals::Suspending;
use super::span::CallSpan;
use super::spawned::spawn;
use crate::approval::PriorApproval;
use crate::call::ToolCall;
use crate::cx::Cx;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{BoxError, BoxFuture, BoxRunning, Prepared, PreparedMeta};
use crate::item::{ApprovalRequest, ApprovalResponse};
use crate::result::Outcome;
use crate::schema::Repair;
use crate::tool::{ExecutionLimits, OutputCap, Tool};
use crate::toolkit::{NotRunnable, Set};

/// What the model is told when nobody answered in time.
const NOBODY_ANSWERED: &str = "this call needs approval and nobody answered in time";

/// One call on its way.
pub(super) struct CallState {
    phase: Phase,
    /// The place of its tool in the set, once it was found.
    found: Option<usize>,
    /// There until the handler has it.
    cx: Option<Cx>,
    /// The handler with its arguments, from their check until it runs.
    prepared: Option<Prepared>,
    /// What is to be noted about the prepared call.
    meta: Option<Box<PreparedMeta>>,
    /// What is known about its approval, where that matters.
    consent: Option<Box<Consent>>,
    /// How many things it has shown.
    seq: u64,
    has_place: bool,
    answered: bool,
    turn: Turn,
    /// Whether the handler was polled; where something stands in front of it, that knows better.
    polled: bool,
    clock: Clock,
    cap: Option<OutputCap>,
    span: CallSpan,
}

/// The place of a call among those that are to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// It is not.
    None,
    /// It is.
    Queued,
    /// It is, and its time was over before it was looked at.
    Overdue,
    /// It is looked at now, and if it is not done its time is over.
    Judged,
}

/// The thing that a call waits for.
enum Phase {
    /// Nothing: it has not moved yet.
    Fresh,
    /// A permit.
    Permitting(Option<BoxFuture<Result<Permission, BoxError>>>),
    /// The policies, whether somebody has to be asked.
    Deciding(Option<Deciding>),
    /// The answer of whoever was asked.
    Approving(Option<BoxFuture<Result<ApprovalAnswer, BoxError>>>),
    /// Nothing: the answer settled it, and was shown.
    Settled(Box<Outcome>),
    /// Nothing: everybody agreed, and it can ask for a place.
    Cleared,
    /// A place. Whatever wakes it meanwhile has come too late to say anything.
    Waiting,
    /// The handler.
    Running(Option<BoxRunning>),
    /// Nothing ever again.
    Landed,
}

/// The time that a call may take.
#[derive(Clone, Copy, Default)]
struct Clock {
    timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    /// When it must be done, once it runs.
    hard: Option<Instant>,
    /// When it last showed a sign of life, once it runs.
    active: Option<Instant>,
    /// When the wait for an answer is over, while it waits for one.
    answer: Option<Instant>,
}

/// The state of a run that its calls borrow for the length of a step.
#[derive(Clone, Copy)]
pub(super) struct StepCx<'a> {
    pub(super) set: &'a Set,
    pub(super) options: &'a RunOptions,
    pub(super) run_shared: &'a Arc<RunShared>,
    /// Whether calls are only to be found fit to run.
    pub(super) is_planning: bool,
    #[cfg(feature = "approval")]
    pub(super) suspending: Suspending,
    /// Why nothing can be run.
    pub(super) problems: Option<&'a NotRunnable>,
}

/// What a step came to.
pub(super) enum Step {
    /// It waits.
    Pending,
    /// It moved and can go on.
    Moved,
    /// It asked somebody.
    Asked(Box<ApprovalRequest>),
    /// Somebody answered, perhaps with other arguments.
    Answered { response: Box<ApprovalResponse>, edited: Option<String> },
    /// Somebody will answer, but not in this run.
    Suspended(Box<ApprovalRequest>),
    /// It is ready to run and wants a place.
    WantsPlace,
    /// It is done.
    Landed(Outcome),
}

impl CallState {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Fresh,
            found: None,
            cx: None,
            prepared: None,
            meta: None,
            consent: None,
            seq: 0,
            has_place: false,
            turn: Turn::None,
            answered: false,
            polled: false,
            clock: Clock::default(),
            cap: None,
            span: CallSpan::none(),
        }
    }

    /// The tool, once it was found.
    pub(super) fn tool<'s>(&self, set: &'s Set) -> Option<&'s Tool> {
        self.found.map(|place| set.at(place).0)
    }

    /// What is known about its approval before it begins.
    pub(super) fn set_standing(&mut self, prior_approval: PriorApproval) {
        self.consent = Some(Box::new(Consent::new(prior_approval)));
    }

    /// It leaves this run without a result of its own: it waits beyond the run, or runs elsewhere.
    pub(super) fn leave(&mut self) {
        self.answered = true;
        drop_isolated(std::mem::replace(&mut self.phase, Phase::Landed));
        drop_isolated(self.prepared.take());
        drop_isolated(self.cx.take());
        self.span = CallSpan::none();
    }

    /// Reports whether it is ready to run and waits for a slot, or for its plan to be run.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::Waiting)
    }

    /// Opens the span of a call that was planned and is run now.
    pub(super) fn open_span(&mut self, call: &ToolCall, set: &Set) {
        self.span = CallSpan::open(call, self.tool(set));
    }

    /// Lets a call that waits ask for its slot again.
    pub(super) fn clear(&mut self) {
        self.phase = Phase::Cleared;
    }

    /// Whether its result is out.
    pub(super) fn is_answered(&self) -> bool {
        self.answered
    }

    /// Its result goes out. Gives what was mended in its arguments.
    pub(super) fn answer(&mut self) -> Vec<Repair> {
        self.answered = true;
        self.meta.take().map(|meta| meta.repairs).unwrap_or_default()
    }

    /// Whether it waits for something that will wake it.
    pub(super) fn is_pending(&self) -> bool {
        !matches!(self.phase, Phase::Waiting | Phase::Landed)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running(_))
    }

    /// It is to be looked at. Says no when it already was.
    pub(super) fn enqueue(&mut self) -> bool {
        let (turn, is_new) = match self.turn {
            Turn::None => (Turn::Queued, true),
            Turn::Judged => (Turn::Overdue, true),
            queued => (queued, false),
        };
        self.turn = turn;
        is_new
    }

    /// It is looked at now.
    pub(super) fn dequeue(&mut self) {
        self.turn = if self.turn == Turn::Overdue { Turn::Judged } else { Turn::None };
    }

    /// Its time is over. Whether it can be judged now: one that is still to be looked at may be done, and is judged then.
    pub(super) fn fall_due(&mut self) -> bool {
        let is_queued = matches!(self.turn, Turn::Queued | Turn::Overdue);
        if is_queued {
            self.turn = Turn::Overdue;
        }
        !is_queued
    }

    /// Whether it is to be judged now that it was looked at.
    pub(super) fn was_overdue(&mut self) -> bool {
        let is_judged = self.turn == Turn::Judged;
        if is_judged {
            self.turn = Turn::None;
        }
        is_judged
    }

    /// Whether it had a place, the first time this is asked.
    pub(super) fn gives_back_place(&mut self) -> bool {
        std::mem::take(&mut self.has_place)
    }

    /// The place of the next thing it shows.
    pub(super) fn next_seq(&mut self) -> u64 {
        let seq = self.seq;
        self.seq += 1;
        seq
    }

    /// Moves on, one step. To be called again until it is [pending](Step::Pending), wants a place or has landed.
    pub(super) fn step(&mut self, index: usize, call: &ToolCall, step_cx: StepCx<'_>, task: &mut Context<'_>) -> Step {
        let polled = match &mut self.phase {
            Phase::Running(handler) => {
                self.polled = true;
                let Some((tool, _)) = self.found.map(|place| step_cx.set.at(place)) else { return Step::Pending };
                match self.span.within(|| poll_isolated_by(handler, |running| running.as_mut().poll(tool, task))) {
                    Poll::Pending => return Step::Pending,
                    Poll::Ready(Ok(outcome)) => return Step::Landed(self.land_held(outcome)),
                    Poll::Ready(Err(panicked)) => Err(panicked.into()),
                }
            }
            _ => self.admit(index, call, step_cx, task),
        };
        polled.unwrap_or_else(|failure| Step::Landed(self.land(failure.into())))
    }

    /// Whether it waits for an answer.
    pub(super) fn is_asking(&self) -> bool {
        matches!(self.phase, Phase::Approving(_))
    }

    /// Whether time counts: it runs, or waits for an answer.
    pub(super) fn is_timed(&self) -> bool {
        matches!(self.phase, Phase::Running(_) | Phase::Approving(_))
    }

    /// Its turn has come. When it must be done is decided here.
    pub(super) fn take_off(
        &mut self,
        index: usize,
        set: &Set,
        place: Place,
        mailbox: &Arc<Mailbox>,
    ) -> Result<(), ToolFailure> {
        self.has_place = true;
        let Some(mut prepared) = self.prepared.take() else { return Ok(()) };
        prepared.meta = self.meta.take();
        if self.clock.timeout.is_some() || self.clock.idle_timeout.is_some() {
            let now = Instant::now();
            self.clock.hard = self.clock.timeout.and_then(|timeout| now.checked_add(timeout));
            self.clock.active = Some(now);
            mailbox.set_deadline(index, self.clock.hard);
        }
        self.span.begin();
        let prepared = match place {
            Place::Inline => prepared,
            Place::Spawned => {
                let Some(place) = self.found else { return Ok(()) };
                let (occupy, tool) = (mailbox.occupy(index), set.at(place).0);
                spawn(prepared, tool.clone(), occupy, self.span.to_span())?
            }
        };
        self.meta = prepared.meta;
        self.phase = Phase::Running(Some(prepared.running));
        Ok(())
    }

    /// Ends where it is, with a failure. Whatever runs is dropped.
    pub(super) fn settle(&mut self, call: &ToolCall, failure: ToolFailure) -> Outcome {
        if matches!(self.phase, Phase::Fresh) {
            self.span = CallSpan::open(call, None);
        }
        self.land(failure.into())
    }

    /// Ends with what came of running it, or of somebody's answer in its place. Why it was not run goes past the cap.
    fn land_held(&mut self, outcome: Outcome) -> Outcome {
        let held = match self.cap {
            Some(cap) => hold(outcome, cap),
            None => outcome,
        };
        self.land(held)
    }

    /// Drops what is left and notes the outcome. Whether the handler had begun is known here and nowhere else.
    fn land(&mut self, mut outcome: Outcome) -> Outcome {
        if let Outcome::Failed(failure) = &mut outcome {
            failure.started = self.polled && PreparedMeta::has_begun(self.meta.as_deref()).unwrap_or(true);
        }
        match std::mem::replace(&mut self.phase, Phase::Landed) {
            Phase::Running(None) => {}
            unfinished => {
                // One by one: two panics at once would end the process.
                drop_isolated(unfinished);
                drop_isolated(self.prepared.take());
                drop_isolated(self.cx.take());
            }
        }
        self.span.end(&outcome);
        outcome
    }
}

/// Time.
impl CallState {
    /// When it will have taken too long, if ever.
    pub(super) fn due(&self) -> Option<Instant> {
        let idle = self.clock.active.and_then(|active| active.checked_add(self.clock.idle_timeout?));
        [self.clock.hard, idle, self.clock.answer].into_iter().flatten().min()
    }

    /// Whether it is its silence that is due, and nothing else.
    pub(super) fn is_merely_silent(&self, now: Instant) -> bool {
        self.clock.hard.is_none_or(|hard| hard > now)
    }

    /// It showed a sign of life.
    pub(super) fn touch(&mut self, at: Instant) {
        if let Some(active) = &mut self.clock.active {
            *active = at.max(*active);
        }
    }

    /// Why it has taken too long by now.
    pub(super) fn lateness(&self, now: Instant) -> ToolFailure {
        if self.clock.answer.is_some() {
            return ToolFailure::new(FailureKind::Cancelled, NOBODY_ANSWERED);
        }
        let message = match (self.clock.timeout, self.clock.idle_timeout) {
            (_, Some(idle)) if self.is_merely_silent(now) => format!("the call showed no progress for {idle:?}"),
            (Some(timeout), _) => format!("the call took longer than {timeout:?}"),
            _ => String::new(),
        };
        ToolFailure::new(FailureKind::TimedOut, message)
    }
}

impl Clock {
    /// The tighter of the tool's limits and the run's. A moment passes even under a limit of nothing.
    fn new(tool: &ExecutionLimits, run: &RunOptions) -> Self {
        const LEAST: Duration = Duration::from_millis(1);
        let tighter = |tool: Option<Duration>, run: Option<Duration>| {
            let tightest = [tool, run].into_iter().flatten().min();
            tightest.map(|limit| limit.max(LEAST))
        };
        Self {
            timeout: tighter(tool.timeout, run.call_timeout),
            idle_timeout: tighter(tool.idle_timeout, run.call_idle_timeout),
            hard: None,
            active: None,
            answer: None,
        }
    }
}
