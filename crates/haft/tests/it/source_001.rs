//! Document 001: parameters of any shape.
//!
//! Most statements are shown by `flexible_parameters` in the core; what follows shows the rest through the facade, in
//! the order of the document. `statement` lists all of them.

mod statement;

use haft::approval::ApprovalPolicy;
use haft::run::{RunOptions, ToolCall};
use haft::tool::{Cx, FailureMode, Handle, HandlerError, NoFailure, Tool, ToolType};
use haft::toolkit::{Services, Toolkit};
use haft::{Failure, JsonSchema, tool, toolkit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{failure, run_tool, value};
use crate::source::{Document, Section, informative, normative};

const SECTIONS: &[Section] = &[
    normative("overview"),
    normative("1.1"),
    normative("1.2"),
    normative("2.1"),
    normative("2.2"),
    normative("2.3"),
    normative("3.1 A"),
    normative("3.1 B"),
    normative("3.1 C"),
    informative("3.1 D", "changes private functions of another library"),
    normative("3.1 E"),
    normative("3.1 F"),
    normative("3.1 G"),
    normative("3.1 H"),
    normative("3.2 A"),
    normative("3.2 B"),
    normative("3.2 C"),
    normative("3.3"),
    informative("3.4", "migrates definitions of another library"),
    informative("3.5", "migrates tests of another library"),
    informative("4", "lists files of another repository"),
    normative("5.1"),
    normative("5.2"),
    informative("6", "lists commands of another repository"),
    informative("7", "repeats the changes above as a list of tasks that are done"),
];

#[test]
fn every_statement_is_shown_or_has_a_reason() {
    Document { number: "001", sections: SECTIONS, statements: statement::STATEMENTS }.check();
}

async fn run(tool: &Tool, arguments: Value) -> haft::run::ToolResult {
    run_tool(tool, arguments, Services::new()).await
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Code {
    Python { code: String },
    Bash { bash: String },
}

// 1.1: success and failure are as free as parameters.

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Failure)]
enum Refusal {
    #[failure(message = "not in {0}")]
    Language(String),
    Locked,
}

#[tokio::test]
async fn successes_and_failures_are_of_any_type() {
    let union = Tool::new("t").handler(|code: Code, _cx| async move { code }).unwrap();
    assert_eq!(value(&run(&union, json!({"bash": "ls"})).await), json!({"bash": "ls"}));
    assert_eq!(union.success().as_json()["anyOf"].as_array().unwrap().len(), 2);
    let list = Tool::new("t").handler(|n: u8, _cx| async move { vec![n; 2] }).unwrap();
    assert_eq!(value(&run(&list, json!(3)).await), json!([3, 3]));
    let fails = Tool::new("t")
        .try_handler(|n: u8, _cx| async move {
            Err::<(), _>(if n == 0 { Refusal::Locked } else { Refusal::Language("rust".to_owned()) })
        })
        .unwrap();
    let declared = |result: &haft::run::ToolResult| result.failure().unwrap().details.clone().unwrap().to_value();
    assert_eq!(declared(&run(&fails, json!(0)).await), json!("Locked"));
    assert_eq!(declared(&run(&fails, json!(1)).await), json!({"Language": "rust"}));
    assert_eq!(failure(&run(&fails, json!(1)).await), ("tool_failed", "not in rust"));
    let text = Tool::new("t").try_handler(|(), _cx| async { Err::<(), _>("just text") }).unwrap();
    assert_eq!(failure(&run(&text, json!({})).await), ("tool_failed", "just text"));
}

// 3.1 B: the parameters of a tool's type.

struct Execute;

impl ToolType for Execute {
    const NAME: &'static str = "execute";
    type Params = Code;
    type Success = (u8, String);
    type Failure = NoFailure;
    type Services = ();
}

impl Handle for Execute {
    async fn handle(&self, code: Code, _cx: &Cx) -> Result<(u8, String), HandlerError> {
        Ok(match code {
            Code::Python { code } => (0, code),
            Code::Bash { bash } => (1, bash),
        })
    }
}

