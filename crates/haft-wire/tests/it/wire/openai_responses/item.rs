//! Provider tools that the application runs, whose calls and outputs are items with their own types.

use haft_core::{ContentPart, Item, MediaData, ToolCallOutput, TurnRequest};
use haft_wire::{OpenAiResponses, Wire, catalogue};
use serde_json::{Value, json};

use super::{MODEL, body_of, response, send};

fn request(tools: &[(&str, Value)]) -> TurnRequest {
    let tools: Vec<_> = tools
        .iter()
        .map(|(id, args)| catalogue::find(id).unwrap().with_args(args.clone()).unwrap().define().unwrap().descriptor())
        .collect();
    TurnRequest::new(MODEL, vec![Item::user("go")]).tools(&tools)
}

/// Reads an item as the response to a request with a tool, answers it, and returns the call's name and arguments with
/// the input that follows.
fn answered(tool: (&str, Value), item: &Value, output: ToolCallOutput) -> (String, Value, Value) {
    let mut request = request(&[tool]);
    let sent = send(&request).unwrap();
    let turn = OpenAiResponses::new().response(&response(json!([item.clone()])).to_string(), &sent.context).unwrap();
    let call = turn.tool_calls().remove(0);
    let mut history = turn.items;
    history.push(output.into());
    request.history = history.into();
    let input = body_of(&send(&request).unwrap())["input"].take();
    (call.name, serde_json::from_str(&call.arguments).unwrap(), input)
}

fn shell() -> Value {
    json!({
        "type": "shell_call", "id": "sh_1", "call_id": "c1", "status": "completed",
        "action": {"commands": ["ls"], "timeout_ms": 1000, "max_output_length": 10},
    })
}

