//! Runs kept in a file: processes killed at any point, copied files, and full disks.
//!
//! The tools are commands that write a line to `log` for each call that reaches them, with its idempotency key. A tool
//! whose file `block-…` exists reports to the pipe `begun` and waits for the pipe that the file names: there the test
//! kills the process.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;

use haft::serde_json::{self, Value, json};
use tempfile::TempDir;

use crate::pty::PATIENCE;

const TOOLS: &str = r#"
[limits]
concurrency = 1

[toolbox.dev.tool.pay]
kind = "command"
description = "Pays."
command = ["/bin/sh", "work.sh", "{id}"]

[toolbox.dev.tool.look]
kind = "command"
description = "Looks."
readonly = true
command = ["/bin/sh", "work.sh", "{id}"]

[toolbox.dev.tool.set]
kind = "command"
description = "Sets."
idempotent = true
command = ["/bin/sh", "work.sh", "{id}"]

[toolbox.dev.tool.order]
kind = "command"
description = "Orders."
approval = "always"
command = ["/bin/sh", "work.sh", "{id}"]

[toolbox.dev.tool.fill]
kind = "command"
description = "Returns a long text."
command = ["/bin/sh", "fill.sh", "{id}"]
"#;

const WORK: &str = r#"
echo "$1 $HAFT_IDEMPOTENCY_KEY" >> log
if [ -e "block-$1" ]; then gate=$(cat "block-$1"); echo "$1" > begun; read go < "$gate"; fi
echo "did $1"
"#;

const FILL: &str = "echo \"$1 x\" >> log; head -c 60000 /dev/zero | tr '\\0' x\n";

/// A workspace that is trusted.
struct Desk {
    folder: TempDir,
    state: TempDir,
    /// The pipes that blocked calls wait for.
    gates: Vec<File>,
    /// The pipe that they report to.
    begun: Option<File>,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("haft.toml", TOOLS), ("work.sh", WORK), ("fill.sh", FILL)] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let begun = Some(pipe(&folder.path().join("begun")));
        let desk = Self { folder, state: tempfile::tempdir().unwrap(), gates: Vec::new(), begun };
        let trusted = desk.run(&["trust", "--yes"]);
        assert!(trusted.status.success(), "{}", stderr(&trusted));
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        self.prepare(command.args(arguments));
        command
    }

    fn prepare(&self, command: &mut Command) {
        command.current_dir(self.folder.path()).env("HAFT_STATE_DIR", self.state.path());
        command.env("NO_COLOR", "1").env("COLUMNS", "300").env_remove("HAFT_WORKSPACE");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Writes calls, named by their tools: the first is `c1`.
    fn calls(&self, tools: &[&str]) {
        let calls = tools.iter().zip(1..).map(|(tool, number)| {
            let id = format!("c{number}");
            json!({"call_id": id, "name": format!("dev/{tool}"), "arguments": {"id": id}})
        });
        fs::write(self.path("calls.json"), calls.collect::<Value>().to_string()).unwrap();
    }

    /// Runs a command until this call is inside its tool, and kills it there.
    fn kill_in(&mut self, call: &str, arguments: &[&str]) {
        let gate = format!("gate{}", self.gates.len());
        self.gates.push(pipe(&self.path(&gate)));
        fs::write(self.path(&format!("block-{call}")), gate).unwrap();
        let mut child: Child = self.command(arguments).spawn().unwrap();
        let begun = self.begun.take().unwrap();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let mut reader = BufReader::new(begun);
            reader.read_line(&mut line).unwrap();
            sender.send((line, reader.into_inner())).unwrap();
        });
        let (line, begun) = receiver.recv_timeout(PATIENCE).expect("the call has begun");
        assert_eq!(line.trim(), call);
        self.begun = Some(begun);
        child.kill().unwrap();
        child.wait().unwrap();
        fs::remove_file(self.path(&format!("block-{call}"))).unwrap();
        // The command that is left behind ends.
        self.gates.last_mut().unwrap().write_all(b"go\n").unwrap();
    }

    /// Returns the ids and keys of the calls that reached their tools, in order.
    fn log(&self) -> Vec<(String, String)> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        let pair = |line: &str| line.split_once(' ').map(|(id, key)| (id.to_owned(), key.to_owned()));
        text.lines().map(|line| pair(line).unwrap()).collect()
    }

    /// Returns how often each call reached its tool.
    fn counts(&self, calls: usize) -> Vec<usize> {
        let log = self.log();
        (1..=calls).map(|number| log.iter().filter(|(id, _)| *id == format!("c{number}")).count()).collect()
    }
}

