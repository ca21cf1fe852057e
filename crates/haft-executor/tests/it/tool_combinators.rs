//! Changed copies of a tool: what changes, what stays, and what must not be left over.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use std::time::Duration;

use haft_core::{Annotation, Annotations, ContentPart, Destructive, Readonly, Strict, ToolCall};
use haft_executor::{
    ApprovalPolicy, Cx, DefinitionFault, Dependency, ExecutionLimits, FailureMode, ForwardCx, Lanes, NameFault,
    Permission, Tool,
};
use haft_schema::Schema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{failure, run, value};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Query {
    query: String,
}

#[derive(Debug, PartialEq)]
struct Owner(&'static str);
impl Annotation for Owner {}

fn web_search() -> Tool {
    Tool::provider("openai.web_search").custom_name("OpenAiWebSearch").with_args(()).define().unwrap()
}

fn local() -> Tool {
    Tool::new("local").params::<Query>().example(json!({"query": "x"})).handler(|q, _| async move { q.query }).unwrap()
}

fn faults(result: Result<Tool, haft_executor::DefinitionError>) -> Vec<DefinitionFault> {
    result.unwrap_err().faults
}

#[tokio::test]
async fn every_combinator_keeps_kind_and_id_and_does_not_change_the_original() {
    let source = include_str!("../../src/tool/combinator.rs");
    let names = source.lines().filter_map(|line| line.trim().strip_prefix("pub fn ")?.split(['(', '<']).next());
    let names: Vec<&str> = names.collect();
    assert!(names.len() >= 12, "{names:?}");
    let runnable = Tool::provider("v.t").params::<Query>().requires_handler().with_args(()).define().unwrap();
    for tool in [local(), Tool::dynamic("d").params::<Query>().define().unwrap(), runnable] {
        let before = tool.descriptor();
        for name in &names {
            let copy = combined(name, &tool).await;
            assert_eq!(copy.kind(), tool.kind(), "{name}");
            assert_eq!(copy.id() == tool.id(), *name != "with_id", "{name}");
            assert_eq!(*tool.descriptor(), *before, "{name} changed the original");
        }
    }
}

/// Returns a copy made by the named combinator, after checking the change.
async fn combined(name: &str, tool: &Tool) -> Tool {
    match name {
        "wrap" => tool
            .wrap(|request: haft_executor::Request, next: haft_executor::Next| async move { next.run(request).await }),
        "with_id" => {
            let copy = tool.with_id("other").unwrap();
            assert_eq!((copy.id().as_str(), copy.name()), ("other", tool.name()));
            assert_eq!(copy.descriptor().id, *copy.id());
            copy
        }
        "set_parameters" => {
            let copy = tool.set_parameters(Schema::of_params::<u8>().unwrap());
            assert_eq!(copy.json_schema()["type"], "integer");
            assert_eq!(copy.descriptor().input_schema.as_json(), copy.json_schema());
            assert!(copy.examples().is_empty() && copy.descriptor().examples.is_empty());
            copy
        }
        "set_success" => {
            let copy = tool.set_success(Schema::of_output::<bool>().unwrap());
            assert_eq!(copy.descriptor().output_schema.as_ref().unwrap().as_json(), &json!({"type": "boolean"}));
            copy
        }
        "set_failure" => {
            let copy = tool.set_failure(Schema::of_output::<bool>().unwrap());
            assert_eq!(copy.failure().as_json(), &json!({"type": "boolean"}));
            copy
        }
        "set_needs_approval" => {
            let copy = tool.set_needs_approval(ApprovalPolicy::always()).unwrap();
            assert!(copy.approval().is_always() && tool.approval().is_never());
            copy
        }
        "set_failure_mode" => {
            let copy = tool.set_failure_mode(FailureMode::Return).unwrap();
            assert_eq!((copy.failure_mode(), tool.failure_mode()), (FailureMode::Return, FailureMode::Error));
            copy
        }
        "add_dependency" => {
            let copy = tool.add_dependency::<Owner>().unwrap().add_dependency::<Owner>().unwrap();
            assert_eq!(copy.dependencies().len(), 1);
            assert!(copy.dependencies()[0].name().ends_with("Owner"));
            copy
        }
        "add_run_dependency" => {
            let copy = tool.add_run_dependency::<Owner>().unwrap().add_run_dependency::<Owner>().unwrap();
            assert_eq!(copy.dependencies(), [Dependency::per_run::<Owner>()]);
            copy
        }
        "with_name" => {
            let copy = tool.with_name("renamed").unwrap();
            assert_eq!((copy.name(), copy.descriptor().name.as_str()), ("renamed", "renamed"));
            copy
        }
        "with_limits" => {
            let copy = tool.with_limits(ExecutionLimits::new().timeout(Duration::from_secs(1))).unwrap();
            assert_eq!(copy.limits().timeout, Some(Duration::from_secs(1)));
            copy
        }
        other => match handled(other, tool).await {
            Some(copy) => copy,
            None => annotated(other, tool),
        },
    }
}

/// Returns a copy made by the named combinator of annotations.
fn annotated(name: &str, tool: &Tool) -> Tool {
    match name {
        "annotate" => {
            let copy = tool.annotate(Strict(true));
            assert_eq!((copy.strict(), copy.descriptor().strict), (Some(true), Some(true)));
            copy
        }
        "annotate_merge" => {
            let copy =
                tool.annotate(Readonly(true)).annotate_merge(Annotations::new().with(Owner("o")).with(Strict(false)));
            assert_eq!((copy.strict(), copy.annotations().readonly()), (Some(false), true));
            copy
        }
        "in_lane" => tool.in_lane(Lanes::new("one")).unwrap(),
        "guard" => tool.guard(|_: &Tool, _: &ToolCall, _: &Cx| Permission::Allowed),
        "canonical_argument" => tool.canonical_argument("", |written| Ok::<_, String>(written.to_owned())).unwrap(),
        other => panic!("the combinator {other} has no case here"),
    }
}

/// Returns a copy made by the named combinator of handlers, if it is one.
async fn handled(name: &str, tool: &Tool) -> Option<Tool> {
    Some(match name {
        "with_handler" => {
            let copy = tool.set_success(Schema::unknown()).with_handler(|_: Query, _| async { "dry" }).unwrap();
            assert_eq!(value(&copy, r#"{"query":"x"}"#).await, json!("dry"));
            copy
        }
        "try_with_handler" => {
            let copy = tool.try_with_handler(|_: Query, _| async { Err::<Value, _>("out of order") }).unwrap();
            assert_eq!(failure(&copy, r#"{"query":"x"}"#).await.message, "out of order");
            copy
        }
        "with_forward" => {
            let forward = |_: Tool, call: ToolCall, _: ForwardCx| async move { Ok(json!(call.arguments).into()) };
            let copy = tool.set_success(Schema::unknown()).with_forward(forward).unwrap();
            assert_eq!(value(&copy, r#"{"query":"x"}"#).await, json!(r#"{"query":"x"}"#));
            copy
        }
        _ => return None,
    })
}

#[tokio::test]
async fn replaced_parameters_are_enforced_before_the_handlers_type() {
    let tool = local().set_parameters(
        Schema::json(json!({"type": "object", "properties": {"query": {"type": "string", "maxLength": 2}}})).unwrap(),
    );
    assert_eq!(value(&tool, r#"{"query":"ok"}"#).await, json!("ok"));
    assert_eq!(failure(&tool, r#"{"query":"too long"}"#).await.issues.as_slice()[0].keyword, "maxLength");
    assert_eq!(failure(&tool, "{}").await.kind.as_str(), "input_validation_error", "the type still needs its key");
}

#[test]
fn a_replaced_raw_schema_keeps_nothing_of_the_old_one() {
    let raw = json!({"type": "object", "description": "Old.", "properties": {"a": {"type": "string"}}});
    let tool = Tool::dynamic("t").params_json(raw).define().unwrap();
    assert_eq!(tool.descriptor().description.as_deref(), Some("Old."));
    let new = tool.set_parameters(Schema::of_params::<Query>().unwrap());
    assert!(new.is_dynamic());
    assert_eq!(new.json_schema(), Schema::of_params::<Query>().unwrap().as_json());
    assert_eq!((new.description(), new.descriptor().description.as_deref()), (None, None));
}

#[tokio::test]
async fn replaced_results_are_enforced_and_drop_what_the_model_saw() {
    let tool = Tool::new("t")
        .to_model_output(|text: &String| [ContentPart::text(format!("seen {text}"))])
        .handler(|q: Query, _| async move { q.query })
        .unwrap();
    let seen = run(&tool, r#"{"query":"x"}"#).await;
    assert_eq!(seen.value().unwrap().as_str(), r#""x""#);
    assert_eq!(seen.to_call_output().output.to_string(), "seen x");
    let changed = tool.set_success(Schema::json(json!({"type": "string", "maxLength": 1})).unwrap());
    assert_eq!(run(&changed, r#"{"query":"x"}"#).await.to_call_output().output.to_string(), "x");
    assert_eq!(failure(&changed, r#"{"query":"xy"}"#).await.kind.as_str(), "output_validation_error");
}

#[test]
fn another_handler_changes_nothing_the_model_sees() {
    let send = local().annotate(Destructive(true));
    let dry = send.with_handler(|_: Value, _| async { "dry" }).unwrap();
    assert_eq!(serde_json::to_string(&*send.descriptor()).unwrap(), serde_json::to_string(&*dry.descriptor()).unwrap());
}

#[test]
fn renaming_a_provider_defined_tool_changes_its_custom_name_only() {
    let renamed = web_search().with_name("my__search").unwrap();
    assert_eq!((renamed.name(), renamed.id().as_str()), ("my__search", "openai.web_search"));
    assert_eq!(renamed.provider_definition(), web_search().provider_definition());
}

#[test]
fn combinators_reject_what_definitions_reject() {
    assert!(matches!(faults(local().with_name(""))[..], [DefinitionFault::Name(NameFault::Empty)]));
    let zero = ExecutionLimits::new().timeout(Duration::ZERO).idle_timeout(Duration::ZERO);
    assert!(matches!(
        faults(local().with_limits(zero))[..],
        [DefinitionFault::ZeroLimit("timeout"), DefinitionFault::ZeroLimit("idle_timeout")]
    ));
    let provider = web_search();
    let mode = faults(provider.set_failure_mode(FailureMode::Return));
    assert!(matches!(
        mode[..],
        [DefinitionFault::Unsupported { setting: "a failure mode", kind: "provider-executed" }]
    ));
    let handler = faults(provider.with_handler(|(), _| async {}));
    assert!(matches!(handler[..], [DefinitionFault::HandlerNotAllowed("provider-executed")]));
    let signal = Tool::signal("s").define().unwrap();
    assert!(matches!(
        faults(signal.with_handler(|(), _| async {}))[..],
        [DefinitionFault::HandlerNotAllowed("signal")]
    ));
}
