//! The binding of an approval: to the tool, its definition and the arguments as they were decoded.

use haft_core::{ApprovalRequest, Readonly, ToolCall};
use haft_executor::{ApprovalPolicy, Permission, RunOptions, Tool, Toolkit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::approval::bench::{Journal, all_came, bench, gated, message, noting, suspend};
use crate::executing::{calls, kit};

#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Transfer {
    account: u64,
    to: String,
}

fn bank(journal: &Journal) -> Toolkit {
    let journal = journal.clone();
    let transfer = Tool::new("transfer").needs_approval(ApprovalPolicy::always());
    kit([transfer.handler(move |transfer: Transfer, _cx| {
        let journal = journal.clone();
        async move { journal.note(format!("{} {}", transfer.account, transfer.to)) }
    })])
}

/// Returns the digest of the approval request for one call.
async fn digest(kit: &Toolkit, arguments: &str) -> String {
    let call = ToolCall::new("c1", kit.iter().next().unwrap().name().to_owned(), arguments);
    kit.plan_from_map(RunOptions::new(), [], [call]).await.requests[0].digest.clone()
}

#[tokio::test]
async fn the_spelling_of_arguments_does_not_matter() {
    let kit = bank(&Journal::default());
    let plain = digest(&kit, r#"{"account":7,"to":"ana"}"#).await;
    for same in
        [r#"{ "to" : "ana", "account" : 7 }"#, r#"{"account":7.0,"to":"ana"}"#, r#"{"account":70e-1,"to":"\u0061na"}"#]
    {
        assert_eq!(digest(&kit, same).await, plain, "{same}");
    }
    for other in [r#"{"account":8,"to":"ana"}"#, r#"{"account":7,"to":"Ana"}"#, r#"{"account":7,"to":"ana "}"#] {
        assert_ne!(digest(&kit, other).await, plain, "{other}");
    }
}

/// Two account numbers that a float can't distinguish are two accounts.
#[tokio::test]
async fn large_integers_keep_digests_apart() {
    let journal = Journal::default();
    let kit = bank(&journal);
    let arguments = |account: u64| format!(r#"{{"account":{account},"to":"ana"}}"#);
    let numbers = [(1 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 53) + 2, u64::MAX - 1, u64::MAX];
    let mut digests = Vec::new();
    for account in numbers {
        digests.push(digest(&kit, &arguments(account)).await);
    }
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), numbers.len());

    let asked = [ToolCall::new("c1", "transfer", arguments(1 << 53))];
    let verdict = kit.plan_from_map(RunOptions::new(), [], &asked).await.requests[0].approve();
    let changed = [ToolCall::new("c1", "transfer", arguments((1 << 53) + 1))];
    let plan = kit.plan_from_map(RunOptions::new(), [verdict.clone()], &changed).await;
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["cancelled"]);
    let plan = kit.plan_from_map(RunOptions::new(), [verdict], &asked).await;
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["null"]);
    assert_eq!(journal.lines(), ["9007199254740992 ana"]);
}

/// An approval of a call holds for the same call in another spelling, and for nothing else.
#[tokio::test]
async fn a_verdict_holds_for_the_arguments_it_was_given_for() {
    let (kit, journal) = bench();
    let verdict = kit.plan_from_map(RunOptions::new(), [], calls([("pay", "5")])).await.requests[0].approve();
    for (arguments, came_of) in [("5.0", "5"), (" 5 ", "5"), ("6", "cancelled"), ("50", "cancelled")] {
        let plan = kit.plan_from_map(RunOptions::new(), [verdict.clone()], calls([("pay", arguments)])).await;
        assert_eq!(all_came(&kit.run(plan).collect_results().await), [came_of], "{arguments}");
    }
    assert_eq!(journal.lines(), ["pay 5", "pay 5"]);
}

