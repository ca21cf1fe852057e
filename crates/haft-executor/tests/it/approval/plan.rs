//! Plans that are run: with the limits, services and indexes of one run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_core::{ApprovalRequest, ToolEvent};
use haft_executor::{
    ApprovalPolicy, Concurrency, Cx, ExecutionLimits, RunOptions, Services, Tool, Toolkit, VerdictQueue,
};
use serde_json::json;
use tokio::time::sleep;

use crate::approval::bench::{Journal, all_came, bench, tell};
use crate::executing::{calls, came, kit};

/// The account that pays.
struct Account(&'static str);

/// The largest number of calls that ran at the same time.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Creates a gated `pay` that takes a second, needs an account, and may be limited.
fn slow(gauge: &Arc<Gauge>, limits: ExecutionLimits) -> Toolkit {
    let gauge = Arc::clone(gauge);
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::when(|cents: u16, _| async move { cents > 9 }));
    kit([pay.limits(limits).handler(move |cents: u16, cx: Cx| {
        let gauge = Arc::clone(&gauge);
        async move {
            let now = gauge.now.fetch_add(1, Ordering::SeqCst) + 1;
            gauge.most.fetch_max(now, Ordering::SeqCst);
            sleep(Duration::from_secs(1)).await;
            gauge.now.fetch_sub(1, Ordering::SeqCst);
            format!("{cents} by {}", cx.service::<Account>().map_or("nobody", |account| account.0))
        }
    })])
}

fn of_ana() -> RunOptions {
    RunOptions::new().services(Services::new().with(Account("ana")))
}

