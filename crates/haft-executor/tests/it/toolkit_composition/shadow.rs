//! Collecting and merging: the later tool of a name wins, and the earlier is reported.

use haft_executor::Toolkit;

use crate::toolkit_composition::{App, Key, assert_indexed, call, keyed, kit, names, says, shadowed, tool};

#[tokio::test]
async fn the_last_tool_of_a_name_wins_at_the_position_of_the_first() {
    let tools = [says("a", "1"), says("b", "1"), says("a", "2"), says("c", "1"), says("a", "3"), says("c", "2")];
    let kit: Toolkit = tools.into_iter().collect();
    assert_eq!(names(&kit), ["a", "b", "c"]);
    assert_eq!([call(&kit, "a", "").await, call(&kit, "b", "").await, call(&kit, "c", "").await], ["3", "1", "2"]);
    assert_eq!(shadowed(&kit), [("a", 2), ("c", 1)]);
    assert_eq!(kit.shadowed()[0].to_string(), "2 tools named `a` were replaced by a later one");
    assert_eq!(kit.shadowed()[1].to_string(), "1 tool named `c` was replaced by a later one");
    assert_indexed(&kit);
}

#[test]
fn nothing_is_shadowed_where_no_name_appears_twice() {
    assert!(kit(&["a", "A", "a_", "ä"]).shadowed().is_empty());
    let empty: Toolkit = std::iter::empty().collect();
    assert!(empty.is_empty() && empty.shadowed().is_empty());
    assert!(Toolkit::<App>::empty().is_empty());
}

#[tokio::test]
async fn the_later_toolkit_wins_and_keeps_the_order() {
    let low: Toolkit = [says("a", "low"), says("b", "low")].into_iter().collect();
    let high: Toolkit = [says("c", "high"), says("b", "high"), says("a", "high")].into_iter().collect();
    let both = low.clone().merge(high.clone());
    assert_eq!(names(&both), ["a", "b", "c"]);
    assert_eq!(shadowed(&both), [("b", 1), ("a", 1)], "in the order it happened");
    assert_eq!(call(&both, "a", "").await, "high");
    let other_way = high.merge(low.clone());
    assert_eq!(names(&other_way), ["c", "b", "a"]);
    assert_eq!(call(&other_way, "a", "").await, "low");
    assert_eq!(names(&low), ["a", "b"], "the original is unchanged");
    assert!(low.shadowed().is_empty());
    assert_indexed(&both);
}

#[test]
fn earlier_shadows_are_still_reported() {
    let low: Toolkit = [tool("a"), tool("a")].into_iter().collect();
    let high: Toolkit = [tool("b"), tool("b"), tool("a"), tool("b")].into_iter().collect();
    assert_eq!(shadowed(&low.merge(high)), [("a", 2), ("b", 2)]);
}

#[test]
fn shadows_are_counted_after_changes_and_filters() {
    let kit: Toolkit = ["a", "b", "c", "a", "b", "c"].map(tool).into_iter().collect();
    let fewer = kit.filter(|tool| tool.name() != "b").namespace("n").unwrap();
    assert_eq!(shadowed(&fewer), [("n__a", 1), ("n__c", 1)]);
    let again: Toolkit = [tool("n__c"), tool("n__a"), tool("n__b")].into_iter().collect();
    assert_eq!(shadowed(&fewer.merge(again)), [("n__a", 2), ("n__c", 2)]);
}

#[test]
fn an_empty_toolkit_changes_nothing() {
    let some = keyed(&["a"], "k");
    for merged in [Toolkit::empty().merge(some.clone()), some.clone().merge(Toolkit::empty())] {
        assert_eq!(names(&merged), ["a"]);
        assert!(merged.shadowed().is_empty());
        assert_eq!(merged.services().get::<Key>().unwrap().0, "k");
        assert_eq!(merged.services_of("a").unwrap().get::<Key>().unwrap().0, "k");
    }
}
