//! Whether somebody agrees that a call runs: the last thing before it may.
//!
//! The arguments are checked when this begins, and everything here is about exactly those. A verdict that was given
//! before counts as much as one that is given now, and is looked at no less closely.

use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::{CallState, Phase, Step, StepCx};
use crate::approval::{ApprovalOutcome, AtGate, PriorApproval, RefusedVerdict, VerdictFault, digest_of};
use crate::arguments::{Arguments, Decisive};
use crate::call::ToolCall;
use crate::executor::approve::ApprovalAnswer;
use crate::executor::isolation::{Isolated, Panicked, drop_isolated, isolated, poll_isolated};
use crate::executor::option::{Policy, RunOptions};
#[cfg(feature = "approval")]
use crate::executor::run_approvals::Suspending;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{BoxError, BoxFuture, invalid_input};
use crate::item::{ApprovalDecision, ApprovalRequest, ApprovalRule};
use crate::schema::DecodeOptions;
use crate::tool::{ApprovalCx, ApprovalNeed, ApprovalPolicy, NO_APPROVAL, PolicyError, Tool};

/// What the model is told when nobody gave a usable answer.
const NOT_ANSWERED: &str = "this call needs approval and nobody gave it";
/// What the model is told when an approval does not fit the call.
const CHANGED: &str = "the approval was given for other arguments or another definition of the tool; ask again";
/// The number of times an approver is asked about one call while what it says is invalid.
const MOST_TRIES: u32 = 3;
/// What is written down about a verdict whose call never got as far as to need it.
const UNUSED: &str = "the call was over before the verdict could be used";
/// What the model is told when a question was open for too long.
const LAPSED: &str = "the question whether this call may run has lapsed; ask again";

/// The approval of a call, as far as it is known. Most calls need none.
#[derive(Default)]
pub(super) struct Consent {
    /// What was known before the run began.
    pub(super) prior_approval: Option<PriorApproval>,
    /// The arguments as they were decoded.
    arguments: Arguments,
    /// What binds an approval to them, once somebody needs to know.
    digest: String,
    /// The question that is open.
    request: Option<Box<ApprovalRequest>>,
    /// The number of times the approver was asked.
    tries: u32,
    /// Verdicts that came and do not count.
    pub(super) refused: Vec<RefusedVerdict>,
}

/// Policies that decide together, the tool's own first.
pub(super) struct Policies<'a> {
    own: Option<&'a ApprovalPolicy>,
    also: Option<&'a ApprovalPolicy>,
}

impl<'a> Policies<'a> {
    pub(super) fn of(tool: &'a Tool, step_cx: StepCx<'a>) -> Self {
        match &step_cx.options.policy {
            None => Self { own: Some(tool.approval()), also: None },
            Some(Policy::Also(policy)) => Self { own: Some(tool.approval()), also: Some(policy) },
            Some(Policy::Instead(policy)) => Self { own: None, also: Some(policy) },
        }
    }

    pub(super) fn are_silent(&self) -> bool {
        self.iter().all(|(policy, _)| policy.is_never())
    }

    fn iter(&self) -> impl Iterator<Item = (&'a ApprovalPolicy, ApprovalRule)> + use<'a> {
        let own = self.own.map(|policy| (policy, ApprovalRule::ToolPolicy));
        own.into_iter().chain(self.also.map(|policy| (policy, ApprovalRule::RunPolicy)))
    }
}

/// What the policies came to, and which of them.
pub(super) type Deciding = BoxFuture<(ApprovalNeed, ApprovalRule)>;

/// An approver that was asked.
type Asking = BoxFuture<Result<ApprovalAnswer, BoxError>>;

impl Consent {
    pub(super) fn new(prior_approval: PriorApproval) -> Self {
        Self { prior_approval: Some(prior_approval), ..Self::default() }
    }

    /// Of a call that starts anew with arguments that a person wrote.
    pub(super) fn edited(refused: Vec<RefusedVerdict>) -> Self {
        Self { refused, ..Self::new(PriorApproval::Edited) }
    }

    /// Whether the call is on its way for a second time, with arguments of a person's.
    pub(super) fn is_edited(&self) -> bool {
        matches!(self.prior_approval, Some(PriorApproval::Edited))
    }