/// Returns the index and the call of every event.
async fn indexed(mut run: haft_executor::Run) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    while let Some(event) = run.next().await {
        all.push((event.index(), crate::executing::told(&event)));
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_queue_plan_runs_with_the_limits_services_and_indexes_of_one_run() {
    let gauge = Arc::<Gauge>::default();
    let kit = slow(&gauge, ExecutionLimits::new().concurrency(Concurrency::Exclusive));
    let (sender, queue) = VerdictQueue::new();
    let calls = calls([("ghost", ""), ("pay", "10"), ("pay", "1"), ("pay", "20")]);
    let plan = kit.plan_from_queue(of_ana(), &queue, &calls).await;
    sender.send(plan.approval_requests[1].approve()).unwrap();
    sender.send(plan.approval_requests[0].edit(json!(11))).unwrap();
    let mut told = indexed(plan.into_run()).await;
    let expected = [(0, "c1 output unknown_tool"), (1, "c2 asked"), (3, "c4 asked")];
    assert_eq!(told[..3], expected.map(|(index, said)| (index, said.to_owned())));
    told.sort();
    let expected = [
        (0, "c1 output unknown_tool"),
        (1, "c2 asked"),
        (1, "c2 edited"),
        (1, "c2 output \"11 by ana\""),
        (2, "c3 output \"1 by ana\""),
        (3, "c4 approved"),
        (3, "c4 asked"),
        (3, "c4 output \"20 by ana\""),
    ];
    assert_eq!(told, expected.map(|(index, said)| (index, said.to_owned())));
    assert_eq!(gauge.most.load(Ordering::SeqCst), 1, "two calls of an exclusive tool ran at once");
}

#[tokio::test(start_paused = true)]
async fn a_queue_plan_keeps_the_concurrency_of_its_options() {
    for (most, at_once) in [(2, 2), (0, 4)] {
        let gauge = Arc::<Gauge>::default();
        let kit = slow(&gauge, ExecutionLimits::new());
        let (sender, queue) = VerdictQueue::new();
        let calls = calls([("pay", "10"), ("pay", "1"), ("pay", "20"), ("pay", "2")]);
        let mut plan = kit.plan_from_queue(of_ana().concurrency(most), &queue, &calls).await;
        for request in &plan.approval_requests {
            sender.send(request.approve()).unwrap();
        }
        // Reading the decisions first does not affect the run.
        while plan.next_decision().await.is_some() {}
        assert_eq!(gauge.most.load(Ordering::SeqCst), 0);
        let results = plan.into_run().collect_results().await;
        assert_eq!(all_came(&results), ["\"10 by ana\"", "\"1 by ana\"", "\"20 by ana\"", "\"2 by ana\""]);
        assert_eq!(gauge.most.load(Ordering::SeqCst), at_once);
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_with_all_verdicts_runs_with_the_limits_services_and_indexes_of_one_run() {
    let gauge = Arc::<Gauge>::default();
    let kit = slow(&gauge, ExecutionLimits::new());
    let calls = calls([("ghost", ""), ("pay", "10"), ("pay", "1"), ("pay", "20")]);
    let options = of_ana().concurrency(1);
    let asked = kit.plan_from_map(&options, [], &calls).await.requests;
    let verdicts: Vec<_> = asked.iter().map(ApprovalRequest::approve).collect();
    let mut plan = kit.plan_from_map(&options, verdicts.clone(), &calls).await;
    // The others keep their positions, whatever is taken out.
    assert_eq!(came(&plan.rejected.remove(0)), "unknown_tool");
    let taken = plan.approved.remove(1);
    assert_eq!(taken.call().call_id, "c3");
    let mut told = indexed(kit.run(plan)).await;
    told.sort();
    let expected =
        [(1, "c2 approved"), (1, "c2 output \"10 by ana\""), (3, "c4 approved"), (3, "c4 output \"20 by ana\"")];
    assert_eq!(told, expected.map(|(index, said)| (index, said.to_owned())));
    assert_eq!(gauge.most.load(Ordering::SeqCst), 1);
    assert_eq!(indexed(kit.run([taken])).await, [(2, "c3 output \"1 by ana\"".to_owned())]);

    // Options of the run come on top, and a run that is never polled answers only the calls it was given.
    let plan = kit.plan_from_map(&options, verdicts, &calls).await;
    let results = kit
        .run_with(plan.approved, RunOptions::new().services(Services::new().with(Account("bob"))))
        .collect_results()
        .await;
    assert_eq!(all_came(&results), ["\"10 by bob\"", "\"1 by bob\"", "\"20 by bob\""]);
}

#[tokio::test]
async fn a_run_of_some_calls_of_a_plan_answers_only_those_when_it_is_dropped() {
    let (kit, _) = bench();
    let seen = Journal::default();
    let noting = seen.clone();
    let options = RunOptions::new().observe(move |event: &ToolEvent| {
        noting.note(format!("{} {}", event.index(), event.call_id()));
    });
    let plan = kit.plan_from_map(&options, [], calls([("pay", "1"), ("look", "2")])).await;
    drop(kit.run(plan.approved));
    assert_eq!(seen.lines(), ["1 c2"]);
}

/// One approval runs one call: a call that is taken out of a plan is not run by the plan as well.
#[tokio::test]
async fn a_call_that_is_taken_out_of_a_queue_plan_runs_where_it_is_taken() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let calls = calls([("look", "1"), ("look", "2"), ("pay", "3")]);
    let mut plan = kit.plan_from_queue(RunOptions::new(), &queue, &calls).await;
    let taken = plan.approved.remove(0);
    sender.send(plan.approval_requests[0].approve()).unwrap();
    let mut told = indexed(plan.into_run()).await;
    told.sort();
    let expected = [(1, "c2 output 2"), (2, "c3 approved"), (2, "c3 asked"), (2, "c3 output 3")];
    assert_eq!(told, expected.map(|(index, said)| (index, said.to_owned())));
    assert!(!journal.lines().contains(&"look 1".to_owned()));
    assert_eq!(indexed(kit.run([taken])).await, [(0, "c1 output 1".to_owned())]);
}

/// The deadline counts from the moment the plan is made, as for a run that waits for verdicts.
#[tokio::test(start_paused = true)]
async fn a_queue_plan_keeps_the_deadline_of_its_options() {
    let (kit, journal) = bench();
    let (_sender, queue) = VerdictQueue::new();
    let options = RunOptions::new().timeout(Duration::from_secs(5));
    let mut plan = kit.plan_from_queue(options, &queue, calls([("look", "1"), ("pay", "2")])).await;
    let decision = plan.next_decision().await.unwrap();
    assert_eq!((decision.index(), decision.is_approved()), (1, false));
    assert!(plan.next_decision().await.is_none());
    assert_eq!(all_came(&plan.into_run().collect_results().await), ["timed_out", "timed_out"]);
    assert_eq!(journal.lines(), [""; 0]);
}

#[tokio::test]
async fn a_plan_that_is_cancelled_or_dropped_answers_every_call_once_it_is_a_run() {
    let (kit, journal) = bench();
    let (_sender, queue) = VerdictQueue::new();
    let seen = Journal::default();
    let noting = seen.clone();
    let options = RunOptions::new().observe(move |event: &ToolEvent| {
        noting.note(crate::executing::told(event));
    });
    let calls = calls([("ghost", ""), ("look", "1"), ("pay", "2")]);
    let mut run = kit.plan_from_queue(&options, &queue, &calls).await.into_run();
    run.cancel();
    let cancelled = ["c1 output unknown_tool", "c3 asked", "c2 output cancelled", "c3 output cancelled"];
    assert_eq!(tell(run).await, cancelled);
    assert_eq!(std::mem::take(&mut seen.lines()), cancelled);

    drop(kit.plan_from_queue(&options, &queue, &calls).await);
    assert_eq!(seen.lines().len(), 4, "a plan that nobody runs tells nobody");
    drop(kit.plan_from_queue(&options, &queue, &calls).await.into_run());
    assert_eq!(seen.lines()[4..], cancelled);
    assert_eq!(journal.lines(), [""; 0]);
}
