//! One handler for many tools that were discovered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_core::Readonly;
use haft_executor::{
    ApprovalPolicy, Cx, DynamicTools, ExecutionLimits, HandlerError, Services, Tool, Toolkit, ToolkitFault,
};
use serde_json::{Value, json};

use crate::toolkit_composition::{Key, call};

fn definition(name: &str) -> Tool {
    Tool::dynamic(name).define().unwrap()
}

#[tokio::test]
async fn one_handler_serves_every_discovered_tool() {
    struct Server(AtomicUsize);
    let server = Arc::new(Server(AtomicUsize::new(0)));
    let shared = Arc::clone(&server);
    let kit: Toolkit = Toolkit::dynamic(["list", "read", "write"].map(definition))
        .handler(move |tool: Tool, arguments: Value, cx: Cx| {
            let count = shared.0.fetch_add(1, Ordering::Relaxed) + 1;
            async move { json!([tool.name(), cx.tool_name(), arguments, count]) }
        })
        .unwrap();
    assert_eq!(Arc::strong_count(&server), 2, "the handler is shared, not copied");
    kit.ensure_runnable().unwrap();
    assert_eq!(call(&kit, "read", r#"{"n":1}"#).await, r#"["read","read",{"n":1},1]"#);
    let inside = kit.namespace("fs").unwrap();
    assert_eq!(call(&inside, "fs__write", "[]").await, r#"["write","fs__write",[],2]"#);
    let renamed = definition("list").with_name("ls").unwrap();
    let kit: Toolkit = Toolkit::dynamic([renamed])
        .handler(|tool: Tool, _, _| async move { format!("{} {}", tool.id(), tool.name()) })
        .unwrap();
    assert_eq!(call(&kit, "ls", "").await, "list ls");
}

#[tokio::test]
async fn every_field_of_a_definition_is_kept() {
    let definition = Tool::dynamic("drop")
        .params::<u8>()
        .describe("Drops it.")
        .annotate(Readonly(false))
        .needs_approval(ApprovalPolicy::always())
        .limits(ExecutionLimits::new().timeout(Duration::from_secs(3)))
        .depends_on::<Key>()
        .failure::<String>()
        .handler(|_, _| async { "the old handler" })
        .unwrap();
    let handled =
        |tools: DynamicTools| tools.try_handler_mixed(|_, _, _| async { Err::<(), _>(HandlerError::Declared("no")) });
    let kits = [
        Toolkit::dynamic([definition.clone()]).handler(|_, _, _| async { "new" }).unwrap(),
        Toolkit::dynamic([definition.clone()]).try_handler(|_, _, _| async { Ok::<_, String>("new") }).unwrap(),
        handled(Toolkit::dynamic([definition.clone()])).unwrap(),
    ];
    for kit in &kits {
        let tool = kit.get("drop").unwrap();
        assert_eq!(tool.descriptor(), definition.descriptor());
        assert!(tool.approval().is_always());
        assert_eq!(tool.limits().timeout, Some(Duration::from_secs(3)));
        assert_eq!(tool.dependencies(), definition.dependencies());
        assert_eq!(tool.failure().as_json(), definition.failure().as_json());
        assert_eq!(kit.ensure_runnable().unwrap_err().missing_services.len(), 1);
    }
    let free = kits[0].get("drop").unwrap().set_needs_approval(ApprovalPolicy::never()).unwrap();
    let kit = Toolkit::<()>::from_iter([free]).with_services(Services::new().with(Key("k")));
    assert_eq!(call(&kit, "drop", "7").await, "new");
    assert!(call(&kit, "drop", "700").await.contains("input_validation_error"));
}

#[tokio::test]
async fn a_shared_handler_can_fail_in_both_ways() {
    let declared: Toolkit = Toolkit::dynamic([definition("a"), definition("b")])
        .try_handler(|tool: Tool, _, _| async move { Err::<(), _>(format!("{} is down", tool.name())) })
        .unwrap();
    assert_eq!(declared.get("b").unwrap().failure().as_json()["type"], "string");
    assert!(call(&declared, "b", "").await.contains("b is down"));
    let mixed: Toolkit = Toolkit::dynamic([definition("a"), definition("b")])
        .try_handler_mixed(|tool: Tool, _, _| async move {
            if tool.name() == "a" {
                return Err(HandlerError::Declared("told"));
            }
            Ok("secret".parse::<u8>()?)
        })
        .unwrap();
    assert_eq!(mixed.get("a").unwrap().failure().as_json()["type"], "string");
    assert!(call(&mixed, "a", "").await.contains("told"));
    let opaque = call(&mixed, "b", "").await;
    assert!(opaque.contains("execution_error") && !opaque.contains("invalid digit"), "{opaque}");
}

#[test]
fn every_fault_of_discovered_tools_is_reported() {
    let tools = [
        definition("a"),
        Tool::signal("stop").define().unwrap(),
        definition("a"),
        Tool::interaction("ask").define().unwrap(),
        definition("stop"),
        Tool::provider("vendor.hosted").with_args(()).define().unwrap(),
        Tool::provider("vendor.shell").requires_handler().with_args(()).define().unwrap(),
    ];
    let error = Toolkit::<()>::dynamic(tools).handler(|_, _, _| async {}).unwrap_err();
    let told: Vec<_> = error
        .faults
        .iter()
        .map(|fault| match fault {
            ToolkitFault::DuplicateName { name } => format!("twice {name}"),
            ToolkitFault::Definition(error) => format!("no handler {}", error.tool),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(told, ["no handler stop", "twice a", "no handler ask", "twice stop", "no handler hosted"]);
    let error = Toolkit::<()>::dynamic([definition("a")]).handler(|_, _, _| async { Ok::<_, String>(1) }).unwrap_err();
    assert!(error.to_string().contains("use `try_handler`"), "{error}");
}

#[test]
fn no_discovered_tools_are_an_empty_toolkit() {
    let tools: DynamicTools = Toolkit::dynamic([]);
    assert_eq!(format!("{tools:?}"), "DynamicTools { definitions: [], .. }");
    assert!(tools.handler(|_, _, _| async {}).unwrap().is_empty());
}
