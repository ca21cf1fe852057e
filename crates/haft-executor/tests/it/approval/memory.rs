//! Verdicts that hold for more than one call.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, ApprovalScope, Readonly};
use haft_executor::{ApprovalMemory, ApprovalOutcome, Cx, RunOptions, Suspend, Tool, Toolkit};
use serde_json::json;

use crate::approval::bench::{Decide, Journal, all_came, gated, suspend, tell};
use crate::executing::{calls, kit};

fn shop(journal: &Journal) -> Toolkit {
    kit([gated("pay", journal), gated("refund", journal)])
}

/// Decides on one call, with a memory.
async fn decide(
    kit: &Toolkit,
    memory: &ApprovalMemory,
    caller: &str,
    call: (&str, &str),
    verdict: Decide,
) -> Vec<String> {
    let options = RunOptions::new().caller(caller).approval_memory(memory);
    let approver = move |request: ApprovalRequest, _: Cx| async move { verdict(&request) };
    tell(kit.run_with(calls([call]), options.approvals(approver))).await
}

/// Returns the outcome of calls when no approver is configured.
async fn remembered(kit: &Toolkit, memory: &ApprovalMemory, caller: &str, asked: [(&str, &str); 4]) -> Vec<String> {
    let run = kit.run_with(calls(asked), RunOptions::new().caller(caller).approval_memory(memory));
    all_came(&run.collect_results().await).into_iter().map(str::to_owned).collect()
}

const ASKED: [(&str, &str); 4] = [("pay", "5"), ("pay", "5.0"), ("pay", "6"), ("refund", "5")];

#[tokio::test]
async fn a_verdict_holds_for_its_scope_and_for_nothing_wider() {
    type Row = (ApprovalScope, Decide, [&'static str; 4]);
    let (scoped, no) = (ApprovalRequest::approve as Decide, "denied");
    let edit = |request: &ApprovalRequest| request.edit(json!(1));
    let answer = |request: &ApprovalRequest| request.answer(json!(2));
    let table: [Row; 9] = [
        (ApprovalScope::ThisCall, scoped, [no; 4]),
        (ApprovalScope::Other("this_planet".into()), scoped, [no; 4]),
        (ApprovalScope::TheseArguments, scoped, ["5", "5", no, no]),
        (ApprovalScope::ThisTool, scoped, ["5", "5", "6", no]),
        (ApprovalScope::ThisSession, scoped, ["5", "5", "6", "5"]),
        // An edit or an answer holds for these arguments only, whatever its scope.
        (ApprovalScope::TheseArguments, edit, ["1", "1", no, no]),
        (ApprovalScope::ThisTool, edit, ["1", "1", no, no]),
        (ApprovalScope::ThisSession, answer, ["2", "2", no, no]),
        (ApprovalScope::ThisSession, |request| request.respond("escalated".into()), [no; 4]),
    ];
    for (scope, verdict, came_of) in table {
        let (journal, memory) = (Journal::default(), ApprovalMemory::new());
        let kit = shop(&journal);
        let (named, options) = (scope.clone(), RunOptions::new().caller("ana").approval_memory(&memory));
        let approver = move |request: ApprovalRequest, _: Cx| {
            let response = verdict(&request).scope(named.clone());
            async move { response }
        };
        kit.run_with(calls([("pay", "5")]), options.approvals(approver)).collect_results().await;
        assert_eq!(remembered(&kit, &memory, "ana", ASKED).await, came_of, "{scope:?}");
        assert_eq!(memory.is_empty(), came_of == [no; 4], "{scope:?}");
        assert_eq!(remembered(&kit, &memory, "bob", ASKED).await, [no; 4], "another caller, {scope:?}");
    }
}

#[tokio::test]
async fn a_memory_can_be_stored_and_read() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let kit = shop(&journal);
    decide(&kit, &memory, "ana", ("pay", "5"), |request| request.approve().scope(ApprovalScope::TheseArguments)).await;
    decide(&kit, &memory, "ana", ("refund", "7"), |request| request.edit(json!(1)).scope(ApprovalScope::ThisTool))
        .await;
    decide(&kit, &memory, "bob", ("pay", "5"), |request| request.approve().scope(ApprovalScope::ThisTool)).await;
    decide(&kit, &memory, "eve", ("pay", "5"), |request| request.deny("no").scope(ApprovalScope::ThisSession)).await;
    let text = serde_json::to_string(&memory).unwrap();
    let read: ApprovalMemory = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    assert_eq!(read.len(), 4);
    let asked = [("pay", "5"), ("pay", "6"), ("refund", "7"), ("refund", "8")];
    for (caller, came_of) in [
        ("ana", ["5", "denied", "1", "denied"]),
        ("bob", ["5", "6", "denied", "denied"]),
        ("eve", ["denied"; 4]),
        ("", ["denied"; 4]),
    ] {
        assert_eq!(remembered(&kit, &memory, caller, asked).await, came_of, "{caller}");
        assert_eq!(remembered(&kit, &read, caller, asked).await, came_of, "{caller}, read back");
    }
}

/// A call without a caller has a separate identity, and does not stand for every caller.
#[tokio::test]
async fn an_approval_without_a_caller_does_not_apply_to_other_callers() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let kit = shop(&journal);
    let options = RunOptions::new().approval_memory(&memory);
    let approver = |request: ApprovalRequest, _: Cx| async move { request.approve().scope(ApprovalScope::ThisSession) };
    kit.run_with(calls([("pay", "5")]), options.clone().approvals(approver)).collect_results().await;
    let again = kit.run_with(calls([("pay", "5")]), options).collect_results().await;
    assert_eq!(all_came(&again), ["5"]);
    for caller in ["", "ana"] {
        assert_eq!(remembered(&kit, &memory, caller, ASKED).await, ["denied"; 4], "{caller}");
    }
}

