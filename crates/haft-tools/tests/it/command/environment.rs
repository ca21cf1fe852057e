//! The environment, the folder and the program of a command.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use haft_core::{FailureKind, ToolCall};
use haft_executor::RunOptions;
use haft_registry::Secrets;
use haft_tools::command::{CommandError, CommandTool, KEPT_VARIABLES};
use serde_json::json;

use super::{call, fail, kit, run, script, text};

fn variables(text: &str) -> BTreeMap<String, String> {
    text.lines().map(|line| line.split_once('=').unwrap()).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[tokio::test]
async fn the_environment_is_exactly_what_is_documented() {
    let options = RunOptions::new().run_id("run-1");
    let kit = kit(CommandTool::new(["env"]).env("LANG", "C.UTF-8").env("EMPTY", ""));
    let result = kit.run_call_with(&call(&json!({})), &options).await;
    let found = variables(&text(&result));
    let mut expected: BTreeMap<String, String> = BTreeMap::new();
    expected.extend(KEPT_VARIABLES.iter().filter_map(|&name| Some((name.to_owned(), std::env::var(name).ok()?))));
    expected.insert("LANG".to_owned(), "C.UTF-8".to_owned());
    expected.insert("EMPTY".to_owned(), String::new());
    expected.insert("HAFT_CALL_ID".to_owned(), "c1".to_owned());
    let key = found["HAFT_IDEMPOTENCY_KEY"].clone();
    expected.insert("HAFT_IDEMPOTENCY_KEY".to_owned(), key.clone());
    assert_eq!(found, expected);
    // The test runner sets variables that must not be inherited.
    assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")));

    let again = variables(&text(&kit.run_call_with(&call(&json!({})), &options).await));
    assert_eq!((key.len(), &again["HAFT_IDEMPOTENCY_KEY"]), (64, &key));
    let other = ToolCall::new("c2", "run", "{}");
    assert_ne!(variables(&text(&kit.run_call_with(&other, &options).await))["HAFT_IDEMPOTENCY_KEY"], key);
}

#[tokio::test]
async fn a_call_id_that_no_variable_can_hold_is_left_out() {
    let kit = kit(CommandTool::new(["env"]));
    for id in ["a\0b".to_owned(), "x".repeat(300_000)] {
        let result = kit.run_call(&ToolCall::new(id, "run", "{}")).await;
        assert!(!text(&result).contains("HAFT_CALL_ID"));
    }
}

#[tokio::test]
async fn a_secret_reaches_the_command_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let command = script("printf %s \"$TOKEN\" > token; echo \"token is $TOKEN\" >&2; exit 1")
        .folder(folder.path())
        .secret_env("TOKEN", "github")
        .stderr(haft_tools::command::StderrReader::Model);
    let secrets = Secrets::new().value("github", "ghp-1234567890");
    let kit = kit(command);
    let result = kit.run_call_with(&call(&json!({})), RunOptions::new().service(secrets)).await;
    assert_eq!(fs::read_to_string(folder.path().join("token")).unwrap(), "ghp-1234567890");
    let failure = result.failure().unwrap();
    assert_eq!(failure.message, "the command failed with exit code 1: token is [removed]");
    assert!(failure.cause_chain().unwrap().contains("token is [removed]"));
    assert!(!format!("{result:?} {kit:?} {}", failure.cause_chain().unwrap()).contains("ghp-1234567890"));
}

#[tokio::test]
async fn a_secret_that_can_not_be_read_is_an_error_for_the_operator() {
    let kit = kit(CommandTool::new(["true"]).secret_env("TOKEN", "github"));
    let result = kit.run_call_with(&call(&json!({})), RunOptions::new().service(Secrets::new())).await;
    let failure = result.failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, false));
    assert!(!failure.to_model_text().contains("github"));
    assert!(failure.cause_chain().unwrap().contains("the secret `github` can't be read: it is not defined"));
    assert!(kit.ensure_runnable().is_err(), "the secrets are a dependency");
}

#[tokio::test]
async fn a_command_runs_in_its_folder_and_finds_programs_there() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    std::os::unix::fs::symlink("/bin/pwd", folder.path().join("bin/where")).unwrap();
    let result = run(CommandTool::new(["bin/where", "-P"]).folder(folder.path()), json!({})).await;
    assert_eq!(text(&result), folder.path().canonicalize().unwrap().display().to_string());
    // The lookup uses the `PATH` that the command gets.
    let bin = folder.path().join("bin").display().to_string();
    assert_eq!(text(&run(CommandTool::new(["where"]).env("PATH", &bin).folder("/"), json!({})).await), "/");
    assert!(!run(CommandTool::new(["where"]).folder("/"), json!({})).await.is_ok());
}

#[tokio::test]
async fn a_command_that_can_not_be_started_has_not_started() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plain"), "").unwrap();
    for (command, cause) in [
        (CommandTool::new(["haft-no-such-program"]), "`haft-no-such-program` can't be started in"),
        (CommandTool::new(["./plain"]).folder(folder.path()), "`./plain` can't be started in"),
        (CommandTool::new(["true"]).folder("/no/such/folder"), "its folder `/no/such/folder` is not a directory"),
    ] {
        let failure = fail(command, json!({})).await;
        assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, false), "{cause}");
        assert_eq!(failure.message, "the command can't be started; only its operator can see the cause");
        let source = failure.source().unwrap().downcast_ref::<CommandError>().unwrap().to_string();
        assert!(source.contains(cause), "{source}");
    }
}
