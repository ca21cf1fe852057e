//! One call in progress, as a state machine.
//!
//! ```text
//! New ─► Permitting ─► Refining ─► Deciding ─► AwaitingVerdict ─► Cleared ─► WaitingForSlot ─► EnteringLanes ─► Running ─► Finished ─► Answered
//!  ▲                                      │              └─► Held (in a plan) ─► Cleared    ▲                       │
//!  └──────────── edited arguments ────────┴─► Resolved (denied, or answered by a person) ─► Finished                │
//!                                                                                 └─────────── AwaitingAnswers ◄───┘
//! ```
//!
//! Phases that a call need not wait in are passed within one step. Each phase owns what the call needs while it is in
//! it, and a step replaces the whole phase, so nothing is left over from an earlier one. User code in a phase is
//! [`Isolated`]: it does not matter where a phase is dropped. A call always ends with exactly one outcome; a phase that
//! the rules below do not allow ends the call with an internal error instead of leaving it without a result.

mod admission;
mod answers;
mod approval;
mod lane_wait;
mod permitting;
mod poll_turn;
mod prior_approval;
mod refining;
mod timeout;
mod verdict;

use std::sync::Arc;
use std::task::{Context, Poll};

use haft_core::{ApprovalRequest, Outcome, ToolCall, ToolFailure, ToolResult, Verdict};
use haft_schema::Repair;
use haft_schema::isolation::Isolated;

use self::answers::AwaitingAnswers;
pub(super) use self::answers::LeavingCall;
pub(crate) use self::approval::decoded;
use self::approval::{AwaitingVerdict, Gated, NeedFuture};
use self::lane_wait::LaneWait;
use self::permitting::AwaitingPermit;
use self::poll_turn::PollTurn;
use self::refining::Refining;
use self::timeout::Timeouts;
use super::call_handle::RunShared;
use super::execute::{HandlerExecution, internal_error};
use super::mailbox::Mailbox;
use super::option::{HandlerTask, RunOptions};
use super::run_approvals::Suspending;
use super::span::CallSpan;
use super::spawned::spawn;
use crate::approval::{PriorApproval, RejectedVerdict};
use crate::handler::Prepared;
use crate::resumable::take_wait;
use crate::tool::{OutputCap, Tool};
use crate::toolkit::{NotRunnable, ProblemScope, ToolSet};

/// One call in progress.
pub(super) struct CallState {
    phase: CallPhase,
    /// The index of its tool in the set, once the tool was looked up and exists.
    tool: Option<usize>,
    span: CallSpan,
    /// The call with canonical or refined arguments, in place of the run's.
    decided_on: Option<Box<ToolCall>>,
    /// The approval facts that the call came with, until they are used.
    prior: Option<Box<PriorApproval>>,
    /// Verdicts that were rejected, for the application that sent them.
    rejected: Vec<RejectedVerdict>,
    /// The repairs of its arguments, reported with its result.
    repairs: Vec<Repair>,
    /// The number of values that it has emitted.
    seq: u64,
    poll_turn: PollTurn,
    holds_slot: bool,
    holds_lanes: bool,
    /// Set if its handler has run before and may have had effects, in this run or in one before it.
    has_started: bool,
    /// The number of times that it has waited for answers.
    round: u32,
}

/// The phase of a call. See the module's picture.
enum CallPhase {
    /// Nothing has happened yet. A call whose arguments a person edited starts again from here.
    New,
    /// One of its permits decides.
    Permitting(AwaitingPermit),
    /// Its tool refines its arguments. Afterwards permits may decide about them.
    Refining(Box<Refining>),
    /// Policies decide whether approval is required.
    Deciding { gated: Box<Gated>, need: Isolated<NeedFuture> },
    /// The approval request was sent to the approver.
    AwaitingVerdict(AwaitingVerdict),
    /// A verdict ended the call in place of its handler, and was reported.
    Resolved(Box<Outcome>),
    /// All checks have passed.
    Cleared { tool: usize, ready: Ready, digest: String },
    /// A planned run stops the call here until the plan is run.
    Held { tool: usize, ready: Ready, digest: String },
    /// It waits for a concurrency slot. Wakes are ignored here.
    WaitingForSlot { tool: usize, prepared: Isolated<Prepared> },
    /// It holds its slot, and waits for the lanes that it shares with calls of other runs.
    EnteringLanes(Box<LaneWait>),
    /// Its handler runs.
    Running { tool: usize, execution: HandlerExecution, timeouts: Option<Box<Timeouts>> },
    /// Its handler has returned with questions, and is called again with their answers.
    AwaitingAnswers(Box<AwaitingAnswers>),
    /// It has its outcome. An approval request that was still pending is closed together with the call.
    Finished { pending: Option<Box<ApprovalRequest>> },
    /// Its result was reported, or it left the run without one.
    Answered,
}

