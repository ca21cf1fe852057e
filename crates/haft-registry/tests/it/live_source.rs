//! Toolboxes with sources whose tools change.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_core::{FailureKind, ToolCall};
use haft_executor::{Changed, Dispatch, RunOptions, SharedToolkit, Snapshot, ToolSource, Toolkit};
use haft_registry::{Executor, FullName, PermissionSettings, Registry, ToolOrigin, Workspace};
use serde_json::json;

use crate::{tool, tool_saying};

fn registry_of(internal: &[&str], source: impl ToolSource + 'static) -> Registry {
    let project = Workspace::builder().toolbox("live").tool(tool("fixed")).live(source).build().unwrap();
    let internal: Toolkit = internal.iter().map(|name| tool(name)).collect();
    Registry::builder().internal(internal).workspace(project).build().unwrap()
}

fn names(source: &impl ToolSource) -> Vec<String> {
    source.snapshot().toolkit().names().map(str::to_owned).collect()
}

#[tokio::test]
async fn an_executor_follows_a_source_under_its_rules() {
    let source = SharedToolkit::default();
    let permissions = PermissionSettings::new().allow("live/*").deny("live/drop").build().unwrap();
    let executor = Executor::builder().permissions(permissions).build(registry_of(&[], source.clone()));
    assert!(executor.run("live/add", json!({})).await.is_err());

    source.add(tool_saying("add", "first")).unwrap();
    source.add(tool("drop")).unwrap();
    assert_eq!(executor.run("live/add", json!({})).await.unwrap(), "first");
    assert_eq!(*executor.run("live/drop", json!({})).await.unwrap_err().kind(), FailureKind::PermissionDenied);
    assert_eq!(names(&executor), ["live/fixed", "live/add", "live/drop"]);

    source.update(|_| Ok::<_, std::convert::Infallible>(Toolkit::from_iter([tool_saying("add", "second")]))).unwrap();
    assert_eq!(executor.run("live/add", json!({})).await.unwrap(), "second");
    assert!(executor.find("live/drop").is_err());
}

#[tokio::test]
async fn a_run_keeps_the_tools_that_it_began_with() {
    let source = SharedToolkit::from(Toolkit::from_iter([tool_saying("add", "old")]));
    let registry = registry_of(&[], source.clone());
    let run = registry.run_calls(vec![ToolCall::new("c1", "live/add", "").into()], RunOptions::new());
    source.remove("add");
    assert!(registry.find("live/add").is_err());
    assert_eq!(run.collect_results().await[0].to_model_text(), "old");
}

#[test]
fn each_change_raises_the_generation_once() {
    let source = SharedToolkit::default();
    let registry = registry_of(&[], source.clone());
    assert_eq!(registry.snapshot().generation(), 0);
    source.add(tool("a")).unwrap();
    source.add(tool("b")).unwrap();
    assert_eq!(registry.snapshot().generation(), 1);
    assert_eq!(registry.snapshot().generation(), 1);
    let origin = "live/x".parse::<FullName>().unwrap().origin().clone();
    registry.add(&origin, tool("c")).unwrap();
    assert_eq!(registry.snapshot().generation(), 2);
    assert_eq!(names(&registry), ["live/fixed", "live/c", "live/a", "live/b"]);
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_when_a_source_or_the_registry_changes() {
    let (first, second) = (SharedToolkit::default(), SharedToolkit::default());
    let project = Workspace::builder().toolbox("a").live(first.clone()).done().toolbox("b").live(second.clone());
    let registry = Registry::builder().workspace(project.build().unwrap()).build().unwrap();
    let wait = |after| tokio::time::timeout(Duration::from_secs(1), registry.changed(after));
    assert!(wait(0).await.is_err());
    for (generation, change) in [&first, &second].into_iter().enumerate() {
        let waiting = wait(generation as u64);
        let ((), outcome) = tokio::join!(async { change.add(tool("x")).unwrap() }, waiting);
        outcome.unwrap();
        assert_eq!(registry.snapshot().generation(), generation as u64 + 1);
    }
    let change = async { registry.add(&ToolOrigin::Internal, tool("now")).unwrap() };
    let ((), outcome) = tokio::join!(change, wait(2));
    outcome.unwrap();
}

#[test]
fn a_tool_that_may_not_have_its_name_is_left_out_alone() {
    let source = SharedToolkit::from(Toolkit::from_iter([tool("a/b"), tool("FIXED"), tool("add"), tool("ADD")]));
    let snapshot = registry_of(&["add"], source).snapshot();
    assert_eq!(snapshot.toolkit().names().collect::<Vec<_>>(), ["add", "live/fixed", "live/add"]);
    let faults: Vec<&str> = snapshot.faults().iter().map(|fault| fault.tool.as_str()).collect();
    assert_eq!(faults, ["a/b", "FIXED", "ADD"]);
}

#[test]
fn a_live_tool_replaces_no_other_one() {
    let source = SharedToolkit::default();
    let registry = registry_of(&["now"], source.clone());
    source.add(tool("now")).unwrap();
    assert_eq!(registry.find("now").unwrap().name.to_string(), "now");
    assert_eq!(registry.find("live/now").unwrap().name.to_string(), "live/now");
}

/// A source that reports changes and has none.
struct Restless(Arc<AtomicUsize>);

impl ToolSource for Restless {
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }

    fn changed(&self, _after: u64) -> Changed<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn a_source_that_reports_no_real_change_wakes_nobody_and_blocks_no_thread() {
    let asked = Arc::new(AtomicUsize::new(0));
    let registry = registry_of(&[], Restless(Arc::clone(&asked)));
    let mut waiting = registry.changed(0);
    for _ in 0..10 {
        tokio::select! {
            biased;
            () = &mut waiting => panic!("nothing has changed"),
            () = tokio::task::yield_now() => {}
        }
    }
    assert!(asked.load(Ordering::Relaxed) > 0);
}