#[tokio::test]
async fn the_parameters_of_a_tools_type_are_any_type() {
    let kit: Toolkit = Toolkit::new().tool_from(Execute);
    let ran = kit.call_of::<Execute>(Code::Bash { bash: "ls".to_owned() }, RunOptions::new()).await.unwrap();
    assert_eq!(ran, (1, "ls".to_owned()));
    let call = ToolCall::new("c1", "execute", r#"{"code":"1+1"}"#);
    assert_eq!(value(&kit.run_call(&call).await), json!([0, "1+1"]));
}

// 3.1 C: policies.

#[tokio::test]
async fn a_policy_may_wait_before_it_decides_on_any_type() {
    let policy = ApprovalPolicy::when(|code: Vec<Code>, _cx| async move {
        tokio::task::yield_now().await;
        code.iter().any(|code| matches!(code, Code::Bash { .. }))
    });
    let tool = Tool::new("t").needs_approval(policy).handler(|_: Vec<Code>, _cx| async { "ran" }).unwrap();
    assert_eq!(value(&run(&tool, json!([{"code": "1"}])).await), json!("ran"));
    assert_eq!(failure(&run(&tool, json!([{"code": "1"}, {"bash": "rm"}])).await).0, "denied");
}

#[tokio::test]
async fn a_policy_may_return_a_plain_boolean() {
    let policy = ApprovalPolicy::when(|code: Code, _cx| matches!(code, Code::Bash { .. }));
    let tool = Tool::new("t").needs_approval(policy).handler(|_: Code, _cx| async { "ran" }).unwrap();
    assert_eq!(value(&run(&tool, json!({"code": "1"})).await), json!("ran"));
    assert_eq!(failure(&run(&tool, json!({"bash": "rm"})).await).0, "denied");
}

// 3.1 E: the options of a local tool.

struct Clock;

#[test]
fn every_option_of_a_local_tool_is_kept() {
    let tool = Tool::new("t")
        .describe("Does it.")
        .params::<Vec<Code>>()
        .success::<String>()
        .failure::<Refusal>()
        .failure_mode(FailureMode::Return)
        .depends_on::<Clock>()
        .needs_approval(ApprovalPolicy::always())
        .define()
        .unwrap();
    assert_eq!((tool.name(), tool.description()), ("t", Some("Does it.")));
    assert_eq!(tool.json_schema()["type"], "array");
    assert_eq!(tool.success().as_json(), &json!({"type": "string"}));
    assert!(tool.failure().as_json()["oneOf"].is_array(), "{}", tool.failure().as_json());
    assert_eq!(tool.failure_mode(), FailureMode::Return);
    assert_eq!(tool.dependencies().len(), 1);
    assert!(tool.approval().is_always());
}

// 3.1 H: definitions.

#[derive(Debug, Deserialize, JsonSchema)]
struct Tree {
    #[allow(dead_code, reason = "only its schema is read")]
    name: String,
    #[allow(dead_code, reason = "only its schema is read")]
    children: Vec<Tree>,
}

#[tokio::test]
async fn definitions_of_shared_and_recursive_types_are_part_of_the_schema() {
    let tool = Tool::new("t").handler(|trees: (Tree, Tree), _cx| async move { format!("{trees:?}").len() }).unwrap();
    let schema = tool.json_schema();
    assert_eq!(schema["$defs"]["Tree"]["type"], "object");
    assert_eq!(schema["$defs"]["Tree"]["properties"]["children"]["items"]["$ref"], "#/$defs/Tree");
    let leaf = json!({"name": "a", "children": []});
    assert!(run(&tool, json!([leaf, {"name": "b", "children": [leaf]}])).await.is_ok());
    let deep = run(&tool, json!([leaf, {"name": "b", "children": [{"name": 1, "children": []}]}])).await;
    assert_eq!(deep.failure().unwrap().issues.as_slice()[0].pointer, "/1/children/0/name");
    let single = Tool::new("t").params::<Tree>().define().unwrap();
    assert_eq!(single.json_schema()["required"], json!(["name", "children"]));
    assert_eq!(single.json_schema()["properties"]["children"]["items"]["$ref"], "#", "the root is not repeated");
}

// 3.2 B: the fields of a call.

#[test]
fn a_call_is_local_and_without_metadata_unless_it_says_otherwise() {
    let call: ToolCall =
        serde_json::from_value(json!({"call_id": "c1", "name": "t", "arguments": r#"[{"bash":"ls"}]"#})).unwrap();
    assert_eq!((call.call_id.as_str(), call.name.as_str()), ("c1", "t"));
    assert!(!call.provider_executed && call.metadata.is_empty());
    let arguments: Vec<Code> = serde_json::from_str(&call.arguments).unwrap();
    assert_eq!(arguments, [Code::Bash { bash: "ls".to_owned() }]);
    let remote = call.executed_by_provider();
    let read: ToolCall = serde_json::from_str(&serde_json::to_string(&remote).unwrap()).unwrap();
    assert!(read.provider_executed);
}

// 5: the examples of the document.

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Units {
    Celsius,
    Fahrenheit,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Weather {
    temperature: f64,
}

/// Runs a program.
#[tool]
fn code_execution(#[params] code: Code) -> String {
    match code {
        Code::Python { code } => format!("python {code}"),
        Code::Bash { bash } => format!("bash {bash}"),
    }
}

/// Current weather.
#[tool]
fn get_weather(location: String, units: Units) -> Weather {
    drop(location);
    Weather { temperature: if units == Units::Celsius { 20.0 } else { 68.0 } }
}

#[tokio::test]
async fn a_function_has_parameters_of_a_union_or_a_struct() {
    let kit: Toolkit = toolkit![CodeExecution, GetWeather];
    let ran = kit.run_call(&ToolCall::new("c1", "code_execution", r#"{"bash":"ls"}"#)).await;
    assert_eq!(value(&ran), json!("bash ls"));
    let sent = kit.descriptors()[0].input_schema.as_json().clone();
    assert_eq!(sent["anyOf"].as_array().unwrap().len(), 2, "a provider is sent the union");
    let weather = kit.get("get_weather").unwrap();
    assert_eq!(weather.json_schema()["required"], json!(["location", "units"]));
    assert!(weather.json_schema().to_string().contains(r#"["celsius","fahrenheit"]"#), "{}", weather.json_schema());
    let arguments = json!({"location": "Oslo", "units": "fahrenheit"});
    assert_eq!(value(&run(weather, arguments).await), json!({"temperature": 68.0}));
    let kelvin = json!({"location": "Oslo", "units": "kelvin"});
    assert_eq!(failure(&run(weather, kelvin).await).0, "input_validation_error");
}
