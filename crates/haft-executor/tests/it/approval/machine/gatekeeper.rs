//! The delivery of verdicts to runs.
//!
//! The machine drives every case through a gatekeeper. The sound one delivers everything unchanged; each of the others
//! is broken in one way, around the real toolkit, to prove that the machine detects it.

use haft_core::{ApprovalDecision, ApprovalRequest, ApprovalRule, ToolCall, Verdict};
use haft_executor::{
    ApprovalAnswer, ApprovalPolicy, Approve, BoxError, Cx, Receipt, RejectedVerdict, RunOptions, VerdictFault,
    VerdictQueue, VerdictSender,
};

use super::bench::Bench;

/// The context in which verdicts arrive.
pub(super) struct Desk<'a> {
    pub(super) sender: &'a VerdictSender,
    pub(super) queue: &'a VerdictQueue,
    /// All approval requests so far.
    pub(super) questions: &'a [ApprovalRequest],
    pub(super) bench: &'a Bench,
}

/// Delivers verdicts to runs.
pub(super) trait Gatekeeper: Sync {
    /// Lets a run wait on the queue.
    fn approvals(&self, options: RunOptions, queue: &VerdictQueue) -> RunOptions {
        options.approvals(queue.clone())
    }

    /// Sends a verdict to the run that waits for it.
    fn send(&self, desk: &Desk<'_>, verdict: Verdict) -> Result<Receipt, RejectedVerdict> {
        desk.sender.send(verdict)
    }

    /// Delivers all verdicts at once. The requests are those that the calls would make now.
    fn hand_in(&self, _questions: &[ApprovalRequest], verdicts: Vec<Verdict>) -> Vec<Verdict> {
        verdicts
    }
}

/// A gatekeeper without a fault.
pub(super) struct Sound;

impl Gatekeeper for Sound {}

/// A gatekeeper that runs a call unless it is denied.
pub(super) struct FailOpen;

impl Gatekeeper for FailOpen {
    fn approvals(&self, options: RunOptions, queue: &VerdictQueue) -> RunOptions {
        let queue = queue.clone();
        options.approvals(move |request: ApprovalRequest, cx: Cx| {
            let queue = queue.clone();
            async move {
                if request.rule == Some(ApprovalRule::PolicyFailed) {
                    return Ok::<_, BoxError>(request.approve().into());
                }
                match queue.approve(request.clone(), cx).await {
                    Ok(ApprovalAnswer::NoAnswer { .. }) | Err(_) => Ok(request.approve().into()),
                    answer => answer,
                }
            }
        })
    }
}

/// A gatekeeper that runs a call again when its approval is repeated.
pub(super) struct RunTwice;

impl Gatekeeper for RunTwice {
    fn send(&self, desk: &Desk<'_>, verdict: Verdict) -> Result<Receipt, RejectedVerdict> {
        let is_yes = verdict.decision == ApprovalDecision::Approved;
        let question = desk.questions.iter().find(|question| question.request_id == verdict.request_id);
        let sent = desk.sender.send(verdict);
        if let (true, Some(question), Err(refused)) = (is_yes, question, &sent)
            && refused.fault == VerdictFault::AlreadyDecided
        {
            let call = ToolCall::new(&question.call_id, &*question.tool, &*question.arguments);
            let options = desk.bench.plain().policy_instead(ApprovalPolicy::never());
            tokio::spawn(desk.bench.kit.run_with([call], options).collect_results());
        }
        sent
    }
}

/// A gatekeeper that accepts a verdict for whatever the call's current arguments are.
pub(super) struct NoDigest;

impl Gatekeeper for NoDigest {
    fn send(&self, desk: &Desk<'_>, verdict: Verdict) -> Result<Receipt, RejectedVerdict> {
        let open = desk.queue.open();
        let question = open.iter().find(|question| question.request_id == verdict.request_id);
        desk.sender.send(question.map_or_else(|| verdict.clone(), |question| rebound(question, &verdict)))
    }

    fn hand_in(&self, questions: &[ApprovalRequest], verdicts: Vec<Verdict>) -> Vec<Verdict> {
        let rebind = |verdict: Verdict| {
            let question = questions.iter().find(|question| Some(&question.call_id) == verdict.call_id.as_ref());
            question.map_or_else(|| verdict.clone(), |question| rebound(question, &verdict))
        };
        verdicts.into_iter().map(rebind).collect()
    }
}

fn rebound(question: &ApprovalRequest, verdict: &Verdict) -> Verdict {
    question.respond(verdict.decision.clone()).scope(verdict.scope.clone())
}

/// A gatekeeper that delivers verdicts only to the newest round.
pub(super) struct LoseVerdicts;

impl Gatekeeper for LoseVerdicts {
    fn send(&self, desk: &Desk<'_>, verdict: Verdict) -> Result<Receipt, RejectedVerdict> {
        let round = |call_id: &str| call_id.split_once('c').map(|(round, _)| round.to_owned());
        let newest = desk.questions.last().and_then(|question| round(question.call_id.as_str()));
        let meant = verdict.call_id.as_ref().and_then(|call_id| round(call_id.as_str()));
        if meant == newest { desk.sender.send(verdict) } else { Ok(Receipt::Delivered) }
    }
}