#[tokio::test]
async fn a_changed_tool_has_no_remembered_verdicts() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let scopes: [Decide; 2] = [
        |request| request.approve().scope(ApprovalScope::TheseArguments),
        |request| request.approve().scope(ApprovalScope::ThisTool),
    ];
    for verdict in scopes {
        decide(&shop(&journal), &memory, "ana", ("pay", "5"), verdict).await;
        assert_eq!(remembered(&shop(&journal), &memory, "ana", ASKED).await[0], "5");
        let pay = gated("pay", &journal).map(|tool| tool.annotate(Readonly(true)));
        let changed: Toolkit = kit([pay, gated("refund", &journal)]);
        assert_eq!(remembered(&changed, &memory, "ana", ASKED).await, ["denied"; 4]);
        memory.clear();
        assert_eq!(remembered(&shop(&journal), &memory, "ana", ASKED).await, ["denied"; 4]);
    }
}

/// The narrower verdict was given first. A later, wider denial revokes it, whatever it was.
#[tokio::test]
async fn a_later_wider_denial_revokes_narrower_approvals_of_its_caller() {
    let narrow: [Decide; 4] = [
        |request| request.approve().scope(ApprovalScope::TheseArguments),
        |request| request.approve().scope(ApprovalScope::ThisTool),
        |request| request.edit(json!(1)).scope(ApprovalScope::TheseArguments),
        |request| request.answer(json!(2)).scope(ApprovalScope::TheseArguments),
    ];
    for (nth, verdict) in narrow.into_iter().enumerate() {
        for scope in [ApprovalScope::ThisTool, ApprovalScope::ThisSession] {
            let (journal, memory) = (Journal::default(), ApprovalMemory::new());
            let kit = shop(&journal);
            decide(&kit, &memory, "ana", ("pay", "5"), verdict).await;
            decide(&kit, &memory, "bob", ("pay", "5"), verdict).await;
            let allowed = remembered(&kit, &memory, "bob", ASKED).await;
            assert_ne!(allowed[0], "denied", "{nth}");
            // The request was made before, because none would be made for what is remembered.
            let deny: Decide = match scope {
                ApprovalScope::ThisTool => |request| request.deny("no more").scope(ApprovalScope::ThisTool),
                _ => |request| request.deny("no more").scope(ApprovalScope::ThisSession),
            };
            let told = decide_resumed(&kit, &memory, "ana", ("pay", "9"), deny).await;
            assert_eq!(told, ["denied"], "{nth}");
            for memory in [memory.clone(), serde_json::from_str(&serde_json::to_string(&memory).unwrap()).unwrap()] {
                assert_eq!(remembered(&kit, &memory, "ana", ASKED).await, ["denied"; 4], "{nth} {scope:?}");
                assert_eq!(remembered(&kit, &memory, "bob", ASKED).await, allowed, "another caller's, {nth} {scope:?}");
            }
        }
    }
}

