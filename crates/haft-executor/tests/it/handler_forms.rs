//! Every form a handler can take, and the result of each.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream;
use haft_core::{ContentPart, Readonly, ToolCall, ToolFailure};
use haft_executor::{
    BoxError, BuilderOf, Cancellation, Cx, DefinitionFault, Emitted, Failure, Handle, HandlerError, HandlerOutput,
    Needs, NoFailure, Outputs, RunOptions, Services, Tool, ToolType,
};
use haft_schema::{JsonText, Schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::running::{alone, failure, run, value, watch};

#[derive(Debug, Serialize, JsonSchema, thiserror::Error)]
#[error("busy")]
struct Busy {
    queue: u8,
}

impl Failure for Busy {
    fn message(&self) -> String {
        format!("{} before you", self.queue)
    }

    fn retryable(&self) -> bool {
        true
    }

    fn retry_after(&self) -> Option<Duration> {
        Some(Duration::from_secs(u64::from(self.queue)))
    }
}

// Plain values.

#[tokio::test]
async fn a_plain_value_is_the_result() {
    let tool = Tool::new("add").handler(|(a, b): (i32, i32), _| async move { a + b }).unwrap();
    assert_eq!(value(&tool, "[1,2]").await, json!(3));
    assert_eq!(tool.success().as_json()["type"], "integer");
}

#[tokio::test]
async fn parameters_given_first_give_the_closure_its_type() {
    let tool = Tool::new("t").params::<Vec<String>>().handler(|words, _| async move { words.concat() }).unwrap();
    assert_eq!(value(&tool, r#"["a","b"]"#).await, json!("ab"));
}

#[tokio::test]
async fn an_explicit_success_schema_wins_over_the_handlers_type() {
    let schema = json!({"type": "integer", "maximum": 5});
    let tool =
        Tool::new("t").success_schema(Schema::json(schema.clone()).unwrap()).handler(|n: u8, _| async move { n });
    let tool = tool.unwrap();
    assert_eq!(tool.success().as_json(), &schema);
    assert_eq!(value(&tool, "5").await, json!(5));
    assert_eq!(failure(&tool, "6").await.kind.as_str(), "output_validation_error");
}

#[test]
fn a_result_type_where_a_value_is_expected_is_a_fault() {
    let error = Tool::new("t").handler(|(), _| async { Ok::<u8, String>(1) }).unwrap_err();
    assert!(matches!(error.faults[..], [DefinitionFault::ReturnsResult]));
    assert!(error.to_string().contains("use `try_handler`"));
    assert!(Tool::new("t").blocking_handler(|(), _| Err::<u8, String>(String::new())).is_err());
    assert!(Tool::dynamic("t").handler(|_: Value, _| async { Ok::<u8, u8>(1) }).is_err());
    let tool = Tool::new("t").handler(|(), _| async { 1 }).unwrap();
    assert!(tool.with_handler(|(), _| async { Ok::<u8, u8>(1) }).is_err());
}

// Failures.

#[tokio::test]
async fn a_declared_failure_is_encoded_and_keeps_its_advice() {
    let tool = Tool::new("t")
        .try_handler(|n: u8, _| async move { if n > 3 { Err(Busy { queue: n }) } else { Ok(n) } })
        .unwrap();
    assert_eq!(value(&tool, "3").await, json!(3));
    let failure = failure(&tool, "4").await;
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("tool_failed", "4 before you"));
    assert_eq!(failure.details.as_ref().unwrap().to_value(), json!({"queue": 4}));
    assert_eq!((failure.retryable, failure.retry_after), (true, Some(Duration::from_secs(4))));
    assert!(failure.started);
    assert_eq!(tool.failure().as_json()["required"], json!(["queue"]));
}

#[tokio::test]
async fn plain_text_is_a_declared_failure() {
    let owned = Tool::new("t").try_handler(|(), _| async { Err::<(), _>(String::from("owned")) }).unwrap();
    let fixed = Tool::new("t").try_handler(|(), _| async { Err::<(), _>("fixed") }).unwrap();
    let either = Tool::new("t").try_handler(|(), _| async { Err::<(), _>(Cow::from("either")) }).unwrap();
    for (tool, text) in [(owned, "owned"), (fixed, "fixed"), (either, "either")] {
        let failure = failure(&tool, "{}").await;
        assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("tool_failed", text));
        assert_eq!(failure.details.unwrap().to_value(), json!(text));
        assert!(!failure.retryable);
    }
}

#[tokio::test]
async fn a_failure_that_breaks_its_schema_is_a_fault_of_the_tool() {
    let tool = Tool::new("t")
        .failure_schema(Schema::json(json!({"type": "integer"})).unwrap())
        .try_handler(|(), _| async { Err::<(), _>("text") })
        .unwrap();
    assert_eq!(failure(&tool, "{}").await.kind.as_str(), "output_validation_error");
}

#[tokio::test]
async fn an_opaque_error_is_kept_from_the_model() {
    let tool = Tool::new("t")
        .try_handler_opaque(|(), _| async { Err::<(), _>(std::io::Error::other("password is hunter2")) })
        .unwrap();
    let result = run(&tool, "{}").await;
    let failure = result.failure().unwrap();
    assert_eq!(
        (failure.kind.as_str(), failure.message.as_str()),
        ("execution_error", "the tool failed with an internal error; only its operator can see the cause")
    );
    assert!(failure.started && failure.details.is_none());
    assert_eq!(failure.source().unwrap().to_string(), "password is hunter2");
    let sent = format!("{} {}", serde_json::to_string(&result).unwrap(), result.to_call_output().output);
    assert!(!sent.contains("hunter2"));
    assert_eq!(tool.failure().as_json(), &json!(false));
}

#[tokio::test]
async fn opaque_errors_come_in_any_form() {
    let boxed = Tool::new("t").try_handler_opaque(|(), _| async { Err::<(), BoxError>("boxed".into()) }).unwrap();
    let text = Tool::new("t").try_handler_opaque(|(), _| async { Err::<(), _>("text") }).unwrap();
    for (tool, cause) in [(boxed, "boxed"), (text, "text")] {
        assert_eq!(failure(&tool, "{}").await.source().unwrap().to_string(), cause);
    }
}

#[tokio::test]
async fn a_handler_can_create_the_failure_itself() {
    let tool = Tool::new("t")
        .try_handler_opaque(|(), _| async {
            Err::<(), _>(ToolFailure::new("out_of_stock", "none left").cause("shelf 7"))
        })
        .unwrap();
    let failure = failure(&tool, "{}").await;
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("out_of_stock", "none left"));
    assert_eq!(failure.source().unwrap().to_string(), "shelf 7");
}

