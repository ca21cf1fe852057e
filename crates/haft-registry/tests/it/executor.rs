//! The executor service: running by name, errors, services and batches.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use haft_core::{ApprovalRequest, FailureKind, ToolCall, ToolEvent};
use haft_executor::{
    ApprovalPolicy, Cancellation, Cx, Dispatch, ExecutionLimits, HandlerError, Permission, RunOptions, Services,
    Suspend, Tool, ToolSource, Toolkit,
};
use haft_registry::{
    Executor, ExecutorError, LookupError, PermissionSettings, Registry, ToolOrigin, ToolboxBuilder, Workspace,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{registry, tool_saying};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    #[schemars(range(min = 0))]
    a: i64,
    b: i64,
}

fn executor(tools: impl IntoIterator<Item = Tool>) -> Executor {
    let toolbox = Workspace::builder().toolbox("t");
    let project = tools.into_iter().fold(toolbox, ToolboxBuilder::tool).build().unwrap();
    Executor::new(Registry::builder().workspace(project).build().unwrap())
}

fn add() -> Tool {
    Tool::new("add").handler(|sum: Sum, _| async move { sum.a + sum.b }).unwrap()
}

fn sources(error: &ExecutorError) -> Vec<String> {
    let first: &dyn Error = error;
    std::iter::successors(Some(first), |error| (*error).source()).map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_tool_is_run_by_its_full_or_a_shorter_name() {
    let executor = Executor::new(registry(&["now"], &["math/add*"], &[("acme", &["math/log", "text/cut*"])]));
    for name in ["now", "/now", "math/add", "add", "acme/math/log", "math/log", "cut", "/acme/text/cut"] {
        assert_eq!(executor.run(name, json!({})).await.unwrap(), json!(""), "{name}");
    }
    for (name, message) in [
        ("log", "there is no tool named `log`; did you mean `acme/math/log`?"),
        ("/add", "there is no tool named `/add`; did you mean `math/add`?"),
        ("nothing", "there is no tool named `nothing`"),
    ] {
        let error = executor.run(name, json!({})).await.unwrap_err();
        assert!(matches!(&error, ExecutorError::NotFound(LookupError::NotFound { .. })), "{error:?}");
        assert_eq!((error.to_string().as_str(), error.kind()), (message, &FailureKind::UnknownTool));
        assert!(error.failure().is_none() && error.tool().is_none() && error.issues().is_empty());
    }
    for name in ["", "a//b", "../now", "math/add/", "МATH/add"] {
        let error = executor.run(name, json!({})).await.unwrap_err();
        assert!(matches!(&error, ExecutorError::NotFound(LookupError::Invalid(_))), "{name}: {error:?}");
    }
}

#[tokio::test]
async fn an_ambiguous_name_runs_nothing() {
    let executor = Executor::new(registry(&[], &[], &[("acme", &["m/log"]), ("zeta", &["m/log"])]));
    let error = executor.run("m/log", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "`m/log` may mean `acme/m/log` or `zeta/m/log`; use a full name");
}

#[tokio::test]
async fn a_replaced_tool_runs_by_its_exact_name_only() {
    let project = Workspace::builder().toolbox("mine").exported(tool_saying("add", "mine")).build().unwrap();
    let internal: Toolkit = [tool_saying("add", "standard")].into_iter().collect();
    let executor = Executor::new(Registry::builder().internal(internal).workspace(project).build().unwrap());
    assert_eq!(executor.run("add", json!({})).await.unwrap(), "mine");
    assert_eq!(executor.run("/add", json!({})).await.unwrap(), "standard");
    assert_eq!(executor.snapshot().toolkit().names().collect::<Vec<_>>(), ["mine/add"]);
}

#[tokio::test]
async fn invalid_input_lists_all_issues_and_runs_nothing() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ran);
    let add = Tool::new("add").handler(move |sum: Sum, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move { sum.a + sum.b }
    });
    let executor = executor([add.unwrap()]);
    let error = executor.run("t/add", json!({"a": -1, "b": "2"})).await.unwrap_err();
    let ExecutorError::InputValidation { tool, failure } = &error else { panic!("{error:?}") };
    assert_eq!(tool.to_string(), "t/add");
    assert!(!failure.started);
    let pointers: Vec<_> = error.issues().iter().map(|issue| issue.pointer.as_str()).collect();
    assert_eq!(pointers, ["/a", "/b"], "{error}");
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    assert_eq!(executor.run_as::<i64>("t/add", json!({"a": 1, "b": 2})).await.unwrap(), 3);
    assert_eq!(ran.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_input_that_is_no_json_is_invalid() {
    /// A value that serde can't write.
    struct Unwritable;

    impl Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("out of paper"))
        }
    }

    let error = executor([add()]).run("t/add", Unwritable).await.unwrap_err();
    assert!(matches!(error, ExecutorError::InputValidation { .. }), "{error:?}");
    assert!(sources(&error).iter().any(|source| source.contains("out of paper")), "{error:?}");
    assert!(!error.to_string().contains("out of paper"));
}

