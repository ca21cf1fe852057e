//! Verdicts that arrive through a queue.

use std::time::Duration;

use haft_core::{ApprovalRequest, ToolCall, ToolEvent, Verdict};
use haft_executor::{
    ApprovalPolicy, Cx, Receipt, RunOptions, Tool, Toolkit, VerdictFault, VerdictQueue, VerdictSender,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::approval::bench::{all_came, bench, message, suspend, tell};
use crate::executing::{calls, came, kit};

/// Returns the fault of a rejected verdict.
fn fault(sent: Result<Receipt, haft_executor::RejectedVerdict>) -> VerdictFault {
    sent.unwrap_err().fault
}

/// Returns the approval request of a run of one call that waits on a queue.
async fn asked(run: &mut haft_executor::Run) -> ApprovalRequest {
    match run.next().await {
        Some(ToolEvent::ApprovalRequested { request, .. }) => *request,
        other => panic!("{other:?}"),
    }
}

fn stray(id: &str) -> Verdict {
    ApprovalRequest::new(id, &ToolCall::new("x", "pay", "1")).approve()
}

#[tokio::test]
async fn the_first_verdict_wins_and_the_second_is_returned() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let mut run = kit.run_with(calls([("pay", "5")]), RunOptions::new().approvals(queue.clone()));
    let request = asked(&mut run).await;
    assert_eq!(queue.open(), std::slice::from_ref(&request));
    assert_eq!(sender.send(request.deny("no")), Ok(Receipt::Delivered));
    assert_eq!(fault(sender.send(request.approve())), VerdictFault::AlreadyDecided);
    assert_eq!(tell(&mut run).await, ["c1 denied", "c1 output denied"]);
    assert_eq!(fault(sender.send(request.approve())), VerdictFault::AlreadyDecided);
    assert_eq!(queue.open(), []);
    assert_eq!(queue.take_unmatched(), []);
    assert_eq!(journal.lines(), [""; 0]);
}

/// An invalid verdict changes nothing: its request stays pending.
#[tokio::test]
async fn a_rejected_verdict_leaves_the_request_pending() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let mut run = kit.run_with(calls([("pay", "5")]), RunOptions::new().approvals(queue.clone()));
    let request = asked(&mut run).await;
    let mut of_another_call = request.approve();
    of_another_call.call_id = Some("c2".into());
    for unusable in [request.approve().digest(""), request.approve().digest("sha256:00"), of_another_call] {
        let refused = sender.send(unusable.clone()).unwrap_err();
        assert_eq!((*refused.response, refused.fault), (unusable, VerdictFault::OtherDigest));
    }
    assert_eq!(queue.open().len(), 1);
    assert_eq!(sender.send(request.approve()), Ok(Receipt::Delivered));
    assert_eq!(tell(&mut run).await, ["c1 approved", "c1 output 5"]);
    assert_eq!(journal.lines(), ["pay 5"]);
}

/// A request that was made in another process may get its verdict before it is made here.
#[tokio::test]
async fn a_verdict_may_come_before_its_request() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "5"), ("pay", "6"), ("pay", "7")])).await;
    let (sender, queue) = VerdictQueue::new();
    let requests: Vec<_> = suspended.pending().cloned().collect();
    assert_eq!(sender.send(requests[0].approve()), Ok(Receipt::Parked));
    assert_eq!(fault(sender.send(requests[0].deny("too late"))), VerdictFault::AlreadyDecided);
    assert_eq!(sender.send(requests[1].approve().digest("sha256:00")), Ok(Receipt::Parked));
    assert_eq!(sender.send(stray("never asked")), Ok(Receipt::Parked));
    let run = kit.resume_with(suspended, [], RunOptions::new().approvals(queue.clone()));
    let (results, ()) = tokio::join!(run.collect_results(), async {
        assert_eq!(sender.send(requests[1].deny("no")), Ok(Receipt::Delivered));
        assert_eq!(sender.send(requests[2].edit(json!(8))), Ok(Receipt::Delivered));
    });
    assert_eq!(all_came(&results), ["5", "denied", "8"]);
    assert_eq!(journal.lines(), ["pay 5", "pay 8"]);
    let unmatched = queue.take_unmatched();
    let told: Vec<_> = unmatched.iter().map(|refused| (&refused.response.request_id, &refused.fault)).collect();
    let never_asked = "never asked".into();
    assert_eq!(
        told,
        [(&requests[1].request_id, &VerdictFault::OtherDigest), (&never_asked, &VerdictFault::UnknownRequest)]
    );
    assert_eq!(queue.take_unmatched(), []);
}

