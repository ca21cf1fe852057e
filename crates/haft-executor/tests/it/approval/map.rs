//! Plans for which all verdicts are given at once.

use std::time::Duration;

use haft_core::{ApprovalRequest, ToolCall, ToolEvent, Verdict};
use haft_executor::{ApprovalPolicy, Cx, Permission, Permitting, RunOptions, Tool, VerdictFault, VerdictQueue};
use serde_json::json;
use tokio::time::sleep;

use crate::approval::bench::{Journal, all_came, asking, bench, gated, never_asked, noting, tell};
use crate::executing::{calls, came, kit};

/// Returns the approval requests for calls, as a first request without verdicts returns them.
async fn questions(kit: &haft_executor::Toolkit, calls: &[ToolCall]) -> Vec<ApprovalRequest> {
    kit.plan_from_map(RunOptions::new(), [], calls).await.requests
}

#[tokio::test]
async fn a_plan_that_is_run_returns_every_result_in_the_order_of_the_calls() {
    let (kit, journal) = bench();
    let calls =
        calls([("pay", "1"), ("look", "2"), ("ghost", ""), ("pay", "4"), ("pay", "x"), ("pay", "6"), ("pay", "7")]);
    let asked = questions(&kit, &calls).await;
    assert_eq!(asked.iter().map(|request| request.call_id.as_str()).collect::<Vec<_>>(), ["c1", "c4", "c6", "c7"]);
    let verdicts = [asked[3].answer(json!(70)), asked[0].deny("no"), asked[2].edit(json!(60)), asked[1].approve()];
    let plan = kit.plan_from_map(RunOptions::new(), verdicts, &calls).await;
    assert_eq!(journal.lines(), [""; 0], "nothing runs while it is planned");
    let approved: Vec<_> =
        plan.approved.iter().map(|call| (call.call().call_id.as_str(), &*call.call().arguments)).collect();
    assert_eq!(approved, [("c2", "2"), ("c4", "4"), ("c6", "60")]);
    let rejected: Vec<_> = plan.rejected.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(rejected, ["c1", "c3", "c5", "c7"]);
    assert!(plan.requests.is_empty() && plan.rejected_verdicts.is_empty());

    let results = kit.run(plan).collect_results().await;
    let ids: Vec<_> = results.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids, ["c1", "c2", "c3", "c4", "c5", "c6", "c7"]);
    assert_eq!(all_came(&results), ["denied", "2", "unknown_tool", "4", "input_validation_error", "60", "70"]);
}

#[tokio::test]
async fn the_events_of_a_plan_contain_its_verdicts_and_no_requests() {
    let (kit, _) = bench();
    let calls = calls([("pay", "1"), ("look", "2"), ("pay", "3"), ("pay", "4")]);
    let asked = questions(&kit, &calls).await;
    let verdicts = [asked[0].approve(), asked[1].deny("no"), asked[2].edit(json!(5))];
    let plan = kit.plan_from_map(RunOptions::new(), verdicts, &calls).await;
    let told = tell(kit.run_with(plan, RunOptions::new().approvals(never_asked))).await;
    assert_eq!(told[..2], ["c3 denied", "c3 output denied"], "what is settled comes at once");
    for (call, shown) in [
        ("c1", &["c1 approved", "c1 output 1"][..]),
        ("c2", &["c2 output 2"]),
        ("c3", &["c3 denied", "c3 output denied"]),
        ("c4", &["c4 edited", "c4 output 5"]),
    ] {
        let told_of: Vec<_> = told.iter().filter(|word| word.starts_with(call)).collect();
        assert_eq!(told_of, shown);
    }
}

#[tokio::test]
async fn verdicts_that_match_no_call_are_reported_in_order() {
    let (kit, journal) = bench();
    let calls = calls([("pay", "1"), ("pay", "2")]);
    let asked = questions(&kit, &calls).await;
    let stray = |call_id: &str| {
        let call = ToolCall::new(call_id, "pay", "1");
        ApprovalRequest::new(format!("q-{call_id}"), &call).approve()
    };
    let nameless = Verdict::new("q", "approved".into());
    let verdicts = [stray("x9"), asked[0].deny("no"), stray("x1"), asked[0].approve(), nameless, stray("x5")];
    let plan = kit.plan_from_map(RunOptions::new(), verdicts, &calls).await;
    let refused: Vec<_> = plan
        .rejected_verdicts
        .iter()
        .map(|refused| (refused.response.request_id.to_string(), refused.fault.clone()))
        .collect();
    let unknown = |id: &str| (id.to_owned(), VerdictFault::UnknownRequest);
    let second = (asked[0].request_id.to_string(), VerdictFault::AlreadyDecided);
    assert_eq!(refused, [unknown("q-x9"), unknown("q-x1"), second, unknown("q"), unknown("q-x5")]);
    assert_eq!(plan.requests[0].call_id, "c2", "nobody has decided on it");
    assert_ne!(plan.requests[0].request_id, asked[1].request_id);
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["denied", "cancelled"]);
    assert_eq!(journal.lines(), [""; 0]);
}

