//! stdin, and the order in which a command reads and writes.

use haft_tools::command::{CommandTool, StdinFormat, StdoutFormat};
use serde_json::{Value, json};

use super::{call, kit, run, script, text};

#[tokio::test]
async fn the_arguments_are_one_line_of_json() {
    let arguments = json!({"a": [1, "ü\n"], "b": {"c": null}});
    let result = run(CommandTool::new(["cat"]).stdout(StdoutFormat::Json), arguments.clone()).await;
    assert_eq!(result.decode::<Value>().unwrap(), arguments);
    assert_eq!(text(&run(CommandTool::new(["wc", "-l"]), arguments).await).trim(), "1");
}

#[tokio::test]
async fn arguments_in_lines_or_none_are_one_line_too() {
    let kit = kit(script("cat; wc -l").stdin(StdinFormat::Json));
    for (arguments, expected) in [("{\n  \"a\": \"\\n\"\r\n}\n", r#"{   "a": "\n"  }"#), ("", "{}"), (" \n", "{}")] {
        let result = kit.run_call(&haft_core::ToolCall::new("c1", "run", arguments)).await;
        let text = text(&result);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines, [expected, "0"], "{arguments:?}");
    }
}

#[tokio::test]
async fn numbers_reach_stdin_as_they_were_written() {
    let call = haft_core::ToolCall::new("c1", "run", r#"{"n": 123456789012345678901234567890, "f": 1.50}"#);
    let result = kit(CommandTool::new(["cat"])).run_call(&call).await;
    assert_eq!(text(&result), call.arguments);
}

#[tokio::test]
async fn stdin_is_empty_if_the_arguments_are_in_the_command() {
    let command = CommandTool::new(["/bin/sh", "-c", "wc -c; echo \"$1\"", "sh", "{x}"]);
    assert_eq!(text(&run(command.clone(), json!({"x": "a"})).await).trim(), "0\na");
    let both = command.stdin(StdinFormat::Json);
    assert_eq!(text(&run(both, json!({"x": "a"})).await).trim(), "10\na");
}

#[tokio::test]
async fn a_mebibyte_in_both_directions_does_not_block() {
    let arguments = json!({"text": "x".repeat(1 << 20)});
    // It writes while it reads, so both pipes are full most of the time.
    let echo = CommandTool::new(["cat"]).stdout(StdoutFormat::Json).max_stdout(4 << 20);
    assert_eq!(run(echo, arguments.clone()).await.decode::<Value>().unwrap(), arguments);
    // It writes everything before it reads anything.
    let late = script("head -c 1048576 /dev/zero; wc -c").max_stdout(4 << 20);
    assert!(text(&run(late, arguments.clone()).await).ends_with(&format!("{}", arguments.to_string().len() + 1)));
}

#[tokio::test]
async fn a_command_that_never_reads_stdin_succeeds() {
    let arguments = json!({"text": "x".repeat(1 << 20)});
    assert_eq!(text(&run(script("echo done"), arguments.clone()).await), "done");
    assert_eq!(text(&run(script("exec <&-; echo done"), arguments).await), "done");
}

#[tokio::test]
async fn fifty_commands_run_at_once() {
    let kit = kit(script("cat; echo $$"));
    let calls: Vec<_> =
        (0..50).map(|at| haft_core::ToolCall::new(at.to_string(), "run", json!({"at": at}).to_string())).collect();
    let results = kit.run(calls).collect_results().await;
    for (at, result) in results.iter().enumerate() {
        let output = text(result);
        let (line, pid) = output.split_once('\n').unwrap();
        assert_eq!(line, json!({"at": at}).to_string());
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} was not reaped");
    }
    assert!(kit.run_call(&call(&json!({}))).await.is_ok());
}
