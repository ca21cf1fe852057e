//! Helpers that run one call of one tool in a test.

use haft_core::{ToolCall, ToolFailure, ToolResult};
use haft_executor::{Emitted, RunOptions, Tool, Toolkit};
use serde_json::Value;
use tokio::sync::mpsc;

/// Creates a toolkit of one tool.
pub(crate) fn alone(tool: &Tool) -> Toolkit {
    Toolkit::from_iter([tool.clone()])
}

/// Returns the result of calling `tool` with this argument text.
pub(crate) async fn run(tool: &Tool, arguments: &str) -> ToolResult {
    let call = ToolCall::new("c1", tool.name(), arguments);
    alone(tool).run_call(&call).await
}

/// Returns the value of a call that must succeed.
pub(crate) async fn value(tool: &Tool, arguments: &str) -> Value {
    let result = run(tool, arguments).await;
    match result.value() {
        Some(value) => value.to_value(),
        None => panic!("{} failed: {:?}", tool.name(), result.failure()),
    }
}

/// Returns the failure of a call that must fail.
pub(crate) async fn failure(tool: &Tool, arguments: &str) -> ToolFailure {
    let result = run(tool, arguments).await;
    match result.failure() {
        Some(failure) => failure.clone(),
        None => panic!("{} gave {:?}", tool.name(), result.value()),
    }
}

/// Returns the result of a call, and everything it emitted before.
pub(crate) async fn watch(tool: &Tool, arguments: &str) -> (Vec<Emitted>, ToolResult) {
    let call = ToolCall::new("c1", tool.name(), arguments);
    let (queue, mut reader) = mpsc::unbounded_channel();
    let result = alone(tool).run_call_with(&call, RunOptions::new().sink(queue)).await;
    let mut emitted = Vec::new();
    while let Ok(value) = reader.try_recv() {
        emitted.push(value);
    }
    (emitted, result)
}
