//! Arguments can't become options, further arguments or code.

use haft_core::FailureKind;
use haft_tools::command::CommandTool;
use serde_json::{Value, json};

use super::{fail, run, text};

/// Prints its arguments after the given ones, each in angle brackets.
fn printer(elements: &[&str]) -> CommandTool {
    CommandTool::new(["printf", "<%s>"].into_iter().chain(elements.iter().copied()))
}

const HOSTILE: [&str; 16] = [
    "-rf",
    "--",
    "-",
    "--exec=id",
    "$(id)",
    "`id`",
    "; id",
    "a\nb",
    "a b",
    "*",
    "'\"\\",
    "ünï-cödé 🦀",
    "",
    "{x}",
    "%s%n",
    "\u{2212}rf",
];

#[tokio::test]
async fn a_hostile_value_is_one_argument_or_rejected() {
    for value in HOSTILE {
        let after = run(printer(&["a", "--", "{x}", "b"]), json!({"x": value})).await;
        assert_eq!(text(&after), format!("<a><--><{value}><b>"));
        let within = run(printer(&["--x={x}"]), json!({"x": value})).await;
        assert_eq!(text(&within), format!("<--x={value}>"));
        if value.starts_with('-') {
            let failure = fail(printer(&["a", "{x}", "b"]), json!({"x": value})).await;
            assert_eq!(failure.kind, FailureKind::InputValidationError, "{value}");
            assert!(!failure.started && failure.retryable, "{value}");
            let issue = &failure.issues.as_slice()[0];
            assert_eq!((issue.pointer.as_str(), issue.message.contains("must not begin with `-`")), ("/x", true));
        } else {
            assert_eq!(text(&run(printer(&["a", "{x}", "b"]), json!({"x": value})).await), format!("<a><{value}><b>"));
        }
    }
}

#[tokio::test]
async fn a_nul_character_and_a_long_value_are_rejected_before_the_start() {
    for (value, message) in [("a\0b".to_owned(), "NUL"), ("x".repeat(200_000), "too long")] {
        let failure = fail(printer(&["--", "{x}"]), json!({"x": value})).await;
        assert_eq!(failure.kind, FailureKind::InputValidationError);
        assert!(failure.message.contains(message) && !failure.started, "{}", failure.message);
    }
    let long = "x".repeat(100_000);
    assert_eq!(text(&run(printer(&["{x}"]), json!({"x": long})).await).len(), 100_002);
}

#[tokio::test]
async fn more_arguments_than_the_system_accepts_are_rejected() {
    let command = CommandTool::new(["/bin/true", "--", "{x}"]);
    let schema = json!({"type": "object", "properties": {"x": {"type": "array"}}});
    let tool = command.build(haft_executor::Tool::dynamic("run").params_json(schema)).unwrap();
    let kit: haft_executor::Toolkit = haft_executor::Toolkit::new().with(tool).unwrap();
    let arguments = json!({"x": vec!["x".repeat(100_000); 100]});
    let result = kit.run_call(&super::call(&arguments)).await;
    let failure = result.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::InputValidationError, "{failure:?}");
    assert!(!failure.started);
}

#[tokio::test]
async fn arguments_that_the_command_does_not_use_are_rejected() {
    let command = printer(&["{x}"]);
    let schema = json!({"type": "object", "properties": {"x": {}}});
    let tool = command.build(haft_executor::Tool::dynamic("run").params_json(schema)).unwrap();
    let kit: haft_executor::Toolkit = haft_executor::Toolkit::new().with(tool).unwrap();
    let result = kit.run_call(&super::call(&json!({"x": 1, "a/b": 2}))).await;
    assert_eq!(result.failure().unwrap().issues.as_slice()[0].pointer, "/a~1b");
    assert_eq!(text(&kit.run_call(&super::call(&json!({"x": [1, true, "a"]}))).await), "<1><true><a>");
    assert_eq!(text(&kit.run_call(&super::call(&json!({"x": Value::Null}))).await), "<>");
}