    /// Reports whether a person wrote the arguments that the call has now, in this run or before it.
    fn has_edited_arguments(&self) -> bool {
        match &self.prior_approval {
            Some(PriorApproval::Edited) => true,
            Some(PriorApproval::Approved { verdict, .. }) => matches!(verdict.decision, ApprovalDecision::Edited(_)),
            Some(
                PriorApproval::Planned { .. }
                | PriorApproval::Open { .. }
                | PriorApproval::Claimed { .. }
                | PriorApproval::Settled(_),
            )
            | None => false,
        }
    }
}

impl CallState {
    /// Finds out whether somebody has to be asked.
    pub(super) fn seek_consent(
        &mut self,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        policies: &Policies<'_>,
    ) -> Result<Step, ToolFailure> {
        let Some(tool) = self.tool(step_cx.set) else { return Ok(Step::Moved) };
        let arguments = match decoded(tool, &call.arguments, &step_cx.options.decode) {
            Ok(arguments) => arguments,
            Err(failure) => return Err(self.unread(failure)),
        };
        let prior_approval = self.consent.as_mut().and_then(|consent| consent.prior_approval.take());
        self.consent_mut().arguments = arguments;
        if let Some(prior_approval) = prior_approval
            && let Some(step) = self.stand(call, step_cx, prior_approval)?
        {
            return Ok(step);
        }
        if let Some((_, rule)) = policies.iter().find(|(policy, _)| policy.is_always()) {
            return self.decided(call, step_cx, Ok((ApprovalNeed::Needed, rule)));
        }
        let about = ApprovalCx::of(call, self.cx.as_ref());
        let options = &step_cx.options.decode;
        let arguments = Decisive::of(&self.consent_mut().arguments, tool, &call.arguments, options);
        let deciding = isolated(|| {
            let needs = policies.iter().map(|(policy, rule)| {
                let need = Box::pin(policy.decide(&arguments, about.clone())) as BoxFuture<ApprovalNeed>;
                (Isolated::new(need), rule)
            });
            Box::pin(any_needed(needs.collect())) as Deciding
        });
        match deciding {
            Ok(deciding) => {
                self.phase = Phase::Deciding(Some(deciding));
                Ok(Step::Moved)
            }
            Err(panicked) => self.decided(call, step_cx, Err(panicked)),
        }
    }

    /// What the policies came to. One that broke has not said that the call may run unasked.
    pub(super) fn decided(
        &mut self,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        need: Result<(ApprovalNeed, ApprovalRule), Panicked>,
    ) -> Result<Step, ToolFailure> {
        let (need, mut rule) = need.unwrap_or_else(|panicked| {
            (ApprovalNeed::Undecided(PolicyError::new(panicked)), ApprovalRule::PolicyFailed)
        });
        if !need.is_needed() {
            if step_cx.is_planning {
                self.bind_digest(call, step_cx);
            }
            drop_isolated(self.cx.take());
            return Ok(self.cleared(call, step_cx));
        }
        if let ApprovalNeed::Undecided(_) = need {
            rule = ApprovalRule::PolicyFailed;
        }
        self.bind_digest(call, step_cx);
        let Some(at) = self.at_gate(call, step_cx) else { return Ok(Step::Moved) };
        let gate = step_cx.options.gate();
        let mut request = Box::new(gate.question(at, rule));
        if let Some(step) = self.recalled(call, step_cx, &request) {
            return Ok(step);
        }
        if step_cx.options.approver.is_none() {
            let caller = step_cx.options.caller_ref();
            gate.record(|| gate.outcome(&request, caller, ApprovalOutcome::NobodyAsked));
            let denied = ToolFailure::new(FailureKind::Denied, NO_APPROVAL);
            return Err(match need {
                ApprovalNeed::Undecided(error) => denied.cause(error),
                _ => denied,
            });
        }
        if let Err(fault) = gate.seal(&mut request) {
            self.refuse(step_cx, &request, None, fault.clone());
            return Err(refusal(fault));
        }
        self.ask(step_cx, request)
    }

    /// Puts a question to the approver. One that is open from before stays open where there is none.
    pub(super) fn ask(&mut self, step_cx: StepCx<'_>, request: Box<ApprovalRequest>) -> Result<Step, ToolFailure> {
        let (Some(approver), Some(cx)) = (&step_cx.options.approver, self.cx.clone()) else {
            return Ok(Step::Suspended(request));
        };
        let patience = match patience(step_cx, &request) {
            Ok(patience) => patience,
            Err(fault) => {
                self.refuse(step_cx, &request, None, fault.clone());
                return Err(refusal(fault));
            }
        };
        let consent = self.consent_mut();
        consent.tries += 1;
        let mut cx = cx.at_gate(step_cx.options.gate.as_ref());
        if let Some(rejected) = consent.refused.last().filter(|refused| refused.fault.is_invalid()) {
            cx = cx.asked_again(consent.tries, rejected.clone());
        }
        let asking = isolated(|| Arc::clone(approver).ask((*request).clone(), cx)).map_err(unapproved)?;
        self.wait_for(&request, asking, patience);
        Ok(Step::Asked(request))
    }