/// Sends verdicts on unknown requests, as any sender can invent them.
fn flood(sender: &VerdictSender, count: usize) {
    for n in 0..count {
        let made_up = stray(&format!("approval_{n:032x}")).digest(format!("sha256:{n:064x}"));
        assert_eq!(sender.send(made_up), Ok(Receipt::Parked));
    }
}

#[tokio::test]
async fn invented_verdicts_do_not_block_one_that_comes_before_its_request() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "5")])).await;
    let (sender, queue) = VerdictQueue::new();
    flood(&sender, 5_000);
    let early = suspended.pending().next().unwrap().approve();
    assert_eq!(sender.send(early), Ok(Receipt::Parked));
    flood(&sender, 500);
    let results = kit.resume_with(suspended, [], RunOptions::new().approvals(queue)).collect_results().await;
    assert_eq!(all_came(&results), ["5"]);
    assert_eq!(journal.lines(), ["pay 5"]);
}

/// Verdicts on unknown requests don't take the slot of an announced request, and don't displace its verdict.
#[tokio::test]
async fn invented_verdicts_do_not_displace_one_on_an_announced_request() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "5"), ("pay", "6")])).await;
    let (sender, queue) = VerdictQueue::new();
    let requests: Vec<_> = suspended.pending().cloned().collect();
    // One that arrived before the announcement is checked by it.
    sender.send(requests[1].approve().digest("sha256:00")).unwrap();
    for request in &requests {
        queue.expect(request);
    }
    assert_eq!(fault(sender.send(requests[0].approve().digest("sha256:00"))), VerdictFault::OtherDigest);
    for request in &requests {
        assert_eq!(sender.send(request.approve()), Ok(Receipt::Parked));
        assert_eq!(fault(sender.send(request.deny("too late"))), VerdictFault::AlreadyDecided);
    }
    flood(&sender, 5_000);
    let unmatched = queue.take_unmatched();
    assert!(unmatched.len() <= 2 * 1_024, "{}", unmatched.len());
    let results = kit.resume_with(suspended, [], RunOptions::new().approvals(queue.clone())).collect_results().await;
    assert_eq!(all_came(&results), ["5", "6"]);
    assert_eq!(journal.lines(), ["pay 5", "pay 6"]);
    assert_eq!(fault(sender.send(requests[0].approve())), VerdictFault::AlreadyDecided);
}

#[test]
fn an_announcement_can_be_withdrawn() {
    let (sender, queue) = VerdictQueue::new();
    let request = ApprovalRequest::new("q1", &ToolCall::new("c1", "pay", "5"));
    queue.expect(&request);
    assert_eq!(sender.send(request.approve()), Ok(Receipt::Parked));
    assert_eq!(queue.withdraw(&request.request_id), Some(request.approve()));
    assert_eq!(queue.withdraw(&request.request_id), None);
    assert_eq!(queue.take_unmatched(), []);
}

#[tokio::test]
async fn of_the_unclaimed_verdicts_the_newest_are_kept() {
    let (sender, queue) = VerdictQueue::new();
    for n in 0..=1_024 {
        assert_eq!(sender.send(stray(&format!("q{n}"))), Ok(Receipt::Parked));
    }
    // Verdicts that a run waits for are still delivered.
    let (kit, _) = bench();
    let mut run = kit.run_with(calls([("pay", "5")]), RunOptions::new().approvals(queue.clone()));
    let request = asked(&mut run).await;
    assert_eq!(sender.send(request.approve()), Ok(Receipt::Delivered));
    assert_eq!(tell(&mut run).await, ["c1 approved", "c1 output 5"]);
    let unmatched = queue.take_unmatched();
    assert_eq!(unmatched.len(), 1_025);
    let displaced: Vec<_> = unmatched.iter().filter(|refused| refused.fault == VerdictFault::Full).collect();
    assert_eq!(displaced.len(), 1);
    assert_eq!(displaced[0].response.request_id, "q0");
    assert_eq!(sender.send(stray("one more")), Ok(Receipt::Parked));
}

