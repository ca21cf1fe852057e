//! The timeouts of one running handler.

use std::time::Duration;

use tokio::time::Instant;

use crate::executor::option::RunOptions;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::tool::ExecutionLimits;

/// The shortest timeout: even one of zero lets a handler be polled.
const SHORTEST: Duration = Duration::from_millis(1);

/// The timeouts of a handler that runs. Most calls have none.
pub(super) struct Timeouts {
    timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    deadline: Option<Instant>,
    last_active: Instant,
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
        Some(Box::new(Self { timeout, idle_timeout, deadline, last_active: now }))
    }

    /// Returns the moment by which the handler must have returned, with or without activity.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the moment at which the call times out without further activity.
    pub(super) fn due(&self) -> Option<Instant> {
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

fn tighter(tool: Option<Duration>, run: Option<Duration>) -> Option<Duration> {
    [tool, run].into_iter().flatten().min().map(|timeout| timeout.max(SHORTEST))
}