#[tokio::test]
async fn invalid_output_is_an_error_of_its_own() {
    let wrong = Tool::dynamic("wrong")
        .params_json(json!({"type": "object"}))
        .success_json(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n", "m"]}))
        .handler(|_: Value, _| async { json!({"n": "seven"}) })
        .unwrap();
    let executor = executor([wrong, add()]);
    let error = executor.run("t/wrong", json!({})).await.unwrap_err();
    let ExecutorError::OutputValidation { failure, .. } = &error else { panic!("{error:?}") };
    assert!(failure.started);
    assert_eq!(error.issues().len(), 2, "{:?}", error.issues());

    // The schema accepts the output, and the type that is asked for does not.
    let error = executor.run_as::<String>("t/add", json!({"a": 1, "b": 2})).await.unwrap_err();
    assert!(matches!(error, ExecutorError::OutputValidation { .. }), "{error:?}");
    assert!(sources(&error).iter().any(|source| source.contains("invalid type: integer")), "{error:?}");
}

#[tokio::test]
async fn failures_of_execution_keep_their_kind_and_their_cause() {
    let declared = Tool::new("declared").try_handler(|(), _| async { Err::<(), _>("the account is closed") }).unwrap();
    let opaque = Tool::new("opaque").try_handler_mixed(|(), _| async {
        Err::<(), HandlerError<String>>(HandlerError::opaque(std::io::Error::other("10.0.0.7 refused")))
    });
    let panics =
        Tool::new("panics").handler(|(), _| async { assert!(std::env::args().count() == 0, "inside") }).unwrap();
    let slow = Tool::new("slow").limits(ExecutionLimits::new().timeout(Duration::from_secs(1)));
    let slow = slow.handler(|(), _| std::future::pending::<()>()).unwrap();
    let gated = Tool::new("gated").needs_approval(ApprovalPolicy::always()).handler(|(), _| async {}).unwrap();
    let needy = Tool::new("needy").depends_on::<String>().handler(|(), _| async {}).unwrap();
    let executor = executor([declared, opaque.unwrap(), panics, slow, gated, needy, tool_saying("fine", "")]);
    tokio::time::pause();
    for (name, kind, text, cause) in [
        ("declared", FailureKind::ToolFailed, "`t/declared` failed: the account is closed", ""),
        ("opaque", FailureKind::ExecutionError, "", "10.0.0.7 refused"),
        ("panics", FailureKind::ExecutionError, "", "inside"),
        ("slow", FailureKind::TimedOut, "", ""),
        ("gated", FailureKind::Denied, "", ""),
        ("needy", FailureKind::ExecutionError, "", "alloc::string::String"),
    ] {
        let error = executor.run(&format!("t/{name}"), json!({})).await.unwrap_err();
        assert!(matches!(error, ExecutorError::Execution { .. }), "{name}: {error:?}");
        assert_eq!(error.kind(), &kind, "{name}");
        assert!(error.to_string().contains(text), "{name}: {error}");
        assert!(sources(&error).iter().any(|source| source.contains(cause)), "{name}: {:?}", sources(&error));
        assert!(cause.is_empty() || !error.to_string().contains(cause), "{name}: {error}");
    }
    // One tool that lacks a service does not stop the others.
    assert_eq!(executor.run("t/fine", json!({})).await.unwrap(), "");
}

#[tokio::test]
async fn services_are_given_once_and_own_ones_come_first() {
    let text = |name: &str| {
        let tool = Tool::new(name).depends_on::<String>();
        tool.handler(|(), cx: Cx| async move { cx.service::<String>().cloned().unwrap_or_default() }).unwrap()
    };
    let own: Toolkit = Toolkit::from_iter([text("own")]);
    let own = own.with_services(Services::new().with(String::from("of the toolbox")));
    let project =
        Workspace::builder().toolbox("a").served_toolkit(own).done().toolbox("b").tool(text("common")).build();
    let registry = Registry::builder().workspace(project.unwrap()).build().unwrap();
    let executor = Executor::builder().service(String::from("of the executor")).build(registry.clone());
    let without = Executor::new(registry);
    assert_eq!(without.run("a/own", json!({})).await.unwrap(), "of the toolbox");
    // A toolbox does not find what another one was given.
    assert_eq!(without.run("b/common", json!({})).await.unwrap_err().kind(), &FailureKind::ExecutionError);
    assert_eq!(executor.run("a/own", json!({})).await.unwrap(), "of the toolbox");
    assert_eq!(executor.run("b/common", json!({})).await.unwrap(), "of the executor");
    // A batch on the executor as a source has them too.
    let run = executor.run_calls(vec![ToolCall::new("c1", "b/common", "").into()], RunOptions::new());
    assert_eq!(run.collect_results().await[0].to_model_text(), "of the executor");
}

#[tokio::test]
async fn a_batch_has_limits_approval_progress_and_events() {
    let count = Tool::new("count").handler(|to: u8, cx: Cx| async move {
        for n in 0..to {
            let _ = cx.emit(n).await;
        }
        to
    });
    let gated = Tool::new("gated").needs_approval(ApprovalPolicy::always()).handler(|(), _| async {}).unwrap();
    let executor = executor([count.unwrap(), gated]);
    let calls = vec![
        ToolCall::new("c1", "t/count", "2").into(),
        ToolCall::new("c2", "t/gated", "").into(),
        ToolCall::new("c3", "count", "2").into(),
    ];
    let mut run = executor.run_calls(calls, RunOptions::new().concurrency(1).approvals(Suspend));
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        seen.push(match event {
            ToolEvent::Progress { call_id, data, .. } => format!("{call_id} {data}"),
            ToolEvent::Output { result, .. } => format!("{} ok: {}", result.call_id, result.is_ok()),
            ToolEvent::ApprovalRequested { request, .. } => format!("{} asked", request.call_id),
            other => format!("{other:?}").chars().take(9).collect(),
        });
    }
    // Shorter names are for `run` only: calls of models use full names.
    assert_eq!(seen.iter().filter(|line| line.as_str() == "c3 ok: false").count(), 1, "{seen:?}");
    assert!(seen.contains(&"c1 1".to_owned()) && seen.contains(&"c1 ok: true".to_owned()), "{seen:?}");
    assert!(run.suspended().is_some());
    // The same call by itself can't be suspended.
    let executor = Executor::builder().options(RunOptions::new().approvals(Suspend)).build(executor.registry().clone());
    let error = executor.run("t/gated", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), &FailureKind::Denied);
    assert!(error.to_string().contains("run it as a batch"), "{error}");
}

