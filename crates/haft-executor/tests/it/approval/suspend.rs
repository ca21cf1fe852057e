//! Runs that are suspended and resumed elsewhere.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use haft_core::{ApprovalRequest, FailureClass, ToolCall, ToolEvent};
use haft_executor::{
    ApprovalPolicy, Cancellation, Cx, Dispatch, ExecutionLimits, NoFailure, RunOptions, Step, Suspend, Suspended, Tool,
    ToolType, Toolkit, VerdictFault,
};
use serde_json::json;

use crate::approval::bench::{Journal, all_came, asking, bench, gated, noting, suspend, tell};
use crate::executing::{calls, came, kit};

/// Returns the same value as another process reads it.
fn stored(suspended: &Suspended) -> Suspended {
    serde_json::from_str(&serde_json::to_string(suspended).unwrap()).unwrap()
}

#[tokio::test]
async fn calls_that_need_no_approval_are_done_before_and_never_again() {
    let (kit, journal) = bench();
    let calls = calls([("look", "1"), ("pay", "2"), ("ghost", ""), ("pay", "x"), ("pay", "5")]);
    let mut run = kit.run_with(&calls, RunOptions::new().approvals(Suspend));
    let told = tell(&mut run).await;
    assert_eq!(told[..3], ["c1 output 1", "c2 asked", "c2 suspended"]);
    assert!(!told.iter().any(|line| line.starts_with("c2 output") || line.starts_with("c5 output")), "{told:?}");
    let suspended = run.suspended().unwrap();
    assert!(run.suspended().is_none(), "given once");
    assert_eq!(suspended.calls(), calls);
    assert_eq!(suspended.pending().map(|request| request.call_id.as_str()).collect::<Vec<_>>(), ["c2", "c5"]);
    let finished: Vec<_> = suspended.finished().map(|result| (result.call_id.as_str(), came(result))).collect();
    assert_eq!(finished, [("c1", "1"), ("c3", "unknown_tool"), ("c4", "input_validation_error")]);
    assert_eq!(journal.lines(), ["look 1"]);

    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let resumed = kit.resume(stored(&suspended), verdicts.clone());
    assert_eq!(tell(resumed).await, ["c2 approved", "c2 output 2", "c5 approved", "c5 output 5"]);
    assert_eq!(journal.lines(), ["look 1", "pay 2", "pay 5"]);
    let results = kit.resume(stored(&suspended), verdicts).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["1", "2", "unknown_tool", "input_validation_error", "5"]);
}

/// The library does not record what was resumed: using a stored value only once is the duty of the application.
#[tokio::test]
async fn a_value_that_is_resumed_twice_runs_only_its_pending_calls_twice() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("look", "1"), ("pay", "2")])).await;
    for _ in 0..2 {
        let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
        let results = kit.resume(suspended.clone(), verdicts).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), ["1", "2"]);
    }
    assert_eq!(journal.lines(), ["look 1", "pay 2", "pay 2"]);
}

#[tokio::test]
async fn undecided_calls_are_suspended_again() {
    let (kit, journal) = bench();
    let mut suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "1"), ("pay", "2"), ("pay", "3")])).await;
    let requests: Vec<_> = suspended.pending().cloned().collect();
    // Starts with the last one, so that positions and order can't be confused.
    for left in (1..3).rev() {
        let verdict = requests[left].approve();
        let run = kit.resume(stored(&suspended), [verdict]);
        suspended = *run.collect_or_suspend().await.unwrap_err();
        let open: Vec<_> = suspended.pending().cloned().collect();
        assert_eq!(open, requests[..left], "the very same questions");
        assert_eq!(suspended.finished().len(), 3 - left);
    }
    let results = kit.resume(suspended, [requests[0].deny("no")]).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["denied", "2", "3"]);
    assert_eq!(journal.lines(), ["pay 3", "pay 2"]);
}

#[tokio::test]
async fn resuming_without_verdicts_changes_nothing() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("look", "1"), ("pay", "2")])).await;
    for options in [RunOptions::new(), RunOptions::new().approvals(Suspend)] {
        let again = kit.resume_with(suspended.clone(), [], options).collect_or_suspend().await.unwrap_err();
        assert_eq!(*again, suspended);
    }
    assert_eq!(journal.lines(), ["look 1"]);
}

