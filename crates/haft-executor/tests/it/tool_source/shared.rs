//! Changing a shared toolkit.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};

use haft_core::ToolCall;
use haft_executor::{Cx, Dispatch, RunOptions, Services, SharedToolkit, Tool, ToolSource, Toolkit, ToolkitFault};

use super::{generation, names, tool};

/// Runs one call of a tool on the current tools, and returns what the model reads.
async fn call(source: &dyn Dispatch, name: &str) -> String {
    let calls = vec![ToolCall::new("c1", name, "").into()];
    source.run_calls(calls, RunOptions::new()).collect_results().await[0].to_model_text()
}

#[tokio::test]
async fn every_change_raises_the_generation_by_one() {
    let tools = SharedToolkit::new(Toolkit::from_iter([tool("a", 1)]));
    assert_eq!(generation(&tools), 0);
    tools.add(tool("b", 2)).unwrap();
    assert_eq!((generation(&tools), names(&tools)), (1, vec!["a".into(), "b".into()]));
    let old = tools.replace(tool("a", 3)).unwrap();
    assert_eq!((generation(&tools), old.name()), (2, "a"));
    assert_eq!(call(&tools, "a").await, "3");
    assert!(tools.replace(tool("c", 4)).is_none(), "a new name is added");
    assert_eq!((generation(&tools), names(&tools)), (3, vec!["a".into(), "b".into(), "c".into()]));
    assert_eq!(tools.remove("a").unwrap().name(), "a");
    assert_eq!((generation(&tools), names(&tools)), (4, vec!["b".into(), "c".into()]));
    let snapshot = tools.update(|kit| kit.with_all([tool("d", 5), tool("e", 6)])).unwrap();
    assert_eq!((snapshot.generation(), snapshot.toolkit().len()), (5, 4));
    assert_eq!(generation(&tools), 5);
}

#[tokio::test]
async fn nothing_that_changes_nothing_raises_the_generation() {
    let same = tool("a", 1);
    let tools = SharedToolkit::new(Toolkit::from_iter([same.clone()]));
    assert!(tools.remove("ghost").is_none());
    assert!(tools.replace(same).is_some());
    tools.update(Ok::<_, Infallible>).unwrap();
    tools.update(|kit| Ok::<_, Infallible>(kit.filter(|_| true))).unwrap();
    let error = tools.add(tool("a", 2)).unwrap_err();
    assert!(matches!(&error.faults[..], [ToolkitFault::DuplicateName { name }] if name == "a"));
    assert_eq!(tools.update(|_| Err::<Toolkit, _>("no")).unwrap_err(), "no");
    assert_eq!(generation(&tools), 0);
    assert_eq!(call(&tools, "a").await, "1");
}

#[test]
fn other_services_a_label_and_another_order_are_changes() {
    let kit: Toolkit = Toolkit::from_iter([tool("a", 1), tool("b", 2)]);
    let tools = SharedToolkit::from(kit.clone());
    let change = |change: fn(Toolkit) -> Toolkit| {
        let Ok(changed) = tools.update(|kit| Ok::<_, Infallible>(change(kit)));
        changed.generation()
    };
    assert_eq!(change(|kit| kit.with_services(Services::new().with(7_u8))), 1);
    assert_eq!(change(|kit| kit.label("renamed")), 2);
    let mut reversed: Vec<Tool> = kit.iter().cloned().collect();
    reversed.reverse();
    assert_eq!(tools.update(|_| Ok::<_, Infallible>(Toolkit::from_iter(reversed.clone()))).unwrap().generation(), 3);
    assert_eq!(names(&tools), ["b", "a"]);
}

/// A replaced tool keeps the services of its place.
#[tokio::test]
async fn a_replaced_tool_has_the_services_of_the_one_before() {
    let keyed = |prefix: &'static str| {
        let handler = move |(), cx: Cx| async move { format!("{prefix} {}", cx.service::<String>().unwrap()) };
        Tool::new("whoami").depends_on::<String>().handler(handler).unwrap()
    };
    let kit: Toolkit = Toolkit::from_iter([keyed("old")]);
    let merged = kit.with_services(Services::new().with(String::from("ana"))).merge(Toolkit::from_iter([tool("b", 1)]));
    let tools = SharedToolkit::new(merged);
    tools.replace(keyed("new"));
    assert_eq!(call(&tools, "whoami").await, "new ana");
    assert_eq!(tools.snapshot().toolkit().shadowed(), [], "a replacement on purpose is not a shadowed tool");
}

#[test]
fn a_batch_is_atomic() {
    let tools = SharedToolkit::new(Toolkit::from_iter([tool("a", 1)]));
    let error = tools.update(|kit| kit.filter(|_| false).with_all([tool("b", 1), tool("c", 1), tool("b", 2)]));
    assert_eq!(error.unwrap_err().faults.len(), 1);
    assert_eq!((generation(&tools), names(&tools)), (0, vec!["a".to_owned()]));
}

#[test]
fn a_change_that_panics_changes_nothing_and_blocks_nothing() {
    let tools = SharedToolkit::default();
    let panicked = catch_unwind(AssertUnwindSafe(|| tools.update(|_| -> Result<Toolkit, Infallible> { panic!("no") })));
    assert!(panicked.is_err());
    tools.add(tool("a", 1)).unwrap();
    assert_eq!((generation(&tools), names(&tools)), (1, vec!["a".to_owned()]));
}

/// The function runs without a lock: it may use the source, and is called again when that changes the tools.
#[test]
fn a_change_may_use_the_source_that_it_changes() {
    let tools = SharedToolkit::default();
    let mut calls = 0;
    let changed = tools.update(|kit| {
        calls += 1;
        if calls == 1 {
            tools.add(tool("inner", 1)).unwrap();
        }
        kit.with(tool("outer", 2))
    });
    assert_eq!((calls, changed.unwrap().generation()), (2, 2));
    assert_eq!(names(&tools), ["inner", "outer"]);
}

#[test]
fn clones_share_the_tools_and_snapshots_do_not_change() {
    let tools = SharedToolkit::default();
    let (clone, before) = (tools.clone(), tools.snapshot());
    clone.add(tool("a", 1)).unwrap();
    assert_eq!((before.toolkit().len(), tools.snapshot().toolkit().len()), (0, 1));
    assert_eq!(format!("{tools:?}"), format!("{clone:?}"));
    assert!(format!("{tools:?}").contains("generation: 1"), "{tools:?}");
}

/// A handler may change the tools that it is one of.
#[tokio::test]
async fn a_handler_may_change_the_tools_of_its_own_source() {
    let tools = SharedToolkit::default();
    let inside = tools.clone();
    let learn = Tool::new("learn").handler(move |name: String, _cx| {
        let added = inside.add(tool(&name, 1)).is_ok();
        inside.remove("learn");
        async move { added }
    });
    tools.add(learn.unwrap()).unwrap();
    let calls = ["\"x\"", "\"x\"", "\"y\""].iter().zip(1..);
    let calls = calls.map(|(name, n)| ToolCall::new(format!("c{n}"), "learn", *name).into()).collect();
    let results = tools.run_calls(calls, RunOptions::new().concurrency(1)).collect_results().await;
    let answers: Vec<_> = results.iter().map(haft_core::ToolResult::to_model_text).collect();
    assert_eq!(answers, ["true", "false", "true"], "the tool that was removed still runs in its run");
    assert_eq!(names(&tools), ["x", "y"]);
    assert_eq!(generation(&tools), 4);
}
