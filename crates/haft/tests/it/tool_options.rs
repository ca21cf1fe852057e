//! `#[tool(…)]`: every argument.

use std::num::NonZeroUsize;
use std::time::Duration;

use haft::approval::{ApprovalCx, ApprovalPolicy};
use haft::run::ToolCall;
use haft::tool::{
    Annotation, Concurrency, EmitBuffer, ExecutionLimits, FailureMode, OnOverflow, OutputCap, StaticTool, Tool,
};
use haft::{JsonSchema, tool};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Debug, PartialEq)]
struct Cost(u32);

impl Annotation for Cost {}

#[derive(Debug, PartialEq)]
struct Team(&'static str);

impl Annotation for Team {}

const CAP: usize = 1024;

/// Not what the model reads.
#[tool(
    name = "bank/transfer",
    title = "Transfer money",
    description = "Moves money.",
    type = TransferMoney,
    readonly = false,
    destructive = true,
    idempotent,
    open_world = false,
    strict,
    meta = {"vendor/limit": 5, "tags": ["a", "b"]},
    annotate(Cost(3), Team("bank")),
    example = json!({"cents": 5}),
    example = TransferMoney { cents: 7 },
    approval = |params, cx| async move { params.cents > 10 && cx.call_id == "c1" },
    failure_mode = "return",
    timeout = "30s",
    idle_timeout = "500ms",
    concurrency = 2,
    emit_buffer = 8,
    output_cap = 64 * CAP,
    overflow = "truncate",
)]
async fn transfer(cents: u64) -> u64 {
    tokio::task::yield_now().await;
    cents
}

fn limit(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

async fn needs_approval(tool: &Tool, arguments: Value) -> bool {
    let cx = ApprovalCx::new(&ToolCall::new("c1", "t", "{}"));
    tool.approval().needs_approval(&arguments, cx).await.is_needed()
}

#[test]
fn texts_hints_and_annotations_are_set() {
    let tool = TransferMoney::tool().unwrap();
    assert_eq!((tool.name(), tool.description()), ("bank/transfer", Some("Moves money.")));
    let annotations = tool.annotations();
    assert_eq!(annotations.title(), Some("Transfer money"));
    assert!(!annotations.readonly() && annotations.destructive());
    assert!(annotations.idempotent() && !annotations.open_world());
    assert_eq!(annotations.strict(), Some(true));
    assert_eq!(annotations.get::<tool::Meta>().unwrap().0["vendor/limit"], 5);
    assert_eq!((annotations.get(), annotations.get()), (Some(&Cost(3)), Some(&Team("bank"))));
}

#[test]
fn examples_keep_their_order() {
    assert_eq!(TransferMoney::tool().unwrap().examples(), [json!({"cents": 5}), json!({"cents": 7})]);
}

#[test]
fn limits_and_modes_are_set() {
    let tool = TransferMoney::tool().unwrap();
    assert_eq!(tool.failure_mode(), FailureMode::Return);
    let limits = ExecutionLimits::new()
        .timeout(Duration::from_secs(30))
        .idle_timeout(Duration::from_millis(500))
        .concurrency(Concurrency::Max(limit(2)))
        .emit_buffer(EmitBuffer::Bounded(limit(8)))
        .output_cap(OutputCap::new(limit(65536)).on_overflow(OnOverflow::Truncate));
    assert_eq!(tool.limits(), &limits);
}

#[tokio::test]
async fn a_closure_decides_on_approval() {
    let tool = TransferMoney::tool().unwrap();
    assert!(needs_approval(&tool, json!({"cents": 11})).await);
    assert!(!needs_approval(&tool, json!({"cents": 10})).await);
}

#[tool(
    concurrency = "exclusive",
    emit_buffer = "unbounded",
    approval = "always",
    failure_mode = "error",
    strict = false
)]
fn alone() {}

#[tool(concurrency(key = "disk"), approval = "never", output_cap = 10, description = "", meta = own_meta())]
/// Overridden by an empty text.
fn keyed() {}

#[tool(concurrency = "shared", approval = policy(), meta = json!({"a": null}))]
fn shared(#[params] n: u8) -> u8 {
    n
}

#[tool(approval = needs_a_look)]
fn by_path(#[params] request: Request) -> u8 {
    request.n
}

#[derive(Deserialize, JsonSchema)]
struct Request {
    n: u8,
}

async fn needs_a_look(request: Request, cx: ApprovalCx) -> bool {
    tokio::task::yield_now().await;
    request.n > 3 && cx.messages.is_empty()
}

fn own_meta() -> Map<String, Value> {
    Map::from_iter([("own".to_owned(), json!(true))])
}

fn policy() -> ApprovalPolicy {
    ApprovalPolicy::when(|n: u8, _| async move { n > 3 })
}

#[tokio::test]
async fn the_other_forms_are_applied() {
    let alone = Alone::tool().unwrap();
    assert_eq!(alone.limits().concurrency, Concurrency::Exclusive);
    assert_eq!(alone.limits().emit_buffer, EmitBuffer::Unbounded);
    assert!(alone.approval().is_always());
    assert_eq!((alone.failure_mode(), alone.annotations().strict()), (FailureMode::Error, Some(false)));

    let keyed = Keyed::tool().unwrap();
    assert_eq!(keyed.limits().concurrency, Concurrency::Keyed("disk".to_owned()));
    assert_eq!(keyed.limits().output_cap, Some(OutputCap::new(limit(10))));
    assert_eq!(keyed.description(), Some(""));
    assert!(keyed.approval().is_never());
    assert_eq!(keyed.annotations().get::<tool::Meta>().unwrap().0, own_meta());

    let shared = Shared::tool().unwrap();
    assert_eq!(shared.limits().concurrency, Concurrency::Shared);
    assert_eq!(shared.annotations().get::<tool::Meta>().unwrap().0["a"], Value::Null);
    assert!(needs_approval(&shared, json!(4)).await && !needs_approval(&shared, json!(3)).await);

    let by_path = ByPath::tool().unwrap();
    assert!(needs_approval(&by_path, json!({"n": 4})).await && !needs_approval(&by_path, json!({"n": 3})).await);
}

#[tool]
fn plain() {}

#[test]
fn unspecified_options_are_unset() {
    let tool = Plain::tool().unwrap();
    assert!(tool.annotations().is_empty() && tool.examples().is_empty());
    assert_eq!(tool.limits(), &ExecutionLimits::new());
    assert!(tool.approval().is_never());
}

#[tool(example = json!({"n": "three"}))]
fn wrong_example(n: u8) -> u8 {
    n
}

#[test]
fn an_invalid_example_is_a_fault_of_the_definition() {
    let error = WrongExample::tool().unwrap_err();
    assert!(error.to_string().contains("example 0"), "{error}");
    let kit: haft::toolkit::Toolkit = haft::toolkit![WrongExample];
    assert_eq!(kit.ensure_runnable().unwrap_err().faults.len(), 1);
}
