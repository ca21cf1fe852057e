//! A person's terminal: bars, the summary, the approval prompt, and interrupts.
//!
//! The tools are commands that wait for files, so that a test looks at the screen while they run.

mod approval;
mod bar;
mod interrupt;
mod wrap;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::pty::{Pty, PtyCommand};

/// The tools: `count` reports progress and waits for a file, `remove` requires approval and returns its arguments, `touch` requires it and creates a file,
/// `hang` starts processes that never end.
const TOOLS: &str = r#"
[toolbox.dev.tool.count]
kind = "command"
description = "Counts."
command = ["/bin/sh", "count.sh"]
stdout = "json-lines"

[toolbox.dev.tool.remove]
kind = "command"
description = "Removes a file."
command = ["/bin/sh", "remove.sh"]
approval = "always"
parameters = { type = "object", properties = { path = { type = "string" } }, required = ["path"], additionalProperties = false }

[toolbox.dev.tool.touch]
kind = "command"
description = "Creates a file."
command = ["touch", "--", "{path}"]
approval = "always"

[toolbox.dev.tool.hang]
kind = "command"
description = "Never ends."
command = ["/bin/sh", "hang.sh"]
stdout = "json-lines"
"#;

const COUNT: &str = r#"
echo '{"progress": {"done": 1, "total": 4, "message": "one of four"}}'
while [ ! -e go ]; do sleep 0.01; done
echo '{"result": "counted"}'
"#;

/// The processes ignore the request to end, and so does what they started.
const HANG: &str = r#"
trap '' TERM INT HUP
sh -c 'trap "" TERM INT HUP; echo $$ >> pids; while :; do sleep 0.05; done' &
echo $$ >> pids
while [ "$(wc -l < pids)" -lt 2 ]; do sleep 0.01; done
echo '{"progress": "hanging now"}'
while :; do sleep 0.05; done
"#;

/// A folder with a workspace that is trusted.
struct Workspace {
    folder: TempDir,
    state: TempDir,
}

impl Workspace {
    fn new() -> Self {
        let workspace = Self { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() };
        for (name, content) in
            [("haft.toml", TOOLS), ("count.sh", COUNT), ("remove.sh", "cat\n"), ("hang.sh", HANG), ("pids", "")]
        {
            workspace.write(name, content);
        }
        let trusted = Command::new(env!("CARGO_BIN_EXE_haft"))
            .args(["trust", "--yes"])
            .arg(workspace.path())
            .env("HAFT_STATE_DIR", workspace.state.path())
            .output()
            .unwrap();
        assert!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stderr));
        workspace
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path().join(name), content).unwrap();
    }

    /// Returns `haft run` with these calls: tool names and their arguments. Their ids are `c1`, `c2`, ….
    fn run(&self, calls: &[(&str, Value)]) -> PtyCommand {
        let calls = calls.iter().zip(1..);
        let calls: Vec<Value> = calls
            .map(|((name, arguments), number)| {
                json!({"call_id": format!("c{number}"), "name": name, "arguments": arguments})
            })
            .collect();
        self.write("calls.json", &Value::from(calls).to_string());
        PtyCommand::new(["run", "calls.json"]).folder(self.path()).env("HAFT_STATE_DIR", self.state.path())
    }

    /// Lets `count` go on.
    fn go(&self) {
        self.write("go", "");
    }
}

/// Asserts that the terminal is as it was before the command.
fn assert_restored(pty: &Pty, modes: &str) {
    assert_eq!(pty.modes(), modes);
    assert!(!pty.terminal().hide_cursor(), "the cursor is hidden");
    assert!(!pty.terminal().bracketed_paste(), "bracketed paste is on");
    assert!(!pty.terminal().alternate_screen(), "the other screen is on");
}

/// Reports whether the screen has a character in a colour.
fn has_colour(pty: &Pty) -> bool {
    let (rows, columns) = pty.terminal().size();
    let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    cells
        .filter_map(|(row, column)| pty.terminal().cell(row, column))
        .any(|cell| cell.fgcolor() != vt100::Color::Default)
}
