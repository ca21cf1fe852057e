//! Permission for a call: every permit of the run must allow it, once as it came and once with its decoded arguments.
//!
//! The permits of a step are asked one after the other, in the order in which they were added. A permit is asked only
//! after all before it have allowed the call, so the first denial decides, and a slow permit is never started in vain.

use std::pin::Pin;
use std::task::{Context, Poll};

use haft_core::{FailureKind, ToolCall, ToolFailure};
use haft_schema::isolation::{Isolated, isolated};

use super::approval::Gated;
use super::{Advance, CallPhase, CallState, Ready, StepCx, Transition, cleared};
use crate::cx::Cx;
use crate::executor::permit::{Permission, PermitDecision};
use crate::handler::{BoxError, BoxFuture};

/// The message to the model about a permit that failed to decide.
const UNDECIDED: &str = "the permission check failed, so this call was not run";

/// A call that waits for the decision of one of its permits.
pub(super) struct AwaitingPermit {
    step: PermitStep,
    /// The index of the permit to be asked next.
    next: usize,
    decision: Isolated<BoxFuture<Result<Permission, BoxError>>>,
}

/// The step in which permits are asked, with what the call needs after it.
enum PermitStep {
    /// About the call as it came.
    Call { tool: usize, cx: Cx },
    /// About its arguments, which are valid.
    Arguments(Box<Gated>),
}

/// The operator's part of a denial: the rule, and more about it.
#[derive(Debug, thiserror::Error)]
#[error("{}", describe(.rule.as_deref(), .detail.as_deref()))]
struct DenialCause {
    rule: Option<String>,
    detail: Option<String>,
}

fn describe(rule: Option<&str>, detail: Option<&str>) -> String {
    match (rule, detail) {
        (Some(rule), Some(detail)) => format!("denied by the rule `{rule}`: {detail}"),
        (Some(rule), None) => format!("denied by the rule `{rule}`"),
        (None, detail) => detail.unwrap_or("denied").to_owned(),
    }
}

/// A permit that returned the default of `permits_arguments` from `permit`, where it decides nothing.
#[derive(Debug, thiserror::Error)]
#[error(
    "the permit returned the default decision on arguments from `permit`; return `Permission::Allowed` to allow the call"
)]
struct NotDecided;

impl CallState {
    /// Asks the permits about a call as it came, from the one with this index on.
    pub(super) fn ask_permits(
        &mut self,
        first: usize,
        tool: usize,
        cx: Cx,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Transition, ToolFailure> {
        for (index, permit) in step_cx.options.permits_of(step_cx.tool(tool)).enumerate().skip(first) {
            let permitting = isolated(|| permit.permit(step_cx.tool(tool), call, &cx));
            match permitting.map_err(|panicked| undecided(panicked, call, step_cx))?.0 {
                // That is a decision about arguments, and there are none yet.
                PermitDecision::Unchecked => return Err(undecided(NotDecided, call, step_cx)),
                PermitDecision::Now(decision) => self.permitted(decision, call, step_cx)?,
                PermitDecision::Later(decision) => {
                    return Ok(await_permit(PermitStep::Call { tool, cx }, index + 1, decision));
                }
            }
        }
        self.prepare(tool, cx, call, step_cx)
    }

    /// Asks the permits about the arguments of a call, from the one with this index on. Arguments that a permit has
    /// decided on are final.
    pub(super) fn ask_about_arguments(
        &mut self,
        first: usize,
        gated: Gated,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Transition, ToolFailure> {
        let tool = step_cx.tool(gated.tool);
        for (index, permit) in step_cx.options.permits_of(tool).enumerate().skip(first) {
            let arguments = gated.call_arguments(call, step_cx);
            let permitting = isolated(|| permit.permits_arguments(tool, call, &arguments, &gated.cx));
            match permitting.map_err(|panicked| undecided(panicked, call, step_cx))?.0 {
                PermitDecision::Unchecked => {}
                PermitDecision::Now(decision) => {
                    self.permitted(decision, call, step_cx)?;
                    gated.ready.bind_arguments();
                }
                PermitDecision::Later(decision) => {
                    gated.ready.bind_arguments();
                    return Ok(await_permit(PermitStep::Arguments(Box::new(gated)), index + 1, decision));
                }
            }
        }
        if self.is_gated(tool, step_cx) {
            return self.seek_approval(Box::new(gated), call, step_cx);
        }
        Ok(cleared(gated.tool, gated.ready, String::new(), call, step_cx))
    }

    pub(super) fn poll_permit(
        &mut self,
        mut awaiting: AwaitingPermit,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Transition, ToolFailure> {
        let polled = isolated(|| Pin::new(&mut awaiting.decision).poll(task));
        match polled.map_err(|panicked| undecided(panicked, call, step_cx))? {
            Poll::Pending => Ok((CallPhase::Permitting(awaiting), Advance::Pending)),
            Poll::Ready(decision) => {
                self.permitted(decision, call, step_cx)?;
                let AwaitingPermit { step, next, decision: decided } = awaiting;
                drop(decided);
                match step {
                    PermitStep::Call { tool, cx } => self.ask_permits(next, tool, cx, call, step_cx),
                    PermitStep::Arguments(gated) => self.ask_about_arguments(next, *gated, call, step_cx),
                }
            }
        }
    }

    /// Rejects everything but a plain permission.
    fn permitted(
        &self,
        decision: Result<Permission, BoxError>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<(), ToolFailure> {
        let (reason, rule, detail) = match decision {
            Ok(Permission::Allowed) => return Ok(()),
            Ok(Permission::Denied { reason, rule, detail }) => (reason, rule, detail),
            Err(error) => return Err(undecided(error, call, step_cx)),
        };
        let denied = ToolFailure::new(FailureKind::PermissionDenied, reason);
        record(&denied, rule.as_deref(), call, step_cx);
        if let Some(rule) = &rule {
            self.span.record_rule(rule);
        }
        Err(if rule.is_none() && detail.is_none() { denied } else { denied.cause(DenialCause { rule, detail }) })
    }
}

impl Ready {
    /// Binds the call to its arguments: a middleware that changes them ends the call.
    pub(super) fn bind_arguments(&self) {
        match self {
            Self::Handler(prepared) => prepared.bind_arguments(),
            Self::Surfaced => {}
        }
    }
}

fn await_permit(step: PermitStep, next: usize, decision: BoxFuture<Result<Permission, BoxError>>) -> Transition {
    let awaiting = AwaitingPermit { step, next, decision: Isolated::new(decision) };
    (CallPhase::Permitting(awaiting), Advance::Moved)
}

/// Creates the failure of a call whose permit failed to decide, and records it.
fn undecided(cause: impl Into<BoxError>, call: &ToolCall, step_cx: StepCx<'_>) -> ToolFailure {
    let undecided = ToolFailure::new(FailureKind::PermissionDenied, UNDECIDED).cause(cause);
    record(&undecided, None, call, step_cx);
    undecided
}

/// Passes the denial of a call to the auditors of the run.
fn record(denied: &ToolFailure, rule: Option<&str>, call: &ToolCall, step_cx: StepCx<'_>) {
    let StepCx { options, .. } = step_cx;
    options.gate().record_denial(call, rule, &denied.message, options.caller_ref());
}
