//! Approvals as users of other toolkits know them.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{ApprovalRequest, Item, ToolCall, ToolEvent, Verdict};
use haft_executor::{
    ApprovalPolicy, Receipt, RunOptions, Suspend, Suspended, Tool, Toolkit, VerdictFault, VerdictQueue,
};
use serde_json::json;
use tokio::time::sleep;

use crate::approval::bench::{Decide, Journal, all_came, bench, message, never_asked, noting, suspend, tell};
use crate::executing::{calls, came, kit};

/// Decides by a map from call ids, as a server that received one with a request does.
async fn by_map(kit: &Toolkit, calls: &[ToolCall], map: &[(&str, Decide)]) -> Vec<haft_core::ToolResult> {
    let map: HashMap<_, _> = map.iter().copied().collect();
    let asked = kit.plan_from_map(RunOptions::new(), [], calls).await.requests;
    let verdicts = asked.iter().filter_map(|request| map.get(request.call_id.as_str()).map(|decide| decide(request)));
    let plan = kit.plan_from_map(RunOptions::new(), verdicts.collect::<Vec<_>>(), calls).await;
    kit.run(plan).collect_results().await
}

fn approve(request: &ApprovalRequest) -> Verdict {
    request.approve()
}

fn deny(request: &ApprovalRequest) -> Verdict {
    request.deny("not allowed")
}

/// Everything that is approved runs.
#[tokio::test]
async fn a_map_that_approves_everything_runs_everything() {
    let (kit, journal) = bench();
    let results = by_map(&kit, &calls([("pay", "1"), ("pay", "2")]), &[("c1", approve), ("c2", approve)]).await;
    assert_eq!(all_came(&results), ["1", "2"]);
    assert_eq!(journal.lines(), ["pay 1", "pay 2"]);
}

/// A denied call has a result with the reason, and does not run.
#[tokio::test]
async fn a_map_that_denies_reports_the_reason() {
    let (kit, journal) = bench();
    let results = by_map(&kit, &calls([("pay", "1")]), &[("c1", deny)]).await;
    assert_eq!((all_came(&results), message(&results)), (vec!["denied"], "not allowed"));
    assert_eq!(journal.lines(), [""; 0]);
}

/// A gated call that the map does not mention is cancelled, never run.
#[tokio::test]
async fn a_call_that_the_map_does_not_mention_is_cancelled() {
    let (kit, journal) = bench();
    let results = by_map(&kit, &calls([("pay", "1")]), &[]).await;
    assert_eq!(all_came(&results), ["cancelled"]);
    assert!(!message(&results).is_empty());
    assert_eq!(journal.lines(), [""; 0]);
}

/// Approved, denied, missing and ungated calls side by side: one result each, in order.
#[tokio::test]
async fn a_mixed_map_decides_each_call_separately() {
    let (kit, journal) = bench();
    let calls = calls([("pay", "1"), ("look", "2"), ("pay", "3"), ("pay", "4")]);
    let results = by_map(&kit, &calls, &[("c1", deny), ("c4", approve), ("c9", approve)]).await;
    assert_eq!(all_came(&results), ["denied", "2", "cancelled", "4"]);
    assert_eq!(journal.lines(), ["look 2", "pay 4"]);
}

/// A call of an unknown tool has its result and does not affect its neighbours.
#[tokio::test]
async fn an_unknown_tool_does_not_stop_its_siblings() {
    let (kit, journal) = bench();
    let calls = calls([("ghost", "{}"), ("look", "2"), ("pay", "3")]);
    let results = by_map(&kit, &calls, &[("c1", approve), ("c3", approve)]).await;
    assert_eq!(all_came(&results), ["unknown_tool", "2", "3"]);
    assert_eq!(journal.lines(), ["look 2", "pay 3"]);
}

/// Two requests, one approved and one denied, in the order in which the verdicts arrive.
#[tokio::test]
async fn a_queue_accepts_an_approval_and_a_denial() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let plan = kit.plan_from_queue(RunOptions::new(), &queue, calls([("pay", "1"), ("look", "2"), ("pay", "3")])).await;
    assert_eq!((plan.approved.len(), plan.approval_requests.len()), (1, 2));
    sender.send(deny(&plan.approval_requests[1])).unwrap();
    sender.send(approve(&plan.approval_requests[0])).unwrap();
    let mut told: Vec<_> = tell(plan.into_run()).await;
    assert_eq!(told[..2], ["c1 asked", "c3 asked"]);
    told[2..].sort();
    assert_eq!(told[2..], ["c1 approved", "c1 output 1", "c2 output 2", "c3 denied", "c3 output denied"]);
    let mut ran = journal.lines();
    ran.sort();
    assert_eq!(ran, ["look 2", "pay 1"]);
}

/// A run without gates runs everything it is given.
#[tokio::test]
async fn without_gates_everything_runs() {
    let (kit, journal) = bench();
    let plan = kit.plan_from_map(RunOptions::new(), [], calls([("look", "1"), ("look", "2"), ("look", "3")])).await;
    assert!(plan.rejected.is_empty() && plan.requests.is_empty());
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["1", "2", "3"]);
    assert_eq!(journal.lines(), ["look 1", "look 2", "look 3"]);
}

