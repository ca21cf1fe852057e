//! A turn loop on the tools of a registry.

use haft::model::{LoopOutcome, ScriptedTurn};
use haft::prelude::*;
use haft::registry::{Executor, PermissionSettings, Permissions, Registry, Workspace};
use haft::serde_json;

fn executor() -> Executor {
    let add = Tool::new("add").handler(|(a, b): (i64, i64), _| async move { a + b }).unwrap();
    let project = Workspace::builder().toolbox("math").tool(add).build().unwrap();
    Executor::new(Registry::builder().workspace(project).build().unwrap())
}

fn agent() -> TurnLoop {
    let call = ToolCall::new("c1", "math/add", "[1, 2]");
    let model = ScriptedModel::new([ScriptedTurn::calls([call]), ScriptedTurn::text("done")]);
    TurnLoop::new(model, executor())
}

fn request() -> TurnRequest {
    TurnRequest::new("any", vec![Item::user("Add one and two.")])
}

fn allowing(pattern: &str) -> Permissions {
    PermissionSettings::new().allow(pattern).build().unwrap()
}

/// Returns what the model read of its call.
fn output(outcome: &LoopOutcome) -> String {
    let history = serde_json::to_value(outcome.state.history()).unwrap();
    let is_output = |item: &&serde_json::Value| item["type"] != "tool_call" && item["call_id"] == "c1";
    history.as_array().unwrap().iter().filter(is_output).map(|item| item["output"].to_string()).collect()
}

#[tokio::test]
async fn a_model_calls_a_tool_by_its_full_name() {
    assert_eq!(output(&agent().start(request()).finish().await), r#""3""#);
}

#[tokio::test]
async fn a_loop_carries_the_permissions_of_its_start() {
    let agent = agent();
    let narrow = allowing("text/*");
    // Started in the scope and polled outside of it.
    let outcome = narrow.sync_scope(|| agent.start(request())).finish().await;
    assert!(output(&outcome).contains("permission_denied"), "{}", output(&outcome));
    let agent = self::agent();
    let mut run = narrow.sync_scope(|| agent.start(request()));
    while run.next().await.is_some() {}
    assert!(format!("{:?}", run.state()).contains("permission_denied"));
    // Polled in the scope only.
    let agent = self::agent();
    let outcome = narrow.scope(agent.start(request()).finish()).await;
    assert!(output(&outcome).contains("permission_denied"), "{}", output(&outcome));
    let agent = self::agent();
    assert_eq!(output(&allowing("math/*").sync_scope(|| agent.start(request())).finish().await), r#""3""#);
}

struct Account(&'static str);

/// Names the account.
#[haft::tool]
fn whoami(#[service] account: &Account) -> String {
    account.0.to_owned()
}

/// A toolbox takes tools without their services, which the executor provides.
#[tokio::test]
async fn tools_of_a_toolbox_find_their_services_in_the_executor() {
    let project = Workspace::builder().toolbox("session").toolkit(haft::toolkit![Whoami]).build().unwrap();
    let registry = Registry::builder().workspace(project).build().unwrap();
    let executor = Executor::builder().service(Account("ana")).build(registry.clone());
    assert_eq!(executor.run("session/whoami", serde_json::json!({})).await.unwrap(), "ana");
    let missing = Executor::new(registry).run("session/whoami", serde_json::json!({})).await.unwrap_err();
    assert_eq!(missing.kind(), &FailureKind::ExecutionError);
}
