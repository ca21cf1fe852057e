//! Approval rules.

use haft_core::{Readonly, ToolCall};
use haft_executor::{ApprovalCx, ApprovalNeed, ApprovalPolicy};
use haft_registry::{AskRules, AskSettings};
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
        ApprovalNeed::Undecided(_) => "?".to_owned(),
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
    let ApprovalNeed::Undecided(error) = need(&policy, json!({"to": "DE"})).await else { panic!("it is decided") };
    assert!(error.to_string().contains("the approval rule `large`"), "{error}");
    let policy = rules.policy_for(&name("bank/close"), &any()).unwrap();
    assert_eq!(asked_by(&policy, json!({"cents": 1})).await, "close");
}