/// Safe calls run at once, gated ones when their verdict arrives, and a denial is an ordinary result.
#[tokio::test(start_paused = true)]
async fn safe_calls_do_not_wait_for_gated_ones() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let run =
        kit.run_with(calls([("look", "1"), ("pay", "2"), ("pay", "3")]), RunOptions::new().approvals(queue.clone()));
    let (told, ()) = tokio::join!(tell(run), async {
        sleep(Duration::from_secs(60)).await;
        assert_eq!(journal.lines(), ["look 1"], "the gated ones are parked");
        let mut open = queue.open();
        open.sort_by_key(|request| request.call_id.to_string());
        assert_eq!(sender.send(open[0].approve()), Ok(Receipt::Delivered));
        sleep(Duration::from_secs(60)).await;
        assert_eq!(journal.lines(), ["look 1", "pay 2"]);
        assert_eq!(sender.send(open[1].deny("no")), Ok(Receipt::Delivered));
    });
    let outputs: Vec<_> = told.iter().filter(|line| line.contains("output")).collect();
    assert_eq!(outputs, ["c1 output 1", "c2 output 2", "c3 output denied"]);
    assert_eq!(journal.lines(), ["look 1", "pay 2"]);
}

/// Over HTTP: the approval requests leave as JSON with the first response, verdicts return with the next request.
#[tokio::test]
async fn a_server_without_memory_gets_its_verdicts_with_a_request() {
    let (kit, journal) = bench();
    let history = serde_json::to_string(&calls([("pay", "1"), ("pay", "2"), ("pay", "3")])).unwrap();
    let calls = |body: &str| serde_json::from_str::<Vec<ToolCall>>(body).unwrap();
    let plan = kit.plan_from_map(RunOptions::new(), [], calls(&history)).await;
    let shown = serde_json::to_string(&plan.requests).unwrap();

    let shown: Vec<ApprovalRequest> = serde_json::from_str(&shown).unwrap();
    let body = serde_json::to_string(&[approve(&shown[0]), deny(&shown[1])]).unwrap();

    let verdicts: Vec<Verdict> = serde_json::from_str(&body).unwrap();
    let plan = kit.plan_from_map(RunOptions::new(), verdicts, calls(&history)).await;
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["1", "denied", "cancelled"]);
    assert_eq!(journal.lines(), ["pay 1"]);
}

/// A gated call results in an approval request and no result.
#[tokio::test]
async fn a_gated_call_results_in_a_request_and_no_result() {
    let (kit, journal) = bench();
    let events: Vec<_> = kit.run_with(calls([("pay", "1")]), RunOptions::new().approvals(Suspend)).collect().await;
    assert!(matches!(events[0], ToolEvent::ApprovalRequested { index: 0, .. }));
    assert!(events.iter().all(|event| event.result().is_none()));
    assert_eq!(journal.lines(), [""; 0]);
}

/// A policy may depend on the arguments.
#[tokio::test]
async fn a_gate_may_depend_on_the_arguments() {
    let journal = Journal::default();
    let large = ApprovalPolicy::when(|cents: u16, _| async move { cents > 100 });
    let kit = kit([noting("pay", &journal).and_then(|tool| tool.set_needs_approval(large))]);
    let run = kit.run_with(calls([("pay", "100"), ("pay", "101")]), RunOptions::new().approvals(Suspend));
    assert_eq!(tell(run).await, ["c1 output 100", "c2 asked", "c2 suspended"]);
    assert_eq!(journal.lines(), ["pay 100"]);
}

/// An approved call runs before the next turn of the model, and its result is what the history needs.
#[tokio::test]
async fn verdicts_turn_into_results_before_the_next_turn() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "1"), ("pay", "2")])).await;
    let mut history: Vec<Item> = suspended.calls().iter().cloned().map(Item::from).collect();
    let verdicts: Vec<_> = suspended
        .pending()
        .map(|request| if request.call_id == "c1" { approve(request) } else { deny(request) })
        .collect();
    let results = kit.resume(suspended, verdicts).collect_or_suspend().await.unwrap();
    history.extend(results.iter().map(|result| Item::from(result.to_call_output())));
    let outputs = history.iter().filter_map(|item| match item {
        Item::ToolOutput(output) => Some((output.call_id.as_str(), output.output.to_string(), output.is_error)),
        _ => None,
    });
    let denied = json!({"error": {"kind": "denied", "message": "not allowed"}}).to_string();
    assert_eq!(outputs.collect::<Vec<_>>(), [("c1", "1".to_owned(), false), ("c2", denied, true)]);
    assert_eq!(journal.lines(), ["pay 1"]);
}