/// The first verdict on a call counts, whatever follows.
#[tokio::test]
async fn contradictory_verdicts_run_nothing_twice() {
    let (kit, journal) = bench();
    let calls = calls([("pay", "1"), ("pay", "2")]);
    let asked = questions(&kit, &calls).await;
    let verdicts =
        [asked[0].approve(), asked[0].approve(), asked[0].deny("no"), asked[1].deny("no"), asked[1].approve()];
    let plan = kit.plan_from_map(RunOptions::new(), verdicts, &calls).await;
    assert!(plan.rejected_verdicts.iter().all(|refused| refused.fault == VerdictFault::AlreadyDecided));
    assert_eq!(plan.rejected_verdicts.len(), 3);
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["1", "denied"]);
    assert_eq!(journal.lines(), ["pay 1"]);
}

#[tokio::test]
async fn a_verdict_on_one_call_is_not_valid_for_another() {
    let (kit, journal) = bench();
    let calls = calls([("pay", "1"), ("pay", "2")]);
    let mut moved = questions(&kit, &calls).await[0].approve();
    moved.call_id = Some("c2".into());
    let plan = kit.plan_from_map(RunOptions::new(), [moved], &calls).await;
    assert_eq!(plan.rejected_verdicts[0].fault, VerdictFault::OtherDigest);
    assert_eq!(plan.requests.len(), 2, "both are asked about anew");
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["cancelled", "cancelled"]);
    assert_eq!(journal.lines(), [""; 0]);
}

/// A denial counts, even where no approval was required.
#[tokio::test]
async fn a_verdict_on_a_call_that_needs_none_counts_too() {
    let (kit, journal) = bench();
    let look = calls([("look", "1")]);
    let request = kit.plan_from_map(ApprovalPolicy::always(), [], &look).await.requests.remove(0);
    let plan = kit.plan_from_map(RunOptions::new(), [request.deny("hands off")], &look).await;
    assert_eq!(came(&plan.rejected[0]), "denied");
    let plan = kit.plan_from_map(RunOptions::new(), [request.edit(json!(2))], &look).await;
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["2"]);
    assert_eq!(journal.lines(), ["look 2"]);
}

/// Approval requests are in the order of the calls, however long their policies took.
#[tokio::test(start_paused = true)]
async fn requests_are_in_the_order_of_the_calls() {
    let (kit, _) = bench();
    let slow_for_the_first = |_: &Tool, call: &ToolCall, _: &Cx| {
        let wait = Duration::from_secs(if call.call_id == "c1" { 5 } else { 1 });
        Permitting::later(async move {
            sleep(wait).await;
            Ok::<_, haft_executor::BoxError>(Permission::Allowed)
        })
    };
    let options = RunOptions::new().permit(slow_for_the_first);
    let calls = calls([("pay", "1"), ("pay", "2"), ("look", "3")]);
    let ids =
        |requests: &[ApprovalRequest]| requests.iter().map(|request| request.call_id.to_string()).collect::<Vec<_>>();
    let plan = kit.plan_from_map(&options, [], &calls).await;
    assert_eq!(ids(&plan.requests), ["c1", "c2"]);
    let (_sender, queue) = VerdictQueue::new();
    let plan = kit.plan_from_queue(&options, &queue, &calls).await;
    assert_eq!(ids(&plan.approval_requests), ["c1", "c2"]);
}

/// The caller may take results out of a plan and run the other calls, each with its own result.
#[tokio::test]
async fn a_plan_may_be_run_in_parts() {
    let (kit, journal) = bench();
    let calls = calls([("ghost", ""), ("pay", "x"), ("look", "3"), ("pay", "4")]);
    let mut plan = kit.plan_from_map(RunOptions::new(), [], &calls).await;
    let taken = plan.rejected.remove(0);
    assert_eq!(came(&taken), "unknown_tool");
    let results = kit.run(plan).collect_results().await;
    let told: Vec<_> = results.iter().map(|result| (result.call_id.as_str(), came(result))).collect();
    assert_eq!(told, [("c2", "input_validation_error"), ("c3", "3"), ("c4", "cancelled")]);
    assert_eq!(journal.lines(), ["look 3"]);

    let plan = kit.plan_from_map(RunOptions::new(), [], &calls).await;
    assert_eq!(all_came(&kit.run(plan.approved).collect_results().await), ["3"]);
}

