//! Output in lines: progress and the result.

use haft_core::{FailureKind, ToolEvent, ToolResult};
use haft_executor::{EmitBuffer, ExecutionLimits, Tool, Toolkit};
use haft_tools::command::StdoutFormat;
use serde_json::{Value, json};

use super::{call, kit, script};

/// Runs a script whose output is JSON lines, and returns its progress and its result.
async fn lines(text: &str) -> (Vec<Value>, ToolResult) {
    let kit = kit(script(text).stdout(StdoutFormat::JsonLines));
    collect(&kit).await
}

async fn collect(kit: &Toolkit) -> (Vec<Value>, ToolResult) {
    let mut run = kit.run([call(&json!({}))]);
    let mut progress = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            ToolEvent::Progress { data, .. } => progress.push(data.to_value()),
            ToolEvent::Output { result, .. } => return (progress, result),
            other => panic!("{other:?}"),
        }
    }
    panic!("no output")
}

#[tokio::test]
async fn lines_are_progress_and_a_result() {
    for (printed, progress, result) in [
        (r#"{"progress": 1}\n{"progress": {"done": 2}}\n{"result": "r"}\n"#, json!([1, {"done": 2}]), json!("r")),
        (r#"{"a": 1}\n{"a": 2}\n{"a": 3}"#, json!([{"a": 1}, {"a": 2}]), json!({"a": 3})),
        (r#"\n  \n{"result": null}\n\n"#, json!([]), Value::Null),
        (r#"1\n{"progress": 2}\n3\n{"result": [4]}\n"#, json!([1, 2, 3]), json!([4])),
        (r#"{"result": 1, "progress": 2}\n"#, json!([]), json!({"result": 1, "progress": 2})),
        (r#"{"progress": 1}\r\n7\r\n"#, json!([1]), json!(7)),
    ] {
        let (emitted, outcome) = lines(&format!("printf '{printed}'")).await;
        assert_eq!(Value::from(emitted), progress, "{printed}");
        assert_eq!(outcome.value().map(haft_schema::JsonText::to_value), Some(result), "{printed}");
    }
}

#[tokio::test]
async fn invalid_lines_fail_the_call() {
    for (printed, progress, cause) in [
        ("", json!([]), "no line with a result"),
        (r#"{"progress": 1}\n"#, json!([1]), "no line with a result"),
        (r#"7\n{"progress": 1}\n"#, json!([7, 1]), "no line with a result"),
        (r#"{"progress": 1}\noops\n{"progress": 2}\n{"result": 3}\n"#, json!([1]), "a line is not JSON"),
        (r#"{"result": 1}\n{"result": 2}\n"#, json!([]), "a line follows the line with the result"),
        (r#"{"result": 1}\n\377\n"#, json!([]), "a line follows the line with the result"),
        (r"\377\n", json!([]), "a line is not JSON: invalid utf-8"),
    ] {
        let (emitted, outcome) = lines(&format!("printf '{printed}'")).await;
        let failure = outcome.failure().unwrap();
        assert_eq!(Value::from(emitted), progress, "{printed}");
        assert_eq!(failure.kind, FailureKind::OutputValidationError, "{printed}");
        assert!(failure.cause_chain().unwrap().contains(cause), "{printed}: {:?}", failure.cause_chain());
    }
}

#[tokio::test]
async fn progress_arrives_while_the_command_runs() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let command =
        script(r#"echo '{"progress": "waiting"}'; while [ ! -e go ]; do sleep 0.01; done; echo '{"result": 1}'"#);
    let kit = kit(command.folder(folder.path()).stdout(StdoutFormat::JsonLines));
    let mut run = kit.run([call(&json!({}))]);
    // The command ends only after its progress was read.
    let Some(ToolEvent::Progress { data, .. }) = run.next().await else { panic!("no progress") };
    assert_eq!(data.to_value(), "waiting");
    std::fs::write(go, "").unwrap();
    assert_eq!(run.collect_results().await[0].to_model_text(), "1");
}

#[tokio::test]
async fn a_slow_reader_gets_everything_in_order() {
    let command =
        script(r#"i=0; while [ $i -lt 5000 ]; do echo "$i"; i=$((i+1)); done"#).stdout(StdoutFormat::JsonLines);
    let limits = ExecutionLimits::new().emit_buffer(EmitBuffer::Bounded(std::num::NonZeroUsize::MIN));
    let builder = Tool::dynamic("run").params_json(json!({"type": "object"})).limits(limits);
    let kit: Toolkit = Toolkit::new().with(command.build(builder).unwrap()).unwrap();
    let (progress, result) = collect(&kit).await;
    assert_eq!(progress, (0..4999).map(Value::from).collect::<Vec<_>>());
    assert_eq!(result.to_model_text(), "4999");
}

#[tokio::test]
async fn progress_counts_towards_the_cap() {
    let command = script("while :; do echo 1; done").stdout(StdoutFormat::JsonLines).max_stdout(5000);
    let (progress, result) = collect(&kit(command)).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::OutputTooLarge);
    assert!(progress.len() <= 2500, "{}", progress.len());
}
