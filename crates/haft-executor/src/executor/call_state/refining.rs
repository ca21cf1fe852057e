//! The refine step of a call: its tool's function rejects or transforms the arguments, before permits and policies see
//! them.
//!
//! It runs once for each text of arguments in a run: for what the model wrote, and again for what a person wrote in its
//! place. The call of the run keeps its text, so that a call which is suspended, or planned and then run, starts again
//! from the same text. Its approval holds if the function returns the same arguments again.

use std::pin::Pin;
use std::task::{Context, Poll};

use haft_core::{ToolCall, ToolFailure};
use haft_schema::Decoded;
use haft_schema::isolation::{Isolated, isolated};

use super::timeout::Timeouts;
use super::{Advance, CallPhase, CallState, StepCx, Transition};
use crate::cx::Cx;
use crate::handler::invalid_input;
use crate::tool::{Refine, RefineFuture};

/// A call whose arguments are being refined.
pub(super) struct Refining {
    tool: usize,
    cx: Cx,
    refined: Isolated<RefineFuture>,
    /// The timeouts of a call apply to this step by itself.
    pub(super) timeouts: Option<Box<Timeouts>>,
}

impl CallState {
    pub(super) fn start_refining(
        &mut self,
        refine: &Refine,
        tool: usize,
        cx: Cx,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Transition, ToolFailure> {
        let (of_tool, options) = (step_cx.tool(tool), step_cx.options);
        let started = isolated(|| refine.start(of_tool, &call.arguments, &options.decode, cx.clone()))?;
        let Decoded { value, repairs } = started.map_err(|issues| self.unreadable(invalid_input(issues)))?;
        self.repairs.extend(repairs);
        let timeouts = Timeouts::starting_now(of_tool.limits(), options);
        let refining = Refining { tool, cx, refined: Isolated::new(value), timeouts };
        Ok((CallPhase::Refining(Box::new(refining)), Advance::Refining))
    }

    pub(super) fn poll_refining(
        &mut self,
        mut refining: Box<Refining>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Transition, ToolFailure> {
        let refined = match isolated(|| Pin::new(&mut refining.refined).poll(task))? {
            Poll::Pending => return Ok((CallPhase::Refining(refining), Advance::Pending)),
            Poll::Ready(refined) => refined.map_err(|failure| self.unreadable(failure))?,
        };
        let Refining { tool, cx, refined: done, .. } = *refining;
        drop(done);
        let call = Box::new(call.with_arguments(refined.as_str()));
        let transition = self.read_arguments(tool, cx, &call, step_cx);
        self.decided_on = Some(call);
        transition
    }
}
