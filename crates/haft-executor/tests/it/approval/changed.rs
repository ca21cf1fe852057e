//! Tools whose definition changed between an approval request and its verdict: approval is requested again.

use haft_core::{ApprovalRequest, ApprovalRule, Decider, ToolEvent};
use haft_executor::{
    ApprovalOutcome, ApprovalPolicy, Cx, RunOptions, Suspend, Suspended, Tool, Toolkit, VerdictFault, VerdictQueue,
};
use std::sync::{Arc, Mutex};

use crate::approval::bench::{Journal, all_came, gated, noting, suspend, tell};
use crate::executing::{calls, kit};

/// Creates `pay` with this description.
fn described(journal: &Journal, said: &str) -> Toolkit {
    let journal = journal.clone();
    let pay = Tool::new("pay").describe(said).needs_approval(ApprovalPolicy::always().decided_by(Decider::Approvers));
    kit([pay.handler(move |cents: u16, _cx| {
        journal.note(format!("pay {cents}"));
        async move { cents }
    })])
}

async fn open(kit: &Toolkit) -> (Suspended, ApprovalRequest) {
    let suspended = suspend(kit, &RunOptions::new(), &calls([("pay", "5")])).await;
    let asked = suspended.pending().next().unwrap().clone();
    (suspended, asked)
}

#[tokio::test]
async fn a_changed_definition_voids_the_verdict_and_approval_is_requested_again() {
    for approver in [None, Some(Suspend)] {
        let journal = Journal::default();
        let (before, after) = (described(&journal, "Pays."), described(&journal, "Pays, and tells your boss."));
        let (suspended, asked) = open(&before).await;
        let records = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&records);
        let options = RunOptions::new().audit(move |record| {
            noted.lock().unwrap().push((record.request_id.clone().unwrap(), record.outcome));
        });
        let options = approver.map_or(options.clone(), |approver| options.approvals(approver));

        let mut run = after.resume_with(suspended, [asked.approve()], options);
        assert_eq!(tell(&mut run).await, ["c1 asked", "c1 suspended"]);
        assert_eq!(run.rejected_verdicts()[0].fault, VerdictFault::OtherDigest);
        let suspended = run.suspended().unwrap();
        let again = suspended.pending().next().unwrap().clone();
        assert_ne!((&again.request_id, &again.digest), (&asked.request_id, &asked.digest));
        assert_eq!(again.digest, after.get("pay").unwrap().approval_digest(&serde_json::json!(5)));
        assert_eq!(again.rule, Some(ApprovalRule::DefinitionChanged));
        assert_eq!((asked.decider(), again.decider()), (Some(Decider::Approvers), Some(Decider::Approvers)));
        let written = [
            (asked.request_id.clone(), ApprovalOutcome::Rejected),
            (again.request_id.clone(), ApprovalOutcome::Suspended),
        ];
        assert_eq!(*records.lock().unwrap(), written);

        // The old verdict is void, and the new one is for the tool as it is now.
        let mut run = after.resume(suspended, [asked.approve()]);
        assert_eq!(tell(&mut run).await, ["c1 suspended"]);
        assert_eq!(run.rejected_verdicts()[0].fault, VerdictFault::UnknownRequest);
        let results = after.resume(run.suspended().unwrap(), [again.approve()]).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), ["5"]);
        assert_eq!(journal.lines(), ["pay 5"]);
    }
}

#[tokio::test]
async fn a_definition_that_changes_each_time_requires_approval_each_time() {
    let journal = Journal::default();
    let (mut suspended, mut asked) = open(&described(&journal, "0")).await;
    for version in 1..5 {
        let kit = described(&journal, &version.to_string());
        let mut run = kit.resume(suspended, [asked.approve()]);
        assert_eq!(tell(&mut run).await, ["c1 asked", "c1 suspended"]);
        suspended = run.suspended().unwrap();
        asked = suspended.pending().next().unwrap().clone();
    }
    assert_eq!(journal.lines(), [""; 0]);
}

#[tokio::test]
async fn an_approver_or_a_queue_receives_a_request_for_the_current_definition() {
    let journal = Journal::default();
    let (before, after) = (described(&journal, "Pays."), described(&journal, "Pays twice."));
    let (suspended, asked) = open(&before).await;
    let approver = |request: ApprovalRequest, _: Cx| async move { request.approve() };
    let run = after.resume_with(suspended.clone(), [asked.approve()], RunOptions::new().approvals(approver));
    assert_eq!(tell(run).await, ["c1 asked", "c1 approved", "c1 output 5"]);

    let (sender, queue) = VerdictQueue::new();
    let mut run = after.resume_with(suspended, [asked.approve()], RunOptions::new().approvals(queue.clone()));
    let Some(ToolEvent::ApprovalRequested { request, .. }) = run.next().await else { panic!() };
    assert_ne!(request.request_id, asked.request_id);
    assert_eq!(
        sender.send(request.respond(asked.approve().decision).digest(&*asked.digest)).unwrap_err().fault,
        VerdictFault::OtherDigest
    );
    sender.send(request.approve()).unwrap();
    assert_eq!(tell(run).await, ["c1 approved", "c1 output 5"]);
    assert_eq!(journal.lines(), ["pay 5", "pay 5"]);
}

#[tokio::test]
async fn no_approval_is_requested_again_for_a_call_that_can_no_longer_run() {
    let journal = Journal::default();
    let always = ApprovalPolicy::always;
    let narrower = Tool::new("pay").needs_approval(always()).handler(|flag: bool, _cx| async move { flag });
    for (after, came_of) in
        [(kit([narrower]), "input_validation_error"), (kit([noting("look", &journal)]), "unknown_tool")]
    {
        let (suspended, asked) = open(&kit([gated("pay", &journal)])).await;
        let mut run = after.resume_with(suspended, [asked.approve()], RunOptions::new().approvals(Suspend));
        assert_eq!(tell(&mut run).await, [format!("c1 output {came_of}")]);
        assert_eq!(run.rejected_verdicts().len(), 1);
    }
    assert_eq!(journal.lines(), [""; 0]);
}

/// A request is only renewed while it is pending.
#[tokio::test]
async fn an_expired_request_is_not_renewed() {
    let journal = Journal::default();
    let (before, after) = (described(&journal, "Pays."), described(&journal, "Pays twice."));
    let lapsing = RunOptions::new().approval_lifetime(std::time::Duration::ZERO);
    let suspended = suspend(&before, &lapsing, &calls([("pay", "5")])).await;
    let asked = suspended.pending().next().unwrap().clone();
    let run = after.resume_with(suspended, [asked.approve()], RunOptions::new().approvals(Suspend));
    assert_eq!(tell(run).await, ["c1 output cancelled"]);
}
