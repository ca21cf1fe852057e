//! Structured results, and the text that the model reads.

use haft_core::{ContentPart, FailureKind, Outcome, ToolCall, ToolFailure, ToolResult};
use haft_executor::{HandlerError, Tool};
use serde_json::json;

use crate::executing::{calls, kit};

/// Values can be inspected before they become text: here, a secret is removed.
#[tokio::test]
async fn results_can_be_inspected_and_redacted_before_the_model_reads_them() {
    let kit = kit([Tool::new("user").handler(|(), _cx| async { json!({"name": "Ana", "token": "s3cret"}) })]);
    let mut results = kit.run(calls([("user", "")])).collect_results().await;
    for result in &mut results {
        if let Outcome::Ok(output) = &mut result.outcome {
            let mut value = output.value().unwrap().to_value();
            value["token"] = json!("[redacted]");
            *output = output.clone().with_value(value);
        }
    }
    assert_eq!(results[0].to_call_output().output.to_string(), r#"{"name":"Ana","token":"[redacted]"}"#);
}

#[test]
fn calls_that_are_not_run_have_a_reason() {
    let call = ToolCall::new("c1", "send", "{}");
    for (result, kind, message) in [
        (ToolResult::denied(&call, "not today"), "denied", "not today"),
        (ToolResult::cancelled(&call, "the user moved on"), "cancelled", "the user moved on"),
        (ToolResult::execution_error(&call, "it broke"), "execution_error", "it broke"),
        (ToolResult::interrupted(&call, "cut off"), "interrupted", "cut off"),
        (ToolResult::failed(&call, "over_budget", "no money"), "over_budget", "no money"),
        (ToolResult::failed(&call, "denied", "by name"), "denied", "by name"),
    ] {
        let failure = result.failure().unwrap();
        assert_eq!((failure.kind.as_str(), failure.message.as_str()), (kind, message));
        let expected = json!({"error": {"kind": kind, "message": message}}).to_string();
        assert_eq!(result.to_call_output().output.to_string(), expected);
    }
    assert_eq!(ToolResult::failed(&call, "denied", "x").failure().unwrap().kind, FailureKind::Denied);
    assert!(ToolResult::denied(&call, "").failure().is_some_and(|failure| !failure.message.is_empty()));
}

/// The executor doesn't interpret user-defined kinds.
#[tokio::test]
async fn a_user_defined_kind_is_passed_through() {
    let tool = Tool::new("buy").try_handler_mixed(|(), _cx| async {
        Err::<(), HandlerError>(HandlerError::opaque(ToolFailure::new("over_budget", "no money left").retryable()))
    });
    let result = kit([tool]).run_call(&calls([("buy", "")])[0]).await;
    let failure = result.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::from("over_budget"));
    assert!(failure.retryable && failure.started);
    assert_eq!(
        result.to_call_output().output.to_string(),
        r#"{"error":{"kind":"over_budget","message":"no money left"}}"#
    );
}

#[tokio::test]
async fn the_model_reads_text_raw_unit_as_null_and_the_rest_as_json() {
    let kit = kit([
        Tool::new("text").handler(|(), _cx| async { "he said \"hi\"\n" }),
        Tool::new("unit").handler(|(), _cx| async {}),
        Tool::new("none").handler(|(), _cx| async { None::<String> }),
        Tool::new("list").handler(|(), _cx| async { vec![1, 2] }),
        Tool::new("null_text").handler(|(), _cx| async { "null" }),
        Tool::new("fails").try_handler(|(), _cx| async { Err::<(), _>("sold out") }),
        Tool::new("parts")
            .to_model_output(|n: &u8| [ContentPart::text(format!("{n} rows"))])
            .handler(|(), _cx| async { 3_u8 }),
    ]);
    let names: Vec<_> = kit.names().map(|name| ToolCall::new(name, name, "")).collect();
    let outputs: Vec<_> = kit.run(names).collect_results().await.iter().map(ToolResult::to_call_output).collect();
    let read: Vec<_> = outputs.iter().map(|output| output.output.to_string()).collect();
    assert_eq!(
        read,
        [
            "he said \"hi\"\n",
            "null",
            "null",
            "[1,2]",
            "null",
            r#"{"error":{"kind":"tool_failed","message":"sold out"}}"#,
            "3 rows"
        ]
    );
    let errors: Vec<_> = outputs.iter().filter(|output| output.is_error).map(|o| o.call_id.as_str()).collect();
    assert_eq!(errors, ["fails"]);
    assert_eq!(outputs[0].tool.as_deref(), Some("text"));
}
