//! The outcome of a call in its run: a result, a signal or an interaction.
//!
//! The executor fails a signal or an interaction with `non_local_tool` once its arguments are valid and nothing
//! prevents it: it was permitted, and approved if approval was required. Only then may it surface, with the arguments
//! that were approved. Every other outcome of such a call is its result, as for any other call.

use haft_core::{FailureKind, ToolCall, ToolResult};
use haft_executor::{Run, Toolkit};
use haft_schema::JsonText;

use super::interaction::Interaction;
use super::isolation::isolated;
use super::signal::Signal;

/// The outcome of a call in its run.
pub(super) enum CallOutcome {
    /// The result of the call.
    Answered(ToolResult),
    /// A signal for the loop.
    Signal(Signal),
    /// An interaction, which waits for an answer from outside.
    Interaction(Interaction),
}

impl CallOutcome {
    /// Returns the outcome of the call at an index of a run. `written` are the arguments as the model wrote them;
    /// those of the run may have been edited.
    pub(super) fn of(kit: &Toolkit, run: &Run, at: usize, written: &str, result: ToolResult) -> Self {
        let call = &run.calls()[at];
        let is_surfaced = result.failure().is_some_and(|failure| failure.kind == FailureKind::NonLocalTool);
        let tool = kit.get(&call.name).filter(|tool| is_surfaced && (tool.is_signal() || tool.is_interaction()));
        let Some(tool) = tool else { return Self::Answered(result) };
        match isolated(|| run.argument_tree(at).map(JsonText::from)) {
            Ok(Ok(arguments)) if tool.is_signal() => Self::Signal(Signal::new(call.clone(), arguments)),
            Ok(Ok(arguments)) => Self::Interaction(Interaction::new(call.clone(), arguments, written.to_owned())),
            Ok(Err(failure)) => Self::Answered(ToolResult::from_failure(call, failure)),
            Err(_) => Self::Answered(ToolResult::execution_error(call, "the arguments could not be validated")),
        }
    }

    /// Reports whether calls of this tool may surface.
    pub(super) fn may_surface(kit: &Toolkit, call: &ToolCall) -> bool {
        kit.get(&call.name).is_some_and(|tool| tool.is_signal() || tool.is_interaction())
    }
}
