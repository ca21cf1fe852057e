//! A registry changes while it is used.

use haft_core::ToolCall;
use haft_executor::{Dispatch, RunOptions, ToolSource};
use haft_registry::{FullName, RegistryFault, ToolOrigin, WorkspaceFault};

use crate::recorder::TextRecorder;
use crate::{registry, tool, tool_saying, workspace};

fn names(source: &impl ToolSource) -> Vec<String> {
    source.snapshot().toolkit().names().map(str::to_owned).collect()
}

fn origin(of: &str) -> ToolOrigin {
    of.parse::<FullName>().unwrap().origin().clone()
}

async fn answer(source: &impl Dispatch, name: &str) -> String {
    let calls = vec![ToolCall::new("c1", name, "").into()];
    source.run_calls(calls, RunOptions::new()).collect_results().await[0].to_model_text().clone()
}

#[tokio::test]
async fn models_see_full_names_and_no_replaced_tool() {
    let registry = registry(&["add", "now"], &["math/add*"], &[("acme", &["math/add"])]);
    assert_eq!(names(&registry), ["now", "math/add", "acme/math/add"]);
    assert_eq!(registry.all().names().collect::<Vec<_>>(), ["add", "now", "math/add", "acme/math/add"]);
    assert!(answer(&registry, "add").await.contains("unknown_tool"));
}

#[tokio::test]
async fn changes_are_seen_by_new_runs_only() {
    let registry = registry(&[], &[], &[("acme", &[])]);
    registry.add(&origin("math/x"), tool_saying("add", "old")).unwrap();
    let run = registry.run_calls(vec![ToolCall::new("c1", "math/add", "").into()], RunOptions::new());
    let replaced = registry.replace(&origin("math/x"), tool_saying("add", "new")).unwrap();
    assert_eq!(replaced.unwrap().name(), "add");
    assert_eq!(run.collect_results().await[0].to_model_text(), "old");
    assert_eq!(answer(&registry, "math/add").await, "new");

    let removed = registry.remove(&"math/add".parse().unwrap());
    assert_eq!(removed.unwrap().name(), "add");
    assert!(names(&registry).is_empty());

    let generation = registry.snapshot().generation();
    for missing in ["math/add", "add", "none/add", "acme/math/add", "zeta/math/add"] {
        assert!(registry.remove(&missing.parse().unwrap()).is_none(), "{missing}");
    }
    assert_eq!(registry.snapshot().generation(), generation);
}

#[tokio::test]
async fn every_change_raises_the_generation_and_wakes_those_who_wait() {
    let registry = registry(&["now"], &[], &[]);
    assert_eq!(registry.snapshot().generation(), 0);
    let other = registry.clone();
    let waiting = tokio::spawn(async move { other.changed(0).await });
    registry.add_exported(&origin("math/x"), tool("add")).unwrap();
    waiting.await.unwrap();
    assert_eq!(registry.snapshot().generation(), 1);
    registry.changed(0).await;
    assert_eq!(registry.find("add").unwrap().name.to_string(), "math/add");
}

#[test]
fn a_failed_change_changes_nothing() {
    let registry = registry(&[], &["math/add*"], &[]);
    let before = names(&registry);
    let error = registry.add(&origin("math/x"), tool("ADD")).unwrap_err();
    assert!(matches!(error.faults[0], RegistryFault::Toolbox(WorkspaceFault::DuplicateTool { .. })), "{error}");
    let error = registry.add_exported(&origin("text/x"), tool("add")).unwrap_err();
    assert!(matches!(error.faults[0], RegistryFault::Toolbox(WorkspaceFault::DuplicateExport { .. })), "{error}");
    let error = registry.add(&origin("acme/math/x"), tool("add")).unwrap_err();
    assert!(matches!(error.faults[0], RegistryFault::UnknownOrg(_)), "{error}");
    let error = registry.replace(&origin("math/x"), tool("a/b")).unwrap_err();
    assert!(matches!(error.faults[0], RegistryFault::Toolbox(WorkspaceFault::Name(_))), "{error}");
    assert_eq!(names(&registry), before);
    assert_eq!(registry.snapshot().generation(), 0);
}

#[test]
fn a_replaced_tool_stays_exported() {
    let registry = registry(&["add"], &["math/add*"], &[]);
    registry.replace(&origin("math/x"), tool("add")).unwrap();
    assert!(registry.find("add").unwrap().exported);
    registry.remove(&"math/add".parse().unwrap());
    assert_eq!(registry.find("add").unwrap().name.to_string(), "add");
    assert_eq!(names(&registry), ["add"]);
}

#[test]
fn a_workspace_is_replaced_as_a_whole() {
    let registry = registry(&[], &["math/add"], &[("acme", &["math/log"])]);
    registry.set_workspace(workspace(None, &["text/split", "text/join"])).unwrap();
    registry.set_workspace(workspace(Some("zeta"), &["geo/area"])).unwrap();
    assert_eq!(names(&registry), ["text/split", "text/join", "acme/math/log", "zeta/geo/area"]);
    assert_eq!(registry.snapshot().generation(), 2);

    let error = registry.set_workspace(workspace(Some("ACME"), &["geo/area"])).unwrap_err();
    assert!(matches!(error.faults[0], RegistryFault::DuplicateOrg(_)), "{error}");
    assert_eq!(registry.snapshot().generation(), 2);
}

#[test]
fn concurrent_changes_are_all_applied() {
    let registry = registry(&[], &[], &[]);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let registry = registry.clone();
            scope.spawn(move || {
                for at in 0..25 {
                    registry.add(&origin("math/x"), tool(&format!("t{thread}-{at}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(names(&registry).len(), 100);
    assert_eq!(registry.snapshot().generation(), 100);
}

/// Returns a function's warnings, as the tool and the one it hides.
fn warned<T>(function: impl FnOnce() -> T) -> (T, Vec<String>) {
    let recorder = TextRecorder::default();
    let returned = tracing::subscriber::with_default(recorder.clone(), function);
    let field = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!(" {name}=")).unwrap();
        rest.split(' ').next().unwrap().to_owned()
    };
    let lines = recorder.lines().into_iter().filter(|line| line.starts_with("WARN haft_registry"));
    let pairs = lines.map(|line| format!("{} > {}", field(&line, "tool"), field(&line, "hidden")));
    (returned, pairs.collect())
}

#[test]
fn each_tool_that_becomes_hidden_is_warned_about_once() {
    let (registry, warnings) = warned(|| registry(&["add", "now"], &["math/add*"], &[("acme", &["math/add"])]));
    assert_eq!(warnings, ["math/add > add", "math/add > acme/math/add"]);

    // What has nothing to do with it does not repeat them.
    let ((), warnings) = warned(|| registry.add(&origin("math/x"), tool("log")).unwrap());
    assert_eq!(warnings, Vec::<String>::new());
    let (_, warnings) = warned(|| registry.replace(&origin("math/x"), tool("add")).unwrap());
    assert_eq!(warnings, Vec::<String>::new());

    // A new one is warned about alone.
    let ((), warnings) = warned(|| registry.set_workspace(workspace(Some("zeta"), &["time/now*"])).unwrap());
    assert_eq!(warnings, ["zeta/time/now > now"]);

    // One that was gone and comes back is new again.
    let (_, warnings) = warned(|| registry.remove(&"math/add".parse().unwrap()).unwrap());
    assert_eq!(warnings, Vec::<String>::new());
    let ((), warnings) = warned(|| registry.add(&origin("math/x"), tool("add")).unwrap());
    assert_eq!(warnings, ["math/add > acme/math/add"]);
}