/// Decides on a request that was pending before anything was remembered.
async fn decide_resumed(
    kit: &Toolkit,
    memory: &ApprovalMemory,
    caller: &str,
    call: (&str, &str),
    verdict: Decide,
) -> Vec<String> {
    let suspended = suspend(kit, &RunOptions::new().caller(caller), &calls([call])).await;
    let verdicts: Vec<_> = suspended.pending().map(verdict).collect();
    let options = RunOptions::new().caller(caller).approval_memory(memory);
    let results = kit.resume_with(suspended, verdicts, options).collect_results().await;
    all_came(&results).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_later_wider_approval_does_not_undo_a_narrower_denial() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let kit = shop(&journal);
    decide(&kit, &memory, "ana", ("pay", "5"), |request| request.deny("no").scope(ApprovalScope::TheseArguments)).await;
    decide(&kit, &memory, "ana", ("pay", "6"), |request| request.approve().scope(ApprovalScope::ThisTool)).await;
    decide(&kit, &memory, "ana", ("refund", "9"), |request| request.approve().scope(ApprovalScope::ThisSession)).await;
    assert_eq!(remembered(&kit, &memory, "ana", ASKED).await, ["denied", "denied", "6", "5"]);
    let allow = |request: &ApprovalRequest| request.approve().scope(ApprovalScope::TheseArguments);
    decide_resumed(&kit, &memory, "ana", ("pay", "5"), allow).await;
    assert_eq!(remembered(&kit, &memory, "ana", ASKED).await, ["5", "5", "6", "5"], "one of its own scope does");
}

fn bounded(most: usize) -> ApprovalMemory {
    ApprovalMemory::bounded(NonZeroUsize::new(most).unwrap())
}

#[tokio::test]
async fn a_memory_that_is_full_forgets_its_oldest_approval_and_keeps_every_denial() {
    let (journal, memory) = (Journal::default(), bounded(3));
    let kit = shop(&journal);
    let (yes, no): (Decide, Decide) = (
        |request| request.approve().scope(ApprovalScope::TheseArguments),
        |request| request.deny("no").scope(ApprovalScope::TheseArguments),
    );
    decide(&kit, &memory, "ana", ("pay", "1"), no).await;
    for cents in ["2", "3", "4", "5"] {
        decide(&kit, &memory, "ana", ("pay", cents), yes).await;
    }
    assert_eq!(memory.len(), 3);
    let asked = [("pay", "2"), ("pay", "3"), ("pay", "4"), ("pay", "5")];
    assert_eq!(remembered(&kit, &memory, "ana", asked).await, ["denied", "denied", "4", "5"], "nobody can be asked");
    let told = decide(&kit, &memory, "ana", ("pay", "1"), yes).await;
    assert_eq!(told, ["c1 denied", "c1 output denied"], "it is still remembered");
}

