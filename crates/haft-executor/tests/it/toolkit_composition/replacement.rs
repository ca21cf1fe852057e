//! Fewer tools, and other handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::ToolDescriptor;
use haft_executor::{Cx, DefinitionFault, Next, ReplaceError, Request, Services, Tool, Toolkit};
use serde_json::{Value, json};

use crate::toolkit_composition::{
    App, Key, Place, TellKey, TellPlace, all_kinds, assert_indexed, call, keyed, kit, names, shadowed, tool,
};

#[test]
fn a_filter_keeps_order_needs_and_services() {
    let kit: Toolkit<App> =
        Toolkit::new().tool::<TellKey>().tool_from(TellPlace).with_all([tool("a"), tool("b")]).unwrap();
    let kit =
        kit.with_services(Services::new().with(7_u8)).filter(|tool| tool.name() != "tell_place" && tool.name() != "a");
    assert_eq!(names(&kit), ["tell_key", "b"]);
    assert!(kit.get("a").is_none());
    assert_indexed(&kit);
    let kit = kit.provide(App { key: Key("k"), place: Place("p") });
    kit.ensure_runnable().unwrap();
    assert_eq!(kit.services_of("b").unwrap().get::<u8>().unwrap(), &7);
    assert_eq!(names(&kit.with(tool("a")).unwrap()), ["tell_key", "b", "a"], "a name that is gone is free");
}

#[test]
fn a_filter_can_remove_everything() {
    let kit: Toolkit = [tool("a"), tool("a"), tool("b")].into_iter().collect();
    assert_eq!(shadowed(&kit.clone().filter(|tool| tool.name() == "a")), [("a", 1)]);
    let nothing = kit.filter(|_| false);
    assert!(nothing.is_empty() && nothing.shadowed().is_empty() && nothing.get("a").is_none());
    nothing.ensure_runnable().unwrap();
}

#[tokio::test]
async fn a_filter_keeps_each_tools_own_services() {
    let kit = keyed(&["a", "b"], "first").merge(keyed(&["c", "d"], "second")).filter(|tool| "bd".contains(tool.name()));
    assert_eq!([call(&kit, "b", "").await, call(&kit, "d", "").await], ["first -", "second -"]);
}

#[tokio::test]
async fn another_handler_changes_no_descriptor_except_for_the_failure_it_declares() {
    let length =
        Tool::new("length").describe("How long.").example("abc").handler(|text: String, _| async move { text.len() });
    let kit: Toolkit = [tool("first"), length.unwrap(), tool("last")].into_iter().collect();
    let before = serde_json::to_string(&kit.descriptors()).unwrap();
    let mocked = kit.clone().with_handler("length", |_: Value, _| async { 42 }).unwrap();
    assert_eq!(serde_json::to_string(&mocked.descriptors()).unwrap(), before);
    assert_eq!(call(&mocked, "length", r#""abc""#).await, "42");
    assert_eq!(call(&kit, "length", r#""abc""#).await, "3", "the original is unchanged");
    assert!(call(&mocked, "length", "7").await.contains("input_validation_error"), "the schema is still enforced");

    let failing = kit.try_with_handler("length", |_: String, _| async { Err::<usize, _>("too lazy") }).unwrap();
    let mut described = failing.descriptors().iter().map(|shared| ToolDescriptor::clone(shared)).collect::<Vec<_>>();
    assert_eq!(described[1].failure_schema.take().unwrap().as_json(), &json!({"type": "string"}));
    assert_eq!(serde_json::to_string(&described).unwrap(), before);
    assert!(call(&failing, "length", r#""abc""#).await.contains("too lazy"));
}

#[tokio::test]
async fn another_handler_keeps_services_and_middleware() {
    let passed = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&passed);
    let kit = keyed(&["a"], "first").merge(keyed(&["b"], "second")).wrap(move |request: Request, next: Next| {
        counter.fetch_add(1, Ordering::Relaxed);
        async move { next.run(request).await }
    });
    let kit = kit.with_handler("a", |(), cx: Cx| async move { cx.service::<Key>().map_or("-", |key| key.0) }).unwrap();
    assert_eq!(call(&kit, "a", "").await, "first");
    assert_eq!(passed.load(Ordering::Relaxed), 1);
    assert_eq!(names(&kit), ["a", "b"]);
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest() {
    let replace = |name: &str| kit(&["search", "searches", "fetch"]).with_handler(name, |(), _| async {}).unwrap_err();
    let error = replace("serach");
    assert!(
        matches!(&error, ReplaceError::UnknownTool { name, nearest } if name == "serach" && nearest[0] == "search")
    );
    assert!(error.to_string().starts_with("there is no tool named `serach`; the nearest is `search`"), "{error}");
    assert_eq!(replace("delete").to_string(), "there is no tool named `delete`");
    assert_eq!(replace("").to_string(), "there is no tool named ``");
    let failing = kit(&["search"]).try_with_handler("serch", |(), _| async { Err::<(), _>("no") }).unwrap_err();
    assert!(matches!(failing, ReplaceError::UnknownTool { nearest, .. } if nearest == ["search"]));
}

#[test]
fn a_tool_without_a_local_handler_accepts_none() {
    let kit: Toolkit = all_kinds().into_iter().collect();
    for name in ["signal", "interaction", "hosted"] {
        let error = kit.clone().with_handler(name, |_: Value, _| async {}).unwrap_err();
        let ReplaceError::Definition(error) = error else { panic!("{error}") };
        assert!(matches!(error.faults[..], [DefinitionFault::HandlerNotAllowed(_)]), "{error}");
    }
    let shell = kit.with_handler("shell", |_: Value, _| async {}).unwrap();
    assert!(shell.get("shell").unwrap().has_handler());
}
