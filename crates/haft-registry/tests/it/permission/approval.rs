//! Approval rules.

use haft_core::{Decider, Readonly, ToolCall};
use haft_executor::{ApprovalCx, ApprovalNeed, ApprovalPolicy, Dispatch, RunOptions, Suspend, Tool};
use haft_registry::{AskRules, AskSettings, Executor, Registry, Workspace};
use serde_json::{Value, json};

use super::{annotated, any, name};

fn rules(settings: &[AskSettings]) -> AskRules {
    AskRules::new(settings).unwrap()
}

async fn need(policy: &ApprovalPolicy, arguments: Value) -> ApprovalNeed {
    policy.needs_approval(&arguments, ApprovalCx::new(&ToolCall::new("c1", "any", "{}"))).await
}

/// Returns the rule that asks, `-` if none does, and `?` if a rule can't decide.
async fn asked_by(policy: &ApprovalPolicy, arguments: Value) -> String {
    match need(policy, arguments).await {
        ApprovalNeed::NotNeeded => "-".to_owned(),
        ApprovalNeed::NeededBy(rule) => rule,
        ApprovalNeed::Undecided { .. } => "?".to_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn rules_without_an_expression_always_ask() {
    let rules = rules(&[
        AskSettings::ask("bank/*"),
        AskSettings::ask(["github/*", "gitlab/*"]).readonly(false).named("changes"),
    ]);
    let table = [("bank/transfer", "ask bank/*"), ("BANK/transfer", "ask bank/*"), ("gitlab/push", "changes")];
    for (full_name, rule) in table {
        let policy = rules.policy_for(&name(full_name), &any()).unwrap();
        for arguments in [json!({}), json!({"cents": 1}), json!(null)] {
            assert_eq!(asked_by(&policy, arguments).await, rule, "{full_name}");
        }
    }
    assert!(rules.policy_for(&name("math/add"), &any()).is_none());
    assert!(rules.policy_for(&name("github/get"), &annotated(Readonly(true))).is_none());
    assert_eq!(rules.matching(&name("github/get"), &any()).collect::<Vec<_>>(), ["changes"]);
    let unmatched = rules.unmatched_rules(&[name("github/get")]);
    assert_eq!(unmatched.iter().map(|rule| (rule.name, rule.pointer)).collect::<Vec<_>>(), [("ask bank/*", "/0")]);
    assert!(AskRules::default().policy_for(&name("bank/transfer"), &any()).is_none());
}

#[tokio::test]
async fn expressions_decide_by_arguments_and_every_doubt_asks() {
    let rules = rules(&[
        AskSettings::ask("bank/*").when("args.cents > 1000").named("large"),
        AskSettings::ask("bank/*").when("args.to.startsWith('XX')"),
        AskSettings::ask("bank/close").named("close"),
    ]);
    let policy = rules.policy_for(&name("bank/transfer"), &any()).unwrap();
    assert!(!policy.is_always() && !policy.is_never());
    let table = [
        (json!({"cents": 1000, "to": "DE"}), "-"),
        (json!({"cents": 1001, "to": "DE"}), "large"),
        (json!({"cents": 1, "to": "XX1"}), "ask bank/* when args.to.startsWith('XX')"),
        (json!({"cents": 2000}), "large"),
        (json!({"to": "DE"}), "?"),
        (json!({"cents": "1", "to": "DE"}), "?"),
        (json!([]), "?"),
    ];
    for (arguments, expected) in table {
        assert_eq!(asked_by(&policy, arguments.clone()).await, expected, "{arguments}");
    }
    let ApprovalNeed::Undecided { error, .. } = need(&policy, json!({"to": "DE"})).await else {
        panic!("it is decided")
    };
    assert!(error.to_string().contains("the approval rule `large`"), "{error}");
    let policy = rules.policy_for(&name("bank/close"), &any()).unwrap();
    assert_eq!(asked_by(&policy, json!({"cents": 1})).await, "close");
}

/// Returns the rule that asks and the party that decides.
async fn decided(policy: &ApprovalPolicy, arguments: Value) -> (Option<String>, Option<Decider>) {
    match need(policy, arguments).await {
        ApprovalNeed::NeededFrom { decider, rule } => (rule, Some(decider)),
        ApprovalNeed::NeededBy(rule) => (Some(rule), None),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_strictest_rule_about_a_call_names_the_party_that_decides() {
    let rules = rules(&[
        AskSettings::ask("bank/*").named("any").approve(Decider::Client),
        AskSettings::ask("bank/*").when("args.cents > 10").named("medium"),
        AskSettings::ask("bank/*").when("args.cents > 1000").named("large").approve(Decider::Approvers),
    ]);
    let policy = rules.policy_for(&name("bank/transfer"), &any()).unwrap();
    let table = [(1, "any", Some(Decider::Client)), (100, "medium", None), (5000, "large", Some(Decider::Approvers))];
    for (cents, rule, decider) in table {
        assert_eq!(decided(&policy, json!({"cents": cents})).await, (Some(rule.to_owned()), decider));
    }
}

#[test]
fn an_unknown_party_is_rejected() {
    let error = serde_json::from_value::<AskSettings>(json!({"ask": "bank/*", "approve": "nobody"})).unwrap_err();
    assert_eq!(error.to_string(), "unknown variant `nobody`, expected `client` or `approvers`");
}

#[tokio::test]
async fn a_rule_names_the_party_also_for_a_tool_that_always_requires_approval() {
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|(), _cx| async { 3 }).unwrap();
    let project = Workspace::builder().toolbox("bank").tool(pay).build().unwrap();
    let rules = rules(&[AskSettings::ask("bank/*").when("caller == 'ana'").approve(Decider::Approvers)]);
    let executor = Executor::builder().ask_rules(rules);
    let executor = executor.build(Registry::builder().workspace(project).build().unwrap());
    for (caller, decider) in [("ana", Some(Decider::Approvers)), ("bob", None)] {
        let calls = vec![ToolCall::new("c1", "bank/pay", "").into()];
        let options = RunOptions::new().caller(caller).approvals(Suspend);
        let suspended = executor.run_calls(calls, options).collect_or_suspend().await.unwrap_err();
        assert_eq!(suspended.pending().next().unwrap().decider(), decider);
    }
}
