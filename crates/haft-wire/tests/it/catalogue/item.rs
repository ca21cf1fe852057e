//! Items for tools whose calls and results have their own types.

use haft_core::{ContentPart, MediaData, MediaPart, ToolCallOutput};
use haft_wire::catalogue::openai::{
    self, CommandOutput, ComputerCall, ComputerOutput, LocalShellCall, LocalShellOutput, PatchCall, PatchResult,
    ShellCall, ToolSearchOutput,
};
use haft_wire::catalogue::{CallForm, FunctionSet, ItemForm, OutputItemFault, find};
use serde_json::{Map, Value, json};

use super::call::run;

fn form(id: &str) -> ItemForm {
    match find(id).unwrap().call {
        CallForm::Items(form) => form,
        other => panic!("{id}: {other:?}"),
    }
}

fn functions(id: &str) -> FunctionSet {
    match find(id).unwrap().call {
        CallForm::Functions(set) => set,
        other => panic!("{id}: {other:?}"),
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

fn item(id: &str, output: &ToolCallOutput) -> Value {
    Value::Object(form(id).output_item(output).unwrap())
}

#[test]
fn arguments_are_the_members_of_the_item() {
    for (id, call, arguments) in [
        (
            "openai.shell",
            json!({"type": "shell_call", "id": "s", "call_id": "c", "status": "completed", "action": {"commands": ["ls"]}}),
            json!({"action": {"commands": ["ls"]}}),
        ),
        (
            "openai.computer",
            json!({
                "type": "computer_call", "id": "c", "call_id": "c", "status": "completed", "action": null,
                "actions": [{"type": "wait"}], "pending_safety_checks": [],
            }),
            json!({"actions": [{"type": "wait"}], "pending_safety_checks": []}),
        ),
        (
            "openai.computer_use_preview",
            json!({"type": "computer_call", "id": "c", "call_id": "c", "action": {"type": "wait"}}),
            json!({"action": {"type": "wait"}}),
        ),
        (
            "openai.apply_patch",
            json!({"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file", "path": "a"}}),
            json!({"operation": {"type": "delete_file", "path": "a"}}),
        ),
        (
            "openai.tool_search",
            json!({"type": "tool_search_call", "arguments": {"q": 1}}),
            json!({"arguments": {"q": 1}}),
        ),
        ("openai.local_shell", json!({"type": "local_shell_call"}), json!({})),
    ] {
        assert_eq!(form(id).call, call["type"], "{id}");
        assert_eq!(Value::Object(form(id).arguments_of(&members(call))), arguments, "{id}");
    }
}

#[test]
fn results_of_handlers_are_the_members_of_the_item() {
    let shell = openai::shell().handler(|call: ShellCall, _cx| async move {
        call.action.result([CommandOutput::exit(2, "a", "b"), CommandOutput::timeout("", "")])
    });
    let result = run(shell.unwrap(), &json!({"action": {"commands": ["x"], "max_output_length": 9}}));
    let exit = json!({"stdout": "a", "stderr": "b", "outcome": {"type": "exit", "exit_code": 2}});
    let timeout = json!({"stdout": "", "stderr": "", "outcome": {"type": "timeout"}});
    let sent = json!({"type": "shell_call_output", "call_id": "c1", "output": [exit, timeout], "max_output_length": 9});
    assert_eq!(item("openai.shell", &result.to_call_output()), sent);

    let patch = openai::apply_patch().handler(|_: PatchCall, _cx| async { PatchResult::completed() }).unwrap();
    let result = run(patch, &json!({"operation": {"type": "delete_file", "path": "a"}}));
    let sent = json!({"type": "apply_patch_call_output", "call_id": "c1", "status": "completed"});
    assert_eq!(item("openai.apply_patch", &result.to_call_output()), sent);

    let local = openai::local_shell().handler(|_: LocalShellCall, _cx| async { LocalShellOutput::new("a") }).unwrap();
    let result = run(local, &json!({"action": {"type": "exec", "command": ["ls"], "env": {}}}));
    // The item names the call in `id`.
    let sent = json!({"type": "local_shell_call_output", "id": "c1", "output": "a"});
    assert_eq!(item("openai.local_shell", &result.to_call_output()), sent);

    let search = openai::tool_search().execution(openai::SearchExecution::Client);
    let search = search.handler(|_, _cx| async { ToolSearchOutput::new([json!({"type": "web_search"})]) }).unwrap();
    let result = run(search, &json!({"arguments": {}}));
    let sent = json!({
        "type": "tool_search_output", "call_id": "c1", "execution": "client", "status": "completed",
        "tools": [{"type": "web_search"}],
    });
    assert_eq!(item("openai.tool_search", &result.to_call_output()), sent);
}

#[test]
fn a_screenshot_carries_the_acknowledged_checks() {
    let computer = openai::computer().handler(|call: ComputerCall, _cx| async move {
        ComputerOutput::png("iVBORw0KGgo=").acknowledge(call.pending_safety_checks)
    });
    let computer = computer.unwrap();
    let check = json!({"id": "sc_1", "code": "x"});
    let screenshot = json!({"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="});
    let result = run(computer.clone(), &json!({"actions": [{"type": "screenshot"}], "pending_safety_checks": [check]}));
    let sent = json!({
        "type": "computer_call_output", "call_id": "c1", "output": screenshot, "acknowledged_safety_checks": [check],
    });
    assert_eq!(item("openai.computer", &result.to_call_output()), sent);

    let result = run(computer, &json!({"actions": [{"type": "screenshot"}], "pending_safety_checks": []}));
    let sent = json!({"type": "computer_call_output", "call_id": "c1", "output": screenshot});
    assert_eq!(item("openai.computer", &result.to_call_output()), sent);
}

#[test]
fn a_large_screenshot_is_kept_whole() {
    let large = "A".repeat(1 << 20);
    let data = large.clone();
    let computer = openai::computer().handler(move |_: ComputerCall, _cx| {
        let output = ComputerOutput::png(data.clone());
        async move { output }
    });
    let result = run(computer.unwrap(), &json!({"actions": [{"type": "screenshot"}]}));
    let sent = item("openai.computer", &result.to_call_output());
    assert_eq!(sent["output"]["image_url"].as_str().unwrap().len(), large.len() + "data:image/png;base64,".len());
}

#[test]
fn images_of_every_source_are_screenshots() {
    for (data, screenshot) in [
        (
            MediaData::Url("https://a.org".to_owned()),
            json!({"type": "computer_screenshot", "image_url": "https://a.org"}),
        ),
        (MediaData::FileId("file_1".to_owned()), json!({"type": "computer_screenshot", "file_id": "file_1"})),
        (
            MediaData::Base64("AA==".to_owned()),
            json!({"type": "computer_screenshot", "image_url": "data:image/png;base64,AA=="}),
        ),
    ] {
        let parts = vec![ContentPart::text("after"), ContentPart::Image(MediaPart::new(data))];
        assert_eq!(item("openai.computer", &ToolCallOutput::new("c1", parts))["output"], screenshot);
    }
}

#[test]
fn a_failure_is_written_where_the_item_has_space() {
    let failed = ToolCallOutput::new("c1", "denied").error();
    let sent = json!({"type": "apply_patch_call_output", "call_id": "c1", "status": "failed", "output": "denied"});
    assert_eq!(item("openai.apply_patch", &failed), sent);
    let sent = json!({"type": "local_shell_call_output", "id": "c1", "output": "denied"});
    assert_eq!(item("openai.local_shell", &failed), sent);
    let output = json!([{"stdout": "", "stderr": "denied", "outcome": {"type": "exit", "exit_code": 1}}]);
    let sent = json!({"type": "shell_call_output", "call_id": "c1", "output": output});
    assert_eq!(item("openai.shell", &failed), sent);
    assert_eq!(item("openai.tool_search", &failed)["tools"], json!([]));

    let fault = form("openai.computer").output_item(&failed).unwrap_err();
    assert!(matches!(&fault, OutputItemFault::NoImage { call_id, .. } if call_id == "c1"), "{fault}");
    assert!(fault.to_string().contains("return a screenshot"), "{fault}");
}

#[test]
fn text_that_is_not_the_result_of_the_tool_stays_text() {
    // A middleware or a person may answer in place of the handler, and a long output is truncated.
    for text in ["plain", "{\"output\": [{\"stdout\": \"cut", "[1]", "{\"other\": 1}", "7"] {
        let output = ToolCallOutput::new("c1", text);
        assert_eq!(item("openai.shell", &output)["output"][0]["stdout"], text);
        assert_eq!(item("openai.apply_patch", &output)["output"], text);
        assert_eq!(item("openai.local_shell", &output)["output"], text);
    }
}

#[test]
fn an_output_can_change_neither_type_nor_call() {
    let text = json!({"type": "message", "call_id": "c9", "status": "completed"}).to_string();
    let sent = item("openai.apply_patch", &ToolCallOutput::new("c1", text));
    assert_eq!((&sent["type"], &sent["call_id"]), (&json!("apply_patch_call_output"), &json!("c1")));
}

#[test]
fn functions_of_a_set_become_one_tool() {
    for id in ["anthropic.computer_toolset_20260801", "anthropic.browser_toolset_20260801", "google.computer_use"] {
        let set = functions(id);
        for name in set.names {
            assert!(set.contains(name));
            let input = members(json!({"x": 1}));
            let (function, rest) = set.split(set.join(name, input.clone())).unwrap();
            assert_eq!((function.as_str(), rest), (*name, input), "{id}");
        }
        assert!(!set.contains("get_weather"));
        assert_eq!(set.split(members(json!({"x": 1}))), None);
        assert_eq!(set.split(members(json!({"action": 1}))), None);
    }
    assert_eq!(functions("anthropic.computer_toolset_20260801").toolset, Some("computer"));
    // An argument can't change the function.
    let set = functions("google.computer_use");
    assert_eq!(set.join("search", members(json!({"action": "navigate"})))["action"], "search");
}
