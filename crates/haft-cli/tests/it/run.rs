//! `haft run`, `resume` and `call` with pipes: standard input, large and broken input, and runs that continue in
//! another process.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use haft::serde_json::{self, Value, json};
use tempfile::TempDir;

/// A workspace in which `calculate` requires approval.
const ASK: &str = "[limits]\nconcurrency = 1\n\n[[approval]]\nask = \"calculate\"\n";

/// A workspace with a command that waits until its process is ended.
#[cfg(unix)]
const WAITING: &str = "[toolbox.dev.tool.wait]\nkind = \"command\"\ndescription = \"Waits.\"\n\
    command = [\"sleep\", \"600\"]\n";

struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(self.path()).env("HAFT_STATE_DIR", self.path().join(".state"));
        command.env("NO_COLOR", "1").env("COLUMNS", "100").env_remove("HAFT_WORKSPACE");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the command with a text as its standard input.
    fn feed(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A command that does not read all of it closes the pipe.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("the command was killed: {}", stderr(output)))
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Returns the results' ids and states in call order.
fn results(output: &Output) -> Vec<(String, String)> {
    let mut found: Vec<(u64, String, String)> = lines(output)
        .into_iter()
        .filter(|event| event["type"] == "output")
        .map(|event| {
            let outcome = &event["result"]["outcome"];
            let state = outcome["kind"].as_str().or(outcome["status"].as_str()).unwrap().to_owned();
            (event["index"].as_u64().unwrap(), event["call_id"].as_str().unwrap().to_owned(), state)
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, id, state)| (id, state)).collect()
}

fn states(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(id, state)| ((*id).to_owned(), (*state).to_owned())).collect()
}

fn calculation(id: &str, expression: &str) -> String {
    json!({"call_id": id, "name": "calculate", "arguments": {"expression": expression}}).to_string()
}

#[test]
fn calls_are_read_from_standard_input() {
    let folder = Folder::new(&[]);
    let text = format!("\u{feff}{}\n{}\n", calculation("a", "1"), calculation("b", "1/0"));
    let output = folder.feed(&["run", "-"], text.as_bytes());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(results(&output), states(&[("a", "ok"), ("b", "tool_failed")]));
    assert_eq!(code(&folder.feed(&["run", "-", "--fail"], text.as_bytes())), 1);
    assert!(lines(&output).iter().all(|event| event["call_id"].is_string()));
}

#[test]
fn of_two_calls_with_one_id_the_first_runs() {
    let folder = Folder::new(&[]);
    let text = format!("[{}, {}]", calculation("a", "1"), calculation("a", "2"));
    let output = folder.feed(&["run", "-"], text.as_bytes());
    assert_eq!(results(&output), states(&[("a", "ok"), ("a", "duplicate_call_id")]));
}

