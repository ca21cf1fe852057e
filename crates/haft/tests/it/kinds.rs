//! Tools of every kind as types, in one toolkit.

use haft::run::{RunOptions, ToolCall};
use haft::tool::{DefinitionError, Failure, IntoTool, StaticTool, Tool, ToolType};
use haft::toolkit::Toolkit;
use haft::{JsonSchema, tool, toolkit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{run_in, value};

#[tool]
fn add(a: i32, b: i32) -> i32 {
    a.saturating_add(b)
}

/// Hand over to a person.
#[tool(signal, readonly, example = HandOver { reason: "stuck".into(), urgent: None })]
#[derive(Debug, PartialEq)]
pub(crate) struct HandOver {
    /// One sentence.
    #[schemars(length(min = 1))]
    reason: String,
    urgent: Option<bool>,
}

#[tool(signal, name = "done")]
struct AllDone;

/// Rates the answer.
#[tool(signal)]
#[derive(Debug, PartialEq)]
enum Rate {
    Good,
    Bad { reason: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Chosen {
    account: String,
}

/// Asks the user.
#[tool(interaction, success = Chosen, approval = |ask: AskUser, _cx| async move { ask.accounts.is_empty() })]
struct AskUser {
    accounts: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Hit {
    url: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Failure)]
#[failure(message = "too many searches")]
struct SearchError {
    code: String,
}

/// Searches the web.
#[tool(
    provider = "vendor.web_search_20250305",
    provider_name = "web_search",
    params = Vec<String>,
    success = Vec<Hit>,
    failure = SearchError,
)]
#[derive(Debug, PartialEq)]
struct WebSearch {
    #[schemars(range(max = 10))]
    max_uses: Option<u32>,
    region: String,
}

#[tool(provider = "vendor.code_execution")]
struct CodeExecution;

/// Runs a command here.
#[tool(provider = "vendor.shell_2", provider_name = "shell", args = Chosen { account: "root".into() }, failure_mode = "return")]
fn shell(command: String) -> Result<String, String> {
    if command.is_empty() { Err("nothing to run".to_owned()) } else { Ok(format!("ran {command}")) }
}

fn search() -> WebSearch {
    WebSearch { max_uses: Some(3), region: "eu".to_owned() }
}

fn kit() -> Toolkit {
    toolkit![Add, HandOver, AllDone, Rate, AskUser, WebSearch = search(), CodeExecution, Shell]
}

#[test]
fn all_kinds_stand_in_one_toolkit() {
    let kit = kit();
    kit.ensure_runnable().unwrap();
    let names: Vec<_> = kit.names().collect();
    assert_eq!(names, ["add", "hand_over", "done", "rate", "ask_user", "web_search", "code_execution", "shell"]);
    let kinds: Vec<bool> = kit.iter().map(Tool::requires_handler).collect();
    assert_eq!(kinds, [true, false, false, false, false, false, false, true]);
}

#[test]
fn a_signal_is_described_closed_and_read_as_its_struct() {
    let tool = HandOver::tool().unwrap();
    assert!(tool.is_signal() && tool.is_type::<HandOver>());
    assert_eq!(tool.description(), Some("Hand over to a person."));
    assert_eq!(tool.json_schema()["properties"]["reason"]["description"], "One sentence.");
    assert_eq!(tool.examples().len(), 1);
    let read = |arguments: &str| tool.decode_args::<HandOver>(&ToolCall::new("c1", "hand_over", arguments));
    assert_eq!(read(r#"{"reason": "x"}"#).unwrap(), HandOver { reason: "x".into(), urgent: None });
    for wrong in [r#"{"reason": ""}"#, "{}", r#"{"reason": "x", "extra": 1}"#, "[]"] {
        assert_eq!(read(wrong).unwrap_err().kind.as_str(), "input_validation_error", "{wrong}");
    }
    let rate = Rate::tool().unwrap();
    let call = ToolCall::new("c1", "rate", r#"{"Bad": {"reason": "x"}}"#);
    assert_eq!(rate.decode_args::<Rate>(&call).unwrap(), Rate::Bad { reason: "x".into() });
    let done = AllDone::tool().unwrap();
    done.decode_args::<AllDone>(&ToolCall::new("c1", "done", "{}")).map(drop).unwrap();
}

#[tokio::test]
async fn an_interaction_declares_its_answer_and_keeps_its_policy() {
    let tool = AskUser::tool().unwrap();
    assert!(tool.is_interaction() && !tool.approval().is_never());
    let answer = |value: Value| tool.check_answer(&(&value).into());
    assert!(answer(json!({"account": "savings"})).is_ok());
    assert!(answer(json!("savings")).is_err());
    let signal = HandOver::tool().unwrap();
    assert!(signal.check_answer(&(&json!({"any": "thing"})).into()).is_ok(), "the loop answers with any value");
    let result = run_in(&kit(), "ask_user", json!({"accounts": ["a"]})).await;
    assert_eq!(result.failure().unwrap().kind.as_str(), "non_local_tool");
}

#[test]
fn the_fields_of_a_provider_tool_are_its_settings() {
    let kit = kit();
    let tool = kit.get(WebSearch::NAME).unwrap();
    let provider = tool.provider_definition().unwrap();
    assert_eq!((provider.id(), provider.provider_name()), ("vendor.web_search_20250305", "web_search"));
    assert_eq!(provider.args(), &json!({"max_uses": 3, "region": "eu"}));
    assert_eq!(provider.decode_args::<WebSearch>().unwrap(), search());
    assert_eq!(tool.json_schema()["type"], "array");
    let unset = WebSearch { max_uses: None, ..search() }.into_tool().unwrap();
    assert_eq!(unset.provider_definition().unwrap().args(), &json!({"region": "eu"}), "unset is left out");
    let bare = kit.get("code_execution").unwrap().provider_definition().unwrap();
    assert_eq!((bare.args(), bare.provider_name()), (&Value::Null, "code_execution"));
}

#[test]
fn invalid_settings_are_faults_of_the_toolkit() {
    let kit: Toolkit = toolkit![WebSearch { max_uses: Some(11), ..search() }];
    let error = kit.ensure_runnable().unwrap_err();
    assert!(error.to_string().contains("/max_uses"), "{error}");
    let error: DefinitionError = WebSearch { max_uses: Some(11), ..search() }.into_tool().unwrap_err();
    assert_eq!(error.tool, "web_search");
}

#[tokio::test]
async fn a_function_runs_the_calls_of_a_provider_tool() {
    let kit = kit();
    let tool = kit.get("shell").unwrap();
    assert!(tool.is_provider_defined() && tool.has_handler());
    assert_eq!(tool.provider_definition().unwrap().decode_args::<Chosen>().unwrap().account, "root");
    assert_eq!(value(&run_in(&kit, "shell", json!({"command": "ls"})).await), json!("ran ls"));
    let failed = kit.try_run_call(ToolCall::new("c1", "shell", r#"{"command": ""}"#), RunOptions::new()).await.unwrap();
    assert!(failed.is_failure);
    assert_eq!(kit.call(Shell { command: "ls".into() }).await.unwrap(), "ran ls");
}

#[test]
fn results_of_a_provider_are_read_as_the_declared_types() {
    use haft::conversation::{Item, ToolCallOutput};
    let call = |id: &str| Item::from(ToolCall::new(id, "web_search", "[]").executed_by_provider());
    let items = [
        call("good"),
        ToolCallOutput::new("good", r#"[{"url": "a"}]"#).into(),
        call("failed"),
        ToolCallOutput::new("failed", r#"{"code": "max_uses"}"#).error().into(),
        call("bad"),
        ToolCallOutput::new("bad", "a page").into(),
    ];
    let results = kit().provider_results(&items);
    assert_eq!(results[0].decode::<<WebSearch as ToolType>::Success>().unwrap(), [Hit { url: "a".into() }]);
    let details = results[1].failure().unwrap().details.as_ref().unwrap();
    assert_eq!(details.decode::<SearchError>().unwrap(), SearchError { code: "max_uses".into() });
    assert_eq!(results[2].failure().unwrap().kind.as_str(), "output_validation_error");
}
