//! Imports of the kind `mcp`, with programs that are started.

mod choice;
mod live;
mod settings;

use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_core::{ToolCall, ToolResult};
use haft_executor::{Dispatch, RunOptions, ToolSource};
use haft_registry::Executor;
use haft_workspace::pins::{LockFile, PinOrigin, PinnedImport, Pins};
use haft_workspace::{LoadOptions, Loaded, Trust, load};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a workspace, and one with the tools and the logs of its servers.
struct Servers {
    workspace: TempDir,
    files: TempDir,
}

impl Servers {
    fn new() -> Self {
        Self { workspace: tempfile::tempdir().unwrap(), files: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.workspace.path().join(name)
    }

    fn server_file(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    /// Returns the command of a server whose files have this name.
    fn argv(&self, name: &str) -> Vec<String> {
        let file = |suffix: &str| self.server_file(&format!("{name}.{suffix}")).display().to_string();
        vec![program().display().to_string(), "--tools".to_owned(), file("json"), "--log".to_owned(), file("log")]
    }

    /// Returns the entry of a server.
    fn entry(&self, name: &str, settings: &str) -> String {
        format!(
            "[toolbox.{name}.import.server]\nkind = 'mcp'\nera = 'legacy'\ncommand = {}\n{settings}\n",
            json!(self.argv(name))
        )
    }

    fn set_tools(&self, name: &str, tools: &[Value]) {
        std::fs::write(self.server_file(&format!("{name}.json")), json!(tools).to_string()).unwrap();
    }

    /// Accepts tools of servers, which need not be what these list.
    fn accept(&self, servers: &[(&str, &[Value])]) {
        let mut pins = Pins::new();
        for (name, tools) in servers {
            let import = PinnedImport::new("mcp", PinOrigin::command(&self.argv(name), None));
            let named = |import: PinnedImport, tool: &Value| import.tool(tool["name"].as_str().unwrap(), tool.clone());
            pins.insert(format!("{name}/server"), tools.iter().fold(import, named));
        }
        LockFile::read(self.path("haft.lock")).unwrap().replace(pins).unwrap();
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path("haft.toml"), format!("workspace.standard = false\n{text}")).unwrap();
    }

    async fn load(&self) -> Loaded {
        let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(Trust::Always);
        load(self.path("haft.toml"), &options).await.unwrap()
    }

    /// Returns the messages that a server has received with this method.
    fn received(&self, name: &str, method: &str) -> Vec<Value> {
        let log = std::fs::read_to_string(self.server_file(&format!("{name}.log"))).unwrap_or_default();
        let messages = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        messages.filter(|message| message["method"] == method).collect()
    }
}

/// Returns the path of the server: tests are built with the examples, in a folder beside theirs.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap();
    built.join("examples").join(format!("workspace_hostile_server{}", std::env::consts::EXE_SUFFIX))
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn executor(loaded: &Loaded) -> Executor {
    loaded.executor().build(loaded.registry().unwrap().build().unwrap())
}

async fn call(tools: &impl ToolSource, tool: &str, arguments: Value) -> ToolResult {
    let call = ToolCall::new("c1", tool, arguments.to_string());
    tools.run_calls(vec![call.into()], RunOptions::new()).collect_results().await.remove(0)
}

fn names(tools: &impl ToolSource) -> Vec<String> {
    tools.snapshot().toolkit().names().map(str::to_owned).collect()
}

/// Waits until there is something.
async fn until<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let searching = async {
        loop {
            if let Some(found) = found() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), searching).await.unwrap()
}
