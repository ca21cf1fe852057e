//! Edits and answers that fail their checks: the verdict is rejected with its issues, and the request stays pending.

use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, ApprovalScope, FailureKind, ToolEvent, Verdict};
use haft_executor::{
    ApprovalMemory, ApprovalOutcome, ApprovalPolicy, Cx, Receipt, RunOptions, Tool, Toolkit, VerdictFault, VerdictQueue,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use crate::approval::bench::{Decide, Journal, all_came, bench, gated, message, noting, suspend, tell};
use crate::executing::{calls, kit};

/// Verdicts with invalid content, and the text of the issue.
const INVALID: [(&str, Decide, &str); 4] = [
    ("a string", |request| request.edit(json!("much")), "must be"),
    ("too large", |request| request.edit(json!(70_000)), "must be at most 65535"),
    ("nothing", |request| request.edit(json!(null)), "must be"),
    ("a bad answer", |request| request.answer(json!("paid")), "must be"),
];

/// Joins the issues of a rejected verdict.
fn reason(fault: &VerdictFault) -> String {
    match fault {
        VerdictFault::Invalid { issues } => issues.reason(1_000),
        other => panic!("{other:?}"),
    }
}

type Records = Arc<Mutex<Vec<(ApprovalOutcome, Option<String>)>>>;

/// Returns options that collect the audit records.
fn audited() -> (RunOptions, Records) {
    let records = Records::default();
    let noted = Arc::clone(&records);
    let options = RunOptions::new().audit(move |record| {
        noted.lock().unwrap().push((record.outcome, record.reason.clone()));
    });
    (options, records)
}

#[tokio::test]
async fn an_invalid_verdict_sent_to_a_queue_is_returned_with_its_issues_and_the_request_stays_pending() {
    for (name, decide, said) in INVALID {
        let ((kit, journal), (sender, queue)) = (bench(), VerdictQueue::new());
        let mut run = kit.run_with(calls([("pay", "5")]), RunOptions::new().approvals(queue.clone()));
        let Some(ToolEvent::ApprovalRequested { request, .. }) = run.next().await else { panic!("{name}") };
        let rejected = sender.send(decide(&request)).unwrap_err();
        assert!(reason(&rejected.fault).contains(said), "{name}: {}", rejected.fault);
        assert_eq!(queue.open(), std::slice::from_ref(&*request), "{name}");
        assert_eq!(sender.send(request.edit(json!(6))), Ok(Receipt::Delivered), "{name}");
        assert_eq!(tell(&mut run).await, ["c1 edited", "c1 output 6"], "{name}");
        assert_eq!(journal.lines(), ["pay 6"], "{name}");
    }
}

#[tokio::test]
async fn an_invalid_verdict_that_came_before_its_request_leaves_it_pending() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "5")])).await;
    let request = suspended.pending().next().unwrap().clone();
    let (sender, queue) = VerdictQueue::new();
    assert_eq!(sender.send(request.edit(json!("much"))), Ok(Receipt::Parked));
    let mut run = kit.resume_with(suspended, [], RunOptions::new().approvals(queue.clone()));
    assert!(matches!(run.next().await, Some(ToolEvent::ApprovalRequested { .. })));
    assert!(reason(&queue.take_unmatched()[0].fault).contains("must be"));
    sender.send(request.approve()).unwrap();
    assert_eq!(tell(run).await, ["c1 approved", "c1 output 5"]);
    assert_eq!(journal.lines(), ["pay 5"]);
}

#[tokio::test]
async fn a_run_that_is_resumed_with_an_invalid_verdict_waits_for_another() {
    for (name, decide, said) in INVALID {
        let ((kit, journal), (options, records)) = (bench(), audited());
        let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "5"), ("look", "1")])).await;
        let asked = suspended.pending().next().unwrap().clone();
        let mut run = kit.resume_with(suspended, [decide(&asked)], options);
        assert_eq!(tell(&mut run).await, ["c1 suspended"], "{name}");
        let [rejected] = run.rejected_verdicts() else { panic!("{name}") };
        assert!(reason(&rejected.fault).contains(said), "{name}: {}", rejected.fault);
        assert_eq!(*rejected.response, decide(&asked), "{name}");
        let suspended = run.suspended().unwrap();
        assert_eq!(suspended.rejected_verdicts(), run.rejected_verdicts(), "{name}");
        assert_eq!(suspended.pending().collect::<Vec<_>>(), [&asked], "{name}");
        let results = kit.resume(suspended, [asked.approve()]).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), ["5", "1"], "{name}");
        assert_eq!(journal.lines(), ["look 1", "pay 5"], "{name}");

        // The record contains the rejection, and nothing of the verdict's content.
        let records = records.lock().unwrap();
        let [(ApprovalOutcome::Rejected, Some(said))] = &records[..] else { panic!("{name}: {records:?}") };
        assert!(said.contains("are invalid, with 1 issue"), "{name}: {said}");
    }
}

