//! Tools that start commands, with real processes.

mod argument;
mod build;
mod code;
mod environment;
#[cfg(target_os = "linux")]
mod group;
mod output;
mod progress;
mod stream;

use haft_core::{ToolCall, ToolFailure, ToolResult};
use haft_executor::{Tool, Toolkit};
use haft_tools::command::CommandTool;
use serde_json::Value;

/// A command that runs a script. The tool itself starts no shell: it is the program.
fn script(text: &str) -> CommandTool {
    // Braces of the script are no variables.
    CommandTool::new(["/bin/sh", "-c", &text.replace('{', "{{").replace('}', "}}")])
}

fn tool(command: CommandTool) -> Tool {
    let builder = Tool::dynamic("run").params_json(command.default_parameters());
    command.build(builder).unwrap()
}

fn kit(command: CommandTool) -> Toolkit {
    Toolkit::new().with(tool(command)).unwrap()
}

fn call(arguments: &Value) -> ToolCall {
    ToolCall::new("c1", "run", arguments.to_string())
}

async fn run(command: CommandTool, arguments: Value) -> ToolResult {
    kit(command).run_call(&call(&arguments)).await
}

async fn fail(command: CommandTool, arguments: Value) -> ToolFailure {
    run(command, arguments).await.failure().unwrap().clone()
}

/// Returns the whole text of a result.
fn text(result: &ToolResult) -> String {
    result.decode().unwrap()
}
