//! Approval of calls without a local handler: signals and interactions surface only when they may.

use std::sync::{Arc, Mutex};

use haft_core::{ApprovalScope, FailureKind, ToolCall};
use haft_executor::{ApprovalMemory, ApprovalOutcome, ApprovalPolicy, Cx, Permission, RunOptions, Tool, Toolkit};
use serde_json::json;

use crate::approval::bench::{Way, all_came, asking, never_asked, suspend, tell};
use crate::executing::{calls, came, kit};
use crate::running::alone;

/// Creates a signal and an interaction, both gated, and a signal that is not.
fn surfacing() -> Toolkit {
    let always = ApprovalPolicy::always;
    kit([
        Tool::signal("halt").params::<u8>().needs_approval(always()).define(),
        Tool::interaction("ask").params::<String>().success::<String>().needs_approval(always()).define(),
        Tool::signal("note").params::<u8>().define(),
    ])
}

fn asked() -> Vec<ToolCall> {
    calls([("halt", "1"), ("ask", "\"name?\"")])
}

#[tokio::test]
async fn a_signal_or_interaction_that_is_denied_does_not_surface() {
    for way in Way::ALL {
        let results = way.results(&surfacing(), &RunOptions::new(), &asked(), |request| request.deny("no")).await;
        assert_eq!(all_came(&results), ["denied", "denied"], "{way:?}");
    }
}

#[tokio::test]
async fn a_signal_or_interaction_that_is_approved_surfaces_unrun() {
    for way in Way::ALL {
        let options = RunOptions::new();
        let results = way.results(&surfacing(), &options, &asked(), haft_core::ApprovalRequest::approve).await;
        assert_eq!(all_came(&results), ["non_local_tool", "non_local_tool"], "{way:?}");
        assert!(results.iter().all(|result| !result.failure().unwrap().started), "{way:?}");
    }
}

#[tokio::test]
async fn no_gated_call_surfaces_without_an_approver() {
    let kit = surfacing();
    assert_eq!(all_came(&kit.run(asked()).collect_results().await), ["denied", "denied"]);
    for call in asked() {
        assert_eq!(came(&kit.run_call(&call).await), "denied");
        assert_eq!(kit.try_run_call(&call, RunOptions::new()).await.unwrap_err().kind, FailureKind::Denied);
        let tool = kit.get(&call.name).unwrap();
        assert_eq!(came(&alone(tool).run_call(&call).await), "denied");
    }
}

#[tokio::test]
async fn the_policy_of_a_run_covers_signals_and_interactions() {
    let note = calls([("note", "3")]);
    let denying = asking(|request| request.deny("not now")).policy(ApprovalPolicy::always());
    let run = surfacing().run_with(note.clone(), denying);
    assert_eq!(tell(run).await, ["c1 asked", "c1 denied", "c1 output denied"]);
    let sparing = RunOptions::new().policy_instead(ApprovalPolicy::when(|n: u8, _| async move { n > 3 }));
    let results = surfacing().run_with(calls([("note", "3"), ("note", "4"), ("halt", "1")]), sparing);
    assert_eq!(all_came(&results.collect_results().await), ["non_local_tool", "denied", "non_local_tool"]);
    assert_eq!(
        tell(surfacing().run_with(note, RunOptions::new().approvals(never_asked))).await,
        ["c1 output non_local_tool"]
    );
}

#[tokio::test]
async fn no_approval_is_requested_for_a_signal_with_invalid_arguments() {
    let results = surfacing()
        .run_with(calls([("halt", "900"), ("ask", "7"), ("note", "\"x\"")]), RunOptions::new().approvals(never_asked));
    assert_eq!(all_came(&results.collect_results().await), ["input_validation_error"; 3]);
    let call = ToolCall::new("c1", "note", "900");
    assert_eq!(came(&surfacing().run_call(&call).await), "input_validation_error");
}

#[tokio::test]
async fn a_permit_applies_to_signals_and_interactions_before_approval() {
    let forbidding =
        RunOptions::new().permit(|_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("not you")).approvals(never_asked);
    let results = surfacing().run_with(asked(), forbidding).collect_results().await;
    assert_eq!(all_came(&results), ["permission_denied", "permission_denied"]);
}

