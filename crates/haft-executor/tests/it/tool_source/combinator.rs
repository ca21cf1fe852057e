//! Sources that are made of other sources.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::ToolCall;
use haft_executor::{
    ComposeError, Dispatch, DuplicateToolName, MAX_NAME_LEN, NamespaceFault, Next, Request, RunOptions, Services,
    SharedToolkit, ToolSource, Toolkit,
};

use super::{generation, left_out, long, names, tool};

fn two() -> (SharedToolkit, SharedToolkit) {
    (SharedToolkit::new(Toolkit::from_iter([tool("a", 1)])), SharedToolkit::new(Toolkit::from_iter([tool("b", 2)])))
}

/// Tells whether two snapshots have the very same tools.
fn are_same(first: &impl ToolSource, second: &impl ToolSource) -> bool {
    let (first, second) = (first.snapshot(), second.snapshot());
    first.generation() == second.generation()
        && first
            .toolkit()
            .iter()
            .map(haft_executor::Tool::identity)
            .eq(second.toolkit().iter().map(haft_executor::Tool::identity))
}

#[test]
fn a_merged_source_has_the_tools_of_both_and_the_sum_of_generations() {
    let (first, second) = two();
    let merged = first.clone().merged(second.clone());
    assert_eq!((generation(&merged), names(&merged)), (0, vec!["a".into(), "b".into()]));
    first.add(tool("c", 3)).unwrap();
    assert_eq!((generation(&merged), names(&merged)), (1, vec!["a".into(), "c".into(), "b".into()]));
    second.remove("b");
    assert_eq!((generation(&merged), names(&merged)), (2, vec!["a".into(), "c".into()]));
    assert_eq!(merged.sources().0.snapshot().toolkit().len(), 2);
}

#[tokio::test]
async fn the_later_source_of_a_merged_one_wins_as_with_toolkits() {
    let (first, second) = two();
    let merged = first.merged(second.clone());
    second.add(tool("a", 7)).unwrap();
    let snapshot = merged.snapshot();
    assert_eq!(snapshot.toolkit().names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((snapshot.toolkit().shadowed()[0].name.as_str(), snapshot.faults().len()), ("a", 0));
    let run = merged.run_calls(vec![ToolCall::new("c1", "a", "").into()], RunOptions::new());
    assert_eq!(run.collect_results().await[0].to_model_text(), "7");
}

#[test]
fn composed_sources_leave_out_a_name_that_both_use_until_one_is_removed() {
    let (first, second) = two();
    let composed = first.clone().composed(second.clone());
    assert_eq!(names(&composed), ["a", "b"]);
    second.add(tool("a", 7)).unwrap();
    let snapshot = composed.snapshot();
    assert_eq!((names(&composed), left_out(&composed)), (vec!["b".to_owned()], vec!["a".to_owned()]));
    let fault = &snapshot.faults()[0];
    assert_eq!(fault.to_string(), "the tool `a` is left out: two toolkits have a tool named `a`: toolkit-0, toolkit-1");
    assert!(fault.cause.downcast_ref::<DuplicateToolName>().is_some());
    assert!(fault.cause.downcast_ref::<ComposeError>().is_none());
    first.remove("a");
    assert_eq!(
        (names(&composed), left_out(&composed).len(), generation(&composed)),
        (vec!["b".into(), "a".into()], 0, 2)
    );
}

#[test]
fn a_namespaced_source_leaves_out_names_that_become_too_long() {
    let tools = SharedToolkit::new(Toolkit::from_iter([tool("a", 1)]));
    let inside = tools.clone().namespaced("ns").unwrap();
    let room = MAX_NAME_LEN - "ns__".len();
    tools.add(long(room)).unwrap();
    assert_eq!((names(&inside).len(), left_out(&inside).len()), (2, 0));
    tools.add(long(room + 1)).unwrap();
    tools.add(tool("b", 2)).unwrap();
    assert_eq!((names(&inside)[0].as_str(), names(&inside)[2].as_str()), ("ns__a", "ns__b"));
    assert_eq!((names(&inside).len(), left_out(&inside)), (3, vec!["n".repeat(room + 1)]));
    let snapshot = inside.snapshot();
    assert!(snapshot.faults()[0].cause.downcast_ref::<NamespaceFault>().is_some());
    // A fault is passed on by everything that is made of the source, and ends with its cause.
    let outer = inside.filtered(|_| true).merged(Toolkit::new());
    assert_eq!(left_out(&outer).len(), 1);
    tools.remove(&"n".repeat(room + 1));
    assert_eq!((left_out(&outer).len(), names(&outer).len()), (0, 3));
}

#[test]
fn an_invalid_prefix_is_an_error_even_without_tools() {
    for (prefix, faults) in [("", 1), ("a__b_", 2), ("_x", 1)] {
        let error = SharedToolkit::default().namespaced(prefix).unwrap_err();
        assert_eq!((error.prefix.as_str(), error.faults.len()), (prefix, faults));
    }
    assert!(Toolkit::new().namespaced("p".repeat(MAX_NAME_LEN)).is_err());
    let nested = SharedToolkit::new(Toolkit::from_iter([tool("t", 1)])).namespaced("in").unwrap().namespaced("out");
    assert_eq!(names(&nested.unwrap()), ["out__in__t"]);
}

#[test]
fn a_filtered_source_leaves_out_a_tool_whose_filter_panics() {
    let tools = SharedToolkit::new(Toolkit::from_iter([tool("a", 1)]));
    let kept = tools.clone().filtered(|tool| {
        assert!(tool.name() != "b", "can't say");
        tool.name() != "c"
    });
    for name in ["b", "c", "d"] {
        tools.add(tool(name, 2)).unwrap();
    }
    assert_eq!((names(&kept), left_out(&kept)), (vec!["a".into(), "d".into()], vec!["b".to_owned()]));
    assert_eq!(kept.snapshot().faults()[0].to_string(), "the tool `b` is left out: panicked: can't say");
    assert_eq!(kept.source().snapshot().toolkit().len(), 4);
}

/// One middleware is around all tools, now and later, and keeps its state.
#[tokio::test]
async fn a_wrapped_source_wraps_tools_that_are_added_later() {
    let count = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&count);
    let tools = SharedToolkit::new(Toolkit::from_iter([tool("a", 1)]));
    let wrapped = tools.clone().wrapped(move |request: Request, next: Next| {
        counting.fetch_add(1, Ordering::Relaxed);
        next.run(request)
    });
    for (name, expected) in [("a", 1), ("b", 2), ("b", 3)] {
        tools.replace(tool("b", 2));
        let run = wrapped.run_calls(vec![ToolCall::new("c1", name, "").into()], RunOptions::new());
        assert!(run.collect_results().await[0].is_ok());
        assert_eq!(count.load(Ordering::Relaxed), expected);
    }
}

