//! The first steps of a call: look up the tool, ask the permits, read and check the arguments. The permits decide in
//! [`permitting`](super::permitting), before and after the arguments are read; approval comes next, in
//! [`approval`](super::approval). A signal or an interaction takes the same steps and surfaces after them.
//!
//! A step that fails ends the call. No code of a handler has run when one of these steps rejects the call.

use std::sync::OnceLock;

use haft_core::internal::ranked_tools;
use haft_core::{ToolCall, ToolFailure, ToolResult};
use haft_schema::internal::SUGGESTED;
use haft_schema::isolation::{Isolated, isolated};

use super::approval::{Gated, Policies, decoded};
use super::{CallState, Ready, StepCx, Transition, cleared};
use crate::approval::PriorApproval;
use crate::cx::Cx;
use crate::executor::execute::prepare_isolated;
use crate::executor::span::CallSpan;
use crate::handler::{broken, invalid_input};
use crate::tool::{CanonicalArguments, Execution, Tool, explained};
use crate::toolkit::{NotRunnable, ProblemScope};

/// The reason in the audit record of a call whose tool is hidden. The model reads that there is no such tool.
const HIDDEN: &str = "the tool is hidden from this caller";

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
        if !step_cx.options.sees(tool) {
            let StepCx { options, .. } = step_cx;
            options.gate().record_denial(call, None, HIDDEN, options.caller_ref());
            return Err(step_cx.unknown_tool(call, Some(tool)));
        }
        self.ask_permits(0, tool_index, cx, call, step_cx)
    }

    /// Brings the arguments into canonical form and refines them if the tool does that, and reads them.
    pub(super) fn prepare(
        &mut self,
        tool_index: usize,
        cx: Cx,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Transition, ToolFailure> {
        let tool = step_cx.tool(tool_index);
        if let Some(problems) = step_cx.problems_of(tool) {
            return Err(broken(problems));
        }
        let execution = tool.execution(call);
        let canonical = match execution {
            Execution::Handler | Execution::Surfaced if !tool.resources().is_empty() => {
                self.canonical_call(tool, call, step_cx)?
            }
            Execution::Handler | Execution::Surfaced | Execution::Provider => None,
        };
        let call = canonical.as_deref().unwrap_or(call);
        let transition = match tool.refine() {
            Some(refine) if execution == Execution::Handler => {
                self.start_refining(refine, tool_index, cx, call, step_cx)
            }
            Some(_) | None => self.read_arguments(tool_index, cx, call, step_cx),
        };
        self.decided_on = canonical;
        transition
    }

    /// Returns the call with the canonical spelling of the resources that its arguments name, if it differs.
    fn canonical_call(
        &mut self,
        tool: &Tool,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Option<Box<ToolCall>>, ToolFailure> {
        let canonical = isolated(|| tool.canonical_arguments(&call.arguments, &step_cx.options.decode))?;
        let rejected = |issues| self.unreadable(explained(invalid_input(issues), call));
        let Some(CanonicalArguments { text, repairs }) = canonical.map_err(rejected)? else { return Ok(None) };
        self.repairs = repairs;
        Ok(Some(Box::new(call.with_arguments(text.as_str()))))
    }

    /// Reads and checks the arguments, and determines whether a permit or a policy has to see them.
    pub(super) fn read_arguments(
        &mut self,
        tool_index: usize,
        cx: Cx,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Transition, ToolFailure> {
        let tool = step_cx.tool(tool_index);
        let is_gated = self.is_gated(tool, step_cx);
        let is_checked = is_gated || step_cx.options.permits_of(tool).next().is_some();
        match tool.execution(call) {
            // A call that the provider executes can't be prevented any more: nothing decides on its arguments.
            Execution::Provider => Err(ToolResult::non_local_tool(call).into_failure()),
            Execution::Surfaced => {
                let arguments = decoded(tool, &call.arguments, &step_cx.options.decode);
                let arguments = arguments.map_err(|failure| self.unreadable(explained(failure, call)))?;
                let gated = Gated::new(tool_index, cx, Ready::Surfaced, arguments.into());
                self.ask_about_arguments(0, gated, call, step_cx)
            }
            Execution::Handler => {
                let checked_cx = is_checked.then(|| cx.clone());
                let prepared = prepare_isolated(|| tool.prepare_found(call, cx));
                let mut prepared = prepared.map_err(|failure| self.unreadable(*failure))?;
                self.repairs.append(&mut prepared.take_repairs());
                if is_gated {
                    prepared.bind_arguments();
                }
                let ready = Ready::Handler(Isolated::new(prepared));
                let Some(cx) = checked_cx else {
                    return Ok(cleared(tool_index, ready, String::new(), call, step_cx));
                };
                self.ask_about_arguments(0, Gated::new(tool_index, cx, ready, OnceLock::new()), call, step_cx)
            }
        }
    }

    /// Reports whether a decision on approval has to be made about the call.
    pub(super) fn is_gated(&self, tool: &Tool, step_cx: StepCx<'_>) -> bool {
        step_cx.is_planning || self.prior.is_some() || !Policies::of(tool, step_cx.options).are_silent()
    }
}

impl StepCx<'_> {
    /// Returns the reasons that a call of this tool can't be run.
    fn problems_of(&self, tool: &Tool) -> Option<NotRunnable> {
        let problems = self.problems.filter(|_| tool.requires_handler())?;
        match self.problem_scope {
            ProblemScope::WholeToolkit => Some(problems.clone()),
            ProblemScope::EachTool => problems.of_tool(tool.name()),
        }
    }

    /// Returns the failure of a call whose tool does not exist as far as the caller may know. `hidden` is a tool that
    /// the caller must not learn of. The permits are asked only about tools that would be named.
    fn unknown_tool(&self, call: &ToolCall, hidden: Option<&Tool>) -> ToolFailure {
        let tools = self.set.with_scopes().map(|(tool, _)| tool);
        match (self.problems, self.problem_scope) {
            (Some(problems), ProblemScope::EachTool) => {
                let problems = problems.by_tool();
                let runnable: Vec<&Tool> = tools.filter(|tool| !problems.contains_key(tool.name())).collect();
                self.unknown_among(call, hidden, runnable.iter().copied())
            }
            (None, _) | (Some(_), ProblemScope::WholeToolkit) => self.unknown_among(call, hidden, tools),
        }
    }

    fn unknown_among<'t>(
        &self,
        call: &ToolCall,
        hidden: Option<&Tool>,
        tools: impl Iterator<Item = &'t Tool> + Clone,
    ) -> ToolFailure {
        if tools.clone().all(|tool| self.options.permits_of(tool).next().is_none()) {
            return ToolResult::unknown_tool_among(call, tools.map(Tool::name)).into_failure();
        }
        let sees = |tool: &&Tool| hidden.is_none_or(|hidden| !tool.is_same(hidden)) && self.options.sees(tool);
        let near = ranked_tools(&call.name, tools.clone().map(|tool| (tool.name(), tool)));
        let near: Vec<&str> = near.into_iter().filter(sees).take(SUGGESTED).map(Tool::name).collect();
        let result = if near.is_empty() {
            ToolResult::unknown_tool_beside(call, tools.filter(sees).map(Tool::name))
        } else {
            ToolResult::unknown_tool(call, &near)
        };
        result.into_failure()
    }
}
