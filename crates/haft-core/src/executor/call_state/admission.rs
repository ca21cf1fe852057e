//! The first steps of a call: look up the tool, check the permit, read and check the arguments. Approval comes next, in
//! [`approval`](super::approval). A signal or an interaction takes the same steps and surfaces after them.
//!
//! A step that fails ends the call. No code of a handler has run when one of these steps rejects the call.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::approval::{Gated, Policies, decoded};
use super::{Advance, CallPhase, CallState, Ready, StepCx, Transition, cleared};
use crate::approval::PriorApproval;
use crate::call::ToolCall;
use crate::cx::Cx;
use crate::executor::execute::prepare_isolated;
use crate::executor::permit::{Permission, PermitDecision};
use crate::executor::span::CallSpan;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{BoxError, BoxFuture, broken};
use crate::isolation::{Isolated, isolated};
use crate::nearest::{SUGGESTED, ranked};
use crate::result::ToolResult;
use crate::tool::{Execution, Tool};

/// The message to the model about a permit that failed to decide.
const UNDECIDED: &str = "the permission check failed, so this call was not run";

/// A permit that decides later.
type PermitFuture = Isolated<BoxFuture<Result<Permission, BoxError>>>;

impl CallState {
    pub(super) fn look_up(
        &mut self,
        index: usize,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Transition, ToolFailure> {
        self.tool = step_cx.set.index_of(&call.name);
        let found = self.tool.map(|tool| (tool, step_cx.tool(tool)));
        // A call that starts again with edited arguments has its span already.
        let is_restarted = self.prior.as_deref().is_some_and(PriorApproval::is_edited);
        if !step_cx.is_planning && !is_restarted {
            self.span = CallSpan::open(call, found.map(|(_, tool)| tool));
        }
        let Some((tool_index, tool)) = found else { return Err(step_cx.unknown_tool(call, None)) };
        let cx = Cx::in_run(step_cx.run_shared.call_handle(index, tool_index));
        let Some(permit) = &step_cx.options.permit else { return self.prepare(tool_index, cx, call, step_cx) };
        if !isolated(|| permit.sees(tool, cx.caller())).unwrap_or_default() {
            return Err(step_cx.unknown_tool(call, Some(tool)));
        }
        match isolated(|| permit.permit(tool, call, &cx)).map(|permitting| permitting.0) {
            Ok(PermitDecision::Now(decision)) => {
                permitted(decision)?;
                self.prepare(tool_index, cx, call, step_cx)
            }
            Ok(PermitDecision::Later(permit)) => {
                Ok((CallPhase::Permitting { tool: tool_index, cx, permit: Isolated::new(permit) }, Advance::Moved))
            }
            Err(panicked) => Err(undecided(panicked)),
        }
    }

    pub(super) fn poll_permit(
        &mut self,
        tool: usize,
        cx: Cx,
        mut permit: PermitFuture,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Transition, ToolFailure> {
        match isolated(|| Pin::new(&mut permit).poll(task)) {
            Ok(Poll::Pending) => Ok((CallPhase::Permitting { tool, cx, permit }, Advance::Pending)),
            Ok(Poll::Ready(decision)) => {
                permitted(decision)?;
                drop(permit);
                self.prepare(tool, cx, call, step_cx)
            }
            Err(panicked) => Err(undecided(panicked)),
        }
    }

    /// Reads and checks the arguments, and determines whether approval may be required.
    fn prepare(
        &mut self,
        tool_index: usize,
        cx: Cx,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Transition, ToolFailure> {
        let tool = step_cx.tool(tool_index);
        if let Some(problems) = step_cx.problems.filter(|_| tool.requires_handler()) {
            return Err(broken(problems.clone()));
        }
        let policies = Policies::of(tool, step_cx);
        let is_gated = step_cx.is_planning || self.prior.is_some() || !policies.are_silent();
        let (ready, gated_cx) = match tool.execution(call) {
            // A call that the provider executes can't be prevented any more, so no policy is evaluated.
            Execution::Provider => return Err(ToolResult::non_local_tool(call).into_failure()),
            Execution::Surfaced => {
                if !is_gated {
                    decoded(tool, &call.arguments, &step_cx.options.decode)?;
                }
                (Ready::Surfaced, Some(cx))
            }
            Execution::Handler => {
                let gated_cx = is_gated.then(|| cx.clone());
                let prepared = prepare_isolated(|| tool.prepare_found(call, cx));
                let mut prepared = prepared.map_err(|failure| self.unreadable(*failure))?;
                self.repairs = prepared.take_repairs();
                if is_gated {
                    prepared.bind_arguments();
                }
                (Ready::Handler(Isolated::new(prepared)), gated_cx)
            }
        };
        match gated_cx.filter(|_| is_gated) {
            Some(cx) => self.seek_approval(Box::new(Gated::new(tool_index, cx, ready)), call, step_cx, &policies),
            None => Ok(cleared(tool_index, ready, String::new(), call, step_cx)),
        }
    }
}

impl StepCx<'_> {
    /// Returns the failure of a call whose tool does not exist as far as the caller may know. `hidden` is a tool that
    /// the caller must not learn of. The permit is evaluated only for tools that would be named.
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

/// Rejects everything but a plain permission.
fn permitted(decision: Result<Permission, BoxError>) -> Result<(), ToolFailure> {
    match decision {
        Ok(Permission::Allowed) => Ok(()),
        Ok(Permission::Denied { reason }) => Err(ToolFailure::new(FailureKind::PermissionDenied, reason)),
        Err(error) => Err(undecided(error)),
    }
}

fn undecided(cause: impl Into<BoxError>) -> ToolFailure {
    ToolFailure::new(FailureKind::PermissionDenied, UNDECIDED).cause(cause)
}