#[tokio::test]
async fn permits_of_the_application_are_asked_too() {
    let registry = registry(&["now"], &["math/add"], &[]);
    let only_math = |tool: &Tool, _: &ToolCall, _: &Cx| {
        let is_math = tool.name().starts_with("math/");
        if is_math { Permission::Allowed } else { Permission::denied("math only").by_rule("only-math") }
    };
    let executor = Executor::builder().options(RunOptions::new().permit(only_math)).build(registry);
    assert!(executor.run("math/add", json!({})).await.is_ok());
    let error = executor.run("now", json!({})).await.unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (&FailureKind::PermissionDenied, "`now` failed: math only"));
    assert!(sources(&error).iter().any(|source| source.contains("`only-math`")), "{:?}", sources(&error));
}

#[tokio::test]
async fn changes_of_the_registry_are_changes_of_the_executor() {
    let executor = Executor::new(registry(&[], &["math/add"], &[]));
    let before = executor.snapshot();
    let origin = ToolOrigin::Project("math".parse().unwrap());
    executor.registry().add(&origin, tool_saying("log", "new")).unwrap();
    executor.changed(before.generation()).await;
    assert_eq!(executor.run("math/log", json!({})).await.unwrap(), "new");
    assert!(executor.snapshot().generation() > before.generation());
    executor.registry().remove(&"math/log".parse().unwrap()).unwrap();
    assert!(executor.run("math/log", json!({})).await.is_err());
    // The earlier snapshot runs what it had.
    assert_eq!(before.toolkit().names().collect::<Vec<_>>(), ["math/add"]);
}

