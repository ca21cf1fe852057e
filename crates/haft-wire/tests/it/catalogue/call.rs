//! Calls with all parameter forms, read by the tool's schema.

use std::fmt::Debug;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use haft_core::{ToolCall, ToolResult};
use haft_executor::{Tool, Toolkit};
use haft_schema::DecodeOptions;
use haft_wire::catalogue::anthropic::{
    self, BashCall, BrowserAction, CodeExecutionCall, CodeFileCommand, ComputerAction, MemoryCommand,
    TextEditorCommand, ToolQuery, WebFetchCall, WebSearchCall,
};
use haft_wire::catalogue::google::{self, ExecutableCode, GoogleComputerAction, GoogleEnvironment};
use haft_wire::catalogue::openai::{
    self, ComputerCall, InterpreterCall, InterpreterContainer, LocalShellAction, LocalShellCall, PatchCall,
    PatchOperation, PointerAction, ProgramCall, ShellCall, ToolSearchCall, WebSearchAction, WebSearchActivity,
};
use haft_wire::catalogue::{CatalogueSettings, CatalogueTool, ScreenResult, find};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Asserts that each call is read into the tool's type and written the same again.
fn assert_calls<S: CatalogueSettings<Params = P>, P: DeserializeOwned + Serialize + Debug>(
    tool: CatalogueTool<S>,
    calls: &[Value],
) -> Vec<P> {
    let tool = tool.define().unwrap();
    let read = |call: &Value| {
        let options = DecodeOptions::default();
        let decoded = tool.parameters().decode::<P>(&call.to_string(), &options);
        let params = decoded.unwrap_or_else(|issues| panic!("{call}: {issues}")).value;
        assert_eq!(serde_json::to_value(&params).unwrap(), *call);
        params
    };
    calls.iter().map(read).collect()
}

/// Asserts that each call is rejected.
fn assert_rejected<S: CatalogueSettings>(tool: CatalogueTool<S>, calls: &[Value]) {
    let tool = tool.define().unwrap();
    for call in calls {
        assert!(tool.parameters().check(call).is_err(), "{call}");
    }
}

pub(super) fn run(tool: Tool, arguments: &Value) -> ToolResult {
    let name = tool.name().to_owned();
    let kit: Toolkit = Toolkit::from_iter([tool]);
    let call = ToolCall::new("c1", name, arguments.to_string());
    let mut future = pin!(kit.run_call(&call));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
    }
}

#[test]
fn bash() {
    let calls = assert_calls::<_, BashCall>(anthropic::bash(), &[json!({"command": "ls"}), json!({"restart": true})]);
    assert_eq!((calls[0].command.as_deref(), calls[1].restart), (Some("ls"), Some(true)));
    assert_rejected(anthropic::bash(), &[json!({"command": 1}), json!([]), json!("ls")]);
}

#[test]
fn memory() {
    let calls = [
        json!({"command": "view", "path": "/memories", "view_range": [1, -1]}),
        json!({"command": "create", "path": "/memories/a", "file_text": "x"}),
        json!({"command": "str_replace", "path": "/memories/a", "old_str": "x", "new_str": "y"}),
        json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "y"}),
        json!({"command": "delete", "path": "/memories/a"}),
        json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}),
    ];
    let read = assert_calls::<_, MemoryCommand>(anthropic::memory(), &calls);
    assert!(matches!(&read[3], MemoryCommand::Insert { insert_text, .. } if insert_text == "y"));
    let wrong = [
        json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "new_str": "y"}),
        json!({"command": "undo_edit", "path": "/memories/a"}),
        json!({"command": "view", "path": "/memories", "view_range": [1]}),
        json!({"path": "/memories"}),
    ];
    assert_rejected(anthropic::memory(), &wrong);
}

