//! Approval of a call: the last check before it may run.
//!
//! The arguments have been checked before, and every decision here is about exactly those. A verdict that was given
//! before the run is examined as closely as one that is given during it.

use std::future::ready;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use haft_core::{ApprovalDecision, ApprovalRequest, ApprovalRule, FailureKind, ToolCall, ToolFailure, Verdict};
use haft_schema::DecodeOptions;
use haft_schema::isolation::{Isolated, Panicked, isolated};
use tokio::time::Instant;

use super::verdict::judge;
use super::{Advance, CallPhase, CallState, Ready, StepCx, Transition, cleared};
use crate::approval::{
    ApprovalOutcome, AtGate, PriorApproval, PriorQuestion, RejectedVerdict, VerdictFault, digest_of,
};
use crate::cx::Cx;
use crate::executor::approve::ApprovalAnswer;
use crate::executor::option::{RunOptions, ToolPolicies};
use crate::executor::run_approvals::Suspending;
use crate::handler::{BoxError, BoxFuture, invalid_input};
use crate::tool::arguments::{Arguments, CallArguments};
use crate::tool::{ApprovalCx, ApprovalNeed, ApprovalPolicy, NO_APPROVAL, Tool};

/// The message to the model about a call that was not approved.
const NOT_APPROVED: &str = "this call requires approval and was not approved";
/// The message to the model about an approval that is not for this call.
const CHANGED: &str = "the approval was given for other arguments or another definition of the tool; call again";
/// The maximum number of requests to an approver about one call while its verdicts are invalid.
const MOST_TRIES: u32 = 3;
/// The audit record's reason for a verdict whose call ended before it needed one.
const UNUSED: &str = "the call ended before the verdict could be used";
/// The message to the model about an approval request that has expired.
const EXPIRED: &str = "the approval request for this call has expired; call again";

/// A call whose arguments are checked and whose approval is not yet decided. On the heap, as most calls require no
/// approval.
pub(super) struct Gated {
    pub(super) tool: usize,
    pub(super) cx: Cx,
    pub(super) ready: Ready,
    /// The decoded arguments, once something other than the handler has read them.
    arguments: OnceLock<Arguments>,
    /// Binds an approval to the arguments and the tool. Computed when it is first needed.
    pub(super) digest: String,
    /// The number of requests sent to the approver.
    tries: u32,
}

/// A call whose approval request was sent to the approver.
pub(super) struct AwaitingVerdict {
    gated: Box<Gated>,
    request: Box<ApprovalRequest>,
    answer: Isolated<AnswerFuture>,
    /// The moment at which the wait for the verdict ends.
    pub(super) expires: Option<Instant>,
}

/// The policies that decide about a call: the tool's own, and those of the run in the order they were added.
pub(super) struct Policies<'a> {
    own: Option<&'a ApprovalPolicy>,
    added: &'a [ApprovalPolicy],
}

/// The decision of the policies, and the rule it was made by.
pub(super) type NeedFuture = BoxFuture<(ApprovalNeed, ApprovalRule)>;

/// The answer of an approver.
type AnswerFuture = BoxFuture<Result<ApprovalAnswer, BoxError>>;

impl Gated {
    pub(super) fn new(tool: usize, cx: Cx, ready: Ready, arguments: OnceLock<Arguments>) -> Self {
        Self { tool, cx, ready, arguments, digest: String::new(), tries: 0 }
    }

    /// Returns the arguments, for a permit or a policy to decide on.
    pub(super) fn call_arguments<'a>(&'a self, call: &'a ToolCall, step_cx: StepCx<'a>) -> CallArguments<'a> {
        CallArguments::of(&self.arguments, step_cx.tool(self.tool), &call.arguments, &step_cx.options.decode)
    }

    /// Computes the digest that binds an approval to this call.
    pub(super) fn bind_digest(&mut self, call: &ToolCall, step_cx: StepCx<'_>) {
        if self.digest.is_empty() {
            let arguments = self.arguments.get().unwrap_or(&Arguments::TextOnly);
            self.digest = digest_of(step_cx.tool(self.tool), arguments, &call.arguments);
        }
    }

    pub(super) fn at_gate<'a>(&'a self, call: &'a ToolCall, step_cx: StepCx<'a>) -> AtGate<'a> {
        AtGate { tool: step_cx.tool(self.tool), call, caller: step_cx.options.caller_ref(), digest: &self.digest }
    }

    /// Clears the call to run.
    pub(super) fn into_cleared(self, call: &ToolCall, step_cx: StepCx<'_>) -> Transition {
        cleared(self.tool, self.ready, self.digest, call, step_cx)
    }
}

