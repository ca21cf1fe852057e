//! Verdicts that replace the model's arguments.

use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, ToolCall, ToolEvent};
use haft_executor::{ApprovalPolicy, Cx, Middleware, Next, Permission, Request, RunOptions, Tool, VerdictQueue};
use serde_json::json;

use crate::approval::bench::{Journal, Way, all_came, asking, bench, gated, message, tell};
use crate::executing::{calls, kit};

/// Denies payments of more than ten.
fn thrifty(_: &Tool, call: &ToolCall, _: &Cx) -> Permission {
    if call.arguments.len() > 1 { Permission::denied("too much for you") } else { Permission::Allowed }
}

#[tokio::test]
async fn an_edit_is_subject_to_permits_like_any_call() {
    for way in Way::ALL {
        let (kit, journal) = bench();
        let options = RunOptions::new().permit(thrifty);
        let results = way.results(&kit, &options, &calls([("pay", "5")]), |request| request.edit(json!(500))).await;
        assert_eq!(all_came(&results), ["permission_denied"], "{way:?}");
        assert_eq!(message(&results), "too much for you", "{way:?}");
        assert_eq!(journal.lines(), [""; 0], "{way:?}");
        let results = way.results(&kit, &options, &calls([("pay", "5")]), |request| request.edit(json!(4))).await;
        assert_eq!(all_came(&results), ["4"], "{way:?}");
    }
}

/// The approver who edited the arguments has approved them: no second approval is requested, whatever the policies.
#[tokio::test]
async fn an_edit_requires_no_second_approval() {
    let (kit, journal) = bench();
    let options = asking(|request| request.edit(json!(6))).policy(ApprovalPolicy::always());
    let told = tell(kit.run_with(calls([("pay", "5")]), options)).await;
    assert_eq!(told, ["c1 asked", "c1 edited", "c1 output 6"]);
    assert_eq!(journal.lines(), ["pay 6"]);
}

#[tokio::test]
async fn the_call_has_the_arguments_that_it_ran_with() {
    let (kit, _) = bench();
    let mut run = kit.run_with(calls([("pay", "5")]), asking(|request| request.edit(json!(6))));
    while run.next().await.is_some() {}
    assert_eq!(run.calls()[0].arguments, "6");
    let plan = kit.plan_from_map(RunOptions::new(), [], calls([("pay", "5")])).await;
    let edited = plan.requests[0].edit(json!(6));
    let plan = kit.plan_from_map(RunOptions::new(), [edited], calls([("pay", "5")])).await;
    let approved = &plan.approved[0];
    assert_eq!(approved.call().arguments, "6");
    assert_eq!(approved.digest().unwrap(), kit.get("pay").unwrap().approval_digest(&json!(6)));
    assert_eq!(approved.verdict().unwrap().decision.as_str(), "edited");
}

/// Records the arguments that pass, and replaces them if others are given.
fn passing(seen: &Journal, instead: Option<u16>) -> impl Middleware<Services = ()> {
    let seen = seen.clone();
    move |request: Request, next: Next| {
        seen.note(request.raw_arguments());
        let request = match instead {
            Some(instead) => request.with_arguments(&json!(instead)),
            None => request,
        };
        async move { next.run(request).await }
    }
}

#[tokio::test]
async fn a_middleware_sees_only_the_edited_arguments() {
    for way in Way::ALL {
        let (journal, seen) = (Journal::default(), Journal::default());
        let kit = kit([gated("pay", &journal)]).wrap(passing(&seen, None));
        let edit = |request: &ApprovalRequest| request.edit(json!(6));
        let results = way.results(&kit, &RunOptions::new(), &calls([("pay", "5")]), edit).await;
        assert_eq!(all_came(&results), ["6"], "{way:?}");
        assert_eq!((seen.lines(), journal.lines()), (vec!["6".to_owned()], vec!["pay 6".to_owned()]), "{way:?}");
    }
}

/// The approved arguments are those that run: a middleware can't replace them afterwards.
#[tokio::test]
async fn a_middleware_can_not_change_approved_arguments() {
    let decided: [fn(&ApprovalRequest) -> _; 2] = [ApprovalRequest::approve, |request| request.edit(json!(6))];
    for decide in decided {
        for way in Way::ALL {
            let (journal, seen) = (Journal::default(), Journal::default());
            let kit = kit([gated("pay", &journal)]).wrap(passing(&seen, Some(500)));
            let results = way.results(&kit, &RunOptions::new(), &calls([("pay", "5")]), decide).await;
            assert_eq!(all_came(&results), ["denied"], "{way:?}");
            assert!(message(&results).contains("changed after the call was approved"), "{}", message(&results));
            assert_eq!(journal.lines(), [""; 0], "{way:?}");
        }
    }
}

/// Values emitted before the approval request are kept, and nothing of the first attempt remains in the second.
#[tokio::test]
async fn an_edited_call_has_one_output_and_keeps_its_events() {
    let (kit, journal) = bench();
    let observed = Arc::new(Mutex::new(0));
    let counting = Arc::clone(&observed);
    let (sender, queue) = VerdictQueue::new();
    let options = RunOptions::new().approvals(queue).concurrency(1).observe(move |event| {
        *counting.lock().unwrap() += usize::from(matches!(event, ToolEvent::Output { .. }));
    });
    let mut run = kit.run_with(calls([("pay", "5"), ("pay", "7")]), options);
    let mut outputs = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            ToolEvent::ApprovalRequested { request, .. } => drop(sender.send(request.edit(json!(1))).unwrap()),
            ToolEvent::Output { result, .. } => outputs.push(result.call_id.to_string()),
            _ => {}
        }
    }
    outputs.sort();
    assert_eq!(outputs, ["c1", "c2"]);
    assert_eq!(*observed.lock().unwrap(), 2);
    assert_eq!(journal.lines(), ["pay 1", "pay 1"]);
}
