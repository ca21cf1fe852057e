//! Entries of the kind `command`, and their faults.

use haft_core::ToolCall;
use haft_executor::{Tool, Toolkit};
use haft_registry::{Entry, EntryError, ImplementationKind, ToolSettings, Yields};
use haft_tools::command::{CommandKind, CommandTool, StdinFormat};
use serde_json::{Value, json};

async fn build(settings: Value, parameters: Option<Value>) -> Result<Tool, EntryError> {
    let mut common = ToolSettings::default();
    common.parameters = parameters;
    let entry = Entry::new("run", settings).tool(common).folder(std::env::temp_dir());
    CommandKind::new().build(entry).await.map(|mut built| built.tools.remove(0))
}

async fn faults(settings: Value, parameters: Option<Value>) -> Vec<String> {
    build(settings, parameters).await.unwrap_err().faults.iter().map(|fault| fault.pointer.clone()).collect()
}

#[test]
fn the_kind_yields_one_tool() {
    let kind = CommandKind::new();
    assert_eq!((kind.name(), kind.yields()), ("command", Yields::OneTool));
}

#[test]
fn every_setting_is_described() {
    let schema = CommandKind::new().settings_schema();
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let expected = [
        "command",
        "env",
        "folder",
        "grace",
        "max-stderr",
        "max-stdout",
        "secret-env",
        "stderr",
        "stdin",
        "stdout",
        "success-codes",
    ];
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(sorted, expected.iter().collect::<Vec<_>>());
    for name in names {
        assert!(schema["properties"][name]["description"].as_str().is_some_and(|text| text.len() > 20), "{name}");
    }
}

#[tokio::test]
async fn an_entry_becomes_a_tool() {
    let settings = json!({
        "command": ["/bin/sh", "-c", "pwd; echo $A; exit 3", "--", "{x}"],
        "folder": ".", "env": {"A": "b"}, "success-codes": [0, 3], "max-stdout": 100, "max-stderr": 10, "grace": 0.5,
        "stdin": "none", "stdout": "text", "stderr": "model", "secret-env": {},
    });
    let tool = build(settings, None).await.unwrap();
    assert_eq!(tool.limits().timeout, Some(CommandTool::TIMEOUT));
    let expected = json!({
        "type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"], "additionalProperties": false,
    });
    assert_eq!(tool.json_schema(), &expected);
    let kit: Toolkit = Toolkit::new().with(tool).unwrap();
    let result = kit.run_call(&ToolCall::new("c1", "run", r#"{"x": "y"}"#)).await;
    let folder = std::env::temp_dir().canonicalize().unwrap();
    assert_eq!(result.to_model_text(), format!("{}\nb", folder.display()));
}

#[tokio::test]
async fn an_entry_without_a_folder_runs_in_that_of_the_process() {
    let built = CommandKind::new().build(Entry::new("run", json!({"command": ["pwd"]}))).await.unwrap();
    let kit: Toolkit = built.tools.into_iter().collect();
    let folder = std::env::current_dir().unwrap().canonicalize().unwrap();
    let result = kit.run_call(&ToolCall::new("c1", "run", "{}")).await;
    assert_eq!(result.to_model_text(), folder.display().to_string());
}

#[tokio::test]
async fn all_invalid_settings_are_reported() {
    let settings = json!({
        "command": "rg", "stdin": "yaml", "max-stdout": 0, "grace": -1, "success-codes": [], "env": {"A": 1}, "shell": true,
    });
    let mut pointers = faults(settings, None).await;
    pointers.sort();
    assert_eq!(pointers, ["/command", "/env/A", "/grace", "/max-stdout", "/shell", "/stdin", "/success-codes"]);
    assert_eq!(faults(json!({}), None).await.len(), 1);
}

#[tokio::test]
async fn all_faults_of_a_command_are_reported() {
    let settings = json!({
        "command": ["{program}", "-{x}", "{", "-o", "{y}"],
        "env": {"A=B": "1", "C": "\u{0}", "D/E": "", "HAFT_CALL_ID": ""},
        "secret-env": {"": "s", "D/E": "s"},
    });
    let parameters = json!({"type": "object", "properties": {"x": {}, "z": {}}});
    let expected = [
        "/command/0",
        "/command/1",
        "/command/2",
        "/env/A=B",
        "/env/C",
        "/env/HAFT_CALL_ID",
        "/secret-env/",
        "/secret-env/D~1E",
        "/command",
        "/command",
        "/parameters/properties/x",
        "/parameters/properties/z",
    ];
    assert_eq!(faults(settings, Some(parameters)).await, expected);
}

#[tokio::test]
async fn a_variable_must_be_a_parameter() {
    let of =
        |command: Value, parameters: Value| async move { faults(json!({"command": command}), Some(parameters)).await };
    assert_eq!(of(json!(["p", "{x}"]), json!({"type": "object"})).await, ["/command"]);
    assert_eq!(of(json!(["p", "{x}"]), json!({"type": "object", "additionalProperties": true})).await, ["/command"]);
    let optional = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    assert_eq!(of(json!(["p", "-o", "{x}"]), optional.clone()).await, ["/command"]);
    assert!(build(json!({"command": ["p", "-o", "--", "{x}"]}), Some(optional.clone())).await.is_ok());
    assert!(build(json!({"command": ["p", "--o={x}"]}), Some(optional)).await.is_ok());
}

#[tokio::test]
async fn an_invalid_definition_is_reported_with_the_faults_of_the_command() {
    let parameters = Some(json!({"type": 7}));
    assert_eq!(faults(json!({"command": ["p", "{"]}), parameters).await, ["/command/1", "/parameters/type"]);
}

#[test]
fn a_tool_keeps_its_own_timeout() {
    let limits = haft_executor::ExecutionLimits::new().timeout(std::time::Duration::from_secs(1));
    let builder = || Tool::new("run").params::<serde_json::Map<String, Value>>();
    let command = || CommandTool::new(["true"]).stdin(StdinFormat::Json);
    let tool = command().build(builder().limits(limits)).unwrap();
    assert_eq!(tool.limits().timeout.unwrap().as_secs(), 1);
    assert_eq!(command().build(builder()).unwrap().limits().timeout, Some(CommandTool::TIMEOUT));
}

#[tokio::test]
async fn secrets_are_reported() {
    let settings = json!({"command": ["true"], "secret-env": {"TOKEN": "github", "KEY": "mail"}});
    let built = CommandKind::new().build(Entry::new("run", settings)).await.unwrap();
    assert_eq!(built.reach.secret_names().into_iter().collect::<Vec<_>>(), ["github", "mail"]);
}
