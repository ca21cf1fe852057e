//! Helpers that run one call.

use haft::run::{ToolCall, ToolResult};
use haft::tool::{StaticTool, Tool};
use haft::toolkit::{Services, Toolkit};
use serde_json::Value;

/// Runs one call of a tool that needs no services.
pub(crate) async fn run<T: StaticTool>(arguments: Value) -> ToolResult {
    run_tool(&T::tool().unwrap(), arguments, Services::new()).await
}

/// Runs one call of a tool with services.
pub(crate) async fn run_tool(tool: &Tool, arguments: Value, services: Services) -> ToolResult {
    let call = ToolCall::new("c1", tool.name(), arguments.to_string());
    Toolkit::from_iter([tool.clone()]).with_services(services).run_call(&call).await
}

/// Runs one call of a toolkit, with the services it was given.
pub(crate) async fn run_in(kit: &Toolkit, name: &str, arguments: Value) -> ToolResult {
    kit.ensure_runnable().unwrap();
    run_tool(kit.get(name).unwrap(), arguments, kit.services().clone()).await
}

/// Returns the value of a success.
pub(crate) fn value(result: &ToolResult) -> Value {
    result.value().unwrap_or_else(|| panic!("{result:?}")).to_value()
}

/// Returns the kind and the message of a failure.
pub(crate) fn failure(result: &ToolResult) -> (&str, &str) {
    let failure = result.failure().unwrap();
    (failure.kind.as_str(), &failure.message)
}
