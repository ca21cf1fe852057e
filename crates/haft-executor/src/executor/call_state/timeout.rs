//! The timeouts of one running handler, or of the refine step before it.

use std::time::Duration;

use haft_core::{FailureKind, ToolFailure};
use tokio::time::Instant;

use super::{CallPhase, CallState};
use crate::executor::execute::internal_error;
use crate::executor::option::RunOptions;
use crate::tool::ExecutionLimits;

/// The message to the model about an approval request that was not answered in time.
const NOT_ANSWERED_IN_TIME: &str = "this call requires approval, and the approval request timed out";

/// The shortest timeout: even one of zero lets a handler be polled.
const SHORTEST: Duration = Duration::from_millis(1);

/// The timeouts of a handler that runs. Most calls have none.
pub(super) struct Timeouts {
    timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    deadline: Option<Instant>,
    last_active: Instant,
    /// The open questions of the call, and when the first of them was asked: no timeout fires meanwhile.
    paused: Option<(u32, Instant)>,
}

impl Timeouts {
    /// Starts the tighter of the tool's timeouts and the run's, if there are any.
    pub(super) fn starting_now(tool: &ExecutionLimits, run: &RunOptions) -> Option<Box<Self>> {
        let timeout = tighter(tool.timeout, run.call_timeout);
        let idle_timeout = tighter(tool.idle_timeout, run.call_idle_timeout);
        if timeout.is_none() && idle_timeout.is_none() {
            return None;
        }
        let now = Instant::now();
        // A moment that the clock can't represent is never reached.
        let deadline = timeout.and_then(|timeout| now.checked_add(timeout));
        Some(Box::new(Self { timeout, idle_timeout, deadline, last_active: now, paused: None }))
    }

    /// Returns the moment by which the handler must have returned, with or without activity.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the moment at which the call times out without further activity.
    pub(super) fn due(&self) -> Option<Instant> {
        if self.paused.is_some() {
            return None;
        }
        let idle = self.idle_timeout.and_then(|idle| self.last_active.checked_add(idle));
        [self.deadline, idle].into_iter().flatten().min()
    }

    /// Reports whether the deadline has not passed, so that only the idle timeout can have.
    pub(super) fn is_only_idle(&self, now: Instant) -> bool {
        self.deadline.is_none_or(|deadline| deadline > now)
    }

    /// Restarts the idle timeout.
    pub(super) fn touch(&mut self, at: Instant) {
        self.last_active = at.max(self.last_active);
    }

    /// Pauses the timeouts for a question.
    fn pause(&mut self, at: Instant) {
        self.paused.get_or_insert((0, at)).0 += 1;
    }

    /// Lets the timeouts go on when no question is open any more. The answer is activity.
    fn settle(&mut self, at: Instant) {
        match &mut self.paused {
            Some((open, _)) if *open > 1 => *open -= 1,
            Some((_, since)) => {
                let paused = at.saturating_duration_since(*since);
                self.deadline = self.deadline.and_then(|deadline| deadline.checked_add(paused));
                self.paused = None;
                self.touch(at);
            }
            None => {}
        }
    }

    /// Returns the failure of a call that has timed out.
    pub(super) fn failure(&self, now: Instant) -> ToolFailure {
        let message = match (self.timeout, self.idle_timeout) {
            (_, Some(idle)) if self.is_only_idle(now) => format!("the call made no progress for {idle:?}"),
            (Some(timeout), _) => format!("the call took longer than {timeout:?}"),
            (None, _) => FailureKind::TimedOut.default_message().to_owned(),
        };
        ToolFailure::new(FailureKind::TimedOut, message)
    }
}

/// Deadlines. Time counts while arguments are refined, while a verdict or a lane is awaited and while a handler runs.
impl CallState {
    /// Returns the moment at which the call times out in its current phase, if there is one.
    pub(in crate::executor) fn due(&self) -> Option<Instant> {
        match &self.phase {
            CallPhase::AwaitingVerdict(awaiting) => awaiting.expires,
            CallPhase::EnteringLanes(wait) => wait.expires,
            _ => self.timeouts()?.due(),
        }
    }

    /// Reports whether user code runs and only its idle timeout has passed.
    pub(in crate::executor) fn is_only_idle(&self, now: Instant) -> bool {
        self.timeouts().is_some_and(|timeouts| timeouts.is_only_idle(now))
    }

    /// Restarts the idle timeout: the call showed activity.
    pub(in crate::executor) fn touch(&mut self, at: Instant) {
        if let Some(timeouts) = self.timeouts_mut() {
            timeouts.touch(at);
        }
    }

    /// Pauses the timeouts: the call asks a question.
    pub(in crate::executor) fn pause(&mut self, at: Instant) {
        if let Some(timeouts) = self.timeouts_mut() {
            timeouts.pause(at);
        }
    }

    /// Lets the timeouts go on when the last question is settled, and returns the new deadline.
    pub(in crate::executor) fn settle(&mut self, at: Instant) -> Option<Instant> {
        let timeouts = self.timeouts_mut()?;
        timeouts.settle(at);
        timeouts.deadline()
    }

    fn timeouts_mut(&mut self) -> Option<&mut Timeouts> {
        match &mut self.phase {
            CallPhase::Running { timeouts, .. } => timeouts.as_deref_mut(),
            CallPhase::Refining(refining) => refining.timeouts.as_deref_mut(),
            _ => None,
        }
    }

    /// Returns the failure of a call that has timed out.
    pub(in crate::executor) fn timed_out(&self, now: Instant) -> ToolFailure {
        match (&self.phase, self.timeouts()) {
            (CallPhase::AwaitingVerdict(_), _) => ToolFailure::new(FailureKind::Cancelled, NOT_ANSWERED_IN_TIME),
            (CallPhase::EnteringLanes(wait), _) => wait.failure(),
            (_, Some(timeouts)) => timeouts.failure(now),
            (_, None) => internal_error("a call timed out that has no deadline"),
        }
    }

    /// Returns the timeouts of the user code that runs now, if it has any.
    fn timeouts(&self) -> Option<&Timeouts> {
        match &self.phase {
            CallPhase::Running { timeouts, .. } => timeouts.as_deref(),
            CallPhase::Refining(refining) => refining.timeouts.as_deref(),
            CallPhase::New
            | CallPhase::Permitting(_)
            | CallPhase::Deciding { .. }
            | CallPhase::AwaitingVerdict(_)
            | CallPhase::Resolved(_)
            | CallPhase::Cleared { .. }
            | CallPhase::Held { .. }
            | CallPhase::WaitingForSlot { .. }
            | CallPhase::EnteringLanes(_)
            | CallPhase::AwaitingAnswers(_)
            | CallPhase::Finished { .. }
            | CallPhase::Answered => None,
        }
    }
}

fn tighter(tool: Option<Duration>, run: Option<Duration>) -> Option<Duration> {
    [tool, run].into_iter().flatten().min().map(|timeout| timeout.max(SHORTEST))
}