#[tokio::test]
async fn when_the_queue_ends_waiting_calls_are_cancelled() {
    for by_close in [true, false] {
        let (kit, journal) = bench();
        let (sender, queue) = VerdictQueue::new();
        let another = sender.clone();
        let mut run = kit
            .run_with(calls([("pay", "5"), ("look", "1"), ("pay", "6")]), RunOptions::new().approvals(queue.clone()));
        let request = asked(&mut run).await;
        drop(another);
        assert_eq!(queue.open().len(), 2, "one sender is left");
        let sender = if by_close {
            queue.close();
            Some(sender)
        } else {
            drop(sender);
            None
        };
        let mut told = tell(&mut run).await;
        told[2..].sort();
        assert_eq!(told, ["c2 output 1", "c3 asked", "c1 output cancelled", "c3 output cancelled"]);
        if let Some(sender) = sender {
            assert_eq!(fault(sender.send(request.approve())), VerdictFault::Closed);
        }
        let late = kit.run_with(calls([("pay", "5")]), RunOptions::new().approvals(queue)).collect_results().await;
        assert_eq!(all_came(&late), ["cancelled"]);
        assert!(message(&late).contains("the approval queue was closed"), "{}", message(&late));
        assert_eq!(journal.lines(), ["look 1"]);
    }
}

/// A verdict on a cancelled call is returned: its request will not be made again.
#[tokio::test]
async fn a_verdict_on_a_finished_call_is_rejected() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let ends: [fn(haft_executor::Run) -> Option<haft_executor::Run>; 2] = [
        |mut run| {
            run.cancel();
            Some(run)
        },
        |run| {
            drop(run);
            None
        },
    ];
    for end in ends {
        let mut run = kit.run_with(calls([("pay", "5")]), RunOptions::new().approvals(queue.clone()));
        let request = asked(&mut run).await;
        if let Some(run) = end(run) {
            assert_eq!(tell(run).await, ["c1 output cancelled"]);
        }
        assert_eq!(queue.open(), []);
        let refused = sender.send(request.approve()).unwrap_err();
        assert_eq!(refused.fault, VerdictFault::UnknownRequest);
        assert_eq!(*refused.response, request.approve());
    }
    assert_eq!(queue.take_unmatched(), []);
    assert_eq!(journal.lines(), [""; 0]);
}

/// One queue serves overlapping rounds: each verdict reaches the round that requested it.
#[tokio::test]
async fn overlapping_rounds_share_a_queue() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    // The same calls, with the same ids: only their requests distinguish the rounds.
    let round = || calls([("pay", "1"), ("pay", "2")]);
    let first = kit.plan_from_queue(RunOptions::new(), &queue, round()).await;
    let second = kit.plan_from_queue(RunOptions::new(), &queue, round()).await;
    assert_eq!(queue.open().len(), 4);
    sender.send(second.approval_requests[1].approve()).unwrap();
    sender.send(first.approval_requests[0].approve()).unwrap();
    sender.send(second.approval_requests[0].deny("not now")).unwrap();
    sender.send(first.approval_requests[1].deny("not ever")).unwrap();
    assert_eq!(all_came(&first.into_run().collect_results().await), ["1", "denied"]);
    assert_eq!(all_came(&second.into_run().collect_results().await), ["denied", "2"]);
    assert_eq!(journal.lines(), ["pay 1", "pay 2"]);
}

/// Two runs of one stored value make the same request: the later replaces the earlier, and one call runs.
#[tokio::test]
async fn a_request_that_is_made_twice_is_answered_once() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "5")])).await;
    let (sender, queue) = VerdictQueue::new();
    let mut first = kit.resume_with(suspended.clone(), [], RunOptions::new().approvals(queue.clone()));
    let request = asked(&mut first).await;
    let mut second = kit.resume_with(suspended, [], RunOptions::new().approvals(queue.clone()));
    assert_eq!(asked(&mut second).await.request_id, request.request_id);
    assert_eq!(tell(&mut first).await, ["c1 output cancelled"]);
    assert_eq!(queue.open().len(), 1, "the second still waits");
    assert_eq!(sender.send(request.approve()), Ok(Receipt::Delivered));
    assert_eq!(tell(&mut second).await, ["c1 approved", "c1 output 5"]);
    assert_eq!(journal.lines(), ["pay 5"]);
}

/// Creates gated tools that take some time.
fn slow() -> Toolkit {
    kit([Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u16, _cx| async move {
        sleep(Duration::from_secs(u64::from(cents))).await;
        cents
    })])
}

#[tokio::test(start_paused = true)]
async fn approved_calls_run_beside_each_other() {
    let kit = slow();
    let (sender, queue) = VerdictQueue::new();
    let calls = calls([("pay", "3"), ("pay", "2"), ("pay", "1")]);
    let began = Instant::now();
    let plan = kit.plan_from_queue(RunOptions::new(), &queue, &calls).await;
    for request in &plan.approval_requests {
        sender.send(request.approve()).unwrap();
    }
    let told = tell(plan.into_run()).await;
    let outputs: Vec<_> = told.iter().filter(|line| line.contains("output")).collect();
    assert_eq!(outputs, ["c3 output 1", "c2 output 2", "c1 output 3"]);
    assert_eq!(began.elapsed(), Duration::from_secs(3));
}

