//! Whether somebody agrees that a call runs: the last thing before it may.
//!
//! The arguments are checked when this begins, and everything here is about exactly those. A verdict that was given
//! before counts as much as one that is given now, and is looked at no less closely.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{Flight, Phase, Step, Tower};
use crate::approval::{ApprovalOutcome, AtGate, RefusedVerdict, Standing, VerdictFault, digest_of};
use crate::call::ToolCall;
use crate::executor::approve::ApprovalAnswer;
#[cfg(feature = "approval")]
use crate::executor::docket::Suspending;
use crate::executor::isolation::{Isolated, Panicked, drop_isolated, isolated, poll_isolated};
use crate::executor::option::{Policy, RunOptions};
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{BoxError, BoxFuture, invalid_input, invalid_output};
use crate::item::{ApprovalDecision, ApprovalRequest, ApprovalResponse, ApprovalRule};
use crate::json_text::JsonText;
use crate::output::ToolOutput;
use crate::result::Outcome;
use crate::schema::DecodeOptions;
use crate::tool::{ApprovalCx, ApprovalNeed, ApprovalPolicy, NO_APPROVAL, PolicyError, Tool};

/// What the model is told when nobody gave a usable answer.
const NOT_ANSWERED: &str = "this call needs approval and nobody gave it";
/// What the model is told when an approval does not fit the call.
const CHANGED: &str = "the approval was given for other arguments or another definition of the tool; ask again";
/// What is written down about a verdict whose call never got as far as to need it.
const UNUSED: &str = "the call was over before the verdict could be used";
/// What the model is told when a question was open for too long.
const LAPSED: &str = "the question whether this call may run has lapsed; ask again";

/// What a flight knows about its approval. Most have none.
#[derive(Default)]
pub(super) struct Consent {
    /// What was known before the run began.
    pub(super) standing: Option<Standing>,
    /// The arguments as they were decoded.
    arguments: Value,
    /// What binds an approval to them, once somebody needs to know.
    digest: String,
    /// The question that is open.
    request: Option<Box<ApprovalRequest>>,
    /// Verdicts that came and do not count.
    pub(super) refused: Vec<RefusedVerdict>,
}

/// Policies that decide together, the tool's own first.
pub(super) struct Policies<'a> {
    own: Option<&'a ApprovalPolicy>,
    also: Option<&'a ApprovalPolicy>,
}

