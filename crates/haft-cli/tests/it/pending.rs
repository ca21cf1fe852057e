//! `haft pending`: calls that wait in files are listed and answered, and `haft resume` uses the verdicts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use haft::serde_json::{self, Value, json};
use tempfile::TempDir;

const FILE: &str = "[[approval]]\nask = 'calculate'\nname = 'sums'\n[permissions]\nallow = ['*']\n\
    sets.support = { allow = ['calculate'] }\n[callers.ana]\npermissions = 'support'\n";

struct Folder(TempDir);

impl Folder {
    /// Creates a folder with a run of three calls, which all wait.
    fn with_run(arguments: &[&str]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path().join("haft.toml"), FILE).unwrap();
        fs::write(folder.path().join("other.json"), "{}").unwrap();
        let call = |id: &str, sum: &str| json!({"call_id": id, "name": "calculate", "arguments": {"expression": sum}});
        let calls = json!([call("c1", "1+1"), call("c2", "2+2"), call("c3", "3+3")]);
        fs::write(folder.path().join("calls.json"), calls.to_string()).unwrap();
        let output = folder.run(&[&["run", "calls.json", "--suspend", "run.json"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(self.path()).env("HAFT_STATE_DIR", self.path().join(".state"));
        command.env("NO_COLOR", "1").env("USER", "kim").env_remove("HAFT_WORKSPACE");
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Returns the requests that are listed.
    fn listed(&self) -> Vec<Value> {
        let output = self.run(&["pending"]);
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice::<Vec<Value>>(&output.stdout).unwrap()
    }

    /// Returns the requests' ids.
    fn ids(&self) -> Vec<String> {
        self.listed().iter().map(|request| request["request_id"].as_str().unwrap().to_owned()).collect()
    }

    /// Runs the command, which must succeed, and returns its message.
    fn answer(&self, arguments: &[&str]) -> String {
        let output = self.run(&[&["pending"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    }

    /// Runs the command, which must fail, and returns its message.
    fn fault(&self, arguments: &[&str]) -> String {
        let output = self.run(&[&["pending"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the outcomes in the events of a command, by call.
fn outcomes(output: &Output) -> Vec<(String, Value)> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut outcomes: Vec<(String, Value)> = events
        .filter(|event| event["type"] == "output")
        .map(|event| (event["call_id"].as_str().unwrap().to_owned(), event["result"]["outcome"].clone()))
        .collect();
    outcomes.sort_by(|left, right| left.0.cmp(&right.0));
    outcomes
}

#[test]
fn verdicts_are_stored_and_used_when_the_run_goes_on() {
    let folder = Folder::with_run(&[]);
    let listed = folder.listed();
    assert_eq!(listed.len(), 3);
    assert_eq!(listed[0]["tool"], "calculate");
    assert_eq!((&listed[0]["state"], &listed[0]["rule"]), (&json!("waits"), &json!("sums")));
    assert_eq!(listed[0]["arguments"], json!({"expression": "1+1"}));
    let ids = folder.ids();
    // The start of an id will do, with or without its prefix.
    let short = &ids[0].trim_start_matches("approval_")[..12];
    assert!(folder.answer(&["approve", short]).contains("`calculate` is approved; 2 more calls of the run wait"));
    folder.answer(&["deny", &ids[1], "--reason", "not today"]);
    let message = folder.answer(&["edit", &ids[2], r#"{"expression": "4+4"}"#]);
    assert!(message.contains("go on with `haft resume "), "{message}");
    let states: Vec<Value> = folder.listed().iter().map(|request| request["state"].clone()).collect();
    assert_eq!(states, ["approved", "denied", "edited"]);
    assert_eq!(folder.listed()[0]["verdict"]["who"], "kim");

    let output = folder.run(&["resume", "run.json"]);
    let outcomes = outcomes(&output);
    assert_eq!(outcomes.len(), 3, "{}", stderr(&output));
    assert_eq!(outcomes[0].1["value"]["result"], "2");
    assert_eq!(outcomes[1].1["message"], "not today");
    assert_eq!(outcomes[2].1["value"]["result"], "8");
    assert!(!folder.path().join("run.json").exists());
    assert!(folder.listed().is_empty());
}

#[test]
fn calls_without_a_verdict_wait_on_and_a_file_of_verdicts_counts_first() {
    let folder = Folder::with_run(&[]);
    let ids = folder.ids();
    folder.answer(&["approve", &ids[0]]);
    folder.answer(&["approve", &ids[1]]);
    fs::write(folder.path().join("verdicts.jsonl"), r#"{"call_id": "c2", "decision": "denied", "reason": "no"}"#)
        .unwrap();
    let output = folder.run(&["resume", "run.json", "--verdicts", "verdicts.jsonl"]);
    let outcomes = outcomes(&output);
    assert_eq!(outcomes.len(), 2, "{}", stderr(&output));
    assert_eq!((&outcomes[0].1["value"]["result"], &outcomes[1].1["message"]), (&json!("2"), &json!("no")));
    let rest = folder.listed();
    assert_eq!((rest.len(), &rest[0]["state"]), (1, &json!("waits")));
    folder.answer(&["answer", rest[0]["request_id"].as_str().unwrap(), r#"{"result": "7", "exact": true}"#]);
    let output = folder.run(&["resume", "run.json", "--json"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#""result":"7""#), "{}", stderr(&output));
}

#[test]
fn what_can_not_be_a_verdict_is_not_stored() {
    let folder = Folder::with_run(&[]);
    let ids = folder.ids();
    assert!(folder.fault(&["approve", "approval_zz"]).contains("no request with the id `approval_zz` waits"));
    assert!(folder.fault(&["approve", "approval_"]).contains("no request with the id `approval_` waits"));
    assert!(folder.fault(&["edit", &ids[0], "{"]).contains("is not valid JSON"));
    assert!(folder.fault(&["edit", &ids[0], r#"{"expression": 3}"#]).contains("can't be accepted"));
    folder.answer(&["approve", &ids[0]]);
    assert!(folder.fault(&["deny", &ids[0]]).contains("is approved by kim already"));
    assert!(folder.fault(&["--in", "calls.json"]).contains("is not a suspended run"));
    assert!(folder.fault(&["--in", "nowhere"]).contains("nowhere"));
    let states: Vec<Value> = folder.listed().iter().map(|request| request["state"].clone()).collect();
    assert_eq!(states, ["approved", "waits", "waits"]);
}

#[test]
fn a_copy_of_a_run_is_not_listed() {
    let folder = Folder::with_run(&[]);
    fs::copy(folder.path().join("run.json"), folder.path().join("copy.json")).unwrap();
    let ids = folder.ids();
    assert_eq!(ids.len(), 6, "nobody knows yet which one goes on");
    folder.answer(&["approve", &ids[0], "--in", "run.json"]);
    assert_eq!(folder.ids().len(), 3);
}

#[test]
fn a_run_of_a_caller_goes_on_for_that_caller() {
    let folder = Folder::with_run(&["--caller", "ana"]);
    assert_eq!(folder.listed()[0]["caller"], "ana");
    for id in folder.ids() {
        folder.answer(&["approve", &id]);
    }
    // The caller is no more: its calls do not run with the rights of somebody else.
    let text = FILE.replace("[callers.ana]", "[callers.bob]");
    fs::write(folder.path().join("haft.toml"), text).unwrap();
    let output = folder.run(&["resume", "run.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no caller `ana`"), "{}", stderr(&output));
    fs::write(folder.path().join("haft.toml"), FILE).unwrap();
    assert_eq!(outcomes(&folder.run(&["resume", "run.json"])).len(), 3);
}