#[test]
fn arguments_are_read_from_standard_input() {
    let folder = Folder::new(&[]);
    let output = folder.feed(&["call", "calculate", "-"], br#"{"expression": "6*7"}"#);
    assert_eq!((code(&output), lines(&output)), (0, vec![json!({"result": "42", "exact": true})]));
}

#[test]
fn input_that_is_not_utf8_is_rejected_with_its_place() {
    let folder = Folder::new(&[]);
    fs::write(folder.path().join("calls.json"), b"[{\"name\": \"\xff\"}]").unwrap();
    for output in [folder.run(&["run", "calls.json"]), folder.feed(&["run", "-"], b"[{\"name\": \"\xff\"}]")] {
        assert_eq!((code(&output), output.stdout.len()), (2, 0));
        assert!(stderr(&output).contains("not UTF-8 text: byte 11"), "{}", stderr(&output));
    }
}

#[test]
fn many_calls_and_long_lines_are_run() {
    let folder = Folder::new(&[]);
    let many: Vec<String> = (0..2000).map(|at| calculation(&format!("c{at}"), "1+1")).collect();
    let output = folder.feed(&["run", "-"], many.join("\n").as_bytes());
    assert_eq!((code(&output), results(&output).len()), (0, 2000));
    let long = json!({"name": "hash", "arguments": {"text": "x".repeat(900_000)}}).to_string();
    assert_eq!(results(&folder.feed(&["run", "-"], long.as_bytes())), states(&[("call_1", "ok")]));
}

#[test]
fn a_fault_in_a_huge_line_is_reported_in_few_words() {
    let folder = Folder::new(&[]);
    let text =
        format!("[{{\"name\": \"hash\", \"arguments\": {{\"text\": \"{}\"}}, \"nmae\": 1}}]", "x".repeat(5_000_000));
    let output = folder.feed(&["run", "-"], text.as_bytes());
    assert_eq!(code(&output), 2);
    let report = stderr(&output);
    assert!(report.contains("there is no key `nmae`") && report.len() < 5_000, "{} bytes", report.len());
}

#[test]
fn input_beyond_the_limit_is_rejected() {
    let folder = Folder::new(&[]);
    let file = File::create(folder.path().join("calls.json")).unwrap();
    file.set_len(64 * 1024 * 1024 + 1).unwrap();
    let output = folder.run(&["run", "calls.json"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("larger than 64 MiB"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_goes_away_ends_the_run_without_a_message() {
    let folder = Folder::new(&[("haft.toml", "")]);
    let many: Vec<String> = (0..5000).map(|at| calculation(&format!("c{at}"), "1+1")).collect();
    fs::write(folder.path().join("calls.jsonl"), many.join("\n")).unwrap();
    let mut child = folder.command(&["run", "calls.jsonl"]).spawn().unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output).as_str()), (1, "note: using the workspace `haft.toml`\n"));
}

#[test]
fn a_reader_that_goes_away_loses_no_call_that_waits() {
    let calls =
        format!("{}\n{}", calculation("a", "1"), r#"{"call_id": "c", "name": "hash", "arguments": {"text": "a"}}"#);
    let folder = Folder::new(&[("haft.toml", ASK), ("calls.jsonl", &calls)]);
    let mut child = folder.command(&["run", "calls.jsonl", "--suspend", "waiting.json"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("1 call waits for approval in `waiting.json`"), "{}", stderr(&output));
    let output = folder.run(&["resume", "waiting.json", "--approve", "all", "--results", "openai"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let sent: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sent.as_array().unwrap().len(), 2, "{sent}");
    assert!(!folder.path().join("waiting.json").exists());
}

#[test]
fn every_exit_code_has_its_cause() {
    let denied = "[permissions]\nallow = [\"*\"]\ndeny = [\"hash\"]\n";
    let folder = Folder::new(&[("haft.toml", denied)]);
    for (arguments, expected) in [
        (vec!["call", "calculate", "--arg", "expression=1"], 0),
        (vec!["call", "calculate", "--arg", "expression=1/0"], 1),
        (vec!["call", "calculate", "--arg", "expr=1"], 2),
        (vec!["call", "calc", "{}"], 2),
        (vec!["call", "hash", "--arg", "text=a"], 3),
    ] {
        let output = folder.run(&arguments);
        assert_eq!(code(&output), expected, "{arguments:?}: {}", stderr(&output));
        assert_eq!(output.stdout.is_empty(), expected != 0, "{arguments:?}");
    }
    let both =
        format!("{}\n{}", calculation("a", "1/0"), r#"{"call_id": "b", "name": "hash", "arguments": {"text": "a"}}"#);
    let denied_only = both.lines().nth(1).unwrap();
    assert_eq!(code(&folder.feed(&["run", "-"], both.as_bytes())), 0);
    assert_eq!(code(&folder.feed(&["run", "-", "--fail"], both.as_bytes())), 1);
    assert_eq!(code(&folder.feed(&["run", "-", "--fail"], denied_only.as_bytes())), 3);
}

fn suspended() -> Folder {
    let calls = format!(
        "{}\n{}\n{}\n",
        calculation("a", "1"),
        calculation("b", "2"),
        r#"{"call_id": "c", "name": "hash", "arguments": {"text": "a"}}"#
    );
    let folder = Folder::new(&[("haft.toml", ASK), ("calls.jsonl", &calls)]);
    let output = folder.run(&["run", "calls.jsonl", "--suspend", "waiting.json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(results(&output), states(&[("c", "ok")]));
    assert!(stderr(&output).contains("2 calls wait for approval in `waiting.json`"), "{}", stderr(&output));
    folder
}

#[test]
fn a_run_goes_on_in_other_processes_until_every_call_has_its_result() {
    let folder = suspended();
    let verdict = |id: &str| json!({"call_id": id, "decision": "approved"}).to_string();
    let first = folder.feed(&["resume", "waiting.json", "--verdicts", "-"], verdict("b").as_bytes());
    assert_eq!(results(&first), states(&[("b", "ok")]), "{}", stderr(&first));
    assert!(stderr(&first).contains("1 call waits"), "{}", stderr(&first));
    // The same verdict again: its call does not run twice.
    let again = folder.feed(&["resume", "waiting.json", "--verdicts", "-"], verdict("b").as_bytes());
    assert_eq!((code(&again), again.stdout.len()), (2, 0), "{}", stderr(&again));
    let last = folder.run(&["resume", "waiting.json", "--approve", "all"]);
    assert_eq!(results(&last), states(&[("a", "ok")]), "{}", stderr(&last));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("waiting")), "{left:?}");
    assert_eq!(code(&folder.run(&["resume", "waiting.json", "--approve", "all"])), 2);
}

#[test]
fn a_run_is_resumed_from_any_folder_with_its_own_workspace() {
    let folder = suspended();
    let elsewhere = Folder::new(&[]);
    let file = folder.path().join("waiting.json");
    let mut resume = elsewhere.command(&["resume", file.to_str().unwrap(), "--approve", "all"]);
    let output = resume.env("HAFT_STATE_DIR", folder.path().join(".state")).output().unwrap();
    assert_eq!(results(&output), states(&[("a", "ok"), ("b", "ok")]), "{}", stderr(&output));
    let folder = suspended();
    fs::remove_file(folder.path().join("haft.toml")).unwrap();
    let output = folder.run(&["resume", "waiting.json", "--approve", "all"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("is gone") && stderr(&output).contains("--workspace"), "{}", stderr(&output));
}

#[test]
fn calls_of_a_file_that_is_no_longer_trusted_wait_until_it_is() {
    let file = "[toolbox.dev.tool.print]\nkind = \"command\"\ncommand = [\"echo\", \"done\"]\napproval = \"always\"\n";
    let calls = r#"{"call_id": "a", "name": "dev/print", "arguments": {}}"#;
    let folder = Folder::new(&[("haft.toml", file), ("calls.jsonl", calls)]);
    assert_eq!(code(&folder.run(&["trust", "--yes"])), 0);
    assert_eq!(code(&folder.run(&["run", "calls.jsonl", "--suspend", "waiting.json"])), 0);
    assert_eq!(code(&folder.run(&["trust", "--revoke"])), 0);
    let output = folder.run(&["resume", "waiting.json", "--approve", "all"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("no tool `dev/print` as long as"), "{}", stderr(&output));
    assert!(stderr(&output).contains("run `haft trust`"), "{}", stderr(&output));
    assert_eq!(code(&folder.run(&["trust", "--yes"])), 0);
    let output = folder.run(&["resume", "waiting.json", "--approve", "all"]);
    assert_eq!(results(&output), states(&[("a", "ok")]), "{}", stderr(&output));
}

#[test]
fn results_that_could_not_be_reported_are_reported_by_the_next_process() {
    let folder = suspended();
    let verdicts =
        [("a", "approved"), ("b", "denied")].map(|(id, decision)| json!({"call_id": id, "decision": decision}));
    fs::write(folder.path().join("verdicts.json"), json!(verdicts).to_string()).unwrap();
    let mut child = folder.command(&["resume", "waiting.json", "--verdicts", "verdicts.json"]).spawn().unwrap();
    drop(child.stdout.take());
    child.wait().unwrap();
    let output = folder.run(&["resume", "waiting.json", "--verdicts", "verdicts.json"]);
    let reported = results(&output);
    assert!(reported.iter().any(|(id, state)| id == "b" && state == "denied"), "{reported:?} {}", stderr(&output));
    assert!(
        reported.iter().all(|(id, state)| id != "a" || ["ok", "outcome_unknown"].contains(&state.as_str())),
        "{reported:?}"
    );
}

#[test]
fn a_run_that_is_in_use_is_refused() {
    let folder = suspended();
    let lock =
        File::options().write(true).create(true).truncate(false).open(folder.path().join("waiting.json.lock")).unwrap();
    lock.lock().unwrap();
    let output = folder.run(&["resume", "waiting.json", "--approve", "all"]);
    assert_eq!((code(&output), output.stdout.len()), (2, 0));
    assert!(stderr(&output).contains("already in use by another process"), "{}", stderr(&output));
    lock.unlock().unwrap();
    assert_eq!(code(&folder.run(&["resume", "waiting.json", "--approve", "all"])), 0);
}

#[test]
fn a_file_of_a_suspended_run_is_not_overwritten_and_nothing_runs() {
    let folder = suspended();
    let before = fs::read(folder.path().join("waiting.json")).unwrap();
    let output = folder.run(&["run", "calls.jsonl", "--suspend", "waiting.json"]);
    assert_eq!((code(&output), output.stdout.len()), (2, 0));
    assert_eq!(fs::read(folder.path().join("waiting.json")).unwrap(), before);
}

#[test]
fn a_run_without_calls_that_wait_leaves_no_file() {
    let folder = Folder::new(&[("haft.toml", ASK)]);
    let call = br#"{"name": "hash", "arguments": {"text": "a"}}"#;
    let output = folder.feed(&["run", "-", "--suspend", "waiting.json"], call);
    assert_eq!(results(&output), states(&[("call_1", "ok")]));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("waiting")), "{left:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_gives_every_call_its_result() {
    let folder =
        Folder::new(&[("haft.toml", WAITING), ("calls.json", r#"[{"name": "dev/wait"}, {"name": "dev/wait"}]"#)]);
    assert_eq!(code(&folder.run(&["trust", "--yes"])), 0);
    let mut child = folder.command(&["run", "calls.json"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut text = Vec::new();
    let mut byte = [0; 1];
    // Both calls have started.
    let mut breaks = 0;
    while breaks < 2 {
        stdout.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
        breaks += usize::from(byte[0] == b'\n');
    }
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    stdout.read_to_end(&mut text).unwrap();
    let mut output = child.wait_with_output().unwrap();
    output.stdout = text;
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert_eq!(results(&output), states(&[("call_1", "cancelled"), ("call_2", "cancelled")]));
}