#[tokio::test]
async fn tools_and_settings_are_replaced_together() {
    let allowing = |pattern: &str| {
        Executor::builder()
            .permissions(PermissionSettings::new().allow(pattern).build().unwrap())
            .service(pattern.to_owned())
    };
    let workspace = |name: &str| Workspace::builder().toolbox(name).tool(service_text()).build().unwrap();
    let tools = |name: &str| Registry::builder().workspace(workspace(name));
    let executor = allowing("a/*").build(tools("a").build().unwrap());
    let before = executor.snapshot();
    assert_eq!(executor.run("a/text", json!({})).await.unwrap(), "a/*");

    executor.replace(tools("b"), allowing("b/*")).unwrap();
    assert_eq!(executor.run("b/text", json!({})).await.unwrap(), "b/*");
    assert!(matches!(executor.run("a/text", json!({})).await, Err(ExecutorError::NotFound(_))));
    assert_eq!(executor.snapshot().generation(), before.generation() + 1);
    let old = before.run_calls(vec![ToolCall::new("c1", "a/text", "").into()], RunOptions::new());
    assert_eq!(old.collect_results().await[0].to_model_text(), "a/*");

    // The same tools with other rules.
    executor.replace(tools("b"), allowing("c/*")).unwrap();
    assert_eq!(executor.run("b/text", json!({})).await.unwrap_err().kind(), &FailureKind::PermissionDenied);
    // A broken registry changes nothing.
    assert!(executor.replace(tools("d").workspace(workspace("e")), allowing("**")).is_err());
    assert_eq!(executor.run("b/text", json!({})).await.unwrap_err().kind(), &FailureKind::PermissionDenied);
}

