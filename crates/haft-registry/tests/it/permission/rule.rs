//! Rules that allow and deny.

use std::sync::Arc;

use haft_core::{Annotations, Destructive, Idempotent, OpenWorld, Readonly, ToolCall};
use haft_executor::{Cx, Permission, RunOptions, Tool, Toolkit};
use haft_registry::{PermissionOutcome, PermissionSettings, RuleEffect, RuleSetSettings, RuleSettings};

use super::{annotated, any, built, counting, denied_by, name, outcome, run, run_with, text};

/// A rule of the table: a plus allows, a minus denies.
fn permissions(rules: &[&str]) -> haft_registry::Permissions {
    built(rules.iter().fold(PermissionSettings::new(), |settings, rule| match rule.split_at(1) {
        ("+", pattern) => settings.allow(pattern),
        (_, pattern) => settings.deny(pattern),
    }))
}

#[tokio::test]
async fn rules_decide_about_names() {
    let table: [(&[&str], &str, Option<&str>); 26] = [
        // What no rule allows is denied.
        (&[], "math/add", Some("default")),
        (&["-bank/*"], "math/add", Some("default")),
        (&["+bank/*"], "math/add", Some("default")),
        (&["+math/*"], "math/add", None),
        (&["+*"], "math/add", None),
        (&["+*"], "add", None),
        (&["+*"], "acme/math/add", None),
        (&["+/*"], "math/add", Some("default")),
        (&["+/*"], "add", None),
        // Deny wins, wherever it is written.
        (&["+math/*", "-math/add"], "math/add", Some("deny math/add")),
        (&["-math/add", "+math/*"], "math/add", Some("deny math/add")),
        (&["-math/add", "+math/*"], "math/sub", None),
        (&["+math/add", "-*"], "math/add", Some("deny *")),
        (&["-*", "+*"], "add", Some("deny *")),
        // The first that denies is named.
        (&["-math/*", "-*", "+*"], "math/add", Some("deny math/*")),
        // A tool in one place is not a tool in another.
        (&["+math/*"], "acme/math/add", Some("default")),
        (&["+acme/math/*"], "math/add", Some("default")),
        (&["+add"], "math/add", Some("default")),
        (&["+math/add"], "add", Some("default")),
        (&["+**/add"], "acme/math/add", None),
        // Names that differ only in case are not allowed, and are denied.
        (&["+math/*"], "Math/add", Some("default")),
        (&["+math/add"], "math/ADD", Some("default")),
        (&["+*", "-math/delete_*"], "Math/Delete_all", Some("deny math/delete_*")),
        (&["+*", "-Math/*"], "math/add", Some("deny Math/*")),
        (&["+*", "-**/delete_*"], "acme/x/DELETE_ALL", Some("deny **/delete_*")),
        (&["+*", "-math/delete_*"], "math/undelete_x", None),
    ];
    for (rules, full_name, denied) in table {
        let expected = denied.map_or_else(|| "ok".to_owned(), denied_by);
        assert_eq!(outcome(&permissions(rules), full_name, "{}").await, expected, "{rules:?} {full_name}");
    }
}

#[tokio::test]
async fn hints_are_conditions_in_their_safe_reading() {
    let unmarked = any;
    let readonly = || annotated(Readonly(true));
    let harmless = || annotated(Destructive(false));
    let idempotent = || annotated(Idempotent(true));
    let closed = || annotated(OpenWorld(false));
    let rule = || RuleSettings::tools("*");
    let table: [(&str, RuleSettings, Tool, bool); 16] = [
        ("unmarked is not readonly", rule().readonly(true), unmarked(), false),
        ("unmarked is not readonly", rule().readonly(false), unmarked(), true),
        ("readonly", rule().readonly(true), readonly(), true),
        ("readonly", rule().readonly(false), readonly(), false),
        ("stated to write", rule().readonly(true), annotated(Readonly(false)), false),
        ("unmarked may destroy", rule().destructive(true), unmarked(), true),
        ("unmarked may destroy", rule().destructive(false), unmarked(), false),
        ("readonly destroys nothing", rule().destructive(false), readonly(), true),
        ("harmless", rule().destructive(false), harmless(), true),
        ("harmless", rule().destructive(true), harmless(), false),
        ("unmarked is not idempotent", rule().idempotent(true), unmarked(), false),
        ("idempotent", rule().idempotent(true), idempotent(), true),
        ("unmarked reaches out", rule().open_world(false), unmarked(), false),
        ("closed", rule().open_world(false), closed(), true),
        ("all must hold", rule().readonly(true).open_world(false), readonly(), false),
        ("all must hold", rule().readonly(false).open_world(false), closed(), true),
    ];
    for (case, rule, tool, matches) in table {
        let allowing = built(PermissionSettings::new().allow(rule.clone())).permit_for(&name("x/any"), &tool);
        assert_eq!(run(tool.clone(), "{}", allowing).await.is_ok(), matches, "allow: {case}");
        let denying = built(PermissionSettings::new().allow("*").deny(rule)).permit_for(&name("x/any"), &tool);
        assert_eq!(run(tool, "{}", denying).await.is_ok(), !matches, "deny: {case}");
    }
}

