//! Tools under a common prefix.

use haft_core::NAMESPACE_SEPARATOR;
use haft_executor::{MAX_NAME_LEN, NameFault, NamespaceError, NamespaceFault, Toolkit};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use crate::toolkit_composition::{all_kinds, assert_indexed, call, keyed, kit, names, shadowed, tool};

#[test]
fn tools_of_every_kind_are_renamed_and_keep_their_kind() {
    let plain: Toolkit = all_kinds().into_iter().collect();
    let inside = plain.clone().namespace("ns").unwrap();
    assert_eq!(inside.len(), plain.len());
    for (before, after) in plain.iter().zip(&inside) {
        assert_eq!(after.name(), format!("ns__{}", before.name()));
        let prefix = if before.is_provider_defined() { "" } else { "ns__" };
        assert_eq!(after.id().as_str(), format!("{prefix}{}", before.id()));
        assert_eq!(after.kind(), before.kind());
        assert_eq!(after.has_handler(), before.has_handler());
        assert!(inside.get(before.name()).is_none());
    }
    assert_indexed(&inside);
    let hosted = inside.get("ns__hosted").unwrap().provider_definition().unwrap();
    assert_eq!((hosted.id(), hosted.provider_name()), ("vendor.search", "search"));
    let descriptor = serde_json::to_value(inside.get("ns__hosted").unwrap().descriptor()).unwrap();
    assert_eq!(descriptor["name"], "ns__hosted");
    assert!(descriptor.to_string().contains(r#""vendor.search""#), "{descriptor}");
}

#[tokio::test]
async fn namespaces_nest_and_calls_use_the_full_name() {
    let kit = keyed(&["x"], "k").namespace("b").unwrap().namespace("a").unwrap();
    assert_eq!(names(&kit), ["a__b__x"]);
    assert_eq!(call(&kit, "a__b__x", "").await, "k -");
    let twice = kit.namespace("a").unwrap();
    assert_eq!(names(&twice), ["a__a__b__x"]);
}

/// The id keeps what a rename took from the name.
#[test]
fn a_namespace_prefixes_the_id_and_not_the_new_name_only() {
    let renamed = tool("search").with_name("find").unwrap();
    let kit: Toolkit = Toolkit::from_iter([renamed]).namespace("b").unwrap().namespace("a").unwrap();
    let found = kit.get("a__b__find").unwrap();
    assert_eq!((found.id().as_str(), found.descriptor().id.as_str()), ("a__b__search", "a__b__search"));
}

#[test]
fn an_id_that_becomes_too_long_is_a_fault() {
    let long = tool("t").with_id("i".repeat(MAX_NAME_LEN - 3)).unwrap();
    let kit: Toolkit = Toolkit::from_iter([long]);
    assert_eq!(kit.clone().namespace("n").unwrap().len(), 1);
    let error = kit.namespace("ns").unwrap_err();
    assert!(matches!(&error.faults[..], [NamespaceFault::Id { tool, fault: NameFault::TooLong(513) }] if tool == "t"));
    assert!(error.to_string().ends_with("the new id of the tool `t` is 513 bytes long, more than 512"), "{error}");
}

#[test]
fn shadowed_tools_are_reported_by_their_new_names() {
    let kit: Toolkit = [tool("a"), tool("b"), tool("a")].into_iter().collect();
    assert_eq!(shadowed(&kit.namespace("ns").unwrap()), [("ns__a", 1)]);
}

#[test]
fn valid_prefixes_are_accepted() {
    for prefix in ["g", "github", "git-hub", "a_b", "größe", "東京", "🛠", "a.b", "x y", "7"] {
        let kit = kit(&["t", "_t", "a__t"]).namespace(prefix).unwrap();
        for name in kit.names() {
            assert_eq!(name.split_once(NAMESPACE_SEPARATOR).unwrap().0, prefix);
        }
    }
}

#[test]
fn misleading_prefixes_are_rejected_with_every_fault() {
    let long = "p".repeat(MAX_NAME_LEN - NAMESPACE_SEPARATOR.len());
    let faults = |prefix: &str| -> Vec<String> {
        let error: NamespaceError = kit(&["t", "u"]).namespace(prefix).unwrap_err();
        assert_eq!(error.prefix, prefix);
        error.faults.iter().map(ToString::to_string).collect()
    };
    let separator = "the prefix contains `__`, which separates namespaces: nest namespaces instead";
    let underscore = "the prefix begins or ends with `_`, which would make its end ambiguous";
    assert_eq!(faults(""), ["the prefix is empty"]);
    assert_eq!(faults(" \u{a0}"), ["the prefix is blank"]);
    assert_eq!(faults("a\nb"), [r"the prefix contains the control character '\n'"]);
    assert_eq!(faults("a__b"), [separator]);
    assert_eq!(faults("_a"), [underscore]);
    assert_eq!(faults("a_"), [underscore]);
    assert_eq!(faults("_"), [underscore]);
    assert_eq!(faults("__"), [separator, underscore]);
    assert_eq!(faults("a\tb__c_"), [r"the prefix contains the control character '\t'", separator, underscore]);
    assert_eq!(faults(&long), ["the prefix is 510 bytes long, but a name has at most 512"]);
    assert!(matches!(kit(&[]).namespace("").unwrap_err().faults[..], [NamespaceFault::Prefix(NameFault::Empty)]));
    assert!(kit(&[]).namespace(&long).is_err(), "no tool is needed to see that none would fit");
}

#[test]
fn every_name_that_becomes_too_long_is_reported() {
    let prefix = "a".repeat(64);
    let room = MAX_NAME_LEN - 64 - NAMESPACE_SEPARATOR.len();
    let (fits, over, far_over) = ("f".repeat(room), "ö".repeat(room / 2 + 1), "x".repeat(MAX_NAME_LEN));
    let error = kit(&[&fits, &over, "short", &far_over]).namespace(&prefix).unwrap_err();
    let told: Vec<_> = error
        .faults
        .iter()
        .map(|fault| match fault {
            NamespaceFault::Tool { tool, fault: NameFault::TooLong(len) } => (tool.as_str(), *len),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(told, [(over.as_str(), 66 + over.len()), (far_over.as_str(), 66 + MAX_NAME_LEN)]);
    assert!(error.to_string().contains("578 bytes long"), "{error}");
    let kit = kit(&[&fits, "short"]).namespace(&prefix).unwrap();
    assert_eq!(kit.names().next().unwrap().len(), MAX_NAME_LEN);
    let both = self::kit(&[&over]).namespace(format!("{}_", &prefix)).unwrap_err();
    assert!(matches!(both.faults[..], [NamespaceFault::OuterUnderscore, NamespaceFault::Tool { .. }]), "{both}");
}

#[test]
fn a_namespace_of_tools_is_strict_about_their_names() {
    let kit: Toolkit = Toolkit::make_namespaced("ns", all_kinds()).unwrap();
    assert_eq!(names(&kit)[..2], ["ns__local", "ns__dynamic"]);
    assert!(kit.shadowed().is_empty());
    let again = Toolkit::compose([kit.clone(), kit]).unwrap_err();
    assert_eq!(again.collisions[0].sources, ["ns", "ns"]);

    let tools = [tool("a"), tool("b"), tool("a"), tool("c"), tool("b"), tool("a")];
    let error = Toolkit::<()>::make_namespaced("n__s", tools).unwrap_err();
    let told: Vec<_> = error.faults.iter().map(ToString::to_string).collect();
    assert!(matches!(error.faults[0], NamespaceFault::Separator));
    assert_eq!(
        told[1..],
        ["a", "b", "a"].map(|name| format!("there is already a tool named `{name}`; rename one of the two"))
    );
    assert!(Toolkit::<()>::make_namespaced("ns", []).unwrap().is_empty());
}

proptest! {
    /// Toolkits in different namespaces never collide, whatever their tools are called, and the first separator of
    /// each name identifies the namespace.
    #[test]
    fn namespaces_keep_toolkits_apart(
        prefixes in btree_set("[a-c](_?[a-c]){0,3}", 1..5),
        tools in vec(btree_set("[ab_]{1,6}", 0..6), 5),
    ) {
        let kits = prefixes.iter().zip(&tools).map(|(prefix, names)| {
            let kit: Toolkit = names.iter().map(|name| tool(name)).collect();
            kit.namespace(prefix).unwrap()
        });
        let composed = Toolkit::compose(kits).unwrap();
        let expected: Vec<_> =
            prefixes.iter().zip(&tools).flat_map(|(prefix, names)| names.iter().map(move |name| (prefix.as_str(), name.as_str()))).collect();
        let split: Vec<_> = composed.names().filter_map(|name| name.split_once(NAMESPACE_SEPARATOR)).collect();
        prop_assert_eq!(split, expected);
        prop_assert!(composed.shadowed().is_empty());
    }
}