/// A plan that is not run has run nothing, and its observer has received nothing.
#[tokio::test]
async fn planning_runs_nothing() {
    let (kit, journal) = bench();
    let seen = Journal::default();
    let noting = seen.clone();
    let options = RunOptions::new().observe(move |event: &ToolEvent| noting.note(event.call_id().as_str()));
    let plan = kit.plan_from_map(&options, [], calls([("look", "1"), ("pay", "2"), ("ghost", "")])).await;
    drop(plan);
    assert_eq!((journal.lines(), seen.lines()), (vec![], vec![]));
}

#[tokio::test]
async fn a_plan_of_no_calls_is_empty() {
    let (kit, _) = bench();
    let plan = kit.plan_from_map(RunOptions::new(), [], Vec::<ToolCall>::new()).await;
    assert!(plan.approved.is_empty() && plan.rejected.is_empty() && plan.requests.is_empty());
    assert_eq!(tell(kit.run(plan)).await, [""; 0]);
}

/// A toolkit that can't be run reports so for every call, and requests no approval.
#[tokio::test]
async fn a_toolkit_that_can_not_run_requests_no_approval() {
    let undefined = Tool::new("pay").needs_approval(ApprovalPolicy::always()).params::<u16>().define();
    let kit = kit([undefined]);
    let plan = kit.plan_from_map(RunOptions::new(), [], calls([("pay", "1")])).await;
    assert!(plan.requests.is_empty() && plan.approved.is_empty());
    assert_eq!(came(&plan.rejected[0]), "execution_error");
}

/// A call that required no approval when it was planned was not approved: the policies of the run decide.
#[tokio::test]
async fn a_call_planned_while_ungated_needs_approval_where_it_is_gated_now() {
    let journal = Journal::default();
    let free = kit([noting("pay", &journal)]);
    let planned = || free.plan_from_map(RunOptions::new(), [], calls([("pay", "5")]));
    let plan = planned().await;
    assert!(plan.approved[0].verdict().is_none());

    let guarded = kit([gated("pay", &journal)]);
    assert_eq!(all_came(&guarded.run(plan).collect_results().await), ["denied"]);
    let run = free.run_with(planned().await, RunOptions::new().policy(ApprovalPolicy::always()));
    assert_eq!(all_came(&run.collect_results().await), ["denied"]);
    // The plan keeps its queue, which now receives a request and has no sender to answer it.
    let (sender, queue) = VerdictQueue::new();
    let plan = free.plan_from_queue(RunOptions::new(), &queue, calls([("pay", "5")])).await;
    drop(sender);
    assert_eq!(all_came(&guarded.run(plan.approved).collect_results().await), ["cancelled"]);
    assert_eq!(journal.lines(), [""; 0]);

    let asking = asking(ApprovalRequest::approve);
    let told = tell(guarded.run_with(planned().await, asking)).await;
    assert_eq!(told, ["c1 asked", "c1 approved", "c1 output 5"]);
    assert_eq!(all_came(&free.run(planned().await).collect_results().await), ["5"]);
    assert_eq!(journal.lines(), ["pay 5", "pay 5"]);
}

/// The options of a plan may replace the policies of the tools, and the plan keeps that policy.
#[tokio::test]
async fn a_plan_runs_under_the_policies_of_its_options_and_of_no_others() {
    let journal = Journal::default();
    let guarded = kit([gated("pay", &journal)]);
    let trusting = || RunOptions::new().policy_instead(ApprovalPolicy::never());
    let plan = guarded.plan_from_map(trusting(), [], calls([("pay", "5")])).await;
    assert_eq!(all_came(&guarded.run(plan).collect_results().await), ["5"]);

    // Options that replace the plan's bring no policy, so the tool's own applies.
    let plan = guarded.plan_from_map(trusting(), [], calls([("pay", "5")])).await;
    assert_eq!(all_came(&guarded.run_with(plan, RunOptions::new()).collect_results().await), ["denied"]);
    let plan = guarded.plan_from_map(trusting(), [], calls([("pay", "5")])).await;
    let run = guarded.run_with(plan, RunOptions::new().policy(ApprovalPolicy::always()));
    assert_eq!(all_came(&run.collect_results().await), ["denied"]);
    assert_eq!(journal.lines(), ["pay 5"]);
}
