//! MCP servers in workspaces: logins, logs, and that no secret leaves.

mod login;
mod secrecy;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A workspace with a state of its own, which is trusted, and a folder for files of servers.
struct Folder {
    workspace: TempDir,
    state: TempDir,
    servers: TempDir,
}

impl Folder {
    fn new(settings: &str) -> Self {
        let folder = || tempfile::tempdir().unwrap();
        let folder = Self { workspace: folder(), state: folder(), servers: folder() };
        fs::write(folder.file(), format!("workspace.standard = false\n{settings}")).unwrap();
        folder.done(&["trust", "--yes"]);
        folder
    }

    fn file(&self) -> PathBuf {
        self.workspace.path().join("haft.toml")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.workspace.path().join("haft.lock")).unwrap_or_default()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(self.workspace.path()).env("NO_COLOR", "1").env("BROWSER", "true");
        command.env("HAFT_STATE_DIR", self.state.path()).env("NO_PROXY", "127.0.0.1").env_remove("HAFT_LOG");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and returns what it prints and its messages.
    fn done(&self, arguments: &[&str]) -> (String, String) {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        texts(&output)
    }

    /// Sets the definitions of a server that is started with [`argv`](Self::argv).
    fn set_tools(&self, tools: &[Value]) {
        fs::write(self.servers.path().join("tools.json"), json!(tools).to_string()).unwrap();
    }

    /// Returns the command of the hostile server of `haft-mcp`.
    fn argv(&self) -> Vec<String> {
        let file = |name: &str| self.servers.path().join(name).display().to_string();
        vec![program().display().to_string(), "--tools".to_owned(), file("tools.json"), "--log".to_owned(), file("log")]
    }

    /// Returns the messages that the server has received with this method.
    fn received(&self, method: &str) -> Vec<Value> {
        let log = fs::read_to_string(self.servers.path().join("log")).unwrap_or_default();
        let messages = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        messages.filter(|message| message["method"] == method).collect()
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

/// Returns the path of the server: tests are built with the examples, in a folder beside theirs.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("examples/haft_hostile_server")
}