#[tokio::test]
async fn a_handler_can_have_both_kinds_of_error() {
    let tool = Tool::new("t")
        .try_handler_mixed(|text: String, _| async move {
            let number: u8 = text.parse()?;
            match number {
                0 => Err(Busy { queue: 0 })?,
                1 => Err(HandlerError::Declared(Busy { queue: 1 })),
                2 => Err(HandlerError::opaque("plain text")),
                _ => Ok(number),
            }
        })
        .unwrap();
    assert_eq!(value(&tool, r#""7""#).await, json!(7));
    assert_eq!(failure(&tool, r#""x""#).await.kind.as_str(), "execution_error");
    assert_eq!(failure(&tool, r#""0""#).await.message, "0 before you", "`?` keeps the declared failure declared");
    assert_eq!(failure(&tool, r#""1""#).await.kind.as_str(), "tool_failed");
    assert_eq!(failure(&tool, r#""2""#).await.source().unwrap().to_string(), "plain text");
}

// Streams.

fn preliminary(value: Value) -> Emitted {
    Emitted::Preliminary(JsonText::from(value))
}

#[tokio::test]
async fn tagged_outputs_end_at_the_final_one() {
    let polled = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&polled);
    let tool = Tool::new("t")
        .stream_handler(move |n: u8, _| {
            let count = Arc::clone(&count);
            let steps = [
                HandlerOutput::Preliminary(n),
                HandlerOutput::Preliminary(n + 1),
                HandlerOutput::Final(n + 2),
                HandlerOutput::Final(n + 3),
            ];
            Outputs::<_, NoFailure>::new(stream::iter(steps.into_iter().inspect(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            })))
        })
        .unwrap();
    let (emitted, result) = watch(&tool, "1").await;
    assert_eq!(emitted, [preliminary(json!(1)), preliminary(json!(2))]);
    assert_eq!(result.value().unwrap().as_str(), "3");
    assert_eq!(polled.load(Ordering::SeqCst), 3, "nothing is polled after the final value");
}

#[tokio::test]
async fn the_last_of_plain_values_is_final() {
    let tool = Tool::new("t").stream_handler(|n: u8, _| Outputs::<_, NoFailure>::values(stream::iter(0..n))).unwrap();
    let (emitted, result) = watch(&tool, "3").await;
    assert_eq!(emitted, [preliminary(json!(0)), preliminary(json!(1))]);
    assert_eq!(result.value().unwrap().as_str(), "2");
    let (emitted, result) = watch(&tool, "1").await;
    assert!(emitted.is_empty());
    assert_eq!(result.value().unwrap().as_str(), "0");
}

#[tokio::test]
async fn a_stream_without_a_final_value_is_an_error() {
    let empty = Tool::new("t").stream_handler(|(), _| Outputs::<u8>::values(stream::empty())).unwrap();
    let unfinished = Tool::new("t")
        .stream_handler(|(), _| Outputs::<_, NoFailure>::new(stream::iter([HandlerOutput::Preliminary(1)])))
        .unwrap();
    for tool in [empty, unfinished] {
        let failure = failure(&tool, "{}").await;
        assert_eq!(failure.kind.as_str(), "execution_error");
        assert!(failure.source().unwrap().to_string().contains("without a final value"));
    }
}

#[tokio::test]
async fn a_stream_may_fail_after_preliminaries() {
    let tagged = Tool::new("t")
        .stream_handler(|(), _| {
            Outputs::try_new(stream::iter([Ok(HandlerOutput::Preliminary(1)), Err(Busy { queue: 2 })]))
        })
        .unwrap();
    let values = Tool::new("t")
        .stream_handler(|(), _| Outputs::try_values(stream::iter([Ok(1), Ok(2), Err(Busy { queue: 2 })])))
        .unwrap();
    for tool in [tagged, values] {
        let (emitted, result) = watch(&tool, "{}").await;
        assert_eq!(emitted, [preliminary(json!(1))]);
        assert_eq!(result.failure().unwrap().message, "2 before you");
    }
}

#[tokio::test]
async fn preliminaries_are_encoded_by_the_success_schema() {
    let by_stream = Tool::new("t")
        .success_schema(Schema::json(json!({"maximum": 5})).unwrap())
        .stream_handler(|n: u8, _| Outputs::<_, NoFailure>::values(stream::iter([n, 1])))
        .unwrap();
    let by_hand = Tool::new("t")
        .success_schema(Schema::json(json!({"maximum": 5})).unwrap())
        .try_handler_mixed(|n: u8, cx: Cx| async move {
            cx.preliminary(n).await?;
            Ok::<_, HandlerError>(1)
        })
        .unwrap();
    for tool in [by_stream, by_hand] {
        let (emitted, result) = watch(&tool, "5").await;
        assert_eq!((emitted, result.is_ok()), (vec![preliminary(json!(5))], true));
        let (emitted, result) = watch(&tool, "6").await;
        assert!(emitted.is_empty());
        assert_eq!(result.failure().unwrap().kind.as_str(), "output_validation_error");
    }
}

// Blocking.

#[tokio::test]
async fn blocking_handlers_run_elsewhere() {
    let here = std::thread::current().id();
    let tool = Tool::new("t").blocking_handler(move |(), _| std::thread::current().id() != here).unwrap();
    assert_eq!(value(&tool, "{}").await, json!(true));
    let failing = Tool::new("t").try_blocking_handler(|n: u8, _| if n == 0 { Err("zero") } else { Ok(n) }).unwrap();
    assert_eq!(value(&failing, "1").await, json!(1));
    assert_eq!(failure(&failing, "0").await.message, "zero");
    let mixed = Tool::new("t").try_blocking_handler_mixed(|t: String, _| Ok::<u8, HandlerError>(t.parse()?)).unwrap();
    assert_eq!(failure(&mixed, r#""x""#).await.kind.as_str(), "execution_error");
}

#[test]
fn a_blocking_handler_without_a_runtime_is_an_error_and_no_panic() {
    let tool = Tool::new("t").blocking_handler(|(), _| 1).unwrap();
    let failure = futures_util::FutureExt::now_or_never(failure(&tool, "{}")).unwrap();
    assert_eq!(failure.kind.as_str(), "execution_error");
    assert!(failure.source().unwrap().to_string().contains("runtime"));
}

#[tokio::test]
async fn a_panic_of_a_blocking_handler_is_the_failure_of_its_call() {
    let tool = Tool::new("t").blocking_handler(|(), _| -> u8 { panic!("on the other thread") }).unwrap();
    let failure = failure(&tool, "{}").await;
    assert_eq!((failure.kind.as_str(), failure.started), ("execution_error", true));
    assert_eq!(Error::source(&failure).unwrap().to_string(), "panicked: on the other thread");
}

// The model's view.

#[tokio::test]
async fn the_model_may_see_another_rendering() {
    let tool = Tool::new("t")
        .to_model_output(|rows: &Vec<u8>| [ContentPart::text(format!("{} rows", rows.len()))])
        .handler(|n: u8, _| async move { vec![7_u8; usize::from(n)] })
        .unwrap();
    let result = run(&tool, "3").await;
    assert_eq!(result.value().unwrap().as_str(), "[7,7,7]");
    assert_eq!(result.to_call_output().output.to_string(), "3 rows");
}

#[test]
fn a_rendering_of_another_type_is_a_fault() {
    let render = |rows: &Vec<u8>| [ContentPart::text(format!("{} rows", rows.len()))];
    let error = Tool::new("t").to_model_output(render).handler(|(), _| async { 1_u8 }).unwrap_err();
    assert!(matches!(error.faults[..], [DefinitionFault::ModelOutputType { returns: "u8", .. }]));
    let tool = Tool::new("t").to_model_output(render).handler(|(), _| async { vec![1_u8] }).unwrap();
    assert!(tool.with_handler(|(), _| async { vec![1_u16] }).is_err());
    assert!(tool.with_handler(|(), _| async { vec![2_u8] }).is_ok());
}

// Nothing runs before it is checked.

#[tokio::test]
async fn nothing_of_a_handler_runs_before_its_arguments_are_checked_and_approved() {
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let tool = Tool::new("t")
        .handler(move |n: u8, _| {
            count.fetch_add(1, Ordering::SeqCst);
            async move { n }
        })
        .unwrap();
    assert_eq!(failure(&tool, "300").await.kind.as_str(), "input_validation_error");
    let gated = tool.set_needs_approval(haft_executor::ApprovalPolicy::always()).unwrap();
    assert_eq!(failure(&gated, "3").await.kind.as_str(), "denied");
    let call = ToolCall::new("c1", "t", "3");
    let cancelled = Cancellation::new();
    cancelled.cancel();
    let result = alone(&tool).run_call_with(&call, RunOptions::new().cancellation(cancelled)).await;
    assert_eq!(result.failure().unwrap().kind.as_str(), "cancelled");
    drop(alone(&tool).run_call(&call));
    assert_eq!(started.load(Ordering::SeqCst), 0);
    assert_eq!(value(&tool, "3").await, json!(3));
    assert_eq!(started.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_without_a_local_handler_are_answered() {
    let call = |name: &str| ToolCall::new("c1", name, "{}");
    let provider = Tool::provider("v.p").with_args(()).define().unwrap();
    let local = Tool::new("l").handler(|(), _| async {}).unwrap();
    let others = [provider, Tool::signal("s").define().unwrap(), Tool::interaction("i").define().unwrap()];
    for tool in &others {
        assert_eq!(failure(tool, "{}").await.kind.as_str(), "non_local_tool", "{tool:?}");
    }
    let hosted = call("l").executed_by_provider();
    let result = alone(&local).run_call(&hosted).await;
    assert_eq!(result.failure().unwrap().kind.as_str(), "non_local_tool");
    let stray = call("m");
    let result = alone(&local).run_call(&stray).await;
    assert_eq!(result.failure().unwrap().kind.as_str(), "unknown_tool");
    assert_eq!((result.call_id.as_str(), result.tool.as_str()), ("c1", "m"));
}

// The context.

#[tokio::test]
async fn a_handler_knows_its_call_and_emits() {
    let tool = Tool::new("t")
        .try_handler_mixed(|(), cx: Cx| async move {
            cx.emit("looking").await?;
            cx.progress(1.0, 2.0, "half").await?;
            Ok::<_, HandlerError>(format!("{} {} {}", cx.call_id(), cx.tool_name(), cx.attempt()))
        })
        .unwrap();
    let (emitted, result) = watch(&tool, "{}").await;
    assert_eq!(result.value().unwrap().to_value(), json!("c1 t 1"));
    assert_eq!(emitted[0], Emitted::Progress(JsonText::from(json!("looking"))));
    assert_eq!(emitted.len(), 2);
}

#[tokio::test]
async fn every_missing_service_is_reported_before_anything_starts() {
    let tool = Tool::new("t").depends_on::<u8>().depends_on::<dyn Send>().handler(|(), _| async {}).unwrap();
    let missing = failure(&tool, "{}").await;
    assert_eq!((missing.kind.as_str(), missing.started), ("execution_error", false));
    let cause = missing.source().unwrap().to_string();
    assert!(cause.contains("u8") && cause.contains("dyn core::marker::Send"), "{cause}");
}

// Typed tools with state.

struct Multiply {
    by: i64,
}

impl ToolType for Multiply {
    const NAME: &'static str = "multiply";
    type Params = i64;
    type Success = i64;
    type Failure = String;
    type Services = (Needs<u8>,);

    fn definition(builder: BuilderOf<Self>) -> BuilderOf<Self> {
        builder.describe("Multiplies.").annotate(Readonly(true)).example(3)
    }
}

impl Handle for Multiply {
    async fn handle(&self, number: i64, cx: &Cx) -> Result<i64, HandlerError<String>> {
        let limit = i64::from(*cx.service::<u8>()?);
        let product = number.checked_mul(self.by).ok_or_else(|| HandlerError::opaque("overflow"))?;
        if product > limit {
            Err(HandlerError::Declared(format!("{product} is more than {limit}")))
        } else {
            Ok(product)
        }
    }
}

#[tokio::test]
async fn a_value_handles_the_calls_of_its_type() {
    let tool = Tool::from_handler(Multiply { by: 3 }).unwrap();
    assert_eq!((tool.name(), tool.description()), ("multiply", Some("Multiplies.")));
    assert!(tool.annotations().readonly() && tool.dependencies().len() == 1);
    let answer = async |arguments: &str| {
        let call = ToolCall::new("c1", "multiply", arguments);
        alone(&tool).run_call_with(&call, RunOptions::new().services(Services::new().with(100_u8))).await
    };
    assert_eq!(answer("5").await.value().unwrap().as_str(), "15");
    assert_eq!(answer("50").await.failure().unwrap().message, "150 is more than 100");
    assert_eq!(answer(&i64::MAX.to_string()).await.failure().unwrap().kind.as_str(), "execution_error");
}

#[tokio::test]
async fn a_handler_can_render_its_own_model_output() {
    let rows = json!({"type": "object", "required": ["rows"], "properties": {"rows": {"type": "integer"}}});
    let tool = Tool::dynamic("query")
        .success_json(rows)
        .handler(|rows: Value, _cx| async move {
            haft_core::ToolOutput::from(json!({ "rows": rows })).for_model(vec![ContentPart::text("a table")])
        })
        .unwrap();
    let result = run(&tool, "3").await;
    assert_eq!(result.value().unwrap().as_str(), r#"{"rows":3}"#);
    assert_eq!(result.to_call_output().output.to_string(), "a table");
    let wrong = failure(&tool, "\"three\"").await;
    assert_eq!(wrong.kind.as_str(), "output_validation_error");
    let message = "the tool returned an invalid result: /rows: must be an integer";
    assert_eq!(wrong.message, message);
}

#[tokio::test]
async fn a_provider_defined_tool_with_a_handler_has_no_parameters_and_no_result_by_default() {
    let ping = Tool::provider("openai.ping").requires_handler().with_args(()).handler(|(), _cx| async {}).unwrap();
    assert_eq!(value(&ping, "{}").await, json!(null));
    assert_eq!(value(&ping, "").await, json!(null));
    assert_eq!(failure(&ping, r#"{"command": "ls"}"#).await.kind.as_str(), "input_validation_error");
    let shell = Tool::provider("openai.local_shell").params::<Value>().success::<Value>().requires_handler();
    let shell = shell.with_args(()).handler(|arguments: Value, _cx| async move { arguments }).unwrap();
    assert_eq!(value(&shell, r#"{"command": "ls"}"#).await, json!({"command": "ls"}));
}

#[derive(Debug, serde::Deserialize, JsonSchema)]
struct Transfer {
    #[serde(default = "all_of_it", alias = "amount")]
    cents: u64,
}

fn all_of_it() -> u64 {
    1_000_000
}

/// The approved arguments are those that run.
#[tokio::test]
async fn a_policy_sees_the_arguments_that_the_handler_sees() {
    let policy = haft_executor::ApprovalPolicy::when(|transfer: Transfer, _cx| async move { transfer.cents > 10_000 });
    let tool = Tool::new("transfer")
        .needs_approval(policy)
        .handler(|transfer: Transfer, _cx| async move { transfer.cents })
        .unwrap();
    assert_eq!(failure(&tool, r#"{"amount": 5}"#).await.kind.as_str(), "denied");
    assert_eq!(value(&tool, r#"{"cents": 5}"#).await, json!(5));
}