impl AwaitingVerdict {
    pub(super) fn into_request(self) -> Box<ApprovalRequest> {
        self.request
    }
}

impl<'a> Policies<'a> {
    pub(super) fn of(tool: &'a Tool, options: &'a RunOptions) -> Self {
        let own = match options.tool_policies {
            ToolPolicies::Applied => Some(tool.approval()),
            ToolPolicies::Replaced => None,
        };
        Self { own, added: options.policies.as_slice() }
    }

    /// Reports whether no policy can require approval.
    pub(super) fn are_silent(&self) -> bool {
        self.iter().all(|(policy, _)| policy.is_never())
    }

    fn iter(&self) -> impl Iterator<Item = (&'a ApprovalPolicy, ApprovalRule)> + use<'a> {
        let own = self.own.map(|policy| (policy, ApprovalRule::ToolPolicy));
        own.into_iter().chain(self.added.iter().map(|policy| (policy, ApprovalRule::RunPolicy)))
    }
}

impl CallState {
    /// Decides whether approval is required: by the facts that the call came with, else by the policies.
    pub(super) fn seek_approval(
        &mut self,
        mut gated: Box<Gated>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Result<Transition, ToolFailure> {
        let tool = step_cx.tool(gated.tool);
        if gated.arguments.get().is_none() {
            let arguments = decoded(tool, &call.arguments, &step_cx.options.decode);
            gated.arguments = arguments.map_err(|failure| self.unreadable(failure))?.into();
        }
        if let Some(prior) = self.prior.take() {
            gated = match self.apply_prior_approval(*prior, gated, call, step_cx)? {
                Ok(transition) => return Ok(transition),
                Err(undecided) => undecided,
            };
        }
        let policies = Policies::of(tool, step_cx.options);
        if let Some((_, rule)) = policies.iter().find(|(policy, _)| policy.is_plainly_always()) {
            return self.decided(gated, call, step_cx, Ok((ApprovalNeed::Needed, rule)));
        }
        let about = ApprovalCx::of(call, Some(&gated.cx));
        let arguments = gated.call_arguments(call, step_cx);
        // A policy that panics here is undecided when it is its turn: an earlier one may require approval.
        let needs = policies.iter().map(|(policy, rule)| {
            let need = isolated(|| Box::pin(policy.decide(&arguments, about.clone())) as BoxFuture<ApprovalNeed>);
            (Isolated::new(need.unwrap_or_else(undecided)), rule)
        });
        let need = Box::pin(any_needed(needs.collect())) as NeedFuture;
        Ok((CallPhase::Deciding { gated, need: Isolated::new(need) }, Advance::Moved))
    }

    pub(super) fn poll_need(
        &mut self,
        gated: Box<Gated>,
        mut need: Isolated<NeedFuture>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Transition, ToolFailure> {
        let decided = match isolated(|| Pin::new(&mut need).poll(task)) {
            Ok(Poll::Pending) => return Ok((CallPhase::Deciding { gated, need }, Advance::Pending)),
            Ok(Poll::Ready(decided)) => Ok(decided),
            Err(panicked) => Err(panicked),
        };
        drop(need);
        self.decided(gated, call, step_cx, decided)
    }

    /// Acts on the decision of the policies. A policy that failed has not allowed the call to run without approval.
    fn decided(
        &mut self,
        mut gated: Box<Gated>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        need: Result<(ApprovalNeed, ApprovalRule), Panicked>,
    ) -> Result<Transition, ToolFailure> {
        let (need, rule) =
            need.unwrap_or_else(|panicked| (ApprovalNeed::undecided(panicked), ApprovalRule::PolicyFailed));
        let (rule, decider, cause) = match need {
            ApprovalNeed::NotNeeded => {
                if step_cx.is_planning {
                    gated.bind_digest(call, step_cx);
                }
                return Ok(gated.into_cleared(call, step_cx));
            }
            ApprovalNeed::Needed => (rule, None, None),
            ApprovalNeed::NeededBy(name) => (ApprovalRule::Other(name), None, None),
            ApprovalNeed::NeededFrom { decider, rule: named } => {
                (named.map_or(rule, ApprovalRule::Other), Some(decider), None)
            }
            ApprovalNeed::Undecided { error, decider } => (ApprovalRule::PolicyFailed, decider, Some(error)),
        };
        gated.bind_digest(call, step_cx);
        let gate = step_cx.options.gate();
        let mut request = Box::new(gate.new_request(gated.at_gate(call, step_cx), rule));
        request.decider = decider;
        if let Some(recalled) = self.recall(&gated, call, step_cx, &request) {
            return Ok(self.take_verdict(*gated, call, step_cx, &request, recalled));
        }
        if step_cx.options.approver.is_none() {
            let caller = step_cx.options.caller_ref();
            gate.record(|| gate.new_record(&request, caller, ApprovalOutcome::NoApprover));
            let denied = ToolFailure::new(FailureKind::Denied, NO_APPROVAL);
            return Err(match cause {
                Some(error) => denied.cause(error),
                None => denied,
            });
        }
        if let Err(fault) = gate.sign(&mut request, &gated.cx) {
            self.reject(step_cx, &request, None, fault.clone());
            return Err(rejection(fault));
        }
        self.ask(gated, step_cx, request)
    }

    /// Sends an approval request to the approver. Without an approver, a request that is pending from before the run
    /// stays pending.
    pub(super) fn ask(
        &mut self,
        mut gated: Box<Gated>,
        step_cx: StepCx<'_>,
        request: Box<ApprovalRequest>,
    ) -> Result<Transition, ToolFailure> {
        let Some(approver) = &step_cx.options.approver else {
            return Ok((CallPhase::Finished { pending: None }, Advance::Suspended(request)));
        };
        let longest = match longest_wait(step_cx, &request) {
            Ok(longest) => longest,
            Err(fault) => {
                self.reject(step_cx, &request, None, fault.clone());
                return Err(rejection(fault));
            }
        };
        gated.tries += 1;
        let mut cx = gated.cx.clone().at_gate(step_cx.options.gate.as_ref());
        if let Some(rejected) = self.rejected.last().filter(|rejected| rejected.fault.is_invalid()) {
            cx = cx.asked_again(gated.tries, rejected.clone());
        }
        let answer = isolated(|| Arc::clone(approver).request((*request).clone(), cx)).map_err(unapproved)?;
        Ok(await_verdict(gated, request, answer, longest))
    }

    /// Sends a new approval request about a call that had an earlier one. Without an approver the call is suspended.
    pub(super) fn ask_anew(
        &mut self,
        gated: Box<Gated>,
        step_cx: StepCx<'_>,
        request: Box<ApprovalRequest>,
    ) -> Result<Transition, ToolFailure> {
        if step_cx.options.approver.is_some() {
            return self.ask(gated, step_cx, request);
        }
        Ok(await_verdict(gated, request, Box::pin(ready(Ok(ApprovalAnswer::deferred()))), None))
    }

    pub(super) fn poll_verdict(
        &mut self,
        mut awaiting: AwaitingVerdict,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Transition, ToolFailure> {
        let answer = match isolated(|| Pin::new(&mut awaiting.answer).poll(task)) {
            Ok(Poll::Pending) => return Ok((CallPhase::AwaitingVerdict(awaiting), Advance::Pending)),
            Ok(Poll::Ready(answer)) => answer,
            Err(panicked) => Err(panicked.into()),
        };
        let AwaitingVerdict { gated, request, answer: asked, .. } = awaiting;
        drop(asked);
        self.answered(gated, request, call, step_cx, answer)
    }

    /// Acts on the answer of the approver. Only a verdict on this very request is accepted.
    fn answered(
        &mut self,
        gated: Box<Gated>,
        request: Box<ApprovalRequest>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        answer: Result<ApprovalAnswer, BoxError>,
    ) -> Result<Transition, ToolFailure> {
        let gate = step_cx.options.gate();
        let record = |outcome| gate.new_record(&request, step_cx.options.caller_ref(), outcome);
        match answer {
            Ok(ApprovalAnswer::Verdict(response)) => match judge(&gated, step_cx, &request, *response) {
                Ok(verdict) => Ok(self.take_verdict(*gated, call, step_cx, &request, verdict)),
                Err((response, fault)) => {
                    self.reject(step_cx, &request, Some(response), fault.clone());
                    if fault.is_invalid() && gated.tries < MOST_TRIES {
                        // The request is pending already: it is not reported twice.
                        return self.ask(gated, step_cx, request).map(|(phase, _)| (phase, Advance::Moved));
                    }
                    Err(rejection(fault))
                }
            },
            Ok(ApprovalAnswer::Later) if step_cx.suspending == Suspending::Denied => {
                gate.record(|| record(ApprovalOutcome::NoApprover));
                Err(ToolFailure::new(FailureKind::Denied, NO_APPROVAL))
            }
            Ok(ApprovalAnswer::Later) => {
                gate.record(|| record(ApprovalOutcome::Suspended));
                Ok((CallPhase::Finished { pending: None }, Advance::Suspended(request)))
            }
            Ok(ApprovalAnswer::NoAnswer { reason }) => {
                gate.record(|| record(ApprovalOutcome::Unanswered).with_reason(&reason));
                Err(ToolFailure::new(FailureKind::Cancelled, reason))
            }
            Err(error) => {
                gate.record(|| record(ApprovalOutcome::Rejected).with_reason(&error));
                Err(unapproved(error))
            }
        }
    }

    /// Returns the failure of a call whose arguments can't be read. The model reads the issues of those it wrote; about
    /// arguments that a person edited, which were checked when they came, it learns only that the call does not run.
    pub(super) fn unreadable(&self, failure: ToolFailure) -> ToolFailure {
        let is_invalid = failure.kind == FailureKind::InputValidationError;
        if is_invalid && self.prior.as_deref().is_some_and(PriorApproval::has_edited_arguments) {
            return unapproved(VerdictFault::Invalid { issues: failure.issues });
        }
        failure
    }

    /// Records that a request or a verdict was rejected, and keeps the verdict for the application that sent it.
    pub(super) fn reject(
        &mut self,
        step_cx: StepCx<'_>,
        request: &ApprovalRequest,
        verdict: Option<Box<Verdict>>,
        fault: VerdictFault,
    ) {
        let (gate, caller) = (step_cx.options.gate(), step_cx.options.caller_ref());
        gate.record(|| {
            let record = gate.new_record(request, caller, fault.outcome());
            verdict.iter().fold(record, |record, verdict| record.with_response(verdict)).with_reason(&fault.recorded())
        });
        if let Some(verdict) = verdict {
            self.rejected.push(RejectedVerdict::new(*verdict, fault));
        }
    }

    /// Closes the approval request of a call that has its outcome: one that is pending, or one from before the run that
    /// was not reached. Returns the verdicts that were not used.
    pub(in crate::executor) fn close_request(&mut self, call: &ToolCall, options: &RunOptions) -> Vec<RejectedVerdict> {
        let pending = if let CallPhase::Finished { pending } = &mut self.phase { pending.take() } else { None };
        let open = match (pending, self.prior.take().map(|prior| *prior)) {
            (Some(request), _) => vec![(*request, None)],
            (None, Some(PriorApproval::Open { request, verdict })) => vec![(*request, verdict)],
            (None, Some(PriorApproval::Claimed { verdict })) => {
                vec![(ApprovalRequest::answered_by(call, &verdict), Some(verdict))]
            }
            (None, Some(PriorApproval::Waiting { questions, .. })) => {
                questions.into_iter().map(|PriorQuestion { request, verdict }| (request, verdict)).collect()
            }
            (
                None,
                Some(
                    PriorApproval::Approved { .. }
                    | PriorApproval::Planned { .. }
                    | PriorApproval::Edited
                    | PriorApproval::Finished(_),
                )
                | None,
            ) => return self.take_rejected(),
        };
        let (gate, caller) = (options.gate(), options.caller_ref());
        for (request, verdict) in open {
            gate.record(|| match &verdict {
                Some(verdict) => gate
                    .new_record(&request, caller, ApprovalOutcome::Rejected)
                    .with_response(verdict)
                    .with_reason(UNUSED),
                None if gate.ensure_open(&request) == Err(VerdictFault::Expired) => {
                    gate.new_record(&request, caller, ApprovalOutcome::Expired)
                }
                None => gate.new_record(&request, caller, ApprovalOutcome::Unanswered),
            });
            let unused = verdict.map(|verdict| RejectedVerdict::new(*verdict, VerdictFault::UnknownRequest));
            self.rejected.extend(unused);
        }
        self.take_rejected()
    }
}

impl PriorApproval {
    /// Reports whether the call starts again in this run, with arguments that a person edited.
    pub(super) fn is_edited(&self) -> bool {
        matches!(self, Self::Edited)
    }

    /// Reports whether a person edited the arguments that the call has now, in this run or before it.
    fn has_edited_arguments(&self) -> bool {
        match self {
            Self::Edited => true,
            Self::Approved { verdict, .. } => matches!(verdict.decision, ApprovalDecision::Edited(_)),
            Self::Planned { .. }
            | Self::Open { .. }
            | Self::Claimed { .. }
            | Self::Waiting { .. }
            | Self::Finished(_) => false,
        }
    }
}

/// Waits for the answer to an approval request, at most this long.
fn await_verdict(
    gated: Box<Gated>,
    request: Box<ApprovalRequest>,
    answer: AnswerFuture,
    longest: Option<Duration>,
) -> Transition {
    let expires = longest.and_then(|longest| Instant::now().checked_add(longest));
    let asked = Advance::ApprovalRequested(request.clone());
    (CallPhase::AwaitingVerdict(AwaitingVerdict { gated, request, answer: Isolated::new(answer), expires }), asked)
}

/// Returns the decision of the first policy that requires approval.
async fn any_needed(needs: Vec<(Isolated<BoxFuture<ApprovalNeed>>, ApprovalRule)>) -> (ApprovalNeed, ApprovalRule) {
    let mut last = ApprovalRule::ToolPolicy;
    for (need, rule) in needs {
        let need = need.await;
        if need.is_needed() {
            return (need, rule);
        }
        last = rule;
    }
    (ApprovalNeed::NotNeeded, last)
}

fn undecided(panicked: Panicked) -> BoxFuture<ApprovalNeed> {
    Box::pin(ready(ApprovalNeed::undecided(panicked)))
}

/// Returns the longest time to wait for an answer: one that arrives after the request has expired could not be used.
fn longest_wait(step_cx: StepCx<'_>, request: &ApprovalRequest) -> Result<Option<Duration>, VerdictFault> {
    let now = step_cx.options.gate().now()?.unix_millis();
    let is_open = request.expires_at.map(|end| Duration::from_millis(end.unix_millis().saturating_sub(now)));
    Ok([step_cx.options.approval_timeout, is_open].into_iter().flatten().min())
}

/// Reads the arguments for policies and digests. Only a call that may require approval is read twice.
pub(crate) fn decoded(tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<Arguments, ToolFailure> {
    match isolated(|| Arguments::read(tool, arguments, options)) {
        Ok(read) => read.map_err(invalid_input),
        Err(panicked) => Err(panicked.into()),
    }
}

/// Returns the failure of a call whose verdict was rejected.
pub(super) fn rejection(fault: VerdictFault) -> ToolFailure {
    let failure = match fault {
        VerdictFault::Expired => ToolFailure::new(FailureKind::Cancelled, EXPIRED),
        VerdictFault::OtherDigest => ToolFailure::new(FailureKind::Denied, CHANGED),
        VerdictFault::UnknownRequest
        | VerdictFault::AlreadyDecided
        | VerdictFault::UnusableDecision { .. }
        | VerdictFault::ProviderCall { .. }
        | VerdictFault::Invalid { .. }
        | VerdictFault::ClockFailed
        | VerdictFault::Unsigned
        | VerdictFault::UnknownKey { .. }
        | VerdictFault::OutdatedSignature
        | VerdictFault::Forged
        | VerdictFault::Full
        | VerdictFault::Closed => ToolFailure::new(FailureKind::Denied, NOT_APPROVED),
    };
    failure.cause(fault)
}

/// Returns the failure of a call that was not approved.
fn unapproved(cause: impl Into<BoxError>) -> ToolFailure {
    ToolFailure::new(FailureKind::Denied, NOT_APPROVED).cause(cause)
}