impl<'a> Policies<'a> {
    pub(super) fn of(tool: &'a Tool, tower: Tower<'a>) -> Self {
        match &tower.options.policy {
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

impl Consent {
    pub(super) fn new(standing: Standing) -> Self {
        Self { standing: Some(standing), ..Self::default() }
    }

    /// Whether the call is on its way for a second time, with arguments of a person's.
    pub(super) fn is_edited(&self) -> bool {
        matches!(self.standing, Some(Standing::Edited))
    }
}

impl Flight {
    /// Finds out whether somebody has to be asked.
    pub(super) fn seek_consent(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        policies: &Policies<'_>,
    ) -> Result<Step, ToolFailure> {
        let Some(tool) = self.tool(tower.set) else { return Ok(Step::Moved) };
        let arguments = decoded(tool, &call.arguments, &tower.options.decode)?;
        let standing = self.consent.as_mut().and_then(|consent| consent.standing.take());
        self.consent_mut().arguments = arguments;
        if let Some(standing) = standing
            && let Some(step) = self.stand(call, tower, standing)?
        {
            return Ok(step);
        }
        if let Some((_, rule)) = policies.iter().find(|(policy, _)| policy.is_always()) {
            return self.decided(call, tower, Ok((ApprovalNeed::Needed, rule)));
        }
        let (about, arguments) = (ApprovalCx::of(call, self.cx.as_ref()), &self.consent_mut().arguments);
        let deciding = isolated(|| {
            let needs = policies.iter().map(|(policy, rule)| {
                let need = Box::pin(policy.needs_approval(arguments, about.clone())) as BoxFuture<ApprovalNeed>;
                (Isolated::new(need), rule)
            });
            Box::pin(any_needed(needs.collect())) as Deciding
        });
        match deciding {
            Ok(deciding) => {
                self.phase = Phase::Deciding(Some(deciding));
                Ok(Step::Moved)
            }
            Err(panicked) => self.decided(call, tower, Err(panicked)),
        }
    }

    /// What the policies came to. One that broke has not said that the call may run unasked.
    pub(super) fn decided(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        need: Result<(ApprovalNeed, ApprovalRule), Panicked>,
    ) -> Result<Step, ToolFailure> {
        let (need, mut rule) = need.unwrap_or_else(|panicked| {
            (ApprovalNeed::Undecided(PolicyError::new(panicked)), ApprovalRule::PolicyFailed)
        });
        if !need.is_needed() {
            if tower.is_planning {
                self.bind_digest(call, tower);
            }
            drop_isolated(self.cx.take());
            return Ok(self.cleared());
        }
        if let ApprovalNeed::Undecided(_) = need {
            rule = ApprovalRule::PolicyFailed;
        }
        self.bind_digest(call, tower);
        let Some(at) = self.at_gate(call, tower) else { return Ok(Step::Moved) };
        let gate = tower.options.gate();
        let request = Box::new(gate.question(at, rule));
        if let Some(response) = gate.recall(at) {
            let outcome = ApprovalOutcome::remembered(&response.decision);
            return Ok(self.take_verdict(call, tower, &request, response, outcome));
        }
        if tower.options.approver.is_none() {
            let caller = tower.options.caller_ref();
            gate.record(|| gate.outcome(&request, caller, ApprovalOutcome::NobodyAsked));
            let denied = ToolFailure::new(FailureKind::Denied, NO_APPROVAL);
            return Err(match need {
                ApprovalNeed::Undecided(error) => denied.cause(error),
                _ => denied,
            });
        }
        self.ask(tower, request)
    }

    /// Puts a question to the approver. One that is open from before stays open where there is none.
    pub(super) fn ask(&mut self, tower: Tower<'_>, request: Box<ApprovalRequest>) -> Result<Step, ToolFailure> {
        let (Some(approver), Some(cx)) = (&tower.options.approver, self.cx.take()) else {
            return Ok(Step::Suspended(request));
        };
        let cx = cx.at_gate(tower.options.gate.as_ref());
        let asking = isolated(|| Arc::clone(approver).ask((*request).clone(), cx)).map_err(unapproved)?;
        self.phase = Phase::Approving(Some(asking));
        self.clock.answer = patience(tower, &request).and_then(|patience| Instant::now().checked_add(patience));
        self.consent_mut().request = Some(request.clone());
        Ok(Step::Asked(request))
    }

    /// Waits for the approver.
    pub(super) fn approving(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        task: &mut Context<'_>,
    ) -> Result<Step, ToolFailure> {
        let Phase::Approving(approver) = &mut self.phase else { return Ok(Step::Pending) };
        match poll_isolated(approver, task) {
            Poll::Pending => Ok(Step::Pending),
            Poll::Ready(answer) => {
                self.clock.answer = None;
                self.answered(call, tower, answer.unwrap_or_else(|panicked| Err(panicked.into())))
            }
        }
    }

    /// Only a verdict on this very question counts.
    fn answered(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        answer: Result<ApprovalAnswer, BoxError>,
    ) -> Result<Step, ToolFailure> {
        let Some(request) = self.consent_mut().request.take() else { return Ok(Step::Pending) };
        let gate = tower.options.gate();
        let record = |outcome| gate.outcome(&request, tower.options.caller_ref(), outcome);
        match answer {
            Ok(ApprovalAnswer::Verdict(response)) => match gate.examine(&request, &response) {
                Ok(()) => {
                    let outcome = ApprovalOutcome::of(&response.decision);
                    Ok(self.take_verdict(call, tower, &request, *response, outcome))
                }
                Err(fault) => {
                    self.refuse(tower, &request, Some(response), fault.clone());
                    Err(refusal(fault))
                }
            },
            #[cfg(feature = "approval")]
            Ok(ApprovalAnswer::Later) if tower.suspending == Suspending::Denied => {
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

    /// Does what a verdict says. It was found to be good, or holds from before.
    pub(super) fn take_verdict(
        &mut self,
        call: &ToolCall,
        tower: Tower<'_>,
        request: &ApprovalRequest,
        response: ApprovalResponse,
        outcome: ApprovalOutcome,
    ) -> Step {
        let gate = tower.options.gate();
        let Some(tool) = self.tool(tower.set) else { return Step::Moved };
        let mut edited = None;
        let mut edited_digest = None;
        self.phase = match &response.decision {
            ApprovalDecision::Approved => Phase::Cleared,
            ApprovalDecision::Denied => settled(ToolFailure::new(FailureKind::Denied, said(&response))),
            ApprovalDecision::Answered(value) => Phase::Settled(Box::new(answered_by_hand(tool, value))),
            ApprovalDecision::Edited(arguments) => match decoded(tool, arguments.as_str(), &tower.options.decode) {
                Ok(tree) => {
                    edited_digest = Some(digest_of(tool, &tree, arguments.as_str()));
                    edited = Some(arguments.as_str().to_owned());
                    Phase::Fresh
                }
                Err(failure) => settled(edit_refused(failure)),
            },
            // Such a verdict is never found to be good.
            ApprovalDecision::Other(_) => settled(ToolFailure::new(FailureKind::Denied, NOT_ANSWERED)),
        };
        // Arguments or an answer that can't be used here could not be used for another call either.
        let is_usable = match (&self.phase, &response.decision) {
            (Phase::Settled(outcome), ApprovalDecision::Answered(_) | ApprovalDecision::Edited(_)) => outcome.is_ok(),
            _ => true,
        };
        gate.record(|| {
            let outcome = if is_usable { outcome } else { ApprovalOutcome::Refused };
            let mut record = gate.outcome(request, tower.options.caller_ref(), outcome).by(&response);
            record.edited_digest = edited_digest;
            record
        });
        // One that was remembered is there already, or was taken out meanwhile.
        let is_new = !matches!(outcome, ApprovalOutcome::Remembered | ApprovalOutcome::RememberedDenied);
        if let Some(at) = self.at_gate(call, tower).filter(|_| is_usable && is_new) {
            gate.remember(at, &response);
        }
        if edited.is_some() {
            drop_isolated(self.prepared.take());
            drop_isolated(self.cx.take());
            self.aside = None;
            let refused = self.take_refused();
            self.consent = Some(Box::new(Consent { refused, ..Consent::new(Standing::Edited) }));
        }
        Step::Answered { response: Box::new(response), edited }
    }

    /// Computes what binds an approval to this call.
    pub(super) fn bind_digest(&mut self, call: &ToolCall, tower: Tower<'_>) -> &String {
        let tool = self.tool(tower.set);
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

    pub(super) fn at_gate<'a>(&'a self, call: &'a ToolCall, tower: Tower<'a>) -> Option<AtGate<'a>> {
        let (tool, digest) = (self.tool(tower.set)?, self.digest()?);
        Some(AtGate { tool, call, caller: tower.options.caller_ref(), digest })
    }

    pub(super) fn consent_mut(&mut self) -> &mut Consent {
        self.consent.get_or_insert_default()
    }

    /// It is done. A question that is still open, one that it asked or one from before that it never got to, is closed;
    /// verdicts that were not used are given back.
    pub(in crate::executor) fn close_question(&mut self, call: &ToolCall, options: &RunOptions) -> Vec<RefusedVerdict> {
        let Some(consent) = self.consent.as_mut() else { return Vec::new() };
        let (request, verdict) = match (consent.request.take(), consent.standing.take()) {
            (Some(request), _) => (request, None),
            (None, Some(Standing::Open { request, verdict })) => (request, verdict),
            (None, Some(Standing::Claimed { verdict })) => {
                (Box::new(ApprovalRequest::answered_by(call, &verdict)), Some(verdict))
            }
            _ => return self.take_refused(),
        };
        let (gate, caller) = (options.gate(), options.caller_ref());
        gate.record(|| match &verdict {
            Some(verdict) => gate.outcome(&request, caller, ApprovalOutcome::Refused).by(verdict).because(UNUSED),
            None if request.is_expired(gate.now()) => gate.outcome(&request, caller, ApprovalOutcome::Lapsed),
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

/// How long an answer is waited for: one that comes when its question has lapsed could not be used any more.
fn patience(tower: Tower<'_>, request: &ApprovalRequest) -> Option<Duration> {
    let now = tower.options.gate().now().unix_millis();
    let is_open = request.expires_at.map(|end| Duration::from_millis(end.unix_millis().saturating_sub(now)));
    [tower.options.approval_timeout, is_open].into_iter().flatten().min()
}

/// The arguments as a tree: only who is gated pays for reading them twice.
fn decoded(tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<Value, ToolFailure> {
    match isolated(|| tool.parameters().decode::<Value>(arguments, options)) {
        Ok(read) => read.map(|decoded| decoded.value).map_err(invalid_input),
        Err(panicked) => Err(panicked.into()),
    }
}

/// A person's result in the tool's place is what the tool promises, or is none.
fn answered_by_hand(tool: &Tool, value: &JsonText) -> Outcome {
    match isolated(|| tool.success().check(&value.to_value())) {
        Ok(Ok(())) => Outcome::Ok(ToolOutput { value: value.clone(), model: None }),
        Ok(Err(issues)) => invalid_output(issues).not_started().into(),
        Err(panicked) => ToolFailure::from(panicked).not_started().into(),
    }
}

fn edit_refused(mut failure: ToolFailure) -> ToolFailure {
    failure.message = format!("the arguments that were put in the place of yours are refused: {}", failure.message);
    failure
}

fn settled(failure: ToolFailure) -> Phase {
    Phase::Settled(Box::new(failure.into()))
}

fn said(response: &ApprovalResponse) -> String {
    response.reason.clone().unwrap_or_default()
}

/// A verdict that does not count.
pub(super) fn refusal(fault: VerdictFault) -> ToolFailure {
    let failure = match fault {
        VerdictFault::Lapsed => ToolFailure::new(FailureKind::Cancelled, LAPSED),
        VerdictFault::OtherDigest => ToolFailure::new(FailureKind::Denied, CHANGED),
        _ => ToolFailure::new(FailureKind::Denied, NOT_ANSWERED),
    };
    failure.cause(fault)
}

/// Nobody said yes.
fn unapproved(cause: impl Into<BoxError>) -> ToolFailure {
    ToolFailure::new(FailureKind::Denied, NOT_ANSWERED).cause(cause)
}