#[tokio::test]
async fn a_plan_returns_an_invalid_verdict_and_requests_approval_again() {
    for (name, decide, said) in INVALID {
        let (kit, journal) = bench();
        let calls = calls([("pay", "5")]);
        let asked = kit.plan_from_map(RunOptions::new(), [], &calls).await.requests.remove(0);
        let mut plan = kit.plan_from_map(RunOptions::new(), [decide(&asked)], &calls).await;
        assert!(reason(&plan.rejected_verdicts[0].fault).contains(said), "{name}: {}", plan.rejected_verdicts[0].fault);
        assert_eq!((plan.approved.len(), plan.requests.len()), (0, 1), "{name}");
        let again = plan.requests.remove(0);
        let results = kit.run(plan).collect_results().await;
        assert_eq!(all_came(&results), ["cancelled"], "{name}");
        for request in [&asked, &again] {
            let plan = kit.plan_from_map(RunOptions::new(), [request.approve()], &calls).await;
            assert_eq!(plan.approved.len(), 1, "{name}: either question can be answered");
        }
        assert_eq!(journal.lines(), [""; 0], "{name}");
    }
}

/// The edit was meant to change the call, so the unchanged call must not run even though it needs no approval.
#[tokio::test]
async fn an_invalid_edit_of_a_call_that_needs_no_approval_does_not_let_it_run_unedited() {
    let (kit, journal) = bench();
    let calls = calls([("look", "1")]);
    let asked = kit.plan_from_map(ApprovalPolicy::always(), [], &calls).await.requests.remove(0);
    let plan = kit.plan_from_map(RunOptions::new(), [asked.edit(json!("all"))], &calls).await;
    assert_eq!((plan.approved.len(), plan.requests.len(), plan.rejected_verdicts.len()), (0, 1, 1));
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["cancelled"]);

    let (kit, memory) = (bench().0, ApprovalMemory::new());
    let options = RunOptions::new().approval_memory(&memory);
    let suspended = suspend(&kit, &options, &calls_of("pay", "5")).await;
    let asked = suspended.pending().next().unwrap().clone();
    let yes = options
        .clone()
        .approvals(|request: ApprovalRequest, _: Cx| async move { request.approve().scope(ApprovalScope::ThisTool) });
    kit.run_with(calls_of("pay", "5"), yes).collect_results().await;
    let mut run = kit.resume_with(suspended, [asked.edit(json!("much"))], options);
    assert_eq!(tell(&mut run).await, ["c1 suspended"], "a yes from before does not override an objection");
    assert_eq!(journal.lines(), [""; 0]);
}

fn calls_of(tool: &'static str, arguments: &'static str) -> Vec<haft_core::ToolCall> {
    calls([(tool, arguments)])
}

/// The attempt and the previous issue of each approval request that an approver received.
type Told = Arc<Mutex<Vec<(u32, Option<String>)>>>;

/// Returns an approver that gives these verdicts one after the other.
fn in_turn(verdicts: Vec<Decide>, told: &Told) -> impl haft_executor::Approve {
    let told = Arc::clone(told);
    move |request: ApprovalRequest, cx: Cx| {
        let rejected = cx.rejected_verdict().map(|rejected| reason(&rejected.fault));
        let mut told = told.lock().unwrap();
        told.push((cx.attempt(), rejected));
        let verdict: Verdict = verdicts[told.len() - 1](&request);
        async move { verdict }
    }
}