/// The remaining work of a call that was cleared.
enum Ready {
    /// Its handler, with its decoded arguments.
    Handler(Isolated<Prepared>),
    /// None: a signal or an interaction is answered by the application.
    Surfaced,
}

/// A new phase and the driver's next action.
type Transition = (CallPhase, Advance);

/// The state of a run that its calls borrow for the length of a step.
#[derive(Clone, Copy)]
pub(super) struct StepCx<'a> {
    pub(super) set: &'a ToolSet,
    pub(super) options: &'a RunOptions,
    pub(super) run_shared: &'a Arc<RunShared>,
    /// Set in a planning run: calls stop before their handler.
    pub(super) is_planning: bool,
    pub(super) suspending: Suspending,
    /// The reasons that handlers can't run.
    pub(super) problems: Option<&'a NotRunnable>,
    pub(super) problem_scope: ProblemScope,
}

/// The driver's next action after a step.
pub(super) enum Advance {
    /// The call waits.
    Pending,
    /// The call can take another step.
    Moved,
    /// The call is refined, perhaps with a timeout.
    Refining,
    /// Approval was requested.
    ApprovalRequested(Box<ApprovalRequest>),
    /// A verdict was accepted, perhaps with edited arguments.
    Answered { response: Box<Verdict>, edited: Option<String> },
    /// The verdict is deferred beyond this run.
    Suspended(Box<ApprovalRequest>),
    /// The call waits for answers to its questions. These are asked now.
    Asked(Vec<ApprovalRequest>),
    /// Answers are deferred beyond this run.
    Left(Box<LeavingCall>),
    /// The call needs a slot for its tool.
    NeedsSlot { tool: usize },
    /// The call may run, as part of a plan.
    Held,
    /// Its handler runs now.
    Started,
    /// The call has its outcome.
    Finished(Outcome),
}

impl CallState {
    pub(super) fn new() -> Self {
        Self {
            phase: CallPhase::New,
            tool: None,
            span: CallSpan::none(),
            decided_on: None,
            prior: None,
            rejected: Vec::new(),
            repairs: Vec::new(),
            seq: 0,
            poll_turn: PollTurn::None,
            holds_slot: false,
            holds_lanes: false,
            has_started: false,
            round: 0,
        }
    }

