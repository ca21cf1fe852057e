//! The text of a result that the model reads.

use std::time::Duration;

use haft_core::{CallOutputBody, ContentPart, FailureKind, MediaData, ToolCall, ToolFailure, ToolOutput, ToolResult};
use haft_schema::{Issue, Issues, JsonText};
use serde_json::{Value, json};

fn call() -> ToolCall {
    ToolCall::new("c1", "lookup", "{}")
}

fn text_of(result: &ToolResult) -> String {
    let output = result.to_call_output();
    assert_eq!(output.call_id, "c1");
    assert_eq!(output.tool.as_deref(), Some("lookup"));
    assert_eq!(output.is_error, !result.is_ok());
    let CallOutputBody::Text(text) = output.output else { panic!("parts: {output:?}") };
    text
}

#[test]
fn a_value_is_raw_text_null_or_json() {
    for (value, text) in [
        (json!("plain"), "plain"),
        (json!(""), ""),
        (json!("a \"quoted\"\nline \\ \u{1F600} é"), "a \"quoted\"\nline \\ \u{1F600} é"),
        (json!("{\"not\":\"parsed\"}"), "{\"not\":\"parsed\"}"),
        (json!(null), "null"),
        (json!(3), "3"),
        (json!(-0.5), "-0.5"),
        (json!(true), "true"),
        (json!([]), "[]"),
        (json!({}), "{}"),
        (json!({"b": 1, "a": [null, {"c": "d"}]}), r#"{"b":1,"a":[null,{"c":"d"}]}"#),
        (json!({"city": "Zürich \u{1F600}"}), "{\"city\":\"Zürich \u{1F600}\"}"),
    ] {
        assert_eq!(text_of(&ToolResult::ok(&call(), value.clone())), text, "{value}");
    }
    assert_eq!(text_of(&ToolResult::ok(&call(), JsonText::encode(&()).unwrap())), "null");
}

#[test]
fn an_escaped_surrogate_pair_becomes_its_character() {
    let escaped = JsonText::parse(r#""\ud83d\ude00""#).unwrap();
    assert_eq!(text_of(&ToolResult::ok(&call(), escaped)), "\u{1F600}");
}

#[test]
fn json_text_is_passed_on_to_the_byte() {
    let digits = JsonText::parse("[1.10,123456789012345678901234567890]").unwrap();
    assert_eq!(text_of(&ToolResult::ok(&call(), digits)), "[1.10,123456789012345678901234567890]");
}

#[test]
fn parts_for_the_model_replace_the_value() {
    let parts =
        vec![ContentPart::text("a chart"), ContentPart::image("image/png", MediaData::Base64("aQ==".to_owned()))];
    let result = ToolResult::ok(&call(), ToolOutput::from(json!({"rows": 12})).for_model(parts.clone()));
    assert_eq!(result.to_call_output().output, CallOutputBody::Parts(parts));
    assert_eq!(result.value().unwrap().as_str(), r#"{"rows":12}"#);
}

#[test]
fn a_failure_is_an_error_object() {
    let issue = Issue::new("/city", "required", "add the city");
    let table = [
        (
            ToolResult::denied(&call(), "not \"today\""),
            json!({"error": {"kind": "denied", "message": "not \"today\""}}),
        ),
        (
            ToolResult::invalid_input(&call(), Issues::from(issue.clone())),
            json!({"error": {
                "kind": "input_validation_error",
                "message": "/city: add the city",
            }}),
        ),
        (
            ToolResult::from_failure(
                &call(),
                ToolFailure::new(FailureKind::InputValidationError, "no").issues(Issues::from(issue)),
            ),
            json!({"error": {
                "kind": "input_validation_error",
                "message": "no",
                "issues": [{"pointer": "/city", "keyword": "required", "message": "add the city"}],
            }}),
        ),
        (
            ToolResult::from_failure(
                &call(),
                ToolFailure::new(FailureKind::ToolFailed, "sold out")
                    .details(json!({"restock": "monday"}))
                    .retry_after(Duration::from_secs(60)),
            ),
            json!({"error": {
                "kind": "tool_failed",
                "message": "sold out",
                "details": {"restock": "monday"},
                "retry_after_seconds": 60.0,
            }}),
        ),
    ];
    for (result, expected) in table {
        assert_eq!(text_of(&result), expected.to_string());
    }
}

/// One line per synthesizer: the failure it creates, with and without a reason.
#[test]
fn every_synthesizer_reports_its_kind_and_a_message() {
    let call = call();
    let table = [
        (ToolResult::denied(&call, "why"), ToolResult::denied(&call, ""), "denied"),
        (ToolResult::cancelled(&call, "why"), ToolResult::cancelled(&call, " "), "cancelled"),
        (ToolResult::execution_error(&call, "why"), ToolResult::execution_error(&call, "\n"), "execution_error"),
        (ToolResult::interrupted(&call, "why"), ToolResult::interrupted(&call, ""), "interrupted"),
        (
            ToolResult::failed(&call, "out_of_stock", "why"),
            ToolResult::failed(&call, "out_of_stock", ""),
            "out_of_stock",
        ),
    ];
    for (with, without, kind) in table {
        let failure = with.failure().unwrap();
        assert_eq!((failure.kind.as_str(), failure.message.as_str()), (kind, "why"));
        assert_eq!(without.failure().unwrap().message, failure.kind.default_message());
        assert!(!with.is_ok());
        assert!(with.value().is_none());
    }
    let invalid = ToolResult::invalid_output(&call, Issues::default());
    assert_eq!(invalid.failure().unwrap().message, FailureKind::OutputValidationError.default_message());
}

#[test]
fn messages_name_the_tool_that_the_model_called() {
    let message = |result: ToolResult| result.failure().unwrap().message.clone();
    let call = call();
    assert_eq!(message(ToolResult::unknown_tool(&call, &[])), "there is no tool called 'lookup'");
    assert_eq!(
        message(ToolResult::unknown_tool(&call, &["look_up", "lock"])),
        "there is no tool called 'lookup'; the nearest are 'look_up', 'lock'"
    );
    assert_eq!(
        message(ToolResult::non_local_tool(&call)),
        "the tool 'lookup' is not run here: its provider or the application handles it"
    );
    assert_eq!(message(ToolResult::duplicate_call_id(&call)), "an earlier call has the id 'c1'; this one was not run");

    let endless = ToolCall::new("c1", "é".repeat(5_000), "{}");
    let short = message(ToolResult::unknown_tool(&endless, &[]));
    assert!(short.len() < 150, "{} bytes", short.len());
    assert!(short.ends_with("é…'"), "{short}");
}

#[test]
fn synthesized_failures_report_whether_to_retry_and_whether_anything_ran() {
    let call = call();
    let table = [
        (ToolResult::unknown_tool(&call, &[]), true, false),
        (ToolResult::invalid_input(&call, Issues::default()), true, false),
        (ToolResult::invalid_output(&call, Issues::default()), false, true),
        (ToolResult::non_local_tool(&call), false, false),
        (ToolResult::duplicate_call_id(&call), false, false),
        (ToolResult::denied(&call, ""), false, false),
        (ToolResult::cancelled(&call, ""), false, false),
        (ToolResult::interrupted(&call, ""), true, false),
        (ToolResult::execution_error(&call, ""), false, true),
        (ToolResult::failed(&call, FailureKind::TimedOut, ""), true, true),
        (ToolResult::failed(&call, FailureKind::OutcomeUnknown, ""), false, true),
        (ToolResult::failed(&call, "quarantined", ""), false, false),
        (ToolResult::from_failure(&call, ToolFailure::new(FailureKind::TimedOut, "")), true, true),
    ];
    for (result, retryable, started) in table {
        let failure = result.failure().unwrap();
        assert_eq!((failure.retryable, failure.started), (retryable, started), "{}", failure.kind);
        let written: Value = serde_json::to_value(&result).unwrap();
        assert_eq!(serde_json::from_value::<ToolResult>(written).unwrap(), result);
    }
}
