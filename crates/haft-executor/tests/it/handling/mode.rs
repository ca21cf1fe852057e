//! Failed calls as the calling code sees them: an error, or a value like any other.

use futures_util::StreamExt;
use haft_core::{Caller, FailureKind, ToolCall, ToolFailure};
use haft_executor::{
    ApprovalPolicy, Cx, DefinitionError, ExecutionLimits, Failure, FailureMode, FailureOrigin, HandlerError,
    HandlerResult, Permission, Permit, Permitting, RunOptions, Tool, Toolkit,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{MODES, in_mode, seconds};

#[derive(Serialize, JsonSchema)]
struct SoldOut {
    left: u8,
}

impl Failure for SoldOut {
    fn message(&self) -> String {
        format!("only {} left", self.left)
    }
}

/// Creates one tool for every way to fail.
fn tools() -> Vec<Result<Tool, DefinitionError>> {
    vec![
        Tool::new("fine").handler(|n: u8, _cx| async move { n }),
        Tool::new("declared").try_handler(|_: u8, _cx| async { Err::<(), _>(SoldOut { left: 2 }) }),
        Tool::new("undeclared").try_handler_opaque(|_: u8, _cx| async { Err::<(), _>("password is hunter2") }),
        Tool::new("own_kind").try_handler_mixed(|_: u8, _cx| async {
            let failure = ToolFailure::new("rate_limited", "the service is busy").retry_after(seconds(2));
            Err::<(), HandlerError>(HandlerError::opaque(failure))
        }),
        // A failure of another toolkit that is passed on.
        Tool::new("hands_on_refusal").try_handler_mixed(|_: u8, _cx| async {
            let failure = ToolFailure::new(FailureKind::InputValidationError, "the inner tool refused");
            Err::<(), HandlerError>(HandlerError::opaque(failure))
        }),
        Tool::new("hands_on_unknown").try_handler_mixed(|_: u8, _cx| async {
            Err::<(), HandlerError>(HandlerError::opaque(ToolFailure::new(FailureKind::UnknownTool, "no inner tool")))
        }),
        Tool::new("broken_result").success_json(json!({"type": "integer"})).handler(|_: u8, _cx| async { "text" }),
        Tool::new("panics").handler(|_: u8, cx: Cx| async move { assert!(cx.is_cancelled(), "hunter2") }),
        Tool::new("secret").handler(|n: u8, _cx| async move { n }),
        Tool::new("gated").needs_approval(ApprovalPolicy::always()).handler(|n: u8, _cx| async move { n }),
        Tool::new("slow")
            .limits(ExecutionLimits::new().timeout(seconds(1)))
            .handler(|_: u8, _cx| std::future::pending::<()>()),
    ]
}

fn kit(mode: FailureMode) -> Toolkit {
    tools().into_iter().map(|tool| in_mode(tool, mode).unwrap()).collect()
}

/// Returns options with a permit that hides only the secret tool.
fn options() -> RunOptions {
    RunOptions::new().permit(|tool: &Tool, _: &ToolCall, _: &Cx| match tool.name() {
        "secret" => Permission::denied("not for you"),
        _ => Permission::Allowed,
    })
}

struct Row {
    name: &'static str,
    arguments: &'static str,
    kind: &'static str,
    message: &'static str,
    origin: FailureOrigin,
    started: bool,
}

const fn row(
    (name, arguments): (&'static str, &'static str),
    (kind, message): (&'static str, &'static str),
    origin: FailureOrigin,
    started: bool,
) -> Row {
    Row { name, arguments, kind, message, origin, started }
}

const OPAQUE: &str = "the tool failed with an internal error; only its operator can see the cause";

const TABLE: [Row; 11] = [
    row(("declared", "1"), ("tool_failed", "only 2 left"), FailureOrigin::Handler, true),
    row(("undeclared", "1"), ("execution_error", OPAQUE), FailureOrigin::Handler, true),
    row(("own_kind", "1"), ("rate_limited", "the service is busy"), FailureOrigin::Handler, true),
    row(("hands_on_refusal", "1"), ("input_validation_error", "the inner tool refused"), FailureOrigin::Handler, true),
    row(("hands_on_unknown", "1"), ("unknown_tool", "no inner tool"), FailureOrigin::Handler, true),
    row(("fine", "300"), ("input_validation_error", "must be at most 255"), FailureOrigin::Parameters, false),
    row(("broken_result", "1"), ("output_validation_error", "must be an integer"), FailureOrigin::Result, true),
    row(("panics", "1"), ("execution_error", OPAQUE), FailureOrigin::Handler, true),
    row(("secret", "1"), ("permission_denied", "not for you"), FailureOrigin::Executor, false),
    row(
        ("gated", "1"),
        ("denied", "this call requires approval and no approver is configured"),
        FailureOrigin::Executor,
        false,
    ),
    row(("slow", "1"), ("timed_out", "the call took longer than 1s"), FailureOrigin::Executor, true),
];

/// Makes a call by `handle_with`, by `handle_stream`, and by `handle` where no option is needed.
async fn all_ways(kit: &Toolkit, call: &ToolCall) -> Vec<Result<HandlerResult, ToolFailure>> {
    let mut ways = vec![kit.try_run_call(call, options()).await];
    ways.extend(kit.try_run_call(call, options()).collect::<Vec<_>>().await);
    if call.name != "secret" {
        ways.push(kit.try_run_call(call, RunOptions::new()).await);
        ways.extend(kit.try_run_call(call, RunOptions::new()).collect::<Vec<_>>().await);
    }
    ways
}

fn check(failure: &ToolFailure, row: &Row) {
    let Row { name, kind, message, started, .. } = row;
    assert_eq!(failure.kind.as_str(), *kind, "{name}");
    assert!(failure.message.contains(message), "{name}: {}", failure.message);
    assert_eq!(failure.started, *started, "{name}");
    assert!(!failure.to_model_text().contains("hunter2"), "{name}");
}

#[tokio::test(start_paused = true)]
async fn in_mode_error_every_failure_is_an_error() {
    let kit = kit(FailureMode::Error);
    for row in &TABLE {
        let ways = all_ways(&kit, &ToolCall::new("c1", row.name, row.arguments)).await;
        assert!(ways.len() > 1, "{}", row.name);
        for way in ways {
            check(&way.unwrap_err(), row);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn in_mode_return_every_failure_is_a_value_with_its_origin() {
    let kit = kit(FailureMode::Return);
    for row in &TABLE {
        for way in all_ways(&kit, &ToolCall::new("c1", row.name, row.arguments)).await {
            let result = way.unwrap();
            assert!(result.is_failure && !result.preliminary, "{}", row.name);
            assert_eq!(result.failure_origin, Some(row.origin), "{}", row.name);
            assert_eq!(result.result.call_id, "c1");
            assert_eq!(result.result.tool, row.name);
            check(result.result.failure().unwrap(), row);
        }
    }
}

/// A declared failure is encoded by its own schema; every other as the text that the model reads.
#[tokio::test(start_paused = true)]
async fn a_returned_failure_is_encoded() {
    let kit = kit(FailureMode::Return);
    for row in &TABLE {
        let call = ToolCall::new("c1", row.name, row.arguments);
        let encoded = kit.try_run_call(&call, options()).await.unwrap().encoded.to_value();
        if row.name == "declared" {
            assert_eq!(encoded, json!({"left": 2}));
        } else {
            assert_eq!(encoded["error"]["kind"], row.kind);
            assert!(encoded["error"]["message"].as_str().unwrap().contains(row.message), "{encoded}");
        }
    }
    let busy = kit.try_run_call(ToolCall::new("c1", "own_kind", "1"), RunOptions::new()).await.unwrap();
    assert_eq!(busy.encoded.to_value()["error"]["retry_after_seconds"], 2.0);
}

#[tokio::test]
async fn a_success_is_the_same_in_both_modes() {
    for mode in MODES {
        let ways = all_ways(&kit(mode), &ToolCall::new("c1", "fine", "7")).await;
        assert_eq!(ways.len(), 4);
        for way in ways {
            let result = way.unwrap();
            assert!(!result.is_failure && !result.preliminary);
            assert_eq!(result.failure_origin, None);
            assert_eq!(result.encoded.as_str(), "7");
            assert_eq!(result.result.value().unwrap().as_str(), "7");
        }
    }
}

/// An unknown tool has no mode.
#[tokio::test]
async fn an_unknown_name_is_an_error_in_both_modes() {
    for mode in MODES {
        for way in all_ways(&kit(mode), &ToolCall::new("c1", "ghost", "1")).await {
            assert_eq!(way.unwrap_err().kind.as_str(), "unknown_tool");
        }
    }
}

/// A hidden tool is indistinguishable from one that does not exist.
#[tokio::test]
async fn a_hidden_tool_is_unknown_in_both_modes() {
    struct Blindfold;
    impl Permit for Blindfold {
        fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
            Permission::Allowed.into()
        }
        fn sees(&self, _: &Tool, _: Option<&Caller>) -> bool {
            false
        }
    }
    let hiding = RunOptions::new().permit(Blindfold);
    for mode in MODES {
        let hidden = kit(mode).try_run_call(ToolCall::new("c1", "secret", "1"), &hiding).await.unwrap_err();
        let absent = kit(mode).filter(|tool| tool.name() != "secret");
        let absent = absent.try_run_call(ToolCall::new("c1", "secret", "1"), &hiding).await.unwrap_err();
        assert_eq!(hidden, absent);
    }
}

#[tokio::test]
async fn every_problem_of_the_arguments_is_on_the_failure_in_both_modes() {
    let pair = || Tool::new("pair").handler(|_: (u8, String), _cx| async {});
    let call = ToolCall::new("c1", "pair", r#"["x",1]"#);
    for mode in MODES {
        let kit = Toolkit::from_iter([in_mode(pair(), mode).unwrap()]);
        let issues = match kit.try_run_call(&call, RunOptions::new()).await {
            Err(failure) => failure.issues,
            Ok(result) => result.result.failure().unwrap().issues.clone(),
        };
        assert_eq!(issues.iter().map(|issue| issue.pointer.as_str()).collect::<Vec<_>>(), ["/0", "/1"]);
    }
}

/// The mode also applies to middleware: here the same failure comes from one.
#[tokio::test]
async fn a_middlewares_failure_follows_the_mode() {
    let refuse = |_: haft_executor::Request, _: haft_executor::Next| async {
        ToolFailure::new("closed", "we are closed").into()
    };
    let call = ToolCall::new("c1", "fine", "1");
    let error = kit(FailureMode::Error).wrap(refuse).try_run_call(&call, RunOptions::new()).await.unwrap_err();
    assert_eq!((error.kind.as_str(), error.started), ("closed", false));
    let returned = kit(FailureMode::Return).wrap(refuse).try_run_call(&call, RunOptions::new()).await.unwrap();
    assert_eq!(returned.encoded.to_value(), json!({"error": {"kind": "closed", "message": "we are closed"}}));
    assert_eq!(returned.failure_origin, Some(FailureOrigin::Executor));
}

#[tokio::test]
async fn a_success_without_content_is_null() {
    let kit: Toolkit = Toolkit::from_iter([Tool::new("unit").handler(|(), _cx| async {}).unwrap()]);
    let result = kit.try_run_call(ToolCall::new("c1", "unit", ""), RunOptions::new()).await.unwrap();
    assert_eq!(result.encoded.to_value(), Value::Null);
}