#[tokio::test]
async fn sets_apply_when_they_are_used_and_name_their_rules() {
    let sets = || {
        PermissionSettings::new()
            .set("reader", RuleSetSettings::new().allow("math/*").uses("careful"))
            .set("careful", RuleSetSettings::new().deny("math/random").deny(RuleSettings::tools("x/*").named("no-x")))
            .set("unused", RuleSetSettings::new().allow("bank/*"))
    };
    let unused = built(sets());
    assert_eq!(outcome(&unused, "math/add", "{}").await, denied_by("default"));
    let reader = built(sets().uses("reader").allow("x/*"));
    assert_eq!(outcome(&reader, "math/add", "{}").await, "ok");
    assert_eq!(outcome(&reader, "math/random", "{}").await, denied_by("careful: deny math/random"));
    assert_eq!(outcome(&reader, "x/y", "{}").await, denied_by("no-x"));
    assert_eq!(outcome(&reader, "bank/transfer", "{}").await, denied_by("default"));
    assert_eq!(reader.rules().len(), 4);
}

/// The model reads nothing about rules.
#[tokio::test]
async fn the_model_reads_only_that_the_tool_is_not_permitted() {
    let tool = any();
    let permit = permissions(&["+*", "-bank/*"]).permit_for(&name("bank/transfer"), &tool);
    let result = run(tool, "{}", permit).await;
    assert_eq!(result.failure().unwrap().message, "this tool is not permitted");
    assert!(!result.to_model_text().contains("deny"));
}

#[tokio::test]
async fn hidden_tools_are_unknown_exactly_like_those_that_do_not_exist() {
    let hiding = built(PermissionSettings::new().allow("math/*").deny("math/random").hide_denied());
    assert!(hiding.hides_denied());
    for (full_name, expected) in
        [("math/add", "ok"), ("math/random", "unknown_tool"), ("bank/transfer", "unknown_tool")]
    {
        assert_eq!(outcome(&hiding, full_name, "{}").await, expected, "{full_name}");
    }
    let tool = any();
    let permit = hiding.permit_for(&name("bank/transfer"), &tool);
    let hidden = run(tool, "{}", permit).await;
    let empty = Toolkit::default().run([ToolCall::new("c1", "any", "{}")]).collect_results().await;
    assert_eq!(hidden.to_model_text(), empty[0].to_model_text());
    let shown = built(PermissionSettings::new().allow("math/*"));
    assert!(!shown.hides_denied());
}

/// A rule is about the tool, whatever it is called: by an alias, with a namespace, by a wire.
#[tokio::test]
async fn aliases_of_a_denied_tool_are_denied() {
    let settings = PermissionSettings::new().allow("*").deny(RuleSettings::tools("bank/transfer").readonly(false));
    let permissions = built(settings);
    for alias in ["any", "transfer", "math__add", "safe"] {
        let calls = Arc::default();
        let original = counting(&calls);
        let guarded = original.guard(permissions.permit_for(&name("bank/transfer"), &original));
        // Neither another name nor other hints change what is decided.
        let renamed = guarded.with_name(alias).unwrap().annotate(Readonly(true));
        let kit: Toolkit = [renamed].into_iter().collect();
        let run = kit.run([ToolCall::new("c1", alias, "{}")]);
        assert_eq!(text(&run.collect_results().await[0]), denied_by("deny bank/transfer if not readonly"), "{alias}");
    }
}

#[tokio::test]
async fn a_permit_composes_with_that_of_the_application() {
    let application = |allows: bool| {
        move |_: &Tool, _: &ToolCall, _: &Cx| {
            if allows { Permission::Allowed } else { Permission::denied("closed").by_rule("office-hours") }
        }
    };
    let table = [
        (true, "+*", "ok".to_owned()),
        (true, "-*", denied_by("deny *")),
        (false, "+*", denied_by("office-hours")),
        (false, "-*", denied_by("office-hours")),
    ];
    for (allows, rule, expected) in table {
        let tool = any();
        let permit = permissions(&[rule]).permit_for(&name("x/any"), &tool);
        let options = RunOptions::new().permit(application(allows)).permit(permit);
        assert_eq!(text(&run_with(tool, "{}", options).await), expected);
    }
}

#[test]
fn an_explanation_names_what_matches_and_what_decides() {
    let permissions = permissions(&["+github/*", "-github/delete_*", "+bank/*"]);
    let explained = |full_name| permissions.explain(&name(full_name), &Annotations::new());
    let deleting = explained("github/delete_repo");
    assert_eq!(deleting.outcome, PermissionOutcome::Denied { rule: "deny github/delete_*".to_owned() });
    let effects: Vec<RuleEffect> = deleting.rules.iter().map(haft_registry::PermissionRule::effect).collect();
    assert_eq!(effects, [RuleEffect::Deny, RuleEffect::Allow]);
    assert!(deleting.is_denied() && explained("math/add").is_denied() && !explained("github/list").is_denied());
    assert_eq!(explained("github/list").to_string(), "allowed");
    assert_eq!(explained("math/add").to_string(), "denied by the rule `default`, as no rule matches");
    let names = [name("github/list"), name("github/get")];
    let unmatched: Vec<&str> = permissions.unmatched_rules(&names).iter().map(|rule| rule.name).collect();
    assert_eq!(unmatched, ["deny github/delete_*", "allow bank/*"]);
}