/// Creates a pipe with a name, open in both directions: nobody waits to open it.
fn pipe(path: &Path) -> File {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    File::options().read(true).write(true).open(path).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the results' states in call order.
fn states(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let mut found: Vec<(u64, String)> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == "output")
        .map(|event| {
            let outcome = &event["result"]["outcome"];
            let state = outcome["kind"].as_str().or(outcome["status"].as_str()).unwrap().to_owned();
            (event["index"].as_u64().unwrap(), state)
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, state)| state).collect()
}

const SUSPEND: [&str; 4] = ["run", "calls.json", "--suspend", "run.json"];

#[test]
fn after_a_kill_every_call_has_one_result_and_runs_no_more_often_than_it_may() {
    // The tool that is killed, the states that the next process reports, and how often each call reached its tool.
    for (tools, killed, expected, counts) in [
        (["pay", "pay", "pay"], "c1", ["outcome_unknown", "ok", "ok"], [1, 1, 1]),
        (["pay", "pay", "pay"], "c2", ["ok", "outcome_unknown", "ok"], [1, 1, 1]),
        (["pay", "pay", "pay"], "c3", ["ok", "ok", "outcome_unknown"], [1, 1, 1]),
        (["pay", "look", "pay"], "c2", ["ok", "ok", "ok"], [1, 2, 1]),
        (["set", "pay", "look"], "c1", ["ok", "ok", "ok"], [2, 1, 1]),
    ] {
        let mut desk = Desk::new();
        desk.calls(&tools);
        desk.kill_in(killed, &SUSPEND);
        assert!(desk.path("run.json").exists());

        // The same command again runs nothing, and says how to go on.
        let before = desk.log();
        let again = desk.run(&SUSPEND);
        assert_eq!((again.status.code(), again.stdout.len()), (Some(2), 0), "{}", stderr(&again));
        assert!(stderr(&again).contains("`haft resume run.json`"), "{}", stderr(&again));
        assert_eq!(desk.log(), before);

        let resumed = desk.run(&["resume", "run.json"]);
        assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
        assert_eq!(states(&resumed), expected, "{tools:?} {killed}: {}", stderr(&resumed));
        assert_eq!(desk.counts(3), counts, "{tools:?} {killed}");
        // A call that ran twice had one key, and every call has its own.
        let keys: BTreeSet<(String, String)> = desk.log().into_iter().collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
        assert_eq!(keys.iter().map(|(_, key)| key).collect::<BTreeSet<_>>().len(), 3, "{keys:?}");
        assert!(!desk.path("run.json").exists());
    }
}