/// A resumed run may use another approver.
#[tokio::test]
async fn a_resumed_run_may_use_another_approver() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "1"), ("pay", "2")])).await;
    let first = suspended.pending().next().unwrap().deny("no");
    let run = kit.resume_with(suspended, [first], asking(ApprovalRequest::approve));
    assert_eq!(tell(run).await, ["c1 denied", "c1 output denied", "c2 asked", "c2 approved", "c2 output 2"]);
    assert_eq!(journal.lines(), ["pay 2"]);
}

#[tokio::test]
async fn verdicts_that_match_no_pending_request_are_reported() {
    let (kit, journal) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "1"), ("pay", "2"), ("look", "3")])).await;
    let requests: Vec<_> = suspended.pending().cloned().collect();
    let stray = ApprovalRequest::new("q9", &ToolCall::new("c1", "pay", "1")).digest(&*requests[0].digest).approve();
    let mut of_another_call = requests[1].approve();
    of_another_call.call_id = Some("c1".into());
    let verdicts = [
        stray,
        requests[0].approve().digest("sha256:00"),
        requests[0].deny("no"),
        requests[0].approve(),
        of_another_call,
    ];
    let mut run = kit.resume(suspended, verdicts.clone());
    let refused: Vec<_> = run.rejected_verdicts().iter().map(|refused| (*refused.response).clone()).collect();
    assert_eq!(refused, [verdicts[0].clone(), verdicts[1].clone(), verdicts[3].clone(), verdicts[4].clone()]);
    let faults: Vec<_> = run.rejected_verdicts().iter().map(|refused| refused.fault.clone()).collect();
    let other = VerdictFault::OtherDigest;
    assert_eq!(faults, [VerdictFault::UnknownRequest, other.clone(), VerdictFault::AlreadyDecided, other]);
    let shown = run.rejected_verdicts()[0].to_string();
    assert_eq!(shown, "the verdict on `q9` was rejected: no such approval request is pending here");
    assert_eq!(tell(&mut run).await, ["c1 denied", "c1 output denied", "c2 suspended"]);
    assert_eq!(run.rejected_verdicts().len(), 4, "they can be read at the end too");
    assert_eq!(journal.lines(), ["look 3"]);
}

/// Of a repeated id the first call waits and the other is done; the verdict is for the first.
#[tokio::test]
async fn a_repeated_id_survives_being_suspended() {
    let (kit, journal) = bench();
    let twins = [ToolCall::new("c1", "pay", "1"), ToolCall::new("c1", "pay", "2"), ToolCall::new("c3", "look", "3")];
    let suspended = suspend(&kit, &RunOptions::new(), &twins).await;
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    assert_eq!(verdicts.len(), 1);
    let results = kit.resume(suspended, verdicts).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["1", "duplicate_call_id", "3"]);
    assert_eq!(journal.lines(), ["look 3", "pay 1"]);
}

#[tokio::test]
async fn the_requests_of_a_history_can_be_resumed_without_a_run() {
    let (kit, journal) = bench();
    let asked = suspend(&kit, &RunOptions::new(), &calls([("pay", "1"), ("pay", "2")])).await;
    let waiting = asked.calls().iter().cloned().zip(asked.pending().cloned());
    let suspended = Suspended::of(waiting).unwrap();
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let results = kit.resume(suspended, verdicts).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["1", "2"]);
    assert_eq!(journal.lines(), ["pay 1", "pay 2"]);
}

struct Pay;

impl ToolType for Pay {
    const NAME: &'static str = "pay";
    type Params = u16;
    type Success = u16;
    type Failure = NoFailure;
    type Services = ();
}

/// The caller of a single call can't receive a suspended call.
#[tokio::test]
async fn a_single_call_that_would_be_suspended_is_denied() {
    let (kit, journal) = bench();
    let (call, options) = (ToolCall::new("c1", "pay", "5"), RunOptions::new().approvals(Suspend));
    assert_eq!(came(&kit.run_call_with(&call, &options).await), "denied");
    assert_eq!(kit.try_run_call(&call, &options).await.unwrap_err().kind.as_str(), "denied");
    let failed = kit.call_of::<Pay>(5, &options).await.unwrap_err();
    assert!(format!("{failed:?}").contains("Denied"), "{failed:?}");
    assert_eq!(journal.lines(), [""; 0]);
}

