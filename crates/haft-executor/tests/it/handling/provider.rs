//! Provider-defined tools: run here if they require a handler, skipped otherwise.

use haft_core::ToolCall;
use haft_executor::{DefinitionError, DefinitionFault, FailureMode, FailureOrigin, RunOptions, Tool, Toolkit};
use serde_json::json;

use super::{MODES, in_mode, items};
use crate::executing::{calls, came, kit};

/// Creates a shell that the provider describes and the application runs.
fn shell(mode: FailureMode) -> Result<Tool, DefinitionError> {
    let factory = Tool::provider("vendor.shell")
        .custom_name("VendorShell")
        .provider_name("shell")
        .requires_handler()
        .args::<serde_json::Value>()
        .params::<Vec<String>>()
        .success::<String>()
        .failure::<String>();
    let tool = factory.with_args(json!({"os": "linux"})).try_handler(|command: Vec<String>, _cx| async move {
        if command.is_empty() { Err("nothing to run".to_owned()) } else { Ok(command.join(" ")) }
    });
    in_mode(tool, mode)
}

fn call(arguments: &str) -> ToolCall {
    ToolCall::new("c1", "VendorShell", arguments)
}

#[tokio::test]
async fn with_a_handler_a_success_is_returned_in_both_modes() {
    for mode in MODES {
        let kit = kit([shell(mode)]);
        let result = kit.try_run_call(call(r#"["ls","-l"]"#), RunOptions::new()).await.unwrap();
        assert_eq!(result.encoded.as_str(), "\"ls -l\"");
        assert_eq!(items(kit.try_run_call(call(r#"["ls"]"#), RunOptions::new())).await, ["final \"ls\""]);
    }
}

#[tokio::test]
async fn with_a_handler_a_failure_is_returned_in_mode_return() {
    let result = kit([shell(FailureMode::Return)]).try_run_call(call("[]"), RunOptions::new()).await.unwrap();
    assert!(result.is_failure);
    assert_eq!(result.failure_origin, Some(FailureOrigin::Handler));
    assert_eq!(result.encoded.as_str(), "\"nothing to run\"");
}

#[tokio::test]
async fn with_a_handler_a_failure_is_raised_in_mode_error() {
    let failure = kit([shell(FailureMode::Error)]).try_run_call(call("[]"), RunOptions::new()).await.unwrap_err();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("tool_failed", "nothing to run"));
}

#[tokio::test]
async fn with_a_handler_bad_parameters_are_rejected_by_the_mode() {
    let error = kit([shell(FailureMode::Error)]).try_run_call(call("[1]"), RunOptions::new()).await.unwrap_err();
    assert_eq!(error.kind.as_str(), "input_validation_error");
    let returned = kit([shell(FailureMode::Return)]).try_run_call(call("[1]"), RunOptions::new()).await.unwrap();
    assert_eq!(returned.failure_origin, Some(FailureOrigin::Parameters));
    assert!(!returned.result.failure().unwrap().started);
}

/// The provider answers such calls itself, with success or failure; here they are reported as such, and nothing runs.
#[tokio::test]
async fn without_a_handler_a_call_is_skipped() {
    let search = || Tool::provider("vendor.search").with_args(()).define();
    let kit = kit([search(), shell(FailureMode::Error)]);
    kit.ensure_runnable().unwrap();
    for call in [
        ToolCall::new("c1", "search", r#"{"query":"rust"}"#),
        ToolCall::new("c1", "search", r#"{"query":"rust"}"#).executed_by_provider(),
        call(r#"["ls"]"#).executed_by_provider(),
    ] {
        let failure = kit.try_run_call(&call, RunOptions::new()).await.unwrap_err();
        assert_eq!((failure.kind.as_str(), failure.started), ("non_local_tool", false));
        assert_eq!(items(kit.try_run_call(&call, RunOptions::new())).await, ["error non_local_tool"]);
        assert_eq!(came(&kit.run_call(&call).await), "non_local_tool");
    }
}

/// A mode determines what a failed call is to the code that runs it: a tool that is not run here has none.
#[test]
fn without_a_handler_there_is_no_mode_to_choose() {
    let search = Tool::provider("vendor.search").with_args(()).define().unwrap();
    let error = search.set_failure_mode(FailureMode::Return).unwrap_err();
    assert!(
        matches!(
            error.faults[..],
            [DefinitionFault::Unsupported { setting: "a failure mode", kind: "provider-executed" }]
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_required_handler_that_is_missing_is_reported_before_and_at_the_call() {
    let kit: Toolkit = kit([Tool::provider("vendor.shell").requires_handler().with_args(()).define()]);
    assert_eq!(kit.ensure_runnable().unwrap_err().missing_handlers, ["shell"]);
    let failure = kit.try_run_call(&calls([("shell", "{}")])[0], RunOptions::new()).await.unwrap_err();
    assert_eq!((failure.kind.as_str(), failure.started), ("execution_error", false));
    assert!(std::error::Error::source(&failure).unwrap().to_string().contains("has no handler"));
}