#[test]
fn a_run_survives_several_kills() {
    let mut desk = Desk::new();
    desk.calls(&["pay", "pay", "set", "pay"]);
    desk.kill_in("c2", &SUSPEND);
    desk.kill_in("c3", &["resume", "run.json"]);
    desk.kill_in("c3", &["resume", "run.json"]);
    desk.kill_in("c4", &["resume", "run.json"]);
    let resumed = desk.run(&["resume", "run.json", "--results", "openai-chat"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    let results: Value = serde_json::from_slice(&resumed.stdout).unwrap();
    let texts: Vec<&str> = results.as_array().unwrap().iter().map(|item| item["content"].as_str().unwrap()).collect();
    assert!(texts[0].contains("did c1") && texts[2].contains("did c3"), "{texts:?}");
    assert!(texts[1].contains("outcome_unknown") && texts[3].contains("outcome_unknown"), "{texts:?}");
    assert_eq!(desk.counts(4), [1, 1, 3, 1]);
}

#[test]
fn calls_that_wait_for_approval_survive_a_kill_and_an_approved_one_is_not_run_twice() {
    let mut desk = Desk::new();
    desk.calls(&["order", "pay", "order"]);
    desk.kill_in("c2", &SUSPEND);
    // Nothing was approved yet, and the calls wait again.
    let resumed = desk.run(&["resume", "run.json"]);
    assert_eq!(states(&resumed), ["outcome_unknown"], "{}", stderr(&resumed));
    assert!(stderr(&resumed).contains("2 calls wait for approval"), "{}", stderr(&resumed));
    desk.kill_in("c1", &["resume", "run.json", "--approve", "all"]);
    let resumed = desk.run(&["resume", "run.json", "--approve", "all"]);
    assert_eq!(states(&resumed), ["outcome_unknown", "ok"], "{}", stderr(&resumed));
    assert_eq!(desk.counts(3), [1, 1, 1]);
}

#[test]
fn verdicts_of_a_file_hold_for_calls_that_had_not_begun() {
    let mut desk = Desk::new();
    desk.calls(&["pay", "order", "order"]);
    let verdicts = json!([{"call_id": "c2", "decision": "approved"}, {"call_id": "c3", "decision": "denied"}]);
    fs::write(desk.path("verdicts.json"), verdicts.to_string()).unwrap();
    desk.kill_in("c1", &[&SUSPEND[..], &["--approve", "verdicts.json"]].concat());
    let resumed = desk.run(&["resume", "run.json", "--approve", "verdicts.json"]);
    assert_eq!(states(&resumed), ["outcome_unknown", "ok", "denied"], "{}", stderr(&resumed));
}

#[test]
fn a_run_with_the_same_id_sends_the_same_keys_and_others_do_not() {
    let desk = Desk::new();
    desk.calls(&["pay", "pay"]);
    let keys = |arguments: &[&str]| {
        let _ = fs::remove_file(desk.path("log"));
        let output = desk.run(&[&["run", "calls.json"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        desk.log().into_iter().collect::<BTreeSet<_>>()
    };
    let first = keys(&["--run-id", "order-17"]);
    assert_eq!(first.len(), 2);
    assert_eq!(keys(&["--run-id", "order-17"]), first);
    assert_eq!(keys(&["--run-id", "order-17", "--suspend", "run.json"]), first);
    assert_ne!(keys(&["--run-id", "order-18"]), first);
    // An equal batch pays again.
    assert_ne!(keys(&[]), keys(&[]));
    for invalid in ["", "a b", "../x"] {
        let output = desk.run(&["run", "calls.json", "--run-id", invalid]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{invalid}");
    }
}

/// Returns a workspace with a run of two calls that wait.
fn waiting() -> Desk {
    let desk = Desk::new();
    desk.calls(&["order", "order"]);
    let output = desk.run(&SUSPEND);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    desk
}

#[test]
fn a_copy_of_a_file_that_was_resumed_is_refused() {
    let desk = waiting();
    let copy = |name: &str| fs::copy(desk.path("run.json"), desk.path(name)).unwrap();
    copy("first.json");
    let verdict = json!({"call_id": "c1", "decision": "approved"}).to_string();
    fs::write(desk.path("verdict.json"), verdict).unwrap();
    let output = desk.run(&["resume", "run.json", "--verdicts", "verdict.json"]);
    assert_eq!(states(&output), ["ok"], "{}", stderr(&output));
    copy("second.json");
    let refused = |name: &str, reason: &str| {
        let output = desk.run(&["resume", name, "--approve", "all"]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{name}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    };
    refused("first.json", "has gone on since this file was written");
    let output = desk.run(&["resume", "run.json", "--approve", "all"]);
    assert_eq!(states(&output), ["ok"], "{}", stderr(&output));
    for name in ["first.json", "second.json"] {
        refused(name, "has ended: every call has its result");
    }
    assert_eq!(desk.counts(2), [1, 1]);
}

#[test]
fn of_copies_that_are_resumed_at_the_same_time_one_goes_on() {
    let desk = waiting();
    let names: Vec<String> = (0..6).map(|number| format!("copy{number}.json")).collect();
    for name in &names {
        fs::copy(desk.path("run.json"), desk.path(name)).unwrap();
    }
    let spawn = |name: &String| desk.command(&["resume", name, "--approve", "all"]).spawn().unwrap();
    let children: Vec<Child> = names.iter().map(spawn).collect();
    let outputs: Vec<Output> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let done: Vec<&Output> = outputs.iter().filter(|output| output.status.code() == Some(0)).collect();
    assert_eq!(done.len(), 1, "{outputs:?}");
    assert_eq!(states(done[0]), ["ok", "ok"]);
    assert_eq!(desk.counts(2), [1, 1]);
}

#[test]
fn a_file_from_elsewhere_does_not_choose_the_workspace() {
    let desk = waiting();
    let other = Desk::new();
    let file = desk.path("run.json");
    // Another user's state knows nothing of the run.
    let resume = |more: &[&str]| {
        let arguments = [&["resume", file.to_str().unwrap(), "--approve", "all"], more].concat();
        other.command(&arguments).output().unwrap()
    };
    let output = resume(&[]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{}", stderr(&output));
    assert!(stderr(&output).contains("`--workspace`"), "{}", stderr(&output));
    assert_eq!(desk.counts(2), [0, 0]);
    let output = resume(&["--workspace", "."]);
    assert_eq!(states(&output), ["ok", "ok"], "{}", stderr(&output));
    assert_eq!((desk.counts(2), other.counts(2)), (vec![0, 0], vec![1, 1]));
}

#[test]
fn verdicts_are_bound_to_what_waits_by_either_option() {
    for option in ["--approve", "--verdicts"] {
        let desk = waiting();
        let verdict = json!({"call_id": "c1", "decision": "approved"}).to_string();
        fs::write(desk.path("verdict.json"), verdict).unwrap();
        // The tool that was asked about is another one now.
        let changed = TOOLS.replace("Orders.", "Orders twice.");
        fs::write(desk.path("haft.toml"), changed).unwrap();
        assert!(desk.run(&["trust", "--yes"]).status.success());
        let output = desk.run(&["resume", "run.json", option, "verdict.json"]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{option}: {}", stderr(&output));
        assert!(stderr(&output).contains("the verdict on `c1` can't be accepted"), "{option}: {}", stderr(&output));
        assert_eq!(desk.counts(2), [0, 0], "{option}");
    }
    let desk = waiting();
    fs::write(desk.path("verdict.json"), "[]").unwrap();
    let output = desk.run(&["resume", "run.json", "--approve", "verdict.json", "--verdicts", "verdict.json"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn nothing_runs_where_the_run_can_not_be_stored() {
    let desk = Desk::new();
    desk.calls(&["pay", "pay"]);
    for path in ["calls.json/run.json", "begun/run.json"] {
        let output = desk.run(&["run", "calls.json", "--suspend", path]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{path}: {}", stderr(&output));
        assert!(stderr(&output).contains(path), "{}", stderr(&output));
    }
    // The folder for state can't be written, with a file in its place.
    fs::write(desk.path("state"), "").unwrap();
    let mut command = desk.command(&["-w", ".", "run", "calls.json", "--suspend", "run.json"]);
    let output = command.env("HAFT_STATE_DIR", desk.path("state")).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{}", stderr(&output));
    assert!(!desk.path("run.json").exists());
    assert_eq!(desk.counts(2), [0, 0]);
}

/// Runs the command with a file size limit, as on a full disk.
fn limited(desk: &Desk, kibibytes: usize, arguments: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", kibibytes * 2);
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_haft")]).args(arguments);
    desk.prepare(&mut command);
    command.output().unwrap()
}

#[test]
fn on_a_full_disk_what_was_stored_can_be_resumed_and_no_call_runs_twice() {
    let desk = Desk::new();
    desk.calls(&["fill", "pay", "pay"]);
    let output = limited(&desk, 0, &SUSPEND);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{}", stderr(&output));
    assert!(!desk.path("run.json").exists(), "{}", stderr(&output));

    // The file has room for the calls, and none for the first result.
    let output = limited(&desk, 16, &SUSPEND);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("`run.json` is not stored to its end"), "{}", stderr(&output));
    let results = states(&output);
    assert_eq!(results[0], "ok", "{results:?}");
    // What was not written is not in the file, and what is there can be read.
    let resumed = desk.run(&["resume", "run.json"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    assert_eq!(states(&resumed)[0], "outcome_unknown", "{}", stderr(&resumed));
    assert_eq!(desk.counts(3), [1, 1, 1], "no call ran twice");
}

#[test]
fn results_that_nobody_could_read_are_kept() {
    let desk = Desk::new();
    desk.calls(&["pay", "pay"]);
    let mut child = desk.command(&SUSPEND).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("print them with `haft resume run.json`"), "{}", stderr(&output));
    let resumed = desk.run(&["resume", "run.json"]);
    assert_eq!(states(&resumed), ["ok", "ok"], "{}", stderr(&resumed));
    assert_eq!(desk.counts(2), [1, 1]);
    assert!(!Path::new(&desk.path("run.json")).exists());
}