/// Readers that look while tools and settings are replaced see tools with their own settings, never with others.
#[test]
fn concurrent_readers_never_see_tools_with_settings_of_others() {
    let settings = |name: &str| {
        let permissions = PermissionSettings::new().allow(format!("{name}/*").as_str()).build().unwrap();
        Executor::builder().permissions(permissions)
    };
    let tools = |name: &str| {
        Registry::builder().workspace(Workspace::builder().toolbox(name).tool(tool_saying("t", "")).build().unwrap())
    };
    let executor = settings("a").build(tools("a").build().unwrap());
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = 0;
                    while !is_done.load(Ordering::Relaxed) || seen == 0 {
                        let snapshot = executor.snapshot();
                        let name = snapshot.toolkit().names().next().unwrap().to_owned();
                        let call = ToolCall::new("c1", name, "");
                        let run = snapshot.run_calls(vec![call.into()], RunOptions::new()).collect_results();
                        assert!(run.now_or_never().unwrap()[0].is_ok());
                        seen += 1;
                    }
                })
            })
            .collect();
        for round in 0..200 {
            let name = if round % 2 == 0 { "b" } else { "a" };
            executor.replace(tools(name), settings(name)).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

/// A tool whose result is the text that it was provided with.
fn service_text() -> Tool {
    let tool = Tool::new("text").depends_on::<String>();
    tool.handler(|(), cx: Cx| async move { cx.service::<String>().cloned().unwrap_or_default() }).unwrap()
}

#[tokio::test]
async fn hidden_tools_are_not_found_with_the_text_of_missing_ones() {
    let hiding = PermissionSettings::new().allow("math/log").hide_denied().build().unwrap();
    let tools = || registry(&["now"], &["math/add", "math/log"], &[("acme", &["m/cut"]), ("zeta", &["m/cut"])]);
    let executor = Executor::builder().permissions(hiding).build(tools());
    assert!(executor.run("math/log", json!({})).await.is_ok());
    let error = async |executor: &Executor, name: &str| executor.run(name, json!({})).await.unwrap_err().to_string();
    for name in ["math/add", "now", "/now", "acme/m/cut", "m/cut", "math/none"] {
        let text = error(&executor, name).await;
        assert!(text.starts_with(&format!("there is no tool named `{name}`")), "{text}");
        assert!(!text.replace(name, "").contains("cut") && !text.replace(name, "").contains("now"), "{text}");
    }
    // The same text as from a registry that has only the visible tool.
    let alone = Executor::new(registry(&[], &["math/log"], &[]));
    for name in ["math/add", "now", "acme/m/cut", "m/cut", "math/lag"] {
        assert_eq!(error(&executor, name).await, error(&alone, name).await, "{name}");
    }
    let listed = executor.list(&RunOptions::new());
    assert_eq!(listed.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["math/log"]);
    assert!(executor.find("now").is_err() && executor.find("math/log").is_ok());
}

#[tokio::test]
async fn approval_rules_are_added_to_those_of_the_tools() {
    use haft_registry::{AskRules, AskSettings};

    let rules = AskRules::new(&[AskSettings::ask("math/*").when("args > 10").named("large")]).unwrap();
    let double = Tool::new("double").handler(|n: u64, _| async move { n * 2 }).unwrap();
    let own = Tool::new("own").needs_approval(ApprovalPolicy::always()).handler(|n: u64, _| async move { n }).unwrap();
    let project = Workspace::builder().toolbox("math").tool(double).tool(own).build().unwrap();
    let executor = Executor::builder().ask_rules(rules).build(Registry::builder().workspace(project).build().unwrap());
    assert_eq!(executor.run("math/double", 10).await.unwrap(), 20);
    assert_eq!(executor.run("math/double", 11).await.unwrap_err().kind(), &FailureKind::Denied);
    assert_eq!(executor.run("math/own", 1).await.unwrap_err().kind(), &FailureKind::Denied);
    // A batch dispatched without any approval option asks as well, and names the rule.
    let calls = vec![ToolCall::new("c1", "math/double", "11").into()];
    let suspended = executor.run_calls(calls, RunOptions::new().approvals(Suspend)).collect_or_suspend().await;
    let suspended = suspended.unwrap_err();
    assert!(format!("{suspended:?}").contains("large"), "{suspended:?}");
}

#[tokio::test]
async fn a_tool_that_is_found_has_its_rules() {
    let executor = Executor::builder()
        .permissions(PermissionSettings::new().allow("t/sub").build().unwrap())
        .build(executor([add()]).registry().clone());
    let found = executor.find("t/add").unwrap();
    let kit: Toolkit = [found.tool.clone()].into_iter().collect();
    let result = kit.run_call(&ToolCall::new("c1", "t/add", r#"{"a": 1, "b": 2}"#)).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::PermissionDenied);
}

#[tokio::test]
async fn a_run_has_a_caller_services_and_an_approver_of_its_own() {
    struct Greeting(&'static str);
    let greet = Tool::new("greet")
        .needs_approval(ApprovalPolicy::always())
        .handler(|(), cx: Cx| async move {
            let greeting = cx.service::<Greeting>().map_or("none", |greeting| greeting.0);
            format!("{greeting} {}", cx.caller().map(ToString::to_string).unwrap_or_default())
        })
        .unwrap();
    let project = Workspace::builder().toolbox("session").tool(greet).build().unwrap();
    let executor = Executor::new(Registry::builder().workspace(project).build().unwrap());

    let asked = RunOptions::new().caller("ana").service(Greeting("hello"));
    assert!(executor.run_with("greet", json!({}), &asked).await.is_err(), "nobody approves");
    let approved = asked.approvals(|request: ApprovalRequest, _: Cx| async move { request.approve() });
    assert_eq!(executor.run_with("session/greet", json!({}), &approved).await.unwrap(), "hello ana");

    let cancellation = Cancellation::new();
    cancellation.cancel();
    let cancelled = executor.run_with("session/greet", json!({}), approved.cancellation(cancellation)).await;
    assert!(cancelled.is_err());
    assert!(executor.run("session/greet", json!({})).await.is_err(), "options are those of one run");
}
