//! Signals to the command while its tools run and while it works: grace periods are kept, and nothing survives a second
//! one.
//!
//! Named pipes order the events: reading one waits until the other side writes.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A tool whose process reports `SIGTERM` and takes a second to clean up.
const CAREFUL: &str = r"
trap 'echo trapped > events; sleep 1; echo done > cleaned; exit 0' TERM
echo $$ > pid
echo started > events
while :; do sleep 100 & wait; done
";

/// A tool whose processes report `SIGTERM` and never end.
const STUBBORN: &str = r#"
trap 'echo trapped > events' TERM
sh -c 'trap "" TERM; echo $$ > pid; echo started > events; while :; do sleep 100; done' &
while :; do wait; done
"#;

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
    command.args(arguments).current_dir(folder).env("HAFT_STATE_DIR", folder.join(".state"));
    command.env("NO_COLOR", "1").env_remove("HAFT_WORKSPACE");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A workspace with one tool, and a pipe for the events of its process.
fn workspace(script: &str, settings: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tool = format!(
        "[toolbox.dev.tool.work]\nkind = \"command\"\ndescription = \"Works.\"\ncommand = [\"/bin/sh\", \"work.sh\"]\n{settings}\n"
    );
    fs::write(folder.path().join("haft.toml"), tool).unwrap();
    fs::write(folder.path().join("work.sh"), script).unwrap();
    fs::write(folder.path().join("calls.json"), r#"[{"name": "dev/work"}]"#).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("events")).status().unwrap().success());
    assert!(command(folder.path(), &["trust", "--yes"]).status().unwrap().success());
    folder
}

/// Waits for the next event of the tool's process.
fn event(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("events")).unwrap().trim().to_owned()
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    assert!(status.success(), "{signal}");
}

/// Asserts that the tool's process is gone, or dead and not reaped yet.
fn assert_gone(folder: &TempDir) {
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    loop {
        let state = Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output().unwrap();
        let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
        if state.is_empty() || state.starts_with('Z') {
            return;
        }
    }
}

#[test]
fn a_tool_has_its_grace_period_when_the_command_is_interrupted() {
    for (signal, arguments) in
        [("INT", ["call", "dev/work"]), ("TERM", ["call", "dev/work"]), ("INT", ["run", "calls.json"])]
    {
        let folder = workspace(CAREFUL, "grace = 60");
        let mut child = command(folder.path(), &arguments).spawn().unwrap();
        assert_eq!(event(&folder), "started");
        send(signal, &child);
        assert_eq!(event(&folder), "trapped", "{signal}");
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(fs::read_to_string(folder.path().join("cleaned")).unwrap(), "done\n", "{signal} {arguments:?}");
    }
}

#[test]
fn a_tool_has_its_grace_period_when_its_call_times_out() {
    let folder = workspace(CAREFUL, "grace = 60\ntimeout = 2");
    let mut child = command(folder.path(), &["call", "dev/work"]).spawn().unwrap();
    assert_eq!(event(&folder), "started");
    assert_eq!(event(&folder), "trapped");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(fs::read_to_string(folder.path().join("cleaned")).unwrap(), "done\n");
}

#[test]
fn a_second_signal_ends_the_command_and_kills_what_has_grace_left() {
    for (first, second) in [("INT", "INT"), ("TERM", "INT"), ("INT", "TERM")] {
        let folder = workspace(STUBBORN, "grace = 3600");
        let mut child = command(folder.path(), &["call", "dev/work"]).spawn().unwrap();
        assert_eq!(event(&folder), "started");
        send(first, &child);
        assert_eq!(event(&folder), "trapped", "{first}");
        send(second, &child);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{first} {second}");
        assert_gone(&folder);
    }
}

/// A check of so many losses takes longer than a test may.
#[test]
fn a_signal_ends_work_that_does_not_yield() {
    let mut file = String::new();
    for tool in 0..60 {
        write!(file, "[toolbox.big.tool.t{tool}]\nkind = \"http\"\nurl = \"https://example.com/\"\n").unwrap();
        file.push_str(
            "[toolbox.big.tool.t{tool}.parameters]\ntype = \"object\"\n".replace("{tool}", &tool.to_string()).as_str(),
        );
        for property in 0..200 {
            writeln!(file, "properties.p{property} = {{ type = \"string\", minLength = 1, contentEncoding = \"x\" }}")
                .unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("haft.toml"), file).unwrap();
    assert!(command(folder.path(), &["trust", "--yes"]).status().unwrap().success());
    for signal in ["INT", "TERM"] {
        let mut child = command(folder.path(), &["check", "--offline", "-vv"]).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("checking the tools against the wires")));
        send(signal, &child);
        // What is still written is read, so that nothing waits for it.
        lines.for_each(drop);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
    }
}