#[tokio::test]
async fn a_suspended_run_has_no_continuation() {
    let (kit, _) = bench();
    let calls = calls([("look", "1"), ("pay", "2")]);
    let run = kit.run_with(&calls, RunOptions::new().approvals(Suspend));
    let steps: Vec<Step<usize>> = run.continue_with_results(|results| results.len()).collect().await;
    assert!(steps.iter().all(|step| matches!(step, Step::Event(_))), "{steps:?}");

    let suspended = suspend(&kit, &RunOptions::new(), &calls).await;
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let run = kit.resume(suspended, verdicts).continue_with_results(|results| all_came(&results).join(" "));
    let steps: Vec<_> = run.collect().await;
    assert!(matches!(steps.last(), Some(Step::Next(all)) if all == "1 2"), "{steps:?}");
}

#[tokio::test]
async fn a_run_that_may_end_with_an_error_ends_with_one_beside_suspended_calls() {
    let (kit, _) = bench();
    let options = RunOptions::new().approvals(Suspend);
    let mut run = kit.run_with(calls([("pay", "1"), ("ghost", "")]), options).fail_on([FailureClass::Call]);
    let mut suspended = 0;
    let mut errors = Vec::new();
    while let Some(item) = run.next().await {
        match item {
            Ok(event) => suspended += usize::from(matches!(event, ToolEvent::Suspended { .. })),
            Err(error) => errors.push(error),
        }
    }
    assert_eq!((suspended, errors.len()), (1, 1));
    let failed: Vec<_> = errors[0].failed.iter().map(|place| came(&errors[0].results[*place])).collect();
    assert_eq!(failed, ["unknown_tool"]);
}

#[tokio::test]
async fn a_dispatcher_suspends_and_resumes() {
    let (kit, journal) = bench();
    let dispatch: Arc<dyn Dispatch> = Arc::new(kit);
    let calls = calls([("pay", "1"), ("look", "2")]).into_iter().map(Into::into).collect();
    let mut run = dispatch.run_calls(calls, RunOptions::new().approvals(Suspend));
    assert_eq!(tell(&mut run).await, ["c1 asked", "c1 suspended", "c2 output 2"]);
    let suspended = run.suspended().unwrap();
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let run = dispatch.resume_calls(suspended, verdicts, RunOptions::new());
    assert_eq!(all_came(&run.collect_results().await), ["1", "2"]);
    assert_eq!(journal.lines(), ["look 2", "pay 1"]);
}

/// A cancelled run does not affect a call that is already suspended: its request stays pending.
#[tokio::test]
async fn cancelling_ends_running_calls_and_keeps_suspended_ones() {
    let journal = Journal::default();
    let endless = Tool::new("wait").handler(|(), _cx| std::future::pending::<()>());
    let kit = kit([gated("pay", &journal), endless]);
    let flag = Cancellation::new();
    let mut run = kit
        .run_with(calls([("pay", "1"), ("wait", "")]), RunOptions::new().approvals(Suspend).cancellation(flag.clone()));
    assert!(matches!(run.next().await, Some(ToolEvent::ApprovalRequested { .. })));
    assert!(matches!(run.next().await, Some(ToolEvent::Suspended { .. })));
    assert!(run.suspended().is_none(), "it is not over");
    flag.cancel();
    assert_eq!(tell(&mut run).await, ["c2 output cancelled"]);
    let suspended = run.suspended().unwrap();
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let results = kit.resume(suspended, verdicts).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["1", "cancelled"]);
}

/// A run that is cancelled before it begins has requested no approval, and nothing waits.
#[tokio::test]
async fn a_run_that_never_begins_suspends_nothing() {
    let (kit, journal) = bench();
    let mut run = kit.run_with(calls([("pay", "1"), ("look", "2")]), RunOptions::new().approvals(Suspend));
    run.cancel();
    assert_eq!(tell(&mut run).await, ["c1 output cancelled", "c2 output cancelled"]);
    assert!(run.suspended().is_none());
    assert_eq!(journal.lines(), [""; 0]);
}

