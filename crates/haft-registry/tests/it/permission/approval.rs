//! Approval rules.

use haft_core::{ApprovalCx, ApprovalNeed, ApprovalPolicy, Readonly, ToolCall};
use haft_registry::{AskRules, AskSettings};
use serde_json::{Value, json};

use super::{annotated, any, name};

fn rules(settings: &[AskSettings]) -> AskRules {
    AskRules::new(settings).unwrap()
}

async fn need(policy: &ApprovalPolicy, arguments: Value) -> ApprovalNeed {
    policy.needs_approval(&arguments, ApprovalCx::new(&ToolCall::new("c1", "any", "{}"))).await
}

#[test]
fn rules_without_an_expression_always_ask() {
    let rules = rules(&[
        AskSettings::ask("bank/*"),
        AskSettings::ask(["github/*", "gitlab/*"]).readonly(false).named("changes"),
    ]);
    let table = [("bank/transfer", true), ("BANK/transfer", true), ("gitlab/push", true), ("math/add", false)];
    for (full_name, asks) in table {
        let policy = rules.policy_for(&name(full_name), &any());
        assert_eq!(policy.is_some_and(|policy| policy.is_always()), asks, "{full_name}");
    }
    assert!(rules.policy_for(&name("github/get"), &annotated(Readonly(true))).is_none());
    assert_eq!(rules.matching(&name("github/get"), &any()).collect::<Vec<_>>(), ["changes"]);
    let unmatched = rules.unmatched_rules(&[name("github/get")]);
    assert_eq!(unmatched.iter().map(|rule| (rule.name, rule.pointer)).collect::<Vec<_>>(), [("ask bank/*", "/0")]);
    assert!(AskRules::default().policy_for(&name("bank/transfer"), &any()).is_none());
}

#[cfg(feature = "cel")]
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
        (json!({"cents": 1000, "to": "DE"}), "not needed"),
        (json!({"cents": 1001, "to": "DE"}), "needed"),
        (json!({"cents": 1, "to": "XX1"}), "needed"),
        (json!({"cents": 2000}), "needed"),
        (json!({"to": "DE"}), "undecided"),
        (json!({"cents": "1", "to": "DE"}), "undecided"),
        (json!([]), "undecided"),
    ];
    for (arguments, expected) in table {
        let need = need(&policy, arguments.clone()).await;
        let found = match &need {
            ApprovalNeed::NotNeeded => "not needed",
            ApprovalNeed::Needed => "needed",
            _ => "undecided",
        };
        assert_eq!(found, expected, "{arguments}");
    }
    let ApprovalNeed::Undecided(error) = need(&policy, json!({"to": "DE"})).await else { panic!("it is decided") };
    assert!(error.to_string().contains("the approval rule `large`"), "{error}");
    assert!(rules.policy_for(&name("bank/close"), &any()).unwrap().is_always());
}
