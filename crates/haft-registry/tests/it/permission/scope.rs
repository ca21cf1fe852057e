//! Permissions of scopes.

use haft_core::ToolCall;
use haft_executor::{RunOptions, Tool, Toolkit};
use haft_registry::{AmbientPermissions, PermissionSettings, Permissions};

use super::{any, built, denied_by, name, text};

fn allowing(pattern: &str) -> Permissions {
    built(PermissionSettings::new().allow(pattern))
}

fn ambient() -> usize {
    AmbientPermissions::current().iter().count()
}

/// Runs a call to `math/add` with only the scope's permissions.
async fn call() -> String {
    let tool = any();
    let permit = AmbientPermissions::permit_for(&name("math/add"), &tool);
    text(&super::run(tool, "{}", permit).await)
}

#[tokio::test]
async fn a_scope_applies_inside_and_nowhere_else() {
    assert_eq!(call().await, "ok", "without a scope nothing is denied");
    assert_eq!(allowing("bank/*").scope(call()).await, denied_by("default"));
    assert_eq!(allowing("math/*").scope(call()).await, "ok");
    assert_eq!(call().await, "ok");
    assert_eq!(ambient(), 0);
    assert_eq!(allowing("*").sync_scope(ambient), 1);
}

#[tokio::test]
async fn a_nested_scope_can_only_narrow() {
    let all = allowing("*");
    let bank = allowing("bank/*");
    assert_eq!(bank.scope(async { all.scope(call()).await }).await, denied_by("default"), "it does not widen");
    assert_eq!(all.scope(async { bank.scope(call()).await }).await, denied_by("default"), "it narrows");
    let same = all.scope(async { all.scope(async { (ambient(), call().await) }).await }).await;
    assert_eq!(same, (1, "ok".to_owned()));
}

#[tokio::test]
async fn the_permissions_of_the_tool_and_of_the_scope_must_both_allow() {
    let table = [("math/*", "math/*", true), ("math/*", "bank/*", false), ("bank/*", "math/*", false)];
    for (own, outer, expected) in table {
        let tool = any();
        let permit = allowing(own).permit_for(&name("math/add"), &tool);
        let result = allowing(outer).scope(super::run(tool, "{}", permit)).await;
        assert_eq!(result.is_ok(), expected, "{own} {outer}");
    }
}

/// Scope decisions are kept, and never mistaken for another scope's.
#[tokio::test]
async fn one_permit_in_many_scopes_asks_each_of_them() {
    let tool = any();
    let permit = std::sync::Arc::new(AmbientPermissions::permit_for(&name("math/add"), &tool));
    for round in 0..20 {
        let is_allowing = round % 3 == 0;
        let scope = allowing(if is_allowing { "math/*" } else { "bank/*" });
        let seen = scope.sync_scope(|| {
            let call = ToolCall::new("c1", "any", "{}");
            let cx = haft_executor::Cx::for_call(&call);
            haft_executor::Permit::permit(&*permit, &tool, &call, &cx)
        });
        let allowed = seen.decided().await.unwrap() == haft_executor::Permission::Allowed;
        assert_eq!(allowed, is_allowing, "{round}");
    }
}

#[tokio::test]
async fn a_scope_hides_what_it_denies_if_it_says_so() {
    let hiding = built(PermissionSettings::new().allow("bank/*").hide_denied());
    assert_eq!(hiding.scope(call()).await, "unknown_tool");
    assert_eq!(allowing("*").scope(hiding.scope(call())).await, "unknown_tool");
}

/// A handler that runs its own calls is still inside the scope.
#[tokio::test]
async fn nested_runs_are_inside_of_the_scope() {
    let outer = Tool::new("outer").handler(|(), _cx| call()).unwrap();
    let kit: Toolkit = [outer].into_iter().collect();
    let run = |options| kit.run_with([ToolCall::new("c1", "outer", "{}")], options).collect_results();
    let inner = |results: Vec<haft_core::ToolResult>| results[0].decode::<String>().unwrap();
    let bank = allowing("bank/*");
    assert_eq!(inner(bank.scope(run(RunOptions::new())).await), denied_by("default"));
    assert_eq!(inner(bank.scope(run(RunOptions::new().spawned())).await), denied_by("default"));
    assert_eq!(inner(run(RunOptions::new().spawned()).await), "ok");
}
