//! Lock files: what the trust screen shows of them, and who may change them.

use std::fs;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const TEXT: &str = "[workspace]\nstandard = false\n[toolbox.shop.import.api]\nkind = 'openapi'\nfile = 'shop.json'\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.0.path().join("haft.toml"), TEXT).unwrap();
        folder.document("Lists the orders.");
        folder
    }

    fn document(&self, summary: &str) {
        let paths = serde_json::json!({"/orders": {"get": {"operationId": "orders", "summary": summary}}});
        let document =
            serde_json::json!({"openapi": "3.1.0", "servers": [{"url": "https://shop.example"}], "paths": paths});
        fs::write(self.0.path().join("shop.json"), document.to_string()).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(self.0.path()).env("NO_COLOR", "1");
        command.env("HAFT_STATE_DIR", self.0.path().join("state"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and returns its messages.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let messages = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {messages}");
        messages
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.0.path().join("haft.lock")).unwrap()
    }
}

#[test]
fn a_lock_that_somebody_else_changed_is_shown_before_it_is_trusted() {
    let folder = Folder::new();
    folder.done(&["trust", "--yes"]);
    folder.done(&["mcp", "update"]);
    let old = folder.lock();
    folder.document("Lists all orders.");
    folder.done(&["trust", "--yes"]);
    folder.done(&["mcp", "accept", "--yes"]);
    assert_eq!(folder.run(&["check", "--locked", "--offline"]).status.code(), Some(0));

    // As after a pull from version control.
    fs::write(folder.0.path().join("haft.lock"), old).unwrap();
    assert_eq!(folder.run(&["check", "--offline"]).status.code(), Some(2), "the workspace is not trusted");
    let screen = folder.done(&["trust", "--yes"]);
    let shown = screen.split_once("since it was trusted:\n").unwrap().1;
    insta::assert_snapshot!(shown.replace(&*folder.0.path().canonicalize().unwrap().to_string_lossy(), "[FOLDER]"));
    fs::remove_file(folder.0.path().join("haft.lock")).unwrap();
    assert!(folder.done(&["trust", "--yes"]).contains("  shop/api is gone\n  - orders\n"));
}

#[test]
fn commands_at_the_same_time_lose_nothing() {
    let folder = Folder::new();
    folder.done(&["trust", "--yes"]);
    let start = |_| folder.command(&["mcp", "update"]).stderr(Stdio::piped()).spawn().unwrap();
    let running: Vec<_> = (0..4).map(start).collect();
    let mut done = 0;
    for child in running {
        let output = child.wait_with_output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        done += usize::from(output.status.success());
        assert!(output.status.success() || messages.contains("has changed meanwhile"), "{messages}");
    }
    assert!(done >= 1);
    assert_eq!(folder.run(&["check", "--locked", "--offline"]).status.code(), Some(0));
}
