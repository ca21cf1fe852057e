//! Outputs without a value, failures with content, and metadata of both.

use std::num::NonZeroUsize;

use haft_core::{
    CallOutputBody, ContentPart, FailureKind, Item, MediaData, Outcome, ToolCall, ToolFailure, ToolOutput, ToolResult,
    history,
};
use haft_executor::{ExecutionLimits, Next, OnOverflow, OutputCap, Request, RunOptions, Tool, Toolkit};
use haft_schema::Schema;
use serde_json::{Value, json};

use crate::executing::kit;

fn call() -> ToolCall {
    ToolCall::new("c1", "t", "{}")
}

fn picture() -> ContentPart {
    ContentPart::image("image/png", MediaData::Base64("AAAA".to_owned()))
}

/// Creates a tool that returns this output and declares this schema.
fn returning(success: Schema, output: ToolOutput) -> Toolkit {
    let tool = Tool::new("t").success_schema(success).handler(move |(), _cx| std::future::ready(output.clone()));
    kit([tool])
}

/// Creates a tool that fails with this failure.
fn failing(failure: ToolFailure) -> Tool {
    let handler = move |(), _cx| std::future::ready(Err::<(), _>(failure.clone()));
    Tool::new("t").try_handler_opaque(handler).unwrap()
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[tokio::test]
async fn content_without_a_value_is_a_success_that_has_no_value() {
    for success in [Schema::unknown(), Schema::unit()] {
        let kit = returning(success, ToolOutput::content_only(vec![ContentPart::text("seen"), picture()]));
        let result = kit.run_call(&call()).await;
        assert!(result.is_ok());
        assert_eq!(result.value(), None);
        assert_eq!(result.to_model_text(), "seen");
        assert!(matches!(result.to_call_output().output, CallOutputBody::Parts(parts) if parts.len() == 2));
        let stored = serde_json::to_value(&result).unwrap();
        assert_eq!(stored["outcome"].get("value"), None);
        assert_eq!(serde_json::from_value::<ToolResult>(stored).unwrap(), result);
    }
}

#[tokio::test]
async fn a_tool_that_declares_a_value_must_return_one() {
    let declared = [Schema::of::<u8>().unwrap(), Schema::of::<Option<u8>>().unwrap(), Schema::never()];
    for success in declared {
        let result = returning(success, ToolOutput::content_only(vec![picture()])).run_call(&call()).await;
        let failure = result.failure().unwrap();
        assert_eq!(failure.kind, FailureKind::OutputValidationError);
        assert!(failure.started);
        assert!(failure.message.contains("content without a value"), "{failure}");
    }
}

#[tokio::test]
async fn a_missing_value_cannot_be_decoded() {
    let result = ToolResult::ok(&call(), ToolOutput::content_only(vec![picture()]));
    for failure in [result.decode::<Value>().unwrap_err(), result.decode::<()>().unwrap_err()] {
        assert_eq!(failure.kind, FailureKind::OutputValidationError);
        assert!(failure.message.contains("no value"), "{failure}");
    }
    assert!(ToolResult::ok(&call(), Value::Null).decode::<()>().is_ok());
}

#[tokio::test]
async fn a_middleware_answers_with_content_under_the_same_rule() {
    for (success, is_ok) in [(Schema::unknown(), true), (Schema::of::<u8>().unwrap(), false)] {
        let tool = Tool::new("t").success_schema(success).handler(|(), _cx| async { 1_u8 }).unwrap();
        let kit = Toolkit::from_iter([tool.wrap(|request: Request, _next: Next| async move {
            request.answer(&ToolOutput::content_only(vec![picture()]))
        })]);
        assert_eq!(kit.run_call(&call()).await.is_ok(), is_ok);
    }
}

#[tokio::test]
async fn the_encoded_form_of_content_alone_is_its_list_of_parts() {
    let kit = returning(Schema::unknown(), ToolOutput::content_only(vec![ContentPart::text("a")]));
    let result = kit.try_run_call(call(), RunOptions::new()).await.unwrap();
    assert_eq!(result.encoded.to_value(), json!([{"type": "text", "text": "a"}]));
    assert!(!result.is_failure);
}

#[tokio::test]
async fn a_failure_with_content_is_read_after_its_text() {
    let failure = ToolFailure::new(FailureKind::ToolFailed, "no").for_model(vec![picture(), ContentPart::text("why")]);
    let result = Toolkit::from_iter([failing(failure)]).run_call(&call()).await;
    let text = r#"{"error":{"kind":"tool_failed","message":"no"}}"#;
    assert_eq!(result.to_model_text(), format!("{text}\nwhy"));
    let output = result.to_call_output();
    assert!(output.is_error);
    let CallOutputBody::Parts(parts) = output.output else { panic!("no parts") };
    assert_eq!(parts, [ContentPart::text(text), picture(), ContentPart::text("why")]);
    let read: ToolResult = serde_json::from_str(&serde_json::to_string(&result).unwrap()).unwrap();
    assert_eq!(read, result);
}

#[tokio::test]
async fn metadata_is_kept_in_results_and_histories_and_never_read_by_the_model() {
    let output = ToolOutput::from(json!("done")).with_metadata("trace", "t1");
    let ok = returning(Schema::unknown(), output).run_call(&call()).await;
    let failed = failing(ToolFailure::new("x", "no").with_metadata("trace", "t1"));
    let failed = Toolkit::from_iter([failed]).run_call(&call()).await;
    for result in [ok, failed] {
        assert_eq!(result.metadata().unwrap()["trace"], "t1");
        assert!(!result.to_model_text().contains("t1"));
        let read: ToolResult = serde_json::from_str(&serde_json::to_string(&result).unwrap()).unwrap();
        assert_eq!(read.metadata(), result.metadata());
        let mut history = vec![Item::from(call())];
        history::answer(&mut history, [result]).unwrap();
        let Some(Item::ToolOutput(output)) = history.last() else { panic!("no output") };
        assert_eq!(output.metadata.as_ref().unwrap()["trace"], "t1");
        assert!(!output.output.to_string().contains("t1"));
    }
    let plain = ToolResult::ok(&call(), json!(1));
    assert_eq!(plain.metadata(), None);
    assert_eq!(serde_json::to_value(&plain).unwrap()["outcome"], json!({"status": "ok", "value": 1}));
}

#[tokio::test]
async fn stored_results_of_the_first_form_are_read() {
    let stored = json!({"call_id": "c1", "tool": "t", "outcome": {"status": "ok", "value": null, "model": null}});
    let result: ToolResult = serde_json::from_value(stored).unwrap();
    assert_eq!(result, ToolResult::ok(&call(), Value::Null));
    let empty = json!({"call_id": "c1", "tool": "t", "outcome": {"status": "ok"}});
    assert!(serde_json::from_value::<ToolResult>(empty).unwrap_err().to_string().contains("an output has a `value`"));
}

#[tokio::test]
async fn content_and_metadata_that_nest_too_deep_are_an_invalid_result() {
    let deep = || vec![ContentPart::Unknown(json!({"type": "x", "data": nested(200)}))];
    let outputs = [
        ToolOutput::content_only(deep()),
        ToolOutput::from(json!(1)).for_model(deep()),
        ToolOutput::from(json!(1)).with_metadata("deep", nested(200)),
    ];
    for output in outputs {
        let result = returning(Schema::unknown(), output).run_call(&call()).await;
        assert_eq!(result.failure().unwrap().kind, FailureKind::OutputValidationError);
    }
    for failure in
        [ToolFailure::new("x", "no").for_model(deep()), ToolFailure::new("x", "no").with_metadata("deep", nested(200))]
    {
        let result = Toolkit::from_iter([failing(failure)]).run_call(&call()).await;
        let failure = result.failure().unwrap();
        assert_eq!(failure.kind, FailureKind::OutputValidationError);
        assert!(failure.started && failure.content().is_empty() && failure.metadata().is_none());
    }
}

#[tokio::test]
async fn the_cap_counts_the_content_of_outputs_without_a_value_and_of_failures() {
    let cap = |rule| {
        let cap = OutputCap::new(NonZeroUsize::new(300).unwrap()).on_overflow(rule);
        RunOptions::new().output_cap(cap)
    };
    let long = || vec![ContentPart::text("a".repeat(250)), ContentPart::text("b".repeat(250))];
    let output = || returning(Schema::unknown(), ToolOutput::content_only(long()).with_metadata("k", "v".repeat(999)));
    let failure = || Toolkit::from_iter([failing(ToolFailure::new("x", "no").for_model(long()))]);
    for kit in [output(), failure()] {
        let result = kit.run_call_with(&call(), cap(OnOverflow::Fail)).await;
        let failure = result.failure().unwrap();
        assert_eq!(failure.kind, FailureKind::OutputTooLarge);
        assert!(failure.content().is_empty());
    }
    let result = output().run_call_with(&call(), cap(OnOverflow::Truncate)).await;
    assert_eq!((result.value(), result.metadata().is_some()), (None, true));
    assert!(result.to_model_text().contains("[truncated: the first 300 of 500 bytes are shown]"));
    let result = failure().run_call_with(&call(), cap(OnOverflow::Truncate)).await;
    let failure = result.failure().unwrap();
    assert_eq!(failure.message, "no");
    assert!(matches!(failure.content().last(), Some(part) if part.as_text().unwrap().starts_with("[truncated: ")));
    assert!(result.to_model_text().len() < 450);
}

#[tokio::test]
async fn a_truncated_message_leaves_no_room_for_content() {
    let limits = ExecutionLimits::new()
        .output_cap(OutputCap::new(NonZeroUsize::new(300).unwrap()).on_overflow(OnOverflow::Truncate));
    let failure = ToolFailure::new("x", "m".repeat(400)).for_model(vec![ContentPart::text("c".repeat(50))]);
    let tool = failing(failure).with_limits(limits).unwrap();
    let result = Toolkit::from_iter([tool]).run_call(&call()).await;
    let failure = result.failure().unwrap();
    assert!(failure.message.contains("[truncated: the first 300 of 400 bytes are shown]"));
    assert_eq!(failure.content().len(), 1);
    assert!(failure.content()[0].as_text().unwrap().contains("1 of 1 parts are omitted"));
}

#[test]
fn outcomes_convert_to_results_and_back() {
    let output = ToolOutput::content_only(vec![picture()]);
    assert_eq!(Outcome::from(output.clone()).into_result(), Ok(output.clone()));
    assert_eq!(Outcome::from(Ok(output.clone())), output.into());
    let failure = ToolFailure::new("x", "no");
    assert_eq!(Outcome::from(Err(failure.clone())).into_result(), Err(failure));
}
