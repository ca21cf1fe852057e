//! The hostile server, `examples/hostile_server.rs`.

use std::path::{Path, PathBuf};

use haft_core::{ToolCall, ToolResult};
use haft_executor::{Dispatch, RunOptions, ToolSource};
use haft_mcp::{Era, McpClient, McpServer};
use serde_json::Value;

/// A folder with the server's tools and log, and the arguments that name them.
pub(crate) struct Hostile {
    folder: tempfile::TempDir,
    arguments: Vec<String>,
}

impl Hostile {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log").to_str().unwrap().to_owned();
        Self { folder, arguments: vec!["--log".to_owned(), log] }
    }

    pub(crate) fn tools(self, tools: &Value) -> Self {
        self.set_tools(tools);
        let file = self.path("tools.json").to_str().unwrap().to_owned();
        self.argument("--tools").argument(&file)
    }

    pub(crate) fn set_tools(&self, tools: &Value) {
        std::fs::write(self.path("tools.json"), tools.to_string()).unwrap();
    }

    pub(crate) fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn server(&self) -> McpServer {
        McpServer::command(program(), &self.arguments).named("hostile").era(Era::Legacy)
    }

    pub(crate) async fn connect(&self) -> McpClient {
        self.server().connect().await.unwrap()
    }

    /// Returns the messages that the server has received with this method.
    pub(crate) fn received(&self, method: &str) -> Vec<Value> {
        let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
        let messages = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        messages.filter(|message| message["method"] == method).collect()
    }

    /// Waits until the server has received a call of this tool.
    pub(crate) async fn until_received_by(&self, tool: &str) {
        let is_received = || self.received("tools/call").iter().any(|call| call["params"]["name"] == tool);
        until(|| is_received().then_some(())).await;
    }

    /// Waits until the server has received a message with this method.
    pub(crate) async fn until_received(&self, method: &str) -> Value {
        until(|| self.received(method).into_iter().next()).await
    }
}

/// Waits until there is something.
pub(crate) async fn until<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let searching = async {
        loop {
            if let Some(found) = found() {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), searching).await.expect("it never happened")
}

/// Returns the path of the program: tests are built with the examples, in a folder beside theirs.
pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap();
    built.join("examples").join(format!("hostile_server{}", std::env::consts::EXE_SUFFIX))
}

/// Makes one call.
pub(crate) async fn call(tools: &impl ToolSource, tool: &str, arguments: Value) -> ToolResult {
    let call = ToolCall::new("c1", tool, arguments.to_string());
    tools.run_calls(vec![call.into()], RunOptions::new()).collect_results().await.remove(0)
}
