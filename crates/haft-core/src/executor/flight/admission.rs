//! What a call passes before it may run: look up, permit, read and check, approve.
//!
//! Every doubt ends the flight: a permit that fails, a policy that breaks, an approver that errs or answers another
//! question. Nothing of the tool's has run when any of this says no.

use std::sync::Arc;
use std::task::{Context, Poll};

use serde_json::Value;
use tokio::time::Instant;

use super::{Clock, Flight, Phase, Step, Tower};
use crate::call::ToolCall;
use crate::cx::{Cx, RunCx};
use crate::executor::cap::tighter;
use crate::executor::isolation::{Panicked, drop_isolated, isolated, poll_isolated};
use crate::executor::option::Policy;
use crate::executor::permit::{Decision, Permission};
use crate::executor::span::CallSpan;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{BoxError, BoxFuture, broken, invalid_input};
use crate::item::{ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalResponse};
use crate::nearest::nearest;
use crate::result::ToolResult;
use crate::scope::Scope;
use crate::tool::{ApprovalCx, ApprovalNeed, ApprovalPolicy, NO_APPROVAL, PolicyError, Tool};

/// What the model is told when a permit could not decide.
const UNDECIDED: &str = "whether this call is permitted could not be decided";
/// What the model is told when nobody gave a usable answer.
const NOT_ANSWERED: &str = "this call needs approval and nobody gave it";

/// An answer to a question that was not asked.
#[derive(Debug, thiserror::Error)]
#[error("the answer is to the question `{answered}`, which was not asked about this call")]
struct WrongAnswer {
    answered: ApprovalId,
}

impl Flight {
    /// One step before the handler.
    pub(super) fn admit(
        &mut self,
        index: usize,
        call: &ToolCall,
        tower: Tower<'_>,
        task: &mut Context<'_>,
    ) -> Result<Step, ToolFailure> {
        match &mut self.phase {
            Phase::Fresh => self.look_up(index, call, tower),
            Phase::Permitting(permit) => match poll_isolated(permit, task) {
                Poll::Pending => Ok(Step::Pending),
                Poll::Ready(decision) => self.permitted(call, tower, flatten(decision)),
            },
            Phase::Deciding(policies) => match poll_isolated(policies, task) {
                Poll::Pending => Ok(Step::Pending),
                Poll::Ready(need) => self.decided(call, tower, need),
            },
            Phase::Approving(approver, ..) => match poll_isolated(approver, task) {
                Poll::Pending => Ok(Step::Pending),
                Poll::Ready(answer) => self.answered(flatten(answer)),
            },
            Phase::Denied(reason) => Err(ToolFailure::new(FailureKind::Denied, std::mem::take(reason))),
            Phase::Cleared => Ok(self.cleared()),
            Phase::Waiting | Phase::Running(_) | Phase::Landed => Ok(Step::Pending),
        }
    }

    fn look_up(&mut self, index: usize, call: &ToolCall, tower: Tower<'_>) -> Result<Step, ToolFailure> {
        self.found = tower.set.place_of(&call.name);
        let found = self.found.map(|place| tower.set.at(place));
        self.span = CallSpan::open(call, found.map(|(tool, _)| tool));
        let Some((tool, scope)) = found else { return Err(tower.unknown_tool(call, None)) };
        let options = tower.options;
        self.clock = Clock::new(tool.limits(), options);
        self.cap = tighter(tool.limits().output_cap, options.output_cap);
        let run = RunCx {
            line: tower.board.line(index, tool.limits().emit_buffer),
            decode: options.decode,
            cancellation: options.cancellation.as_ref(),
            deadline: tower.deadline,
        };
        let cx = Cx::in_run(tool, call, Scope::layered(options.scope.as_ref(), scope), run);
        let Some(permit) = &options.permit else {
            self.cx = Some(cx);
            return self.prepare(call, tower);
        };
        if !isolated(|| permit.sees(tool, cx.caller())).unwrap_or_default() {
            return Err(tower.unknown_tool(call, Some(tool)));
        }
        let decision = isolated(|| permit.permit(tool, call, &cx));
        self.cx = Some(cx);
        match decision.map(|permitting| permitting.0) {
            Ok(Decision::Now(decision)) => self.permitted(call, tower, decision),
            Ok(Decision::Later(decision)) => {
                self.phase = Phase::Permitting(Some(decision));
                Ok(Step::Moved)
            }
            Err(panicked) => self.permitted(call, tower, Err(panicked.into())),
        }
    }

    fn permitted(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        decision: Result<Permission, BoxError>,
    ) -> Result<Step, ToolFailure> {
        match decision {
            Ok(Permission::Allowed) => self.prepare(call, tower),
            Ok(Permission::Denied { reason }) => Err(ToolFailure::new(FailureKind::PermissionDenied, reason)),
            Err(error) => Err(ToolFailure::new(FailureKind::PermissionDenied, UNDECIDED).cause(error)),
        }
    }

