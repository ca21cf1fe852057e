//! Results, exit codes, and limits of the output.

use std::error::Error;

use haft_core::FailureKind;
use haft_executor::{Tool, Toolkit};
use haft_tools::command::{CommandError, CommandTool, StderrReader, StdoutFormat};
use serde_json::{Value, json};

use super::{call, fail, run, script, text};

#[tokio::test]
async fn text_is_returned_without_its_last_line_breaks() {
    for (printed, expected) in
        [("", ""), ("a\\n", "a"), ("a\\r\\n\\n", "a"), (" a\\n b", " a\n b"), ("\\377a", "\u{fffd}a")]
    {
        assert_eq!(text(&run(script(&format!("printf '{printed}'")), json!({})).await), expected, "{printed}");
    }
}

#[tokio::test]
async fn json_is_returned_as_it_is() {
    let json_of =
        |printed: &str| run(script(&format!("printf '%s' '{printed}'")).stdout(StdoutFormat::Json), json!({}));
    let result = json_of(" {\"b\": 1, \"a\": [12345678901234567890123]} ").await;
    assert_eq!(result.value().unwrap().as_str(), "{\"b\": 1, \"a\": [12345678901234567890123]}");
    for invalid in ["", "{", "1 2", "nul"] {
        let result = json_of(invalid).await;
        let failure = result.failure().unwrap();
        assert_eq!((&failure.kind, failure.started), (&FailureKind::OutputValidationError, true), "{invalid}");
        assert!(failure.cause_chain().unwrap().contains("the output of `/bin/sh` is invalid: it is not JSON"));
    }
}

#[tokio::test]
async fn a_result_is_checked_by_the_schema_of_the_tool() {
    let command = script("echo 7").stdout(StdoutFormat::Json);
    let builder = Tool::dynamic("run").params_json(json!({"type": "object"})).success_json(json!({"type": "string"}));
    let kit: Toolkit = Toolkit::new().with(command.build(builder).unwrap()).unwrap();
    let result = kit.run_call(&call(&json!({}))).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::OutputValidationError);
}

#[tokio::test]
async fn an_exit_code_is_read_by_the_model_and_stderr_by_the_operator() {
    let failure = fail(script("echo out; echo 'at host 10.0.0.7' >&2; exit 3"), json!({})).await;
    assert_eq!((&failure.kind, failure.started), (&FailureKind::ToolFailed, true));
    assert_eq!(failure.message, "the command failed with exit code 3");
    assert!(!failure.to_model_text().contains("10.0.0.7"));
    assert!(failure.cause_chain().unwrap().contains("exit status: 3; stderr: at host 10.0.0.7"));

    let shown = fail(script("printf ' bad \\n\\n' >&2; exit 3").stderr(StderrReader::Model), json!({})).await;
    assert_eq!(shown.message, "the command failed with exit code 3: bad");
    let quiet = fail(script("exit 4").stderr(StderrReader::Model), json!({})).await;
    assert_eq!(quiet.message, "the command failed with exit code 4");
    // The exit code matters more than output of another form.
    assert_eq!(
        fail(script("echo usage; exit 2").stdout(StdoutFormat::Json), json!({})).await.kind,
        FailureKind::ToolFailed
    );
}

#[tokio::test]
async fn other_exit_codes_can_be_successes() {
    let command = || script("echo found; exit 1").success_codes([0, 1]);
    assert_eq!(text(&run(command(), json!({})).await), "found");
    assert!(!run(script("exit 0").success_codes([1]), json!({})).await.is_ok());
}

#[tokio::test]
async fn a_signal_is_a_failure() {
    let failure = fail(script("kill -9 $$"), json!({})).await;
    assert_eq!(
        (&failure.kind, failure.message.as_str()),
        (&FailureKind::ToolFailed, "the command was ended by a signal")
    );
    assert!(failure.cause_chain().unwrap().contains("signal: 9"));
}

#[tokio::test]
async fn the_cap_of_the_output_is_exact() {
    let print = |bytes: usize| CommandTool::new(["head", "-c", &bytes.to_string(), "/dev/zero"]).max_stdout(1000);
    assert_eq!(text(&run(print(1000), json!({})).await).len(), 1000);
    let failure = fail(print(1001), json!({})).await;
    assert_eq!((&failure.kind, failure.started), (&FailureKind::OutputTooLarge, true));
    let cause = failure.source().unwrap().downcast_ref::<CommandError>().unwrap();
    assert!(matches!(cause, CommandError::TooMuchOutput { limit: 1000, .. }), "{cause}");
}

#[tokio::test]
async fn a_flood_of_stderr_is_read_and_its_end_is_kept() {
    let failure =
        fail(script("head -c 3000000 /dev/zero >&2; echo the end >&2; exit 1").max_stderr(20), json!({})).await;
    let cause = failure.cause_chain().unwrap();
    assert!(cause.ends_with("the end") && cause.len() < 200, "{cause}");
    let value: Value = run(script("head -c 3000000 /dev/zero >&2; echo 1").stdout(StdoutFormat::Json), json!({}))
        .await
        .decode()
        .unwrap();
    assert_eq!(value, 1);
}