#[tokio::test]
async fn denials_that_do_not_fit_are_merged_and_never_forgotten() {
    let (journal, memory) = (Journal::default(), bounded(2));
    let kit = shop(&journal);
    let (yes, no): (Decide, Decide) = (
        |request| request.approve().scope(ApprovalScope::ThisTool),
        |request| request.deny("no").scope(ApprovalScope::TheseArguments),
    );
    decide(&kit, &memory, "ana", ("pay", "1"), no).await;
    decide(&kit, &memory, "ana", ("pay", "2"), no).await;
    assert_eq!(decide(&kit, &memory, "ana", ("refund", "1"), yes).await[2], "c1 output 1");
    assert_eq!(memory.len(), 2, "an approval is not remembered where only denials are");
    decide(&kit, &memory, "ana", ("pay", "3"), no).await;
    let asked = [("pay", "1"), ("pay", "2"), ("pay", "3"), ("pay", "9")];
    let told = decide(&kit, &memory, "ana", ("refund", "1"), yes).await;
    assert_eq!(told, ["c1 asked", "c1 approved", "c1 output 1"], "another tool is asked about");
    assert_eq!(remembered(&kit, &memory, "ana", asked).await, ["denied"; 4], "the whole tool is denied");
    decide_resumed(&kit, &memory, "ana", ("pay", "9"), yes).await;
    assert_eq!(remembered(&kit, &memory, "ana", asked).await, ["denied"; 4], "an approval does not undo it");

    // The callers are more than fit: in the end everything is denied, for all callers.
    for caller in ["bob", "eve", "kim"] {
        decide(&kit, &memory, caller, ("pay", "1"), no).await;
        assert!(memory.len() <= 2, "{memory:?}");
    }
    let stored: ApprovalMemory = serde_json::from_str(&serde_json::to_string(&memory).unwrap()).unwrap();
    for memory in [&memory, &stored] {
        for caller in ["ana", "bob", "eve", "kim", "zoe"] {
            let told = decide(&kit, memory, caller, ("refund", "7"), yes).await;
            assert_eq!(told, ["c1 denied", "c1 output denied"], "{caller}");
        }
    }
    memory.clear();
    assert_eq!(decide(&kit, &memory, "ana", ("pay", "1"), yes).await[0], "c1 asked");
}

#[tokio::test]
async fn a_memory_holds_no_more_than_its_bound_however_many_verdicts_come() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let kit = shop(&journal);
    for cents in 0..1_100 {
        let yes: Decide = |request| request.approve().scope(ApprovalScope::TheseArguments);
        decide(&kit, &memory, "ana", ("pay", &cents.to_string()), yes).await;
    }
    assert_eq!(memory.len(), ApprovalMemory::DEFAULT_MOST.get());
    assert_eq!(memory.len(), 1_024);
}

/// An older memory has no order: where an approval and a wider denial conflict, the denial counts.
#[tokio::test]
async fn a_memory_stored_before_verdicts_had_an_order_is_read_strictly() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let kit = shop(&journal);
    decide(&kit, &memory, "ana", ("pay", "9"), |request| request.deny("no").scope(ApprovalScope::ThisTool)).await;
    let yes = |request: &ApprovalRequest| request.approve().scope(ApprovalScope::TheseArguments);
    decide_resumed(&kit, &memory, "ana", ("pay", "5"), yes).await;
    assert_eq!(remembered(&kit, &memory, "ana", ASKED).await[0], "5", "the later, narrower one");
    let mut stored = serde_json::to_value(&memory).unwrap();
    stored.as_object_mut().unwrap().remove("oldest_first");
    for verdict in stored["verdicts"].as_array_mut().unwrap() {
        verdict.as_object_mut().unwrap().remove("tool");
    }
    let read: ApprovalMemory = serde_json::from_value(stored).unwrap();
    assert_eq!(read.len(), 2);
    assert_eq!(remembered(&kit, &read, "ana", ASKED).await[0], "denied");
}

#[tokio::test]
async fn the_narrowest_verdict_holds_and_the_latest_of_two() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let kit = shop(&journal);
    decide(&kit, &memory, "ana", ("pay", "5"), |request| request.deny("no").scope(ApprovalScope::TheseArguments)).await;
    decide(&kit, &memory, "ana", ("pay", "6"), |request| request.approve().scope(ApprovalScope::ThisTool)).await;
    decide(&kit, &memory, "ana", ("refund", "9"), |request| request.deny("no").scope(ApprovalScope::ThisSession)).await;
    assert_eq!(remembered(&kit, &memory, "ana", ASKED).await, ["denied"; 4]);
    memory.clear();
    decide(&kit, &memory, "ana", ("refund", "9"), |request| request.deny("no").scope(ApprovalScope::ThisSession)).await;
    let yes = |request: &ApprovalRequest| request.approve().scope(ApprovalScope::ThisTool);
    decide_resumed(&kit, &memory, "ana", ("pay", "6"), yes).await;
    assert_eq!(remembered(&kit, &memory, "ana", ASKED).await, ["5", "5", "6", "denied"]);
    memory.clear();
    decide(&kit, &memory, "ana", ("refund", "9"), |request| request.deny("no").scope(ApprovalScope::ThisTool)).await;
    assert_eq!(remembered(&kit, &memory, "ana", ASKED).await[3], "denied");
    memory.clear();
    decide(&kit, &memory, "ana", ("refund", "9"), |request| request.approve().scope(ApprovalScope::ThisTool)).await;
    assert_eq!(remembered(&kit, &memory, "ana", ASKED).await[3], "5");
}

