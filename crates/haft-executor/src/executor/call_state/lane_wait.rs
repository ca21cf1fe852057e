//! Entering the lanes of a call: the last step before its handler starts.
//!
//! The call holds its slot in the run meanwhile, and its timeouts do not count yet: a lane has its own.

use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use haft_core::{FailureKind, ToolCall, ToolFailure};
use haft_schema::isolation::{Isolated, isolated};
use tokio::time::Instant;

use super::{Advance, CallPhase, CallState, StepCx, Transition};
use crate::executor::lane::{HeldLanes, Lane, LaneError, LanePlace};
use crate::executor::mailbox::Mailbox;
use crate::executor::option::RunOptions;
use crate::handler::{BoxFuture, Prepared, broken};
use crate::tool::Tool;
use crate::tool::arguments::CallArguments;

/// A call that waits for its lanes.
pub(super) struct LaneWait {
    tool: usize,
    prepared: Isolated<Prepared>,
    entering: BoxFuture<Result<HeldLanes, LaneError>>,
    longest: Option<Duration>,
    /// The moment at which the wait ends.
    pub(super) expires: Option<Instant>,
}

impl LaneWait {
    /// Calculates the keys of a call, which runs user code, and lets it wait for its lanes.
    pub(super) fn begin(
        tool_index: usize,
        tool: &Tool,
        prepared: Isolated<Prepared>,
        call: &ToolCall,
        options: &RunOptions,
    ) -> Result<Box<Self>, ToolFailure> {
        let read = OnceLock::new();
        let arguments = CallArguments::of(&read, tool, &call.arguments, &options.decode);
        let place = |lane: &Lane| lane.place(&arguments, options.caller_ref());
        let lanes = options.lanes.as_slice().iter().chain(tool.lanes());
        let places: Vec<LanePlace> = isolated(|| lanes.map(place).collect::<Result<_, _>>())?.map_err(broken)?;
        let longest = LanePlace::longest_wait(&places);
        let expires = longest.and_then(|longest| Instant::now().checked_add(longest));
        let entering = LanePlace::enter_all(places);
        Ok(Box::new(Self { tool: tool_index, prepared, entering, longest, expires }))
    }

    /// Returns the failure of a call that waited too long.
    pub(super) fn failure(&self) -> ToolFailure {
        let waited = self.longest.unwrap_or_default();
        let message = format!("the call waited {waited:?} for other calls to finish, and has not started");
        ToolFailure::new(FailureKind::TimedOut, message).retryable()
    }
}

impl CallState {
    pub(super) fn poll_lanes(
        &mut self,
        index: usize,
        mut wait: Box<LaneWait>,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Transition, ToolFailure> {
        let held = match wait.entering.as_mut().poll(task) {
            Poll::Pending => return Ok((CallPhase::EnteringLanes(wait), Advance::Pending)),
            Poll::Ready(held) => held.map_err(broken)?,
        };
        let LaneWait { tool, prepared, .. } = *wait;
        let Prepared { running, meta } = prepared.into_inner();
        let prepared = Prepared { running: held.around(running), meta };
        let mailbox: &Arc<Mailbox> = &step_cx.run_shared.mailbox;
        mailbox.hold_lanes(index, held);
        self.holds_lanes = true;
        let phase = self.begin_handler(index, tool, prepared, step_cx.set, step_cx.options, mailbox)?;
        Ok((phase, Advance::Started))
    }
}