#[test]
fn text_editor() {
    let calls = [
        json!({"command": "view", "path": "a"}),
        json!({"command": "view", "path": "a", "view_range": [2, -1]}),
        json!({"command": "create", "path": "a", "file_text": ""}),
        json!({"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}),
        json!({"command": "insert", "path": "a", "insert_line": 2, "insert_text": "y"}),
    ];
    assert_calls::<_, TextEditorCommand>(anthropic::text_editor(), &calls);
    // A replacement without new text removes the old one.
    let tool = anthropic::text_editor().define().unwrap();
    let removal = json!({"command": "str_replace", "path": "a", "old_str": "x"});
    let read: TextEditorCommand = tool.parameters().decode_value(&removal).unwrap();
    assert!(matches!(read, TextEditorCommand::StrReplace { new_str, .. } if new_str.is_empty()));
    let wrong = [
        json!({"command": "insert", "path": "a", "insert_line": 2, "new_str": "y"}),
        json!({"command": "insert", "path": "a", "insert_line": -1, "insert_text": "y"}),
        json!({"command": "undo_edit", "path": "a"}),
    ];
    assert_rejected(anthropic::text_editor(), &wrong);
}

#[test]
fn older_text_editors_have_their_own_commands() {
    let accepts = |id: &str, call: &Value| {
        let tool = find(id).unwrap().with_args(Value::Null).unwrap().define().unwrap();
        tool.parameters().check(call).is_ok()
    };
    let undo = json!({"command": "undo_edit", "path": "a"});
    let insert = json!({"command": "insert", "path": "a", "insert_line": 2, "new_str": "y"});
    for id in ["anthropic.text_editor_20241022", "anthropic.text_editor_20250124"] {
        assert!(accepts(id, &undo) && accepts(id, &insert), "{id}");
    }
    assert!(!accepts("anthropic.text_editor_20250429", &undo));
    assert!(accepts("anthropic.text_editor_20250429", &insert));
}

fn computer_actions() -> Vec<Value> {
    vec![
        json!({"action": "key", "text": "ctrl+s"}),
        json!({"action": "key", "text": "Down", "repeat": 3}),
        json!({"action": "hold_key", "text": "shift", "duration": 1.5}),
        json!({"action": "type", "text": "hello"}),
        json!({"action": "cursor_position"}),
        json!({"action": "mouse_move", "coordinate": [1, 2]}),
        json!({"action": "left_mouse_down"}),
        json!({"action": "left_mouse_up"}),
        json!({"action": "left_click", "coordinate": [1, 2], "text": "ctrl"}),
        json!({"action": "left_click"}),
        json!({"action": "right_click", "coordinate": [1, 2]}),
        json!({"action": "middle_click", "coordinate": [1, 2]}),
        json!({"action": "double_click", "coordinate": [1, 2]}),
        json!({"action": "triple_click", "coordinate": [1, 2]}),
        json!({"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4]}),
        json!({"action": "scroll", "scroll_direction": "down", "scroll_amount": 3, "coordinate": [1, 2]}),
        json!({"action": "wait", "duration": 2.0}),
        json!({"action": "screenshot"}),
        json!({"action": "zoom", "region": [0, 0, 10, 10]}),
    ]
}

#[test]
fn computer() {
    assert_calls::<_, ComputerAction>(anthropic::computer(1024, 768), &computer_actions());
    assert_calls::<_, ComputerAction>(anthropic::computer_toolset(), &computer_actions());
    let whole = json!({"action": "wait", "duration": 2});
    let tool = anthropic::computer(1024, 768).define().unwrap();
    assert_eq!(
        tool.parameters().decode_value::<ComputerAction>(&whole).unwrap(),
        ComputerAction::Wait { duration: 2.0 }
    );
    let wrong = [
        json!({"action": "mouse_move"}),
        json!({"action": "mouse_move", "coordinate": [1]}),
        json!({"action": "zoom", "region": [1, 2, 3]}),
        json!({"action": "scroll", "scroll_direction": "sideways", "scroll_amount": 1}),
        json!({"action": "explode"}),
        json!({}),
    ];
    assert_rejected(anthropic::computer(1024, 768), &wrong);
}

#[test]
fn every_function_of_a_toolset_has_an_action() {
    let entry = find("anthropic.computer_toolset_20260801").unwrap();
    let haft_wire::catalogue::CallForm::Functions(set) = entry.call else { panic!("a toolset has functions") };
    let mut actions: Vec<_> =
        computer_actions().iter().map(|call| call["action"].as_str().unwrap().to_owned()).collect();
    actions.sort();
    actions.dedup();
    assert_eq!(actions, set.names);
}

#[test]
fn older_computers_have_fewer_actions() {
    let accepts = |id: &str, action: &str| {
        let settings = json!({"display_width_px": 1, "display_height_px": 1});
        let tool = find(id).unwrap().with_args(settings).unwrap().define().unwrap();
        tool.parameters().check(&json!({"action": action})).is_ok()
    };
    assert!(accepts("anthropic.computer_use_20241022", "screenshot"));
    assert!(!accepts("anthropic.computer_use_20241022", "scroll"));
    assert!(accepts("anthropic.computer_20250124", "scroll"));
    assert!(!accepts("anthropic.computer_20250124", "zoom"));
}

#[test]
fn browser() {
    let calls = [json!({"action": "navigate", "url": "https://a.org"}), json!({"action": "list_tabs"})];
    let read = assert_calls::<_, BrowserAction>(anthropic::browser_toolset(), &calls);
    assert_eq!((read[0].action.as_str(), &read[0].arguments["url"]), ("navigate", &json!("https://a.org")));
}

#[test]
fn code_execution() {
    let calls = [
        json!({"code": "1 + 1"}),
        json!({"command": "ls -la"}),
        json!({"command": "view", "path": "a"}),
        json!({"command": "create", "path": "a", "file_text": "x"}),
        json!({"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}),
    ];
    let read = assert_calls::<_, CodeExecutionCall>(anthropic::code_execution(), &calls);
    assert!(matches!(read[0], CodeExecutionCall::Code { .. }) && matches!(read[1], CodeExecutionCall::Bash { .. }));
    assert!(matches!(&read[3], CodeExecutionCall::Editor(CodeFileCommand::Create { path, .. }) if path == "a"));
    // A command that has the name of an edit is a command.
    let view = json!({"command": "view"});
    let tool = anthropic::code_execution().define().unwrap();
    let read: CodeExecutionCall = tool.parameters().decode_value(&view).unwrap();
    assert_eq!(read, CodeExecutionCall::Bash { command: "view".to_owned() });
    assert_rejected(anthropic::code_execution(), &[json!({}), json!({"code": 1})]);
    // The first version runs code only.
    let first = find("anthropic.code_execution_20250522").unwrap().with_args(Value::Null).unwrap().define().unwrap();
    assert!(first.parameters().check(&json!({"code": "1"})).is_ok());
    assert!(first.parameters().check(&json!({"command": "ls"})).is_err());
}

#[test]
fn other_calls_of_anthropic() {
    assert_calls::<_, WebSearchCall>(anthropic::web_search(), &[json!({"query": "rust"})]);
    assert_calls::<_, WebFetchCall>(anthropic::web_fetch(), &[json!({"url": "https://a.org"})]);
    assert_calls::<_, ToolQuery>(anthropic::tool_search_regex(), &[json!({"query": "get_.*"})]);
    assert_calls::<_, ToolQuery>(anthropic::tool_search_bm25(), &[json!({"query": "weather"})]);
    assert_rejected(anthropic::web_search(), &[json!({}), json!({"query": 1})]);
}

#[test]
fn apply_patch() {
    let calls = [
        json!({"operation": {"type": "create_file", "path": "a", "diff": "+x"}}),
        json!({"operation": {"type": "update_file", "path": "a", "diff": "+x"}}),
        json!({"operation": {"type": "delete_file", "path": "a"}}),
    ];
    let read = assert_calls::<_, PatchCall>(openai::apply_patch(), &calls);
    assert!(matches!(&read[2].operation, PatchOperation::DeleteFile { path } if path == "a"));
    assert_rejected(openai::apply_patch(), &[json!({"operation": {"type": "create_file", "path": "a"}}), json!({})]);
}

#[test]
fn pointer_actions() {
    let actions = [
        json!({"type": "click", "button": "left", "x": 1, "y": 2, "keys": ["ctrl"]}),
        json!({"type": "click", "button": "wheel", "x": 1, "y": 2}),
        json!({"type": "double_click", "x": 1, "y": 2}),
        json!({"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}),
        json!({"type": "keypress", "keys": ["ctrl", "s"]}),
        json!({"type": "move", "x": 1, "y": 2}),
        json!({"type": "screenshot"}),
        json!({"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": -3}),
        json!({"type": "type", "text": "hello"}),
        json!({"type": "wait"}),
    ];
    let check = json!({"id": "sc_1", "code": "malicious_instructions", "message": "Be careful"});
    let call = json!({"actions": actions, "pending_safety_checks": [check]});
    let read = assert_calls::<_, ComputerCall>(openai::computer(), &[call]);
    assert_eq!((read[0].all_actions().count(), read[0].pending_safety_checks.len()), (10, 1));
    let preview = openai::computer_use_preview(1, 1, openai::ComputerEnvironment::Mac);
    let read = assert_calls::<_, ComputerCall>(preview, &actions.map(|action| json!({"action": action})));
    assert!(matches!(read[8].all_actions().next(), Some(PointerAction::Type { text }) if text == "hello"));
    let wrong = json!({"actions": [{"type": "click", "button": "third", "x": 1, "y": 2}]});
    assert_rejected(openai::computer(), &[wrong, json!({"action": {"type": "fly"}})]);
}

#[test]
fn shells() {
    let action = json!({"commands": ["ls", "pwd"], "timeout_ms": 1000, "max_output_length": null});
    let read = assert_calls::<_, ShellCall>(openai::shell(), &[json!({"action": action})]);
    assert_eq!(read[0].action.commands, ["ls", "pwd"]);
    assert_rejected(openai::shell(), &[json!({"action": {"commands": "ls"}}), json!({"commands": ["ls"]})]);

    let action = json!({"type": "exec", "command": ["ls", "-l"], "env": {"A": "1"}, "working_directory": "/tmp"});
    let read = assert_calls::<_, LocalShellCall>(openai::local_shell(), &[json!({"action": action})]);
    let LocalShellAction::Exec { command, env, .. } = &read[0].action else { panic!("there is one action") };
    assert_eq!((command.len(), env["A"].as_str()), (2, "1"));
}

#[test]
fn other_calls_of_openai() {
    let interpreter = openai::code_interpreter(InterpreterContainer::auto());
    let calls = [json!({"code": "1", "container_id": "c"}), json!({"code": null, "container_id": "c"})];
    assert_calls::<_, InterpreterCall>(interpreter, &calls);
    assert_calls::<_, ToolSearchCall>(openai::tool_search(), &[json!({"arguments": {"query": "x"}})]);
    assert_calls::<_, ProgramCall>(openai::programmatic_tool_calling(), &[json!({"code": "1"})]);
    let searches = [
        json!({"action": {"type": "search", "query": "x", "queries": ["x"], "sources": [{"url": "https://a.org"}]}}),
        json!({"action": {"type": "open_page", "url": "https://a.org"}}),
        json!({"action": {"type": "open_page"}, "status": "completed"}),
        json!({"action": {"type": "find_in_page", "url": "https://a.org", "pattern": "x"}}),
    ];
    let read = assert_calls::<_, WebSearchActivity>(openai::web_search(), &searches);
    assert!(matches!(read[3].action, WebSearchAction::FindInPage { .. }));
}

#[test]
fn calls_of_google() {
    let calls = [json!({"code": "1", "language": "PYTHON"}), json!({"code": "1"})];
    assert_calls::<_, ExecutableCode>(google::code_execution(), &calls);
    let actions = [
        json!({"action": "open_web_browser"}),
        json!({"action": "wait_5_seconds"}),
        json!({"action": "go_back"}),
        json!({"action": "go_forward"}),
        json!({"action": "search"}),
        json!({"action": "navigate", "url": "https://a.org"}),
        json!({"action": "click_at", "x": 1, "y": 2}),
        json!({"action": "hover_at", "x": 1, "y": 2}),
        json!({"action": "type_text_at", "x": 1, "y": 2, "text": "a", "press_enter": false}),
        json!({"action": "key_combination", "keys": "control+c"}),
        json!({"action": "scroll_document", "direction": "down"}),
        json!({"action": "scroll_at", "x": 1, "y": 2, "direction": "down", "magnitude": 300}),
        json!({"action": "drag_and_drop", "x": 1, "y": 2, "destination_x": 3, "destination_y": 4}),
        json!({"action": "long_press_at", "x": 1, "seconds": 2}),
    ];
    let read = assert_calls::<_, GoogleComputerAction>(google::computer_use(GoogleEnvironment::Browser), &actions);
    let (other, known) = read.split_last().unwrap();
    assert!(known.iter().all(|action| !matches!(action, GoogleComputerAction::Other(_))));
    assert!(matches!(other, GoogleComputerAction::Other(function) if function.action == "long_press_at"));
    assert_rejected(google::computer_use("ENVIRONMENT_MOBILE"), &[json!({}), json!({"action": 1})]);
}

#[test]
fn handlers_take_typed_calls() {
    let bash =
        anthropic::bash().handler(|call: BashCall, _cx| async move { call.command.unwrap_or_default() }).unwrap();
    assert_eq!(run(bash.clone(), &json!({"command": "ls"})).to_model_text(), "ls");
    let invalid = run(bash, &json!({"command": 1}));
    assert_eq!(invalid.failure().unwrap().kind.as_str(), "input_validation_error");

    let patch = openai::apply_patch().try_handler(|_call: PatchCall, _cx| async move { Err("read-only".to_owned()) });
    assert_eq!(
        run(patch.unwrap(), &json!({"operation": {"type": "delete_file", "path": "a"}})).failure().unwrap().message,
        "read-only"
    );
}

#[test]
fn a_screenshot_is_sent_as_an_image() {
    let handler = |action, _cx| async move {
        match action {
            ComputerAction::Screenshot {} => ScreenResult::png("iVBORw0KGgo="),
            _ => ScreenResult::text("Clicked."),
        }
    };
    let computer = anthropic::computer(1024, 768).handler(handler).unwrap();
    let output = run(computer.clone(), &json!({"action": "screenshot"})).to_call_output();
    let image = json!([{"type": "image", "media_type": "image/png", "data": {"base64": "iVBORw0KGgo="}}]);
    assert_eq!(serde_json::to_value(&output.output).unwrap(), image);
    assert_eq!(run(computer, &json!({"action": "left_click"})).to_model_text(), "Clicked.");
}

#[test]
fn the_address_of_a_browser_is_a_member_of_its_result() {
    let result = |screen: ScreenResult| {
        let handler = move |_, _| std::future::ready(screen.clone());
        let computer = google::computer_use(GoogleEnvironment::Browser).handler(handler).unwrap();
        serde_json::to_value(run(computer, &json!({"action": "go_back"})).to_call_output().output).unwrap()
    };
    let shown = result(ScreenResult::png("iVBORw0KGgo=").url("https://a.org"));
    assert_eq!(shown[0], json!({"type": "text", "text": r#"{"url":"https://a.org"}"#}));
    assert_eq!(shown[1]["type"], "image");
    let mut said = ScreenResult::text("Done.").url("https://a.org");
    assert_eq!(result(said.clone())[0]["text"], r#"{"url":"https://a.org","message":"Done."}"#);
    said.url = None;
    assert!(result(said).to_string().contains("Done."));
}