#[test]
fn a_shell_has_its_items() {
    let result = json!({"output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]});
    let output = ToolCallOutput::new("c1", result.to_string());
    let (name, arguments, input) = answered(("openai.shell", json!({})), &shell(), output);
    assert_eq!((name.as_str(), &arguments["action"]), ("OpenAiShell", &shell()["action"]));
    assert_eq!(input[0], shell());
    assert_eq!(input[1], json!({"type": "shell_call_output", "call_id": "c1", "output": result["output"]}));
}

#[test]
fn a_failed_shell_has_its_message_as_standard_error() {
    let output = ToolCallOutput::new("c1", "there is no shell").error();
    let (_, _, input) = answered(("openai.shell", json!({})), &shell(), output);
    assert_eq!(input[1]["type"], "shell_call_output");
    assert_eq!(input[1]["output"][0]["stderr"], "there is no shell");
    assert_eq!(input[1]["output"][0]["outcome"], json!({"type": "exit", "exit_code": 1}));
}

#[test]
fn a_local_shell_names_its_call_by_id() {
    let item = json!({
        "type": "local_shell_call", "id": "lsh_1", "call_id": "c1", "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {}},
    });
    let (name, arguments, input) =
        answered(("openai.local_shell", json!({})), &item, ToolCallOutput::new("c1", "files"));
    assert_eq!((name.as_str(), &arguments["action"]["command"]), ("OpenAiLocalShell", &json!(["ls"])));
    assert_eq!(input[0], item);
    assert_eq!(input[1], json!({"type": "local_shell_call_output", "id": "c1", "output": "files"}));
}

#[test]
fn a_patch_has_its_items() {
    let item = json!({
        "type": "apply_patch_call", "id": "apc_1", "call_id": "c1", "status": "completed",
        "operation": {"type": "create_file", "path": "a", "diff": "+x"}, "caller": {"type": "direct"},
    });
    for (output, status) in [
        (ToolCallOutput::new("c1", r#"{"status":"completed"}"#), "completed"),
        (ToolCallOutput::new("c1", "done"), "completed"),
        (ToolCallOutput::new("c1", "no such file").error(), "failed"),
    ] {
        let (name, arguments, input) = answered(("openai.apply_patch", json!({})), &item, output);
        assert_eq!((name.as_str(), &arguments["operation"]), ("OpenAiApplyPatch", &item["operation"]));
        assert_eq!(input[0], item);
        assert_eq!((&input[1]["type"], &input[1]["status"]), (&json!("apply_patch_call_output"), &json!(status)));
        assert_eq!((&input[1]["call_id"], &input[1]["caller"]), (&json!("c1"), &item["caller"]));
    }
}

fn click() -> Value {
    json!({
        "type": "computer_call", "id": "cu_1", "call_id": "c1", "status": "completed", "pending_safety_checks": [],
        "actions": [{"type": "click", "button": "left", "x": 1, "y": 2}],
    })
}

#[test]
fn a_screen_has_its_items() {
    let image = ContentPart::image("image/png", MediaData::Base64("aQ==".to_owned()));
    let output = ToolCallOutput::new("c1", vec![ContentPart::text("clicked"), image]);
    let (name, arguments, input) = answered(("openai.computer", json!({})), &click(), output);
    assert_eq!((name.as_str(), &arguments["actions"]), ("OpenAiComputer", &click()["actions"]));
    assert_eq!(input[0], click());
    let screenshot = json!({"type": "computer_screenshot", "image_url": "data:image/png;base64,aQ=="});
    assert_eq!(input[1], json!({"type": "computer_call_output", "call_id": "c1", "output": screenshot}));
}

#[test]
fn a_failure_without_a_screenshot_is_told_in_a_message() {
    let output = ToolCallOutput::new("c1", "the display is gone").error();
    let (_, _, input) = answered(("openai.computer", json!({})), &click(), output);
    assert_eq!(input[1]["output"]["type"], "computer_screenshot");
    assert!(input[1]["output"]["image_url"].as_str().unwrap().starts_with("data:image/png;base64,"));
    let text = input[2]["content"].as_str().unwrap();
    assert_eq!(input[2]["role"], "user");
    assert!(text.contains("`c1`") && text.contains("the display is gone"), "{text}");
}

#[test]
fn the_tool_that_was_sent_is_the_one_that_is_called() {
    let settings = json!({"display_width": 1, "display_height": 2, "environment": "browser"});
    let output = || ToolCallOutput::new("c1", vec![ContentPart::image("image/png", MediaData::FileId("f".to_owned()))]);
    let (name, ..) = answered(("openai.computer_use_preview", settings), &click(), output());
    assert_eq!(name, "OpenAiComputerUse");
    let (name, _, input) = answered(("openai.web_search", json!({})), &click(), output());
    assert_eq!(name, "computer", "a tool that was not sent has its own name");
    assert_eq!(input[1]["output"], json!({"type": "computer_screenshot", "file_id": "f"}));
}

#[test]
fn what_the_provider_runs_is_no_call() {
    let hosted = request(&[("openai.shell", json!({"environment": {"type": "container_auto"}}))]);
    let sent = send(&hosted).unwrap();
    let mut item = shell();
    item["environment"] = json!({"type": "container_reference", "container_id": "cntr_1"});
    let search = json!({
        "type": "tool_search_call", "id": "ts_1", "call_id": null, "execution": "server", "arguments": {}, "status": "completed",
    });
    let body = response(json!([item, search]));
    let turn = OpenAiResponses::new().response(&body.to_string(), &sent.context).unwrap();
    assert!(turn.tool_calls().is_empty());
    assert!(turn.items.iter().all(|item| matches!(item, Item::ProviderCall(_))), "{:?}", turn.items);
    let mut next = hosted;
    next.history = turn.items.into();
    assert_eq!(body_of(&send(&next).unwrap())["input"], body["output"]);
}

#[test]
fn a_search_for_tools_may_run_in_the_application() {
    let item = json!({
        "type": "tool_search_call", "id": "ts_1", "call_id": "c1", "execution": "client", "arguments": {"query": "pay"},
        "status": "completed",
    });
    let tool = ("openai.tool_search", json!({"execution": "client"}));
    let found = json!({"tools": [{"type": "function", "name": "pay", "parameters": {}, "strict": false}]});
    let (name, arguments, input) = answered(tool, &item, ToolCallOutput::new("c1", found.to_string()));
    assert_eq!((name.as_str(), &arguments["arguments"]["query"]), ("OpenAiToolSearch", &json!("pay")));
    assert_eq!(input[0], item);
    assert_eq!((&input[1]["type"], &input[1]["call_id"]), (&json!("tool_search_output"), &json!("c1")));
    assert_eq!(input[1]["tools"], found["tools"]);
}

#[test]
fn a_long_id_is_replaced_in_items_too() {
    let mut item = shell();
    let long = "c".repeat(80);
    item["call_id"] = json!(long);
    let (_, _, input) = answered(("openai.shell", json!({})), &item, ToolCallOutput::new(long.as_str(), "ok"));
    assert_eq!(input[0]["call_id"], input[1]["call_id"]);
    assert!(input[0]["call_id"].as_str().unwrap().len() <= 64);
}