#[tokio::test]
async fn an_approver_is_asked_again_with_the_issues() {
    let (kit, journal) = bench();
    let (told, (options, records)) = (Told::default(), audited());
    let verdicts: Vec<Decide> =
        vec![|request| request.edit(json!("much")), |request| request.answer(json!("x")), |it| it.edit(json!(6))];
    let mut run = kit.run_with(calls([("pay", "5")]), options.approvals(in_turn(verdicts, &told)));
    assert_eq!(tell(&mut run).await, ["c1 asked", "c1 edited", "c1 output 6"]);
    assert_eq!(run.rejected_verdicts().len(), 2);
    let told = told.lock().unwrap();
    let attempts: Vec<_> = told.iter().map(|(attempt, _)| *attempt).collect();
    assert_eq!(attempts, [1, 2, 3]);
    assert_eq!(told[0].1, None);
    assert!(told[1].1.as_deref().unwrap().contains("must be"), "{told:?}");
    assert!(told[2].1.as_deref().unwrap().contains("must be"), "{told:?}");
    let outcomes: Vec<_> = records.lock().unwrap().iter().map(|(outcome, _)| *outcome).collect();
    assert_eq!(outcomes, [ApprovalOutcome::Rejected, ApprovalOutcome::Rejected, ApprovalOutcome::Edited]);
    assert_eq!(journal.lines(), ["pay 6"]);
}

#[tokio::test]
async fn an_approver_is_asked_at_most_three_times_and_then_the_call_is_denied() {
    let (kit, journal) = bench();
    let (told, (options, records)) = (Told::default(), audited());
    let bad: Decide = |request| request.edit(json!("secret-word"));
    let run = kit.run_with(calls([("pay", "5")]), options.approvals(in_turn(vec![bad; 4], &told)));
    let results = run.collect_results().await;
    assert_eq!(all_came(&results), ["denied"]);
    assert_eq!(told.lock().unwrap().len(), 3);
    let outcomes: Vec<_> = records.lock().unwrap().iter().map(|(outcome, _)| *outcome).collect();
    assert_eq!(outcomes, [ApprovalOutcome::Rejected; 3]);
    // The model did not write those arguments, so its message contains nothing of them.
    let failure = results[0].failure().unwrap();
    assert!(failure.issues.is_empty() && !failure.message.contains("must be"), "{failure:?}");
    assert!(!serde_json::to_string(&results[0]).unwrap().contains("secret-word"));
    assert_eq!(message(&results), "this call requires approval and was not approved");
    assert_eq!(journal.lines(), [""; 0]);
}

/// A type that rejects strings which its schema accepts.
#[derive(Debug, JsonSchema)]
#[schemars(transparent)]
struct Even(#[allow(dead_code, reason = "only read")] u16);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u16::deserialize(deserializer)? {
            even if even % 2 == 0 => Ok(Self(even)),
            _ => Err(serde::de::Error::custom("odd")),
        }
    }
}

#[tokio::test]
async fn an_edit_that_only_the_handlers_type_rejects_is_rejected_too() {
    let pay =
        Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|even: Even, _cx| async move { even.0 });
    let kit: Toolkit = kit([pay]);
    let (sender, queue) = VerdictQueue::new();
    let mut run = kit.run_with(calls([("pay", "4")]), RunOptions::new().approvals(queue));
    let Some(ToolEvent::ApprovalRequested { request, .. }) = run.next().await else { panic!() };
    let rejected = sender.send(request.edit(json!(3))).unwrap_err();
    assert!(matches!(rejected.fault, VerdictFault::Invalid { .. }), "{rejected}");
    sender.send(request.edit(json!(2))).unwrap();
    assert_eq!(tell(run).await, ["c1 edited", "c1 output 2"]);
}

/// A plan may run where the tool takes other arguments. Even then the model reads nothing of what a person wrote.
#[tokio::test]
async fn the_model_never_reads_about_arguments_that_a_person_wrote() {
    let journal = Journal::default();
    let asked = kit([gated("pay", &journal)]);
    let plan = asked.plan_from_map(RunOptions::new(), [], calls([("pay", "5")])).await;
    let edited = plan.requests[0].edit(json!(60_000));
    let plan = asked.plan_from_map(RunOptions::new(), [edited], calls([("pay", "5")])).await;
    let narrower = Tool::new("pay").handler(|cents: u8, _cx| async move { cents });
    let results = kit([narrower, noting("look", &journal)]).run(plan).collect_results().await;
    let failure = results[0].failure().unwrap();
    assert_eq!(failure.kind, FailureKind::Denied);
    assert!(failure.issues.is_empty() && !failure.message.contains("255"), "{failure:?}");
    assert_eq!(journal.lines(), [""; 0]);
}
