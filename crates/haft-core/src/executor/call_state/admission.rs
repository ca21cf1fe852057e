//! The steps that a call passes before it may run: look up, permit, read and check. Whether approval is required comes
//! next, in [`consent`](super::consent). A signal or an interaction passes the same steps and surfaces after them.
//!
//! Every doubt ends the call. Nothing of the tool's has run when any of this rejects the call.

use std::task::{Context, Poll};

use super::consent::{Policies, decoded};
use super::{CallState, Clock, Phase, Step, StepCx};
use crate::call::ToolCall;
use crate::cx::Cx;
use crate::executor::cap::tighter;
use crate::executor::isolation::{Panicked, isolated, poll_isolated};
use crate::executor::permit::{Decision, Permission};
use crate::executor::span::CallSpan;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{BoxError, broken};
use crate::nearest::{SUGGESTED, ranked};
use crate::result::ToolResult;
use crate::tool::{Execution, Tool};

/// What the model is told when a permit could not decide.
const UNDECIDED: &str = "whether this call is permitted could not be decided";

impl CallState {
    /// One step before the handler.
    pub(super) fn admit(
        &mut self,
        index: usize,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Step, ToolFailure> {
        match &mut self.phase {
            Phase::Fresh => self.look_up(index, call, step_cx),
            Phase::Permitting(permit) => match poll_isolated(permit, task) {
                Poll::Pending => Ok(Step::Pending),
                Poll::Ready(decision) => self.permitted(call, step_cx, flatten(decision)),
            },
            Phase::Deciding(policies) => match poll_isolated(policies, task) {
                Poll::Pending => Ok(Step::Pending),
                Poll::Ready(need) => self.decided(call, step_cx, need),
            },
            Phase::Approving(_) => self.approving(call, step_cx, task),
            Phase::Settled(outcome) => {
                let outcome = std::mem::replace(&mut **outcome, ToolFailure::new(FailureKind::Denied, "").into());
                let is_answer = outcome.is_ok();
                Ok(Step::Landed(if is_answer { self.land_held(outcome) } else { self.land(outcome) }))
            }
            Phase::Cleared => Ok(self.cleared(call, step_cx)),
            Phase::Waiting | Phase::Running(_) | Phase::Landed => Ok(Step::Pending),
        }
    }

    fn look_up(&mut self, index: usize, call: &ToolCall, step_cx: StepCx<'_>) -> Result<Step, ToolFailure> {
        let found = step_cx.set.place_of(&call.name).map(|place| (place, step_cx.set.at(place).0));
        self.found = found.map(|(place, _)| place);
        if !step_cx.is_planning && self.consent.as_ref().is_none_or(|consent| !consent.is_edited()) {
            self.span = CallSpan::open(call, found.map(|(_, tool)| tool));
        }
        let Some((place, tool)) = found else { return Err(step_cx.unknown_tool(call, None)) };
        let options = step_cx.options;
        self.clock = Clock::new(tool.limits(), options);
        self.cap = tighter(tool.limits().output_cap, options.output_cap);
        let cx = Cx::in_run(step_cx.run_shared.call_handle(index, place));
        let Some(permit) = &options.permit else {
            self.cx = Some(cx);
            return self.prepare(call, step_cx);
        };
        if !isolated(|| permit.sees(tool, cx.caller())).unwrap_or_default() {
            return Err(step_cx.unknown_tool(call, Some(tool)));
        }
        let decision = isolated(|| permit.permit(tool, call, &cx));
        self.cx = Some(cx);
        match decision.map(|permitting| permitting.0) {
            Ok(Decision::Now(decision)) => self.permitted(call, step_cx, decision),
            Ok(Decision::Later(decision)) => {
                self.phase = Phase::Permitting(Some(decision));
                Ok(Step::Moved)
            }
            Err(panicked) => self.permitted(call, step_cx, Err(panicked.into())),
        }
    }

    fn permitted(
        &mut self,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        decision: Result<Permission, BoxError>,
    ) -> Result<Step, ToolFailure> {
        match decision {
            Ok(Permission::Allowed) => self.prepare(call, step_cx),
            Ok(Permission::Denied { reason }) => Err(ToolFailure::new(FailureKind::PermissionDenied, reason)),
            Err(error) => Err(ToolFailure::new(FailureKind::PermissionDenied, UNDECIDED).cause(error)),
        }
    }

    /// Reads and checks the arguments, and finds out whether somebody may have to be asked.
    fn prepare(&mut self, call: &ToolCall, step_cx: StepCx<'_>) -> Result<Step, ToolFailure> {
        let (Some(tool), Some(cx)) = (self.tool(step_cx.set), self.cx.take()) else { return Ok(Step::Moved) };
        if let Some(problems) = step_cx.problems.filter(|_| tool.requires_handler()) {
            return Err(broken(problems.clone()));
        }
        let execution = tool.execution(call);
        if execution == Execution::Provider {
            // Nothing that the provider runs can be prevented any more, so no policy is asked.
            return Err(ToolResult::non_local_tool(call).into_failure());
        }
        let policies = Policies::of(tool, step_cx);
        let gated = step_cx.is_planning || self.consent.is_some() || !policies.are_silent();
        if execution == Execution::Surfaced {
            self.cx = Some(cx);
            if gated {
                return self.seek_consent(call, step_cx, &policies);
            }
            decoded(tool, &call.arguments, &step_cx.options.decode)?;
            return Ok(self.cleared(call, step_cx));
        }
        if gated {
            self.cx = Some(cx.clone());
        }
        let mut prepared = match isolated(|| tool.prepare_found(call, cx)) {
            Ok(prepared) => prepared.map_err(|failure| self.unread(*failure))?,
            Err(panicked) => return Err(panicked.into()),
        };
        self.meta = prepared.meta.take();
        if gated && let Some(start_flag) = self.meta.as_ref().and_then(|meta| meta.start_flag.as_ref()) {
            start_flag.bind();
        }
        self.prepared = Some(prepared);
        if gated { self.seek_consent(call, step_cx, &policies) } else { Ok(self.cleared(call, step_cx)) }
    }

    /// Nothing prevents the call any more. It waits for a slot, requested once: one that is requested twice would be lost.
    /// A call without anything to run surfaces here, and only here.
    pub(super) fn cleared(&mut self, call: &ToolCall, step_cx: StepCx<'_>) -> Step {
        if self.prepared.is_none() && !step_cx.is_planning {
            return Step::Landed(self.land(ToolResult::non_local_tool(call).outcome));
        }
        self.phase = Phase::Waiting;
        Step::WantsPlace
    }
}

impl StepCx<'_> {
    /// No tool of this name, as far as the caller may know. `hidden` is one that it must not learn of. The permit is asked
    /// only about tools that would be named.
    fn unknown_tool(&self, call: &ToolCall, hidden: Option<&Tool>) -> ToolFailure {
        let tools = self.set.with_scopes().map(|(tool, _)| tool);
        let Some(permit) = &self.options.permit else {
            return ToolResult::unknown_tool_among(call, tools.map(Tool::name)).into_failure();
        };
        let caller = self.options.caller_ref();
        let sees = |tool: &&Tool| {
            hidden.is_none_or(|hidden| !tool.is_same(hidden))
                && isolated(|| permit.sees(tool, caller)).unwrap_or_default()
        };
        let near = ranked(&call.name, tools.clone().map(|tool| (tool.name(), tool)));
        let near: Vec<&str> = near.into_iter().filter(sees).take(SUGGESTED).map(Tool::name).collect();
        let result = if near.is_empty() {
            ToolResult::unknown_tool_beside(call, tools.filter(sees).map(Tool::name))
        } else {
            ToolResult::unknown_tool(call, &near)
        };
        result.into_failure()
    }
}

/// A panic is one more way to fail to answer.
fn flatten<T>(answer: Result<Result<T, BoxError>, Panicked>) -> Result<T, BoxError> {
    answer.unwrap_or_else(|panicked| Err(panicked.into()))
}
