//! Laws that hold for all rules.

use haft_core::Annotations;
use haft_registry::{PermissionOutcome, PermissionSettings, Permissions};
use proptest::prelude::*;

use super::{any, built, name};

const NAMES: [&str; 6] = ["add", "math/add", "Math/add", "math/delete_all", "bank/add", "acme/math/add"];

fn pattern() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "*",
        "/*",
        "add",
        "math/*",
        "Math/*",
        "math/add",
        "**/add",
        "**/delete_*",
        "bank/*",
        "acme/**",
        "*/*",
        "*/*/*",
    ])
}

fn rules() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(pattern(), 0..5)
}

fn permissions(allow: &[&str], deny: &[&str]) -> Permissions {
    let allowing = allow.iter().fold(PermissionSettings::new(), |settings, pattern| settings.allow(*pattern));
    built(deny.iter().fold(allowing, |settings, pattern| settings.deny(*pattern)))
}

fn permitted(permissions: &Permissions) -> Vec<&'static str> {
    let is_allowed = |full_name: &&str| {
        let explanation = permissions.explain(&name(full_name), &Annotations::new());
        explanation.outcome == PermissionOutcome::Allowed
    };
    NAMES.into_iter().filter(is_allowed).collect()
}

/// The names that are permitted with the second permissions inside the first.
fn nested(outer: &Permissions, inner: &Permissions) -> Vec<&'static str> {
    let tool = any();
    let call = haft_core::ToolCall::new("c1", "any", "{}");
    let cx = haft_executor::Cx::for_call(&call);
    let is_allowed = |full_name: &&str| {
        let permit = haft_registry::AmbientPermissions::permit_for(&name(full_name), &tool);
        let decided =
            outer.sync_scope(|| inner.sync_scope(|| haft_executor::Permit::permit(&permit, &tool, &call, &cx)));
        format!("{decided:?}").contains("Allowed")
    };
    NAMES.into_iter().filter(is_allowed).collect()
}

proptest! {
    #[test]
    fn a_further_rule_that_denies_never_permits_more(allow in rules(), deny in rules(), more in pattern()) {
        let before = permitted(&permissions(&allow, &deny));
        let stricter: Vec<&str> = deny.iter().copied().chain([more]).collect();
        let after = permitted(&permissions(&allow, &stricter));
        prop_assert!(after.iter().all(|full_name| before.contains(full_name)), "{after:?} {before:?}");
    }

    #[test]
    fn without_a_rule_that_allows_never_more_is_permitted(allow in rules(), deny in rules(), index in 0_usize..5) {
        let before = permitted(&permissions(&allow, &deny));
        let fewer: Vec<&str> =
            allow.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, pattern)| *pattern).collect();
        let after = permitted(&permissions(&fewer, &deny));
        prop_assert!(after.iter().all(|full_name| before.contains(full_name)), "{after:?} {before:?}");
    }

    #[test]
    fn the_order_of_rules_does_not_matter(allow in rules(), deny in rules()) {
        let reversed = |rules: &[&'static str]| rules.iter().rev().copied().collect::<Vec<_>>();
        let before = permitted(&permissions(&allow, &deny));
        prop_assert_eq!(permitted(&permissions(&reversed(&allow), &reversed(&deny))), before);
    }

    #[test]
    fn a_nested_scope_permits_what_both_permit(
        outer in (rules(), rules()),
        inner in (rules(), rules()),
    ) {
        let (outer, inner) = (permissions(&outer.0, &outer.1), permissions(&inner.0, &inner.1));
        let (of_outer, of_inner) = (permitted(&outer), permitted(&inner));
        let both: Vec<&str> = of_outer.into_iter().filter(|full_name| of_inner.contains(full_name)).collect();
        prop_assert_eq!(nested(&outer, &inner), both);
    }
}