#[tokio::test]
async fn an_observer_sees_suspended_calls_and_no_earlier_results() {
    let (kit, _) = bench();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observed = |options: RunOptions| {
        let seen = Arc::clone(&seen);
        options.observe(move |event| {
            let word = serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned();
            seen.lock().unwrap().push(format!("{} {word}", event.call_id()));
        })
    };
    let calls = calls([("look", "1"), ("pay", "2"), ("pay", "3")]);
    let suspended =
        kit.run_with(&calls, observed(RunOptions::new().approvals(Suspend))).collect_or_suspend().await.unwrap_err();
    let waits = ["c2 approval_requested", "c2 suspended", "c3 approval_requested", "c3 suspended"];
    assert_eq!(seen.lock().unwrap().split_off(0), [&["c1 output"], &waits[..]].concat());
    let first = suspended.pending().next().unwrap().approve();
    let suspended =
        kit.resume_with(*suspended, [first], observed(RunOptions::new())).collect_or_suspend().await.unwrap_err();
    assert_eq!(seen.lock().unwrap().split_off(0), ["c2 approval_resolved", "c2 output", "c3 suspended"]);
    // A run that is never polled still answers the calls that wait, and only those.
    drop(kit.resume_with(*suspended, [], observed(RunOptions::new())));
    assert_eq!(seen.lock().unwrap().split_off(0), ["c3 output"]);
}

#[tokio::test]
async fn the_event_of_a_suspended_call_is_written_and_read() {
    let (kit, _) = bench();
    let events: Vec<_> = kit.run_with(calls([("pay", "1")]), RunOptions::new().approvals(Suspend)).collect().await;
    let ToolEvent::Suspended { index: 0, request } = &events[1] else { panic!("{events:?}") };
    let written = serde_json::to_value(&events[1]).unwrap();
    assert_eq!(written["type"], "suspended");
    assert_eq!(written["request"], serde_json::to_value(request).unwrap());
    assert_eq!(serde_json::from_value::<ToolEvent>(written).unwrap(), events[1]);
    assert!(events[1].result().is_none());
}

/// A suspended call frees its slot: others need not wait for its verdict.
#[tokio::test]
async fn a_suspended_call_holds_no_slot() {
    let journal = Journal::default();
    let alone = ExecutionLimits::new().concurrency(haft_executor::Concurrency::Exclusive);
    let pay = gated("pay", &journal).and_then(|tool| tool.with_limits(alone));
    let kit = kit([pay, noting("look", &journal)]);
    let run = kit.run_with(
        calls([("pay", "1"), ("pay", "2"), ("look", "3")]),
        RunOptions::new().approvals(Suspend).concurrency(1),
    );
    let suspended = run.collect_or_suspend().await.unwrap_err();
    assert_eq!((suspended.pending().len(), suspended.finished().len()), (2, 1));
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let results =
        kit.resume_with(*suspended, verdicts, RunOptions::new().concurrency(1)).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["1", "2", "3"]);
}

/// An approver may suspend some requests and answer others.
#[tokio::test]
async fn some_requests_are_answered_and_some_suspended() {
    let (kit, journal) = bench();
    let mixed = |request: ApprovalRequest, _: Cx| async move {
        match request.call_id.as_str() {
            "c1" => haft_executor::ApprovalAnswer::Later,
            "c2" => request.edit(json!(20)).into(),
            _ => request.deny("no").into(),
        }
    };
    let run = kit.run_with(calls([("pay", "1"), ("pay", "2"), ("pay", "3")]), RunOptions::new().approvals(mixed));
    let suspended = run.collect_or_suspend().await.unwrap_err();
    assert_eq!(suspended.pending().map(|request| request.call_id.as_str()).collect::<Vec<_>>(), ["c1"]);
    assert_eq!(suspended.calls()[1].arguments, "20");
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let results = kit.resume(stored(&suspended), verdicts).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["1", "20", "denied"]);
    assert_eq!(journal.lines(), ["pay 20", "pay 1"]);
}

/// A policy that no longer requires approval withdraws nothing: the request was made and its verdict counts.
#[tokio::test]
async fn a_pending_request_is_answered_even_if_none_would_be_made_now() {
    let (kit, journal): (Toolkit, _) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "1")])).await;
    let lenient = || RunOptions::new().policy_instead(ApprovalPolicy::never());
    let again = kit.resume_with(suspended.clone(), [], lenient()).collect_or_suspend().await.unwrap_err();
    assert_eq!(again.pending().len(), 1);
    let no = suspended.pending().next().unwrap().deny("no");
    let results = kit.resume_with(suspended, [no], lenient()).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["denied"]);
    assert_eq!(journal.lines(), [""; 0]);
}