    /// Waits for the answer to a question.
    fn wait_for(&mut self, request: &ApprovalRequest, asking: Asking, patience: Option<Duration>) {
        self.phase = Phase::Approving(Some(asking));
        self.clock.answer = patience.and_then(|patience| Instant::now().checked_add(patience));
        self.consent_mut().request = Some(Box::new(request.clone()));
    }

    /// Puts a new question about a call that was asked about before. Where nobody is there to be asked, the call waits for
    /// the answer beyond this run.
    pub(super) fn ask_anew(&mut self, step_cx: StepCx<'_>, request: Box<ApprovalRequest>) -> Result<Step, ToolFailure> {
        if step_cx.options.approver.is_some() {
            return self.ask(step_cx, request);
        }
        self.wait_for(&request, Box::pin(ready(Ok(ApprovalAnswer::put_off()))), None);
        Ok(Step::Asked(request))
    }

    /// Waits for the approver.
    pub(super) fn approving(
        &mut self,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Step, ToolFailure> {
        let Phase::Approving(approver) = &mut self.phase else { return Ok(Step::Pending) };
        match poll_isolated(approver, task) {
            Poll::Pending => Ok(Step::Pending),
            Poll::Ready(answer) => {
                self.clock.answer = None;
                self.answered(call, step_cx, answer.unwrap_or_else(|panicked| Err(panicked.into())))
            }
        }
    }

    /// Only a verdict on this very question counts.
    fn answered(
        &mut self,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        answer: Result<ApprovalAnswer, BoxError>,
    ) -> Result<Step, ToolFailure> {
        let Some(request) = self.consent_mut().request.take() else { return Ok(Step::Pending) };
        let gate = step_cx.options.gate();
        let record = |outcome| gate.outcome(&request, step_cx.options.caller_ref(), outcome);
        match answer {
            Ok(ApprovalAnswer::Verdict(response)) => match self.judge(step_cx, &request, &response) {
                Ok(ruling) => {
                    let outcome = ApprovalOutcome::of(&response.decision);
                    Ok(self.take_verdict(call, step_cx, &request, *response, ruling, outcome))
                }
                Err(fault) => {
                    self.refuse(step_cx, &request, Some(response), fault.clone());
                    if fault.is_invalid() && self.consent_mut().tries < MOST_TRIES {
                        // The question is open already: nobody is told of it twice.
                        return self.ask(step_cx, request).map(|_| Step::Moved);
                    }
                    Err(refusal(fault))
                }
            },
            #[cfg(feature = "approval")]
            Ok(ApprovalAnswer::Later) if step_cx.suspending == Suspending::Denied => {
                gate.record(|| record(ApprovalOutcome::NobodyAsked));
                Err(ToolFailure::new(FailureKind::Denied, NO_APPROVAL))
            }
            #[cfg(feature = "approval")]
            Ok(ApprovalAnswer::Later) => {
                gate.record(|| record(ApprovalOutcome::Suspended));
                Ok(Step::Suspended(request))
            }
            Ok(ApprovalAnswer::Nobody { reason }) => {
                gate.record(|| record(ApprovalOutcome::Unanswered).because(&reason));
                Err(ToolFailure::new(FailureKind::Cancelled, reason))
            }
            Err(error) => {
                gate.record(|| record(ApprovalOutcome::Refused).because(&error));
                Err(unapproved(error))
            }
        }
    }

    /// Computes what binds an approval to this call.
    pub(super) fn bind_digest(&mut self, call: &ToolCall, step_cx: StepCx<'_>) -> &String {
        let tool = self.tool(step_cx.set);
        let consent = self.consent_mut();
        if let (Some(tool), true) = (tool, consent.digest.is_empty()) {
            consent.digest = digest_of(tool, &consent.arguments, &call.arguments);
        }
        &consent.digest
    }

    /// What the approval of this call is bound to, once it is known.
    pub(in crate::executor) fn digest(&self) -> Option<&str> {
        self.consent.as_ref().map(|consent| consent.digest.as_str())
    }

    pub(super) fn at_gate<'a>(&'a self, call: &'a ToolCall, step_cx: StepCx<'a>) -> Option<AtGate<'a>> {
        let (tool, digest) = (self.tool(step_cx.set)?, self.digest()?);
        Some(AtGate { tool, call, caller: step_cx.options.caller_ref(), digest })
    }