    /// Reads and checks the arguments, and finds out whether somebody may have to be asked.
    fn prepare(&mut self, call: &ToolCall, tower: Tower<'_>) -> Result<Step, ToolFailure> {
        let (Some(tool), Some(cx)) = (self.tool(tower.set), self.cx.take()) else { return Ok(Step::Moved) };
        if let Some(problems) = tower.problems.filter(|_| tool.requires_handler()) {
            return Err(broken(problems.clone()));
        }
        let (own, also) = match &tower.options.policy {
            None => (Some(tool.approval()), None),
            Some(Policy::Also(policy)) => (Some(tool.approval()), Some(policy)),
            Some(Policy::Instead(policy)) => (None, Some(policy)),
        };
        let policies = || own.into_iter().chain(also);
        let gated = !policies().all(ApprovalPolicy::is_never);
        if gated {
            self.cx = Some(cx.clone());
        }
        let mut prepared = match isolated(|| tool.prepare_found(call, cx)) {
            Ok(prepared) => prepared.map_err(|failure| *failure)?,
            Err(panicked) => return Err(panicked.into()),
        };
        self.aside = prepared.aside.take();
        if gated && let Some(passage) = self.aside.as_ref().and_then(|aside| aside.passage.as_ref()) {
            passage.bind();
        }
        self.prepared = Some(prepared);
        if !gated {
            return Ok(self.cleared());
        }
        if policies().any(ApprovalPolicy::is_always) {
            return self.decided(call, tower, Ok(ApprovalNeed::Needed));
        }
        match isolated(|| deciding(tool, call, self.cx.as_ref(), policies())) {
            Ok(deciding) => {
                self.phase = Phase::Deciding(Some(deciding?));
                Ok(Step::Moved)
            }
            Err(panicked) => self.decided(call, tower, Err(panicked)),
        }
    }

    /// A policy that broke has not said that the call may run unasked.
    fn decided(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        need: Result<ApprovalNeed, Panicked>,
    ) -> Result<Step, ToolFailure> {
        let need = need.unwrap_or_else(|panicked| ApprovalNeed::Undecided(PolicyError::new(panicked)));
        if !need.is_needed() {
            drop_isolated(self.cx.take());
            return Ok(self.cleared());
        }
        let (Some(approver), Some(cx)) = (&tower.options.approver, self.cx.take()) else {
            let denied = ToolFailure::new(FailureKind::Denied, NO_APPROVAL);
            return Err(match need {
                ApprovalNeed::Undecided(error) => denied.cause(error),
                _ => denied,
            });
        };
        let request = Box::new(ApprovalRequest::new(ApprovalId::random(), call));
        let asking = isolated(|| Arc::clone(approver).ask((*request).clone(), cx)).map_err(unapproved)?;
        self.phase = Phase::Approving(Some(asking), request.request_id.clone());
        self.clock.answer = tower.options.approval_timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Ok(Step::Asked(request))
    }

    /// Nothing stands in its way but the others. Said once: a place that is asked for twice would be lost.
    fn cleared(&mut self) -> Step {
        self.phase = Phase::Waiting;
        Step::WantsPlace
    }

    /// Only a yes to this very question is a yes.
    fn answered(&mut self, answer: Result<ApprovalResponse, BoxError>) -> Result<Step, ToolFailure> {
        self.clock.answer = None;
        let response = answer.map_err(unapproved)?;
        match &self.phase {
            Phase::Approving(_, asked) if *asked == response.request_id && response.digest.is_empty() => {}
            _ => return Err(unapproved(WrongAnswer { answered: response.request_id })),
        }
        self.phase = match response.decision {
            ApprovalDecision::Approved => Phase::Cleared,
            _ => Phase::Denied(response.reason.clone().unwrap_or_default()),
        };
        Ok(Step::Answered(Box::new(response)))
    }
}

impl Tower<'_> {
    /// No tool of this name, as far as the caller may know. `hidden` is one that it must not learn of.
    fn unknown_tool(&self, call: &ToolCall, hidden: Option<&Tool>) -> ToolFailure {
        let caller = self.options.caller_ref();
        let seen = self.set.with_scopes().map(|(tool, _)| tool).filter(|tool| {
            let permit = self.options.permit.as_ref();
            hidden.is_none_or(|hidden| !tool.is_same(hidden))
                && permit.is_none_or(|permit| isolated(|| permit.sees(tool, caller)).unwrap_or_default())
        });
        ToolResult::unknown_tool(call, &nearest(&call.name, seen.map(Tool::name))).into_failure()
    }
}

/// Asks the policies about the arguments as a tree: only who has such a policy pays for reading them twice.
fn deciding<'a>(
    tool: &Tool,
    call: &ToolCall,
    cx: Option<&Cx>,
    policies: impl Iterator<Item = &'a ApprovalPolicy>,
) -> Result<BoxFuture<ApprovalNeed>, ToolFailure> {
    let options = cx.map(Cx::decode_options).copied().unwrap_or_default();
    let arguments = tool.parameters().decode::<Value>(&call.arguments, &options).map_err(invalid_input)?.value;
    let about = ApprovalCx::of(call, cx);
    let needs: Vec<_> = policies.map(|policy| policy.needs_approval(&arguments, about.clone())).collect();
    Ok(Box::pin(any_needed(needs)))
}

/// Whether any policy asks, the first that does deciding.
async fn any_needed(needs: Vec<impl Future<Output = ApprovalNeed> + Send>) -> ApprovalNeed {
    for need in needs {
        let need = need.await;
        if need.is_needed() {
            return need;
        }
    }
    ApprovalNeed::NotNeeded
}

/// Nobody said yes.
fn unapproved(cause: impl Into<BoxError>) -> ToolFailure {
    ToolFailure::new(FailureKind::Denied, NOT_ANSWERED).cause(cause)
}

/// A panic is one more way to fail to answer.
fn flatten<T>(answer: Result<Result<T, BoxError>, Panicked>) -> Result<T, BoxError> {
    answer.unwrap_or_else(|panicked| Err(panicked.into()))
}