/// Returns toolkits other than the one that requested approval, and the outcome of a resumed `pay 5` there.
fn successors(journal: &Journal) -> [(&'static str, Toolkit, &'static str); 6] {
    let always = ApprovalPolicy::always;
    let described = |said: &str| {
        let journal = journal.clone();
        Tool::new("pay").describe(said).needs_approval(always()).handler(move |cents: u16, _cx| {
            journal.note(format!("pay {cents}"));
            async move { cents }
        })
    };
    let narrower = Tool::new("pay").needs_approval(always()).handler(|cents: u8, _cx| async move { u16::from(cents) });
    let stranger = Tool::new("pay").needs_approval(always()).handler(|(), _cx| async { 0_u16 });
    let renamed = gated("refund", journal).and_then(|tool| tool.with_name("pay"));
    [
        ("the same", kit([gated("pay", journal)]), "5"),
        ("described", kit([described("Pays, and tells your boss.")]), "denied"),
        ("narrower", kit([narrower]), "denied"),
        ("other parameters", kit([stranger]), "input_validation_error"),
        ("of another tool", kit([renamed]), "denied"),
        ("gone", kit([noting("look", journal)]), "unknown_tool"),
    ]
}

#[tokio::test]
async fn a_tool_that_changed_since_runs_nothing() {
    let journal = Journal::default();
    for (name, successor, came_of) in successors(&journal) {
        let suspended =
            suspend(&kit([gated("pay", &Journal::default())]), &RunOptions::new(), &calls([("pay", "5")])).await;
        let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
        match successor.resume(suspended, verdicts).collect_or_suspend().await {
            Ok(results) => assert_eq!(all_came(&results), [came_of], "{name}"),
            // Approval is requested again.
            Err(suspended) => assert_eq!((came_of, suspended.pending().len()), ("denied", 1), "{name}"),
        }
    }
    assert_eq!(journal.lines(), ["pay 5"]);
}

#[tokio::test]
async fn an_approved_call_runs_only_with_the_tool_it_was_approved_for() {
    let journal = Journal::default();
    for (name, successor, came_of) in successors(&journal) {
        let asked = kit([gated("pay", &Journal::default())]);
        let verdict = asked.plan_from_map(RunOptions::new(), [], calls([("pay", "5")])).await.requests[0].approve();
        let plan = asked.plan_from_map(RunOptions::new(), [verdict], calls([("pay", "5")])).await;
        let results = successor.run(plan.approved).collect_results().await;
        assert_eq!(all_came(&results), [came_of], "{name}");
    }
    assert_eq!(journal.lines(), ["pay 5"]);
}

/// A call that required no approval is bound to the definition it was planned with as well.
#[tokio::test]
async fn an_ungated_call_that_was_planned_is_bound_too() {
    let journal = Journal::default();
    let planned = kit([noting("look", &journal)]);
    let changed = kit([noting("look", &journal).map(|tool| tool.annotate(Readonly(true)))]);
    let plan = planned.plan_from_map(RunOptions::new(), [], calls([("look", "1")])).await;
    assert_eq!(plan.approved[0].digest().unwrap(), planned.get("look").unwrap().approval_digest(&json!(1)));
    assert_eq!(all_came(&changed.run(plan).collect_results().await), ["denied"]);
    assert_eq!(journal.lines(), [""; 0]);
}

/// An approval does not replace a permit that was revoked since.
#[tokio::test]
async fn a_permit_that_was_revoked_since_applies() {
    let (kit, journal) = bench();
    let revoked =
        RunOptions::new().permit(|_: &Tool, _: &ToolCall, _: &haft_executor::Cx| Permission::denied("no longer"));
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("pay", "5")])).await;
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let resumed = kit.resume_with(suspended, verdicts.clone(), revoked.clone()).collect_results().await;
    assert_eq!((all_came(&resumed), message(&resumed)), (vec!["permission_denied"], "no longer"));
    let plan = kit.plan_from_map(RunOptions::new(), verdicts, calls([("pay", "5")])).await;
    let planned = kit.run_with(plan, revoked).collect_results().await;
    assert_eq!(all_came(&planned), ["permission_denied"]);
    assert_eq!(journal.lines(), [""; 0]);
}
