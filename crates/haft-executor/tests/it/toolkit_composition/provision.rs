//! The services of tools in composed toolkits.

use haft_executor::{Services, Toolkit};

use crate::toolkit_composition::{App, Key, Place, TellKey, TellPlace, call, keyed, kit, tells};

#[tokio::test]
async fn each_tool_keeps_the_services_of_its_own_toolkit() {
    let (first, second) = (keyed(&["a"], "first"), keyed(&["b", "c"], "second"));
    let composed = Toolkit::compose([first.clone(), second.clone()]).unwrap();
    for both in [composed, first.clone().merge(second.clone())] {
        assert_eq!(call(&both, "a", "").await, "first -");
        assert_eq!(call(&both, "b", "").await, "second -");
        assert_eq!(both.services().get::<Key>().unwrap().0, "second", "the later one serves the whole");
        let more = both.with(tells("later")).unwrap();
        assert_eq!(call(&more, "later", "").await, "second -");
    }
    assert_eq!(call(&first, "a", "").await, "first -");
}

#[tokio::test]
async fn a_tool_that_wins_keeps_its_services() {
    let both = keyed(&["a", "b"], "low").merge(keyed(&["b"], "high"));
    assert_eq!(call(&both, "a", "").await, "low -");
    assert_eq!(call(&both, "b", "").await, "high -");
}

#[tokio::test]
async fn missing_services_are_taken_from_the_other_toolkits_the_last_one_first() {
    let place = |place| Services::new().with(Place(place));
    let (one, two, three) = (
        keyed(&["a"], "one"),
        keyed(&["b"], "two").with_services(place("second")),
        kit(&["c"]).merge(Toolkit::from_iter([tells("d")])).with_services(place("third")),
    );
    let composed = Toolkit::compose([one.clone(), two.clone(), three.clone()]).unwrap();
    let left = one.clone().merge(two.clone()).merge(three.clone());
    let right = one.merge(two.merge(three));
    for all in [composed, left, right] {
        assert_eq!(call(&all, "a", "").await, "one third");
        assert_eq!(call(&all, "b", "").await, "two second");
        assert_eq!(call(&all, "d", "").await, "two third");
        assert_eq!(all.services().get::<Place>().unwrap().0, "third");
        all.ensure_runnable().unwrap();
    }
}

#[tokio::test]
async fn a_toolkit_without_services_takes_nothing_for_its_own() {
    let steps =
        kit(&[]).merge(Toolkit::from_iter([tells("bare")])).merge(keyed(&["a"], "one")).merge(keyed(&["b"], "two"));
    assert_eq!(call(&steps, "bare", "").await, "two -");
    assert_eq!(call(&steps, "a", "").await, "one -");
}

#[tokio::test]
async fn services_given_later_win_for_every_tool() {
    let both = keyed(&["a"], "first").merge(keyed(&["b"], "second"));
    let given = both.with_services(Services::new().with(Key("now")).with(Place("here")));
    assert_eq!(call(&given, "a", "").await, "now here");
    assert_eq!(call(&given, "b", "").await, "now here");
    let more = given.merge(keyed(&["c"], "last"));
    assert_eq!(call(&more, "a", "").await, "now here");
    assert_eq!(call(&more, "c", "").await, "last here");
}

#[tokio::test]
async fn one_state_serves_all_composed_toolkits() {
    let app = || App { key: Key("k"), place: Place("p") };
    let keys: Toolkit<App> = Toolkit::new().tool::<TellKey>();
    let places: Toolkit<App> = Toolkit::new().tool_from(TellPlace);
    let composed = Toolkit::compose([keys.clone(), places.clone()]).unwrap();
    let nested = Toolkit::compose([keys.clone().namespace("x").unwrap(), places.clone()]).unwrap();
    for unprovided in [composed, keys.clone().merge(places.clone()), nested.filter(|_| true)] {
        let kit = unprovided.provide(app());
        kit.ensure_runnable().unwrap();
        let key = kit.names().next().unwrap().to_owned();
        assert_eq!(call(&kit, &key, "").await, "k");
        assert_eq!(call(&kit, "tell_place", "").await, "p");
    }
    let provided = keys.provide(App { key: Key("other"), place: Place("other") });
    let kit = provided.merge(places.provide(app()));
    assert_eq!(call(&kit, "tell_key", "").await, "other");
    assert_eq!(call(&kit, "tell_place", "").await, "p");
}
