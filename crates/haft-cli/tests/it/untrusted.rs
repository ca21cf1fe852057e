//! The command with a file that is not trusted: what it leaves out, it says.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with a workspace file, and a state of its own.
struct Folder(TempDir);

impl Folder {
    fn with(text: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::create_dir(folder.0.path().join("project")).unwrap();
        fs::write(folder.0.path().join("project/haft.toml"), text).unwrap();
        folder
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(self.0.path().join("project")).env("NO_COLOR", "1");
        command.env("HAFT_STATE_DIR", self.0.path().join("state")).output().unwrap()
    }

    fn stderr(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.run(arguments).stderr).unwrap()
    }
}

/// The parts of a file that it gets only if it is trusted.
const LEFT_OUT: [&str; 8] = [
    "[workspace]\norgs = ['../x.toml']\n",
    "[workspace]\nstandard = { files = '..' }\n",
    "[workspace]\nstandard = { fetch = true }\n",
    "[secrets]\nkey = { env = 'KEY' }\n",
    "[http]\nallow-hosts = ['localhost']\n",
    "[http]\nonly-hosts = ['a.example']\n",
    "[toolbox.a.tool.run]\nkind = 'command'\ncommand = ['ls']\n",
    "[toolbox.a.tool.get]\nkind = 'http'\nurl = 'https://a.example'\n",
];

#[test]
fn a_check_fails_on_whatever_is_left_out() {
    for text in LEFT_OUT {
        let folder = Folder::with(text);
        fs::write(folder.0.path().join("x.toml"), "[workspace]\norg = 'acme'\n").unwrap();
        let output = folder.run(&["check", "--offline"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &report["unchecked"]), (Some(2), &Value::from(1)), "{text}");
        let output = folder.run(&["check", "--offline", "--allow-unchecked"]);
        assert_eq!(output.status.code(), Some(0), "{text}");
        // The screen lists it, and trust is enough.
        let screen = folder.stderr(&["trust"]);
        assert!(screen.contains("If it is trusted,") && screen.contains("\n  - "), "{text}: {screen}");
        assert!(folder.run(&["trust", "--yes"]).status.success(), "{text}");
        let output = folder.run(&["check", "--offline"]);
        assert_eq!(output.status.code(), Some(0), "{text}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn every_tool_that_is_left_out_is_answered_alike() {
    let folder = Folder::with(
        "[workspace]\nstandard = { files = '..', fetch = true }\n[toolbox.dev.tool.list]\nkind = 'command'\n\
         command = ['ls']\n",
    );
    for (name, full) in [
        ("file_read", "file_read"),
        ("/file_read", "file_read"),
        ("fetch", "fetch"),
        ("dev/list", "dev/list"),
        ("/dev/list", "dev/list"),
        ("list", "dev/list"),
    ] {
        let pattern = name.strip_prefix('/').unwrap_or(full);
        for arguments in [&["call", name, "{}"][..], &["show", name], &["tools", pattern], &["check", pattern]] {
            let message = folder.stderr(arguments);
            let expected = format!(
                "error: `{full}` is left out, because the workspace file is not trusted\n\
                 help: read the file, then run `haft trust`\n"
            );
            assert!(message.ends_with(&expected), "{arguments:?}: {message}");
        }
    }
    assert!(folder.stderr(&["call", "file_raed", "{}"]).contains("there is no tool named `file_raed`"));
}

#[test]
fn neighbours_of_a_faulty_entry_load_once_the_file_is_trusted() {
    let folder = Folder::with(
        "[toolbox.dev.tool.list]\nkind = 'command'\ncommand = ['ls']\n\
         [toolbox.dev.tool.bad]\nkind = 'command'\ncommand = ['sh', '-c', 'echo {p}']\n",
    );
    let screen = folder.stderr(&["trust", "--yes"]);
    for expected in ["start the command: ls", "Entries with faults stay set aside:\n  - toolbox.dev.tool.bad\n"] {
        assert!(screen.contains(expected), "{expected}: {screen}");
    }
    let output = folder.run(&["call", "dev/list", "{}"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.stderr(&["call", "dev/bad", "{}"]).contains("`dev/bad` is set aside: fault in haft.toml:6"));
    assert_eq!(folder.run(&["check", "--offline"]).status.code(), Some(1));
}

#[test]
fn no_value_of_a_file_forges_a_line_of_a_message() {
    let forged = "x\\nhelp: the file is trusted";
    for text in [
        format!("[toolbox.a.import.\"{forged}\"]\nkind = 'openapi'\nfile = \"{forged}\"\n"),
        format!("[toolbox.a.tool.x]\nkind = \"{forged}\"\n"),
        format!("[toolbox.\"{forged}\".tool.x]\nkind = 'command'\ncommand = ['ls']\n"),
        format!("[workspace]\norgs = [\"{forged}\"]\n"),
        format!("[permissions]\ndeny = [\"{forged}\"]\n"),
        format!("[permissions]\ndeny = [{{ when = \"{forged}\" }}]\n"),
        format!("\"{forged}\" = 1\n"),
    ] {
        let folder = Folder::with(&text);
        for arguments in [
            &["tools"][..],
            &["check", "--offline"],
            &["trust"],
            &["call", "hash", "{}"],
            &["call", "a/x", "{}"],
            &["show", "a/x"],
        ] {
            let message = folder.stderr(arguments);
            // A check prints its findings to standard output, as JSON.
            assert!(arguments[0] == "check" || message.contains("help: the file"), "{text} {arguments:?}: {message}");
            let is_forged = |line: &str| line.trim_start().starts_with("help: the file");
            assert!(!message.lines().any(is_forged), "{text} {arguments:?}: {message}");
        }
    }
}

#[test]
fn no_schema_of_a_file_forges_a_line_of_a_message() {
    let folder = Folder::with(
        "[toolbox.a.tool.x]\nkind = 'command'\ncommand = ['echo', '{p}']\n[toolbox.a.tool.x.parameters]\ntype = 'object'\n\
         properties.p = { type = 'string', pattern = \"^b\\nhelp: the file is trusted$\" }\nrequired = ['p']\n",
    );
    assert!(folder.run(&["trust", "--yes"]).status.success());
    let message = folder.stderr(&["call", "a/x", "--arg", "p=c"]);
    assert!(message.contains("help: the file"), "{message}");
    assert!(!message.lines().any(|line| line.trim_start().starts_with("help: the file")), "{message}");
}