/// An invalid verdict is not remembered: approval is requested again the next time.
#[tokio::test]
async fn an_invalid_edit_or_answer_is_not_remembered() {
    let refused: [Decide; 2] = [
        |request| request.edit(json!("much")).scope(ApprovalScope::TheseArguments),
        |request| request.answer(json!("paid")).scope(ApprovalScope::ThisTool),
    ];
    for verdict in refused {
        let (journal, memory) = (Journal::default(), ApprovalMemory::new());
        let kit = shop(&journal);
        decide(&kit, &memory, "ana", ("pay", "5"), verdict).await;
        assert!(memory.is_empty(), "{memory:?}");
        let told = decide(&kit, &memory, "ana", ("pay", "5"), ApprovalRequest::approve).await;
        assert_eq!(told, ["c1 asked", "c1 approved", "c1 output 5"]);
    }
}

/// A remembered verdict is reported like any other, and no approval is requested.
#[tokio::test]
async fn a_remembered_verdict_is_emitted_without_a_request() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let kit = shop(&journal);
    let yes = |request: &ApprovalRequest| request.approve().scope(ApprovalScope::ThisTool);
    assert_eq!(decide(&kit, &memory, "ana", ("pay", "5"), yes).await, ["c1 asked", "c1 approved", "c1 output 5"]);
    assert_eq!(decide(&kit, &memory, "ana", ("pay", "6"), yes).await, ["c1 approved", "c1 output 6"]);
    assert_eq!(journal.lines(), ["pay 5", "pay 6"]);
}

/// Pending requests are answered by verdicts that were remembered since, before approval is requested again.
#[tokio::test]
async fn a_resumed_call_uses_remembered_verdicts() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let kit = shop(&journal);
    let records = Arc::new(Mutex::new(Vec::new()));
    let noting = Arc::clone(&records);
    let options = RunOptions::new().approval_memory(&memory);
    let suspended = suspend(&kit, &options, &calls([("pay", "5"), ("pay", "6"), ("refund", "7")])).await;
    let first = suspended.pending().next().unwrap().approve().scope(ApprovalScope::ThisTool);
    let options = options.audit(move |record| {
        noting.lock().unwrap().push((record.call_id.clone(), record.outcome));
    });
    let run = kit.resume_with(suspended, [first], options.approvals(Suspend));
    let still = run.collect_or_suspend().await.unwrap_err();
    assert_eq!(still.pending().map(|request| request.call_id.as_str()).collect::<Vec<_>>(), ["c3"]);
    assert_eq!(all_came(&still.finished().cloned().collect::<Vec<_>>()), ["5", "6"]);
    let expected =
        [("c1", ApprovalOutcome::Approved), ("c2", ApprovalOutcome::Remembered), ("c3", ApprovalOutcome::Suspended)];
    assert_eq!(*records.lock().unwrap(), expected.map(|(call_id, outcome)| (call_id.into(), outcome)));
}

/// A remembered approval does not skip the check of the arguments.
#[tokio::test]
async fn a_session_wide_approval_does_not_skip_the_checks() {
    let (journal, memory) = (Journal::default(), ApprovalMemory::new());
    let kit = shop(&journal);
    decide(&kit, &memory, "ana", ("pay", "5"), |request| request.approve().scope(ApprovalScope::ThisSession)).await;
    let asked = [("pay", "-1"), ("pay", "\"5\""), ("ghost", "5"), ("refund", "70000")];
    let invalid = "input_validation_error";
    assert_eq!(remembered(&kit, &memory, "ana", asked).await, [invalid, invalid, "unknown_tool", invalid]);
    let forbidding = RunOptions::new()
        .caller("ana")
        .approval_memory(&memory)
        .permit(|_: &Tool, _: &haft_core::ToolCall, _: &Cx| haft_executor::Permission::denied("not you"));
    let results = kit.run_with(calls([("pay", "5")]), forbidding).collect_results().await;
    assert_eq!(all_came(&results), ["permission_denied"]);
}
