//! Composing: no tool replaces another, and all collisions are reported.

use haft_executor::{ComposeError, Tool, Toolkit, ToolkitFault};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::toolkit_composition::{App, Faulty, assert_indexed, kit, names, shadowed, tool};

fn collisions(error: &ComposeError) -> Vec<(&str, Vec<&str>)> {
    let each = error.collisions.iter();
    each.map(|one| (one.name.as_str(), one.sources.iter().map(String::as_str).collect())).collect()
}

#[test]
fn all_collisions_are_reported_each_with_all_its_sources() {
    let one = kit(&["search", "read"]).label("one");
    let two = kit(&["list", "search"]).namespace("two").unwrap();
    let bare = kit(&["two__search", "read", "search", "list"]);
    let error = Toolkit::compose([one, two, bare]).unwrap_err();
    assert_eq!(
        collisions(&error),
        [
            ("search", vec!["one", "toolkit-2"]),
            ("read", vec!["one", "toolkit-2"]),
            ("two__search", vec!["two", "toolkit-2"]),
        ],
    );
    let three = [kit(&["a", "b"]), kit(&["b", "a"]), kit(&["a"])];
    let error = Toolkit::compose(three).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the toolkits can't be composed: 3 toolkits have a tool named `a`: toolkit-0, toolkit-1, toolkit-2; \
         two toolkits have a tool named `b`: toolkit-0, toolkit-1; \
         put one of them in a namespace, or merge them so that the later tool replaces the earlier one",
    );
}

#[test]
fn a_label_is_preferred_to_a_namespace_and_both_to_the_position() {
    let search = || kit(&["search"]);
    let labelled = search().label("mine").namespace("ns").unwrap();
    let named = search().namespace("inner").unwrap().namespace("ns").unwrap().filter(|_| true);
    let also = kit(&["ns__search", "ns__inner__search"]);
    let error = Toolkit::compose([also, labelled, named]).unwrap_err();
    assert_eq!(
        collisions(&error),
        [("ns__search", vec!["toolkit-0", "mine"]), ("ns__inner__search", vec!["toolkit-0", "ns__inner"])],
    );
    let merged = search().label("base").merge(kit(&["read"]).label("other"));
    let error = Toolkit::compose([merged, kit(&["read"]).label("")]).unwrap_err();
    assert_eq!(collisions(&error), [("read", vec!["base", ""])], "a label that was set is used as it is");
}

#[test]
fn composing_no_toolkits_is_empty_and_composing_one_is_itself() {
    let none = Toolkit::<App>::compose([]).unwrap();
    assert!(none.is_empty() && none.definition_errors().is_empty());
    let one = Toolkit::compose([kit(&["b", "a"])]).unwrap();
    assert_eq!(names(&one), ["b", "a"]);
}

#[test]
fn the_same_toolkit_twice_collides_on_every_name() {
    let one = kit(&["c", "a", "b"]);
    let error = Toolkit::compose([one.clone(), one]).unwrap_err();
    let expected = ["c", "a", "b"].map(|name| (name, vec!["toolkit-0", "toolkit-1"]));
    assert_eq!(collisions(&error), expected);
    let empty: Toolkit = Toolkit::empty();
    assert!(Toolkit::compose([empty.clone(), empty]).unwrap().is_empty());
}

#[test]
fn composing_keeps_the_order_of_toolkits_and_of_their_tools() {
    let composed = Toolkit::compose([kit(&["z", "a"]), Toolkit::empty(), kit(&["m"]), kit(&["b", "y"])]).unwrap();
    assert_eq!(names(&composed), ["z", "a", "m", "b", "y"]);
    assert_indexed(&composed);
    let written = serde_json::to_string(&composed.descriptors()).unwrap();
    let again = Toolkit::compose([kit(&["z", "a"]), kit(&["m", "b", "y"])]).unwrap();
    assert_eq!(serde_json::to_string(&again.descriptors()).unwrap(), written);
}

#[test]
fn faults_of_all_toolkits_are_kept() {
    let faulty = |name: &str| Toolkit::<()>::new().tool::<Faulty>().with(tool(name)).unwrap();
    let composed = Toolkit::compose([faulty("a"), kit(&["b"]), faulty("c")]).unwrap();
    let merged = faulty("a").merge(faulty("c"));
    for kit in [&composed, &merged] {
        assert_eq!(kit.definition_errors().len(), 2);
        assert!(matches!(&kit.definition_errors()[1], ToolkitFault::Definition(error) if error.tool == "faulty"));
        assert!(kit.ensure_runnable().is_err());
    }
    assert_eq!(composed.namespace("ns").unwrap().filter(|_| false).definition_errors().len(), 2);
}

#[test]
fn a_tool_without_a_handler_is_still_listed() {
    let defined = |name: &str| Toolkit::<()>::from_iter([Tool::new(name).define().unwrap()]);
    let composed = Toolkit::compose([defined("a"), kit(&["b"]), defined("c").namespace("ns").unwrap()]).unwrap();
    assert_eq!(composed.ensure_runnable().unwrap_err().missing_handlers, ["a", "ns__c"]);
}

proptest! {
    /// Composing reports exactly the names that more than one toolkit has, and otherwise does what merging does.
    #[test]
    fn composing_is_merging_without_collisions(kits in vec(vec("[a-f]", 0..4), 0..4)) {
        let kits: Vec<Toolkit> = kits.iter().map(|names| names.iter().map(|name| tool(name)).collect()).collect();
        let merged = kits.iter().cloned().fold(Toolkit::empty(), Toolkit::merge);
        match Toolkit::compose(kits.clone()) {
            Ok(composed) => {
                prop_assert_eq!(names(&composed), names(&merged));
                prop_assert_eq!(shadowed(&composed), shadowed(&merged));
            }
            Err(error) => {
                let shared = merged.names().filter(|name| kits.iter().filter(|kit| kit.get(name).is_some()).count() > 1);
                prop_assert_eq!(error.collisions.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), shared.collect::<Vec<_>>());
                prop_assert!(error.collisions.iter().all(|one| one.sources.len() > 1));
            }
        }
    }
}
