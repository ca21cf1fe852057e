//! Permissions and approval rules.

mod approval;
mod condition;
mod expression;
mod pattern;
mod property;
mod rule;
mod scope;
mod setting;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{Annotation, ToolCall, ToolResult};
use haft_executor::{Permit, RunOptions, Tool, Toolkit};
use haft_registry::{FullName, PermissionSettings, Permissions};
use serde_json::{Value, json};

fn name(name: &str) -> FullName {
    name.parse().unwrap()
}

/// A tool that accepts everything, and counts its calls.
fn counting(calls: &Arc<AtomicUsize>) -> Tool {
    let calls = Arc::clone(calls);
    Tool::dynamic("any")
        .params_json(json!({}))
        .handler(move |_: Value, _cx| {
            calls.fetch_add(1, Ordering::Relaxed);
            std::future::ready(1)
        })
        .unwrap()
}

fn any() -> Tool {
    counting(&Arc::default())
}

fn annotated(annotation: impl Annotation) -> Tool {
    Tool::dynamic("any").params_json(json!({})).annotate(annotation).handler(|_: Value, _cx| async { 1 }).unwrap()
}

#[allow(clippy::needless_pass_by_value, reason = "it ends a chain of calls")]
fn built(settings: PermissionSettings) -> Permissions {
    settings.build().unwrap()
}

/// Runs a call of a tool with a permit.
async fn run(tool: Tool, arguments: &str, permit: impl Permit) -> ToolResult {
    run_with(tool, arguments, RunOptions::new().permit(permit)).await
}

async fn run_with(tool: Tool, arguments: &str, options: RunOptions) -> ToolResult {
    let kit: Toolkit = [tool].into_iter().collect();
    let run = kit.run_with([ToolCall::new("c1", "any", arguments)], options);
    run.collect_results().await.remove(0)
}

/// Calls a tool that is known by a full name: `ok`, or the failure's kind and causes.
async fn outcome(permissions: &Permissions, full_name: &str, arguments: &str) -> String {
    let calls = Arc::default();
    let tool = counting(&calls);
    let permit = permissions.permit_for(&name(full_name), &tool);
    let result = run(tool, arguments, permit).await;
    assert_eq!(calls.load(Ordering::Relaxed), usize::from(result.is_ok()), "nothing runs that is denied");
    text(&result)
}

fn text(result: &ToolResult) -> String {
    match result.failure() {
        None => "ok".to_owned(),
        Some(failure) => format!("{} {}", failure.kind, failure.cause_chain().unwrap_or_default()).trim().to_owned(),
    }
}

fn denied_by(rule: &str) -> String {
    format!("permission_denied denied by the rule `{rule}`")
}