/// Edited arguments are checked and permitted like those of the model, and the run holds them for the application.
#[tokio::test]
async fn edited_arguments_surface() {
    let mut run = surfacing().run_with(
        calls([("halt", "1"), ("halt", "2")]),
        asking(|request| if request.arguments == "1" { request.edit(json!(7)) } else { request.edit(json!(900)) }),
    );
    let mut outputs = Vec::new();
    while let Some(event) = run.next().await {
        outputs.extend(event.result().map(|result| came(result).to_owned()));
    }
    assert_eq!(outputs[0], "non_local_tool");
    assert_ne!(outputs[1], "non_local_tool", "an edit that does not fit surfaces nothing");
    assert_eq!(run.calls()[0].arguments, "7");
    assert_eq!(run.decode_args::<u8>(0).unwrap(), 7);
}

/// A tool without an output schema accepts any answer, as it does from the application.
#[tokio::test]
async fn an_answer_in_place_of_a_signal_or_interaction_is_its_result() {
    for way in Way::ALL {
        let kit = surfacing();
        let results = way.results(&kit, &RunOptions::new(), &asked(), |request| request.answer(json!("Ada"))).await;
        assert_eq!(all_came(&results), ["\"Ada\"", "\"Ada\""], "{way:?}");
    }
    let run = surfacing().run_with(calls([("ask", "\"name?\"")]), asking(|request| request.answer(json!(5))));
    assert_eq!(all_came(&run.collect_results().await), ["denied"], "a promise is kept");
}

#[tokio::test]
async fn a_verdict_on_a_signal_is_remembered_recorded_and_bound_to_its_arguments() {
    let (memory, records) = (ApprovalMemory::new(), Arc::new(Mutex::new(Vec::new())));
    let noting = Arc::clone(&records);
    let options = asking(|request| request.approve().scope(ApprovalScope::TheseArguments))
        .approval_memory(&memory)
        .audit(move |record| noting.lock().unwrap().push(record.outcome));
    surfacing().run_with(calls([("halt", "1")]), options.clone()).collect_results().await;
    let remembering = options.approvals(never_asked);
    let results = surfacing().run_with(calls([("halt", "1")]), remembering).collect_results().await;
    assert_eq!(all_came(&results), ["non_local_tool"]);
    assert_eq!(*records.lock().unwrap(), [ApprovalOutcome::Approved, ApprovalOutcome::Remembered]);

    let suspended = suspend(&surfacing(), &RunOptions::new(), &asked()).await;
    let verdicts: Vec<_> = suspended.pending().map(|request| request.approve().digest("sha256:00")).collect();
    let still = surfacing().resume(suspended, verdicts).collect_or_suspend().await.unwrap_err();
    assert_eq!(still.pending().len(), 2, "a verdict on other arguments lets nothing surface");
}

/// Calls that the provider executes can't be prevented here: only permits apply to them.
#[tokio::test]
async fn policies_do_not_apply_to_calls_that_the_provider_runs_and_permits_do() {
    let search = || Tool::provider("vendor.search").with_args(()).define();
    let gated = Tool::new("gated").needs_approval(ApprovalPolicy::always()).handler(|(), _| async {});
    let kit = kit([search(), gated]);
    let calls = [ToolCall::new("c1", "search", "{}"), ToolCall::new("c2", "gated", "{}").executed_by_provider()];
    let options = RunOptions::new().policy(ApprovalPolicy::always()).approvals(never_asked);
    let results = kit.run_with(calls.clone(), options.clone()).collect_results().await;
    assert_eq!(all_came(&results), ["non_local_tool", "non_local_tool"]);
    let forbidding = options.permit(|_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("not you"));
    let results = kit.run_with(calls, forbidding).collect_results().await;
    assert_eq!(all_came(&results), ["permission_denied", "permission_denied"]);
}

/// A call that surfaces holds no slot: nothing runs, so nothing has to wait for it.
#[tokio::test(start_paused = true)]
async fn a_call_that_surfaces_waits_for_no_slot() {
    let long = Tool::new("long").handler(|(), _| async { tokio::time::sleep(std::time::Duration::from_secs(1)).await });
    let kit = kit([long, Tool::signal("note").define()]);
    let told = tell(kit.run_with(calls([("long", ""), ("note", "{}")]), RunOptions::new().concurrency(1))).await;
    assert_eq!(told, ["c2 output non_local_tool", "c1 output null"]);
}