    /// Returns the tool, once it was looked up and exists.
    pub(super) fn tool<'s>(&self, set: &'s ToolSet) -> Option<&'s Tool> {
        self.tool.map(|tool| set.at(tool).0)
    }

    /// Sets the approval facts that the call comes with, before its first step.
    pub(super) fn set_prior_approval(&mut self, prior: PriorApproval) {
        if let PriorApproval::Waiting { wait, .. } = &prior {
            (self.has_started, self.round) = (wait.started, wait.round);
        }
        self.prior = Some(Box::new(prior));
    }

    /// Takes one step. The driver calls it again until the step is pending, wants a slot or has finished the call.
    pub(super) fn step(
        &mut self,
        index: usize,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Advance {
        if let CallPhase::Running { tool, execution, .. } = &mut self.phase {
            let tool_index = *tool;
            let (tool, _) = step_cx.set.at(tool_index);
            let cap = output_cap(tool, step_cx.options);
            let Poll::Ready(mut outcome) = execution.poll(tool, cap, &self.span, task) else { return Advance::Pending };
            if let Outcome::Failed(failure) = &mut outcome {
                failure.started |= self.has_started;
                if let Some(wait) = take_wait(failure) {
                    return self.wait_for_answers((index, tool_index), &wait, failure.as_ref().clone(), call, step_cx);
                }
            }
            self.end_with(&outcome, None);
            return Advance::Finished(outcome);
        }
        // A step that fails drops the phase it was taken from.
        let phase = std::mem::replace(&mut self.phase, CallPhase::Finished { pending: None });
        // A call that starts again has another text.
        let decided_on = self.decided_on.take().filter(|_| !matches!(phase, CallPhase::New));
        let advanced = self.advance(phase, index, decided_on.as_deref().unwrap_or(call), step_cx, task);
        self.decided_on = self.decided_on.take().or(decided_on);
        match advanced {
            Ok((_, Advance::Finished(outcome))) => self.finish_unstarted(outcome),
            Ok((phase, advance)) => {
                self.phase = phase;
                advance
            }
            Err(failure) => self.finish_unstarted(failure.into()),
        }
    }

    /// Takes one step before the handler runs. An error ends the call; nothing of its handler has run.
    fn advance(
        &mut self,
        phase: CallPhase,
        index: usize,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Transition, ToolFailure> {
        match phase {
            CallPhase::New => self.look_up(index, call, step_cx),
            CallPhase::Permitting(awaiting) => self.poll_permit(awaiting, call, step_cx, task),
            CallPhase::Refining(refining) => self.poll_refining(refining, call, step_cx, task),
            CallPhase::Deciding { gated, need } => self.poll_need(gated, need, call, step_cx, task),
            CallPhase::AwaitingVerdict(awaiting) => self.poll_verdict(awaiting, call, step_cx, task),
            CallPhase::Resolved(outcome) => Ok((CallPhase::Finished { pending: None }, Advance::Finished(*outcome))),
            CallPhase::Cleared { tool, ready, digest } => Ok(cleared(tool, ready, digest, call, step_cx)),
            CallPhase::EnteringLanes(wait) => self.poll_lanes(index, wait, step_cx, task),
            CallPhase::AwaitingAnswers(awaiting) => self.poll_answers(index, awaiting, call, step_cx, task),
            waiting @ (CallPhase::Held { .. } | CallPhase::WaitingForSlot { .. } | CallPhase::Answered) => {
                Ok((waiting, Advance::Pending))
            }
            CallPhase::Running { .. } | CallPhase::Finished { .. } => Err(internal_error("a finished call was polled")),
        }
    }

    /// Starts the handler of a call that holds a slot, or lets it wait for its lanes.
    pub(super) fn start(
        &mut self,
        index: usize,
        call: &ToolCall,
        set: &ToolSet,
        options: &RunOptions,
        mailbox: &Arc<Mailbox>,
    ) -> Result<(), ToolFailure> {
        self.holds_slot = true;
        let phase = std::mem::replace(&mut self.phase, CallPhase::Finished { pending: None });
        let CallPhase::WaitingForSlot { tool: tool_index, prepared } = phase else {
            return Err(internal_error("a slot was given to a call that does not wait for one"));
        };
        let (tool, _) = set.at(tool_index);
        if !options.lanes.is_empty() || !tool.lanes().is_empty() {
            let call = self.decided_on.as_deref().unwrap_or(call);
            let wait = LaneWait::begin(tool_index, tool, prepared, call, options)?;
            self.phase = CallPhase::EnteringLanes(wait);
            return Ok(());
        }
        self.phase = self.begin_handler(index, tool_index, prepared.into_inner(), set, options, mailbox)?;
        Ok(())
    }

    /// Begins the handler. Its timeouts count from here.
    fn begin_handler(
        &mut self,
        index: usize,
        tool_index: usize,
        mut prepared: Prepared,
        set: &ToolSet,
        options: &RunOptions,
        mailbox: &Arc<Mailbox>,
    ) -> Result<CallPhase, ToolFailure> {
        let (tool, _) = set.at(tool_index);
        let timeouts = Timeouts::starting_now(tool.limits(), options);
        if let Some(deadline) = timeouts.as_ref().and_then(|timeouts| timeouts.deadline()) {
            mailbox.set_deadline(index, Some(deadline));
        }
        self.span.begin();
        if options.handler_task == HandlerTask::Spawned {
            let occupy = mailbox.occupy(index);
            prepared = spawn(prepared, tool.clone(), occupy, self.span.to_span(), options.start_events)?;
        }
        Ok(CallPhase::Running { tool: tool_index, execution: HandlerExecution::new(prepared), timeouts })
    }

    /// Ends the call where it is, with a failure. A handler that runs is dropped.
    pub(super) fn cancel(&mut self, call: &ToolCall, mut failure: ToolFailure) -> Outcome {
        failure.started = self.has_started;
        let mut pending = None;
        match std::mem::replace(&mut self.phase, CallPhase::Answered) {
            CallPhase::New if self.tool.is_none() => self.span = CallSpan::open(call, None),
            CallPhase::Running { execution, .. } => {
                failure = execution.cancel(failure);
                failure.started |= self.has_started;
            }
            CallPhase::AwaitingVerdict(awaiting) => pending = Some(awaiting.into_request()),
            CallPhase::New
            | CallPhase::Permitting(_)
            | CallPhase::Refining(_)
            | CallPhase::Deciding { .. }
            | CallPhase::Resolved(_)
            | CallPhase::Cleared { .. }
            | CallPhase::Held { .. }
            | CallPhase::WaitingForSlot { .. }
            | CallPhase::EnteringLanes(_)
            | CallPhase::AwaitingAnswers(_)
            | CallPhase::Finished { .. }
            | CallPhase::Answered => {}
        }
        let outcome = failure.into();
        self.end_with(&outcome, pending);
        outcome
    }

    /// Leaves the run without a result: the call is suspended, has its result from before, or runs elsewhere.
    pub(super) fn leave(&mut self) {
        self.phase = CallPhase::Answered;
        self.span = CallSpan::none();
    }

    /// Marks the result as reported.
    pub(super) fn answer(&mut self) {
        self.phase = CallPhase::Answered;
    }

    /// Finishes a call whose handler was not polled: `started` is false even if the outcome claims otherwise, unless it
    /// was polled before the call waited.
    fn finish_unstarted(&mut self, mut outcome: Outcome) -> Advance {
        if let Outcome::Failed(failure) = &mut outcome {
            failure.started = self.has_started;
        }
        self.end_with(&outcome, None);
        Advance::Finished(outcome)
    }

    fn end_with(&mut self, outcome: &Outcome, pending: Option<Box<ApprovalRequest>>) {
        self.phase = CallPhase::Finished { pending };
        self.span.end(outcome);
    }
}

/// Queries for the driver.
impl CallState {
    /// Reports whether the result was reported, or the call left the run.
    pub(super) fn is_answered(&self) -> bool {
        matches!(self.phase, CallPhase::Answered)
    }

    /// Reports whether the call may run and waits for its plan to be run.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.phase, CallPhase::Held { .. })
    }

    /// Reports whether the call waits for something that wakes it.
    pub(super) fn is_pending(&self) -> bool {
        !matches!(self.phase, CallPhase::Held { .. } | CallPhase::WaitingForSlot { .. } | CallPhase::Answered)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, CallPhase::Running { .. })
    }

    /// Reports whether the handler runs with no middleware, thread or task in front of it.
    pub(super) fn is_polled_directly(&self) -> bool {
        matches!(&self.phase, CallPhase::Running { execution, .. } if execution.is_direct())
    }

    pub(super) fn is_awaiting_verdict(&self) -> bool {
        matches!(self.phase, CallPhase::AwaitingVerdict(_))
    }

    /// Reports whether the call waits for answers, and nothing of it runs.
    pub(super) fn is_awaiting_answers(&self) -> bool {
        matches!(self.phase, CallPhase::AwaitingAnswers(_))
    }

    /// Reports whether the call holds a slot.
    pub(super) fn has_slot(&self) -> bool {
        self.holds_slot
    }

    /// Returns the digest that binds an approval to a call that is held.
    pub(super) fn digest(&self) -> Option<&str> {
        if let CallPhase::Held { digest, .. } = &self.phase { Some(digest) } else { None }
    }

    /// Lets a call that was held by its plan run, and opens its span.
    pub(super) fn release(&mut self, call: &ToolCall, set: &ToolSet) {
        self.span = CallSpan::open(call, self.tool(set));
        self.phase = match std::mem::replace(&mut self.phase, CallPhase::Answered) {
            CallPhase::Held { tool, ready, digest } => CallPhase::Cleared { tool, ready, digest },
            other => other,
        };
    }

    /// Frees the slot. Returns whether the call held one.
    pub(super) fn free_slot(&mut self) -> bool {
        std::mem::take(&mut self.holds_slot)
    }

    /// Leaves the lanes. Returns whether the call held any.
    pub(super) fn leave_lanes(&mut self) -> bool {
        std::mem::take(&mut self.holds_lanes)
    }

    /// Returns the number of the next value that the call emits.
    pub(super) fn next_seq(&mut self) -> u64 {
        let seq = self.seq;
        self.seq += 1;
        seq
    }

    /// Returns the repairs of the arguments, once.
    pub(super) fn take_repairs(&mut self) -> Vec<Repair> {
        std::mem::take(&mut self.repairs)
    }

    /// Returns the verdicts that were rejected, once.
    pub(super) fn take_rejected(&mut self) -> Vec<RejectedVerdict> {
        std::mem::take(&mut self.rejected)
    }
}

impl<'a> StepCx<'a> {
    /// Returns the tool at this index of the set.
    fn tool(&self, tool: usize) -> &'a Tool {
        self.set.at(tool).0
    }
}

/// Moves a call whose checks have all passed to where it waits for its slot, or for its plan. A call without a handler
/// surfaces here, and only here.
fn cleared(tool: usize, ready: Ready, digest: String, call: &ToolCall, step_cx: StepCx<'_>) -> Transition {
    if step_cx.is_planning {
        return (CallPhase::Held { tool, ready, digest }, Advance::Held);
    }
    match ready {
        Ready::Handler(prepared) => (CallPhase::WaitingForSlot { tool, prepared }, Advance::NeedsSlot { tool }),
        Ready::Surfaced => {
            (CallPhase::Finished { pending: None }, Advance::Finished(ToolResult::non_local_tool(call).outcome))
        }
    }
}

/// Returns the output cap of a call.
fn output_cap(tool: &Tool, options: &RunOptions) -> OutputCap {
    OutputCap::applied(tool.limits().output_cap, options.output_cap)
}
