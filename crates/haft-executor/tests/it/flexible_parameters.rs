//! Any Rust type is a parameter schema: structs, unions, arrays, maps, primitives, nothing.
//!
//! Other systems need a wrapper around loose fields. Here there is nothing to do: the type is the schema. The
//! same holds for the arguments of provider-defined tools, for approval policies, for replaced parameters and for the
//! arguments of a call.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use std::collections::BTreeMap;

use haft_core::ToolCall;
use haft_executor::{ApprovalPolicy, EmptyParams, Tool};
use haft_schema::Schema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{failure, value};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Code {
    Python { code: String },
    Bash { bash: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Command {
    View { path: String },
    Insert { path: String, line: u32 },
    Undo,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Weather {
    location: String,
    units: Units,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Units {
    Celsius,
    Fahrenheit,
}

/// Creates a tool that returns its arguments, as its type reads them.
fn echo<P>() -> Tool
where
    P: for<'de> Deserialize<'de> + Serialize + JsonSchema + Send + 'static,
{
    Tool::new("echo").handler(|params: P, _| async move { params }).unwrap()
}

fn closed_empty_object() -> Value {
    json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
}

#[tokio::test]
async fn an_untagged_union() {
    let tool = echo::<Code>();
    assert_eq!(tool.json_schema()["anyOf"].as_array().unwrap().len(), 2);
    assert_eq!(value(&tool, r#"{"code":"1+1"}"#).await, json!({"code": "1+1"}));
    assert_eq!(value(&tool, r#"{"bash":"ls"}"#).await, json!({"bash": "ls"}));
    assert_eq!(failure(&tool, r#"{"perl":"x"}"#).await.kind.as_str(), "input_validation_error");
}

#[tokio::test]
async fn a_tagged_union() {
    let tool = echo::<Command>();
    assert_eq!(value(&tool, r#"{"type":"insert","path":"a","line":3}"#).await["line"], 3);
    assert_eq!(value(&tool, r#"{"type":"undo"}"#).await, json!({"type": "undo"}));
    assert_eq!(failure(&tool, r#"{"type":"insert","path":"a"}"#).await.kind.as_str(), "input_validation_error");
}

#[tokio::test]
async fn a_struct() {
    let tool = echo::<Weather>();
    assert_eq!(tool.json_schema()["required"], json!(["location", "units"]));
    assert_eq!(value(&tool, r#"{"location":"Oslo","units":"celsius"}"#).await["location"], "Oslo");
    assert_eq!(failure(&tool, r#"["Oslo","celsius"]"#).await.kind.as_str(), "input_validation_error");
}

#[tokio::test]
async fn arrays_tuples_maps_and_primitives() {
    assert_eq!(value(&echo::<Vec<u8>>(), "[1,2]").await, json!([1, 2]));
    assert_eq!(value(&echo::<(String, bool)>(), r#"["a",true]"#).await, json!(["a", true]));
    assert_eq!(value(&echo::<BTreeMap<String, i32>>(), r#"{"a":-1}"#).await, json!({"a": -1}));
    assert_eq!(value(&echo::<String>(), r#""text""#).await, json!("text"));
    assert_eq!(value(&echo::<f64>(), "2.5").await, json!(2.5));
    assert_eq!(value(&echo::<bool>(), "true").await, json!(true));
    assert_eq!(value(&echo::<Option<u8>>(), "null").await, Value::Null);
    assert_eq!(failure(&echo::<Vec<u8>>(), "[1,300]").await.issues.as_slice()[0].pointer, "/1");
}

#[tokio::test]
async fn schemas_render_as_their_type() {
    assert_eq!(echo::<Vec<String>>().json_schema(), &json!({"type": "array", "items": {"type": "string"}}));
    assert_eq!(echo::<String>().json_schema(), &json!({"type": "string"}));
    assert_eq!(echo::<bool>().json_schema(), &json!({"type": "boolean"}));
    let map = echo::<BTreeMap<String, f64>>();
    assert_eq!(map.json_schema()["additionalProperties"]["type"], "number", "a map is never the empty object");
}

#[test]
fn the_unit_type_is_the_closed_empty_object() {
    #[derive(Deserialize, JsonSchema)]
    struct Braces {}
    #[derive(Deserialize, JsonSchema)]
    struct Unit;
    let tools = [
        Tool::new("t").define().unwrap(),
        Tool::new("t").params::<()>().define().unwrap(),
        Tool::new("t").params::<EmptyParams>().define().unwrap(),
        Tool::new("t").params::<Braces>().define().unwrap(),
        Tool::new("t").params::<Unit>().define().unwrap(),
        Tool::new("t").handler(|(), _| async {}).unwrap(),
        Tool::signal("t").define().unwrap(),
        Tool::interaction("t").define().unwrap(),
    ];
    for tool in tools {
        assert_eq!(tool.json_schema(), &closed_empty_object(), "{tool:?}");
    }
}

#[tokio::test]
async fn a_tool_without_parameters_accepts_blank_text_and_rejects_keys() {
    #[derive(Deserialize, JsonSchema)]
    struct Unit;
    let by_unit = Tool::new("t").handler(|(), _| async { 1 }).unwrap();
    let by_struct = Tool::new("t").handler(|_: EmptyParams, _| async { 1 }).unwrap();
    let by_unit_struct = Tool::new("t").handler(|_: Unit, _| async { 1 }).unwrap();
    for tool in [by_unit, by_struct, by_unit_struct] {
        for arguments in ["", "  \n", "{}"] {
            assert_eq!(value(&tool, arguments).await, json!(1), "{arguments:?}");
        }
        assert_eq!(failure(&tool, r#"{"x":1}"#).await.kind.as_str(), "input_validation_error");
    }
}

#[tokio::test]
async fn provider_defined_tools_accept_any_type_for_arguments_and_parameters() {
    let execute = Tool::provider("anthropic.code_execution_20250825")
        .custom_name("AnthropicCodeExecution")
        .provider_name("code_execution")
        .args::<Vec<String>>()
        .params::<Code>()
        .success::<String>()
        .requires_handler();
    let tool =
        execute.with_args(vec!["fast".to_owned()]).handler(|code: Code, _| async move { format!("{code:?}") }).unwrap();
    assert_eq!(tool.provider_definition().unwrap().args(), &json!(["fast"]));
    assert_eq!(value(&tool, r#"{"bash":"ls"}"#).await, json!(r#"Bash { bash: "ls" }"#));
    assert_eq!(failure(&tool, "[]").await.kind.as_str(), "input_validation_error");
}

#[tokio::test]
async fn an_approval_policy_reads_any_type() {
    let policy = ApprovalPolicy::when(|code: Code, _| async move { matches!(code, Code::Bash { .. }) });
    let tool = Tool::new("execute").needs_approval(policy).handler(|_: Code, _| async { "ran" }).unwrap();
    assert_eq!(value(&tool, r#"{"code":"1"}"#).await, json!("ran"));
    assert_eq!(failure(&tool, r#"{"bash":"rm"}"#).await.kind.as_str(), "denied");
}

#[tokio::test]
async fn replaced_parameters_may_be_of_any_shape() {
    let tool = Tool::new("t").handler(|value: Value, _| async move { value }).unwrap();
    let union = tool.set_parameters(Schema::of_params::<Code>().unwrap());
    assert_eq!(union.json_schema(), echo::<Code>().json_schema());
    assert_eq!(failure(&union, "3").await.kind.as_str(), "input_validation_error");
    let list = union.set_parameters(Schema::of_params::<Vec<u8>>().unwrap());
    assert_eq!(value(&list, "[3]").await, json!([3]));
}

#[test]
fn a_call_carries_arguments_of_any_shape() {
    let signal = Tool::signal("pick").params::<Vec<Code>>().define().unwrap();
    let picked: Vec<Code> = signal.decode_args(&ToolCall::new("c1", "pick", r#"[{"bash":"ls"}]"#)).unwrap();
    assert_eq!(picked, [Code::Bash { bash: "ls".into() }]);
}