/// Pending requests of a history stay pending; those that were answered are neither made nor run again.
#[tokio::test]
async fn only_pending_requests_of_a_history_are_resumed() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "1"), ("pay", "2")])).await;
    let first = suspended.pending().next().unwrap().approve();
    let suspended = *kit.resume(suspended, [first.clone()]).collect_or_suspend().await.unwrap_err();
    let run = kit.resume(suspended, [first]);
    assert_eq!(run.rejected_verdicts()[0].fault, VerdictFault::UnknownRequest);
    assert_eq!(tell(run).await, ["c2 suspended"]);
    assert_eq!(journal.lines(), ["pay 1"]);
}

/// Two approvals, or an approval and a denial, of one request: one run, one result.
#[tokio::test]
async fn contradictory_answers_produce_one_result() {
    let contradictions: [[Decide; 2]; 3] = [[approve, approve], [approve, deny], [deny, approve]];
    for answers in contradictions {
        let (kit, journal) = bench();
        let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "1")])).await;
        let request = suspended.pending().next().unwrap().clone();
        let run = kit.resume(suspended, answers.map(|decide| decide(&request)));
        assert_eq!(run.rejected_verdicts().len(), 1);
        let told = tell(run).await;
        assert_eq!(told.iter().filter(|line| line.contains("output")).count(), 1, "{told:?}");
        assert!(journal.lines().len() <= 1);
    }
}

/// Arguments that were changed in the history between request and verdict do not run.
#[tokio::test]
async fn a_history_that_was_tampered_with_runs_nothing() {
    let (kit, journal) = bench();
    let asked = suspend(&kit, &RunOptions::new(), &calls([("pay", "1")])).await;
    let request = asked.pending().next().unwrap().clone();
    let suspended = Suspended::of([(ToolCall::new("c1", "pay", "9999"), request.clone())]).unwrap();
    let results = kit.resume(suspended, [request.approve()]).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["denied"]);
    assert_eq!(journal.lines(), [""; 0]);
}

/// An approved call that fails still has a result.
#[tokio::test]
async fn an_approved_call_that_fails_still_answers() {
    let failing = Tool::new("pay").needs_approval(ApprovalPolicy::always());
    let kit = kit([failing.try_handler(|_: u16, _cx| async { Err::<u16, _>("no funds") })]);
    let results = by_map(&kit, &calls([("pay", "1")]), &[("c1", approve)]).await;
    assert_eq!((came(&results[0]), message(&results)), ("tool_failed", "no funds"));
}

/// A verdict for an unknown id is kept and reported, and the run continues.
#[tokio::test]
async fn a_verdict_for_an_unknown_id_is_reported_and_blocks_nothing() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let stray = ApprovalRequest::new("unknown", &ToolCall::new("c1", "pay", "1")).approve();
    assert_eq!(sender.send(stray.clone()), Ok(Receipt::Parked));
    let plan = kit.plan_from_queue(RunOptions::new(), &queue, calls([("pay", "1")])).await;
    sender.send(approve(&plan.approval_requests[0])).unwrap();
    assert_eq!(tell(plan.into_run()).await, ["c1 asked", "c1 approved", "c1 output 1"]);
    assert_eq!(*queue.take_unmatched()[0].response, stray);
    assert_eq!(journal.lines(), ["pay 1"]);
}

/// At the end of the queue nothing waits any more, and pending calls are cancelled.
#[tokio::test(start_paused = true)]
async fn decisions_end_with_the_queue() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let plan = kit.plan_from_queue(RunOptions::new(), &queue, calls([("pay", "1"), ("pay", "2")])).await;
    sender.send(approve(&plan.approval_requests[1])).unwrap();
    drop(sender);
    let mut told = tokio::time::timeout(Duration::from_secs(1), tell(plan.into_run())).await.unwrap();
    told[2..].sort();
    assert_eq!(told, ["c1 asked", "c2 asked", "c1 output cancelled", "c2 approved", "c2 output 2"]);
    assert_eq!(journal.lines(), ["pay 2"]);
}

/// Two gated calls of one id: one request, one run, and an error for the second.
#[tokio::test]
async fn two_gated_calls_of_one_id_make_one_request() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let twins = [ToolCall::new("c1", "pay", "1"), ToolCall::new("c1", "pay", "2")];
    let plan = kit.plan_from_queue(RunOptions::new(), &queue, twins).await;
    assert_eq!(plan.approval_requests.len(), 1);
    sender.send(approve(&plan.approval_requests[0])).unwrap();
    let told = tell(plan.into_run()).await;
    assert_eq!(told, ["c1 output duplicate_call_id", "c1 asked", "c1 approved", "c1 output 1"]);
    assert_eq!(journal.lines(), ["pay 1"]);
}

/// A call that no policy gates runs without an approval request, even if an approver is configured.
#[tokio::test]
async fn an_ungated_call_requests_no_approval() {
    let (kit, journal) = bench();
    let run = kit.run_with(calls([("look", "1")]), RunOptions::new().approvals(never_asked));
    assert_eq!(tell(run).await, ["c1 output 1"]);
    assert_eq!(journal.lines(), ["look 1"]);
}