/// Decisions are emitted when they are made: a call need not wait for the verdict on its neighbour.
#[tokio::test]
async fn decisions_come_in_the_order_of_the_verdicts() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let calls = calls([("pay", "1"), ("ghost", ""), ("pay", "3"), ("look", "4"), ("pay", "x")]);
    let mut plan = kit.plan_from_queue(RunOptions::new(), &queue, &calls).await;
    assert_eq!(plan.approved.len(), 1);
    for expected in ["c2", "c5"] {
        let decision = plan.next_decision().await.unwrap();
        assert!(!decision.is_approved());
        assert_eq!(decision.call().call_id, expected);
    }
    sender.send(plan.approval_requests[1].approve()).unwrap();
    let decision = plan.next_decision().await.unwrap();
    assert_eq!((decision.index(), decision.is_approved()), (2, true));
    sender.send(plan.approval_requests[0].answer(json!(9))).unwrap();
    let decision = plan.next_decision().await.unwrap();
    assert_eq!((decision.index(), decision.is_approved()), (0, false));
    assert!(plan.next_decision().await.is_none());
    assert!(plan.next_decision().await.is_none());
    assert_eq!(journal.lines(), [""; 0], "a decision runs nothing");
    let results = plan.into_run().collect_results().await;
    assert_eq!(all_came(&results), ["9", "unknown_tool", "3", "4", "input_validation_error"]);
    let mut ran = journal.lines();
    ran.sort();
    assert_eq!(ran, ["look 4", "pay 3"]);
}

/// A dropped plan no longer waits for anything.
#[tokio::test]
async fn a_dropped_plan_withdraws_its_requests() {
    let (kit, _) = bench();
    let (sender, queue) = VerdictQueue::new();
    let plan = kit.plan_from_queue(RunOptions::new(), &queue, calls([("pay", "1")])).await;
    let verdict = plan.approval_requests[0].approve();
    drop(plan);
    assert_eq!(queue.open(), []);
    assert_eq!(fault(sender.send(verdict)), VerdictFault::UnknownRequest);
}

/// A parked verdict may be taken by a run on another thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verdicts_may_come_from_another_thread() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let many: Vec<_> = (0..50).map(|n| ToolCall::new(format!("c{n}"), "pay", n.to_string())).collect();
    let watching = queue.clone();
    let decider = std::thread::spawn(move || {
        let mut sent = 0;
        while sent < 50 {
            for request in watching.open() {
                sent += usize::from(sender.send(request.approve()).is_ok());
            }
            std::thread::yield_now();
        }
    });
    let results = kit.run_with(many, RunOptions::new().approvals(queue)).collect_results().await;
    decider.join().unwrap();
    assert!(results.iter().all(haft_core::ToolResult::is_ok));
    assert_eq!(journal.lines().len(), 50);
}

/// The `Debug` output of a sender or a queue contains neither secrets nor requests.
#[test]
fn the_debug_output_of_a_queue_contains_counts_only() {
    let (sender, queue) = VerdictQueue::new();
    sender.send(stray("q1")).unwrap();
    assert_eq!(format!("{queue:?}"), "VerdictQueue { open: 0, parked: 1, is_closed: false }");
    assert_eq!(format!("{sender:?}"), "VerdictSender(..)");
    drop(sender);
    assert_eq!(format!("{queue:?}"), "VerdictQueue { open: 0, parked: 1, is_closed: true }");
}

/// A custom approver may delegate to a queue.
#[tokio::test]
async fn an_approver_may_delegate_to_a_queue() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let waiting = queue.clone();
    let small_change = move |request: ApprovalRequest, cx: Cx| {
        let queue = waiting.clone();
        async move {
            match request.arguments.len() {
                1 => Ok(request.approve().into()),
                _ => haft_executor::Approve::approve(&queue, request, cx).await,
            }
        }
    };
    let mut run = kit.run_with(calls([("pay", "5"), ("pay", "500")]), RunOptions::new().approvals(small_change));
    let mut told = Vec::new();
    while let Some(event) = run.next().await {
        if let ToolEvent::ApprovalRequested { request, .. } = &event
            && request.call_id == "c2"
        {
            sender.send(request.deny("too much")).unwrap();
        }
        told.extend(event.result().map(|result| came(result).to_owned()));
    }
    assert_eq!(told, ["5", "denied"]);
    assert_eq!(journal.lines(), ["pay 5"]);
}