#[test]
fn tools_are_derived_once_for_each_generation() {
    let tools = SharedToolkit::new(Toolkit::from_iter([tool("a", 1)]));
    let count = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&count);
    let mapped = tools.clone().mapped(move |kit| {
        counting.fetch_add(1, Ordering::Relaxed);
        kit.with_services(Services::new().with(1_u8))
    });
    let all = Toolkit::from_iter([tool("z", 1)]).merged(mapped.namespaced("ns").unwrap()).filtered(|_| true);
    assert_eq!(count.load(Ordering::Relaxed), 0, "nothing is derived before it is used");
    for changes in 1..4 {
        for _ in 0..3 {
            assert!(are_same(&all, &all));
        }
        assert_eq!(count.load(Ordering::Relaxed), changes);
        tools.replace(tool("a", 2));
    }
}

#[test]
fn sources_are_combined_behind_every_pointer() {
    let tools = SharedToolkit::new(Toolkit::from_iter([tool("a", 1)]));
    let boxed: Box<dyn ToolSource> = Box::new(tools.clone());
    let shared: Arc<dyn ToolSource> = Arc::new(boxed.namespaced("x").unwrap());
    let all = (&tools).merged(Arc::clone(&shared)).composed(Arc::new(Toolkit::from_iter([tool("k", 1)])));
    assert_eq!(names(&all), ["a", "x__a", "k"]);
    tools.add(tool("b", 1)).unwrap();
    assert_eq!(names(&all), ["a", "b", "x__a", "x__b", "k"]);
    assert_eq!(generation(&all), 2, "both parts have changed");
    assert_eq!(format!("{shared:?}"), "ToolSource(..)");
}

#[test]
fn an_adapted_source_leaves_out_a_tool_that_fails_panics_or_takes_a_name() {
    let tools = SharedToolkit::new(["a", "b", "c", "d"].map(|name| tool(name, 1)).into_iter().collect());
    let adapted = tools.clone().adapted(|tool| match tool.name() {
        "b" => Err("not this one".into()),
        "c" => panic!("nor this one"),
        _ => Ok(tool.with_name("a")?),
    });
    let snapshot = adapted.snapshot();
    assert_eq!(snapshot.toolkit().names().collect::<Vec<_>>(), ["a"]);
    let faults: Vec<String> = snapshot.faults().iter().map(|fault| fault.cause.to_string()).collect();
    assert_eq!(snapshot.faults().iter().map(|fault| fault.tool.as_str()).collect::<Vec<_>>(), ["b", "c", "d"]);
    assert!(faults[0] == "not this one" && faults[1].contains("nor this one") && faults[2].contains('a'), "{faults:?}");

    tools.remove("a");
    assert_eq!(adapted.snapshot().faults().len(), 2);
    assert_eq!(adapted.snapshot().toolkit().names().collect::<Vec<_>>(), ["a"]);
}