    /// The arguments of the call could not be read. The model is told of those it wrote; about a person's, which were
    /// checked when they came, it learns only that the call does not run.
    pub(super) fn unread(&self, failure: ToolFailure) -> ToolFailure {
        let is_invalid = failure.kind == FailureKind::InputValidationError;
        if is_invalid && self.consent.as_ref().is_some_and(|consent| consent.has_edited_arguments()) {
            return unapproved(VerdictFault::Invalid { issues: failure.issues });
        }
        failure
    }

    pub(super) fn consent_mut(&mut self) -> &mut Consent {
        self.consent.get_or_insert_default()
    }

    /// It is done. A question that is still open, one that it asked or one from before that it never got to, is closed;
    /// verdicts that were not used are given back.
    pub(in crate::executor) fn close_question(&mut self, call: &ToolCall, options: &RunOptions) -> Vec<RefusedVerdict> {
        let Some(consent) = self.consent.as_mut() else { return Vec::new() };
        let (request, verdict) = match (consent.request.take(), consent.prior_approval.take()) {
            (Some(request), _) => (request, None),
            (None, Some(PriorApproval::Open { request, verdict })) => (request, verdict),
            (None, Some(PriorApproval::Claimed { verdict })) => {
                (Box::new(ApprovalRequest::answered_by(call, &verdict)), Some(verdict))
            }
            _ => return self.take_refused(),
        };
        let (gate, caller) = (options.gate(), options.caller_ref());
        gate.record(|| match &verdict {
            Some(verdict) => gate.outcome(&request, caller, ApprovalOutcome::Refused).by(verdict).because(UNUSED),
            None if gate.ensure_open(&request) == Err(VerdictFault::Lapsed) => {
                gate.outcome(&request, caller, ApprovalOutcome::Lapsed)
            }
            None => gate.outcome(&request, caller, ApprovalOutcome::Unanswered),
        });
        let unused = verdict.map(|verdict| RefusedVerdict::new(*verdict, VerdictFault::UnknownRequest));
        consent.refused.extend(unused);
        self.take_refused()
    }

    /// The verdicts that did not count, for whoever sent them.
    pub(in crate::executor) fn take_refused(&mut self) -> Vec<RefusedVerdict> {
        self.consent.as_mut().map(|consent| std::mem::take(&mut consent.refused)).unwrap_or_default()
    }
}

/// Whether any policy asks, the first that does deciding.
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

/// Returns how long an answer is waited for: one that comes when its question has lapsed could not be used any more.
fn patience(step_cx: StepCx<'_>, request: &ApprovalRequest) -> Result<Option<Duration>, VerdictFault> {
    let now = step_cx.options.gate().now()?.unix_millis();
    let is_open = request.expires_at.map(|end| Duration::from_millis(end.unix_millis().saturating_sub(now)));
    Ok([step_cx.options.approval_timeout, is_open].into_iter().flatten().min())
}

/// Reads the arguments for those who decide: only a call that is gated pays for reading them twice.
pub(crate) fn decoded(tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<Arguments, ToolFailure> {
    match isolated(|| Arguments::read(tool, arguments, options)) {
        Ok(read) => read.map_err(invalid_input),
        Err(panicked) => Err(panicked.into()),
    }
}

/// A verdict that does not count.
pub(super) fn refusal(fault: VerdictFault) -> ToolFailure {
    let failure = match fault {
        VerdictFault::Lapsed => ToolFailure::new(FailureKind::Cancelled, LAPSED),
        VerdictFault::OtherDigest => ToolFailure::new(FailureKind::Denied, CHANGED),
        #[cfg(feature = "approval")]
        VerdictFault::Signature(_) => ToolFailure::new(FailureKind::Denied, NOT_ANSWERED),
        VerdictFault::UnknownRequest
        | VerdictFault::AlreadyDecided
        | VerdictFault::UnusableDecision { .. }
        | VerdictFault::Invalid { .. }
        | VerdictFault::ClockFailed
        | VerdictFault::Full
        | VerdictFault::Closed => ToolFailure::new(FailureKind::Denied, NOT_ANSWERED),
    };
    failure.cause(fault)
}

/// Nobody said yes.
fn unapproved(cause: impl Into<BoxError>) -> ToolFailure {
    ToolFailure::new(FailureKind::Denied, NOT_ANSWERED).cause(cause)
}
