//! The catalogue judged by the official SDKs: their types accept the tools and items that we send.

use haft_core::{ToolCallOutput, TurnRequest};
use haft_executor::Tool;
use haft_parts::{Judge, RequestFault, WireName};
use haft_wire::catalogue::{CallForm, Vendor, entries, find, render_provider_tool};
use haft_wire::{Profile, RenderTools};
use serde_json::{Value, json};

use super::table::least;

/// Returns the faults in a request with this tool. Anthropic tools without a header must be in its general API.
fn faults(vendor: Vendor, tool: &Value, beta: Option<&str>) -> Vec<RequestFault> {
    let judge = Judge::shared();
    let messages = json!([{"role": "user", "content": "hello"}]);
    match vendor {
        Vendor::Anthropic => {
            let servers = json!([{"type": "url", "name": "docs", "url": "https://mcp.example.org"}]);
            let mut body = json!({"model": "m", "max_tokens": 9, "messages": messages, "tools": [tool]});
            if tool["type"] == "mcp_toolset" {
                body["mcp_servers"] = servers;
            }
            judge.validate_with(WireName::Anthropic, &body, json!({"beta": beta.is_some()}))
        }
        Vendor::OpenAi => {
            let body = json!({"model": "m", "input": messages, "tools": [tool]});
            judge.validate(WireName::OpenAiResponses, &body)
        }
        Vendor::Google => {
            let contents = json!([{"role": "user", "parts": [{"text": "hello"}]}]);
            judge.validate(WireName::Gemini, &json!({"contents": contents, "tools": [tool]}))
        }
        other => panic!("{other} has no judge"),
    }
}

/// Reports whether a fault is the judge's own: it takes Python's own values for times, which are texts in a request,
/// and rejects what only Vertex AI has.
fn is_of_the_judge(fault: &RequestFault) -> bool {
    let is_time = fault.at.contains("/timeRangeFilter/") && fault.message.contains("valid datetime");
    is_time || fault.message.contains("not in Gemini Developer API mode")
}

fn assert_accepted(tool: &Tool) {
    let id = tool.provider_definition().unwrap().id();
    let entry = find(id).unwrap();
    let profile = match entry.vendor {
        Vendor::Anthropic => Profile::anthropic(),
        Vendor::OpenAi => Profile::openai(),
        _ => Profile::gemini(),
    };
    // With its secrets in place.
    let rendered = TurnRequest::new("m", Vec::new()).tools(&[tool.descriptor()]).render_tools(&profile);
    let sent: Value = serde_json::from_str(rendered.raw_list().get()).unwrap();
    let sent = sent[0].clone();
    let mut faults = faults(entry.vendor, &sent, entry.beta);
    faults.retain(|fault| !is_of_the_judge(fault));
    assert!(faults.is_empty(), "{id}: {faults:#?}\n{sent:#}");
}

#[test]
fn every_tool_is_accepted() {
    for entry in entries() {
        assert_accepted(&entry.with_args(least(entry)).unwrap().define().unwrap());
    }
    for tool in super::tools() {
        assert_accepted(&tool);
    }
    // The judge would notice a member that does not exist, and a tool that requires a header.
    assert!(!faults(Vendor::OpenAi, &json!({"type": "web_search", "search_depth": 3}), None).is_empty());
    let tool = json!({"type": "web_search_20260318", "name": "web_search", "search_depth": 3});
    assert!(!faults(Vendor::Anthropic, &tool, None).is_empty());
    assert!(!faults(Vendor::Google, &json!({"googleSearch": {"searchDepth": 3}}), None).is_empty());
    for entry in entries().filter(|entry| entry.beta.is_some() && entry.is_current) {
        let tool = entry.with_args(least(entry)).unwrap().define().unwrap();
        let sent = render_provider_tool(&tool.descriptor(), entry.vendor).unwrap();
        assert!(!faults(entry.vendor, &sent, None).is_empty(), "{}", entry.id);
    }
}

#[test]
fn items_of_results_are_accepted() {
    let screenshot = json!({"output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA=="}});
    let exit = json!({"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}});
    let calls = [
        (
            "openai.apply_patch",
            json!({"operation": {"type": "delete_file", "path": "a"}}),
            json!({"status": "completed"}),
        ),
        ("openai.computer", json!({"actions": [{"type": "wait"}], "pending_safety_checks": []}), screenshot.clone()),
        ("openai.computer_use_preview", json!({"action": {"type": "wait"}, "pending_safety_checks": []}), screenshot),
        (
            "openai.local_shell",
            json!({"action": {"type": "exec", "command": ["ls"], "env": {}}}),
            json!({"output": "a"}),
        ),
        ("openai.shell", json!({"action": {"commands": ["ls"]}}), json!({"output": [exit], "max_output_length": 9})),
        ("openai.tool_search", json!({"arguments": {}}), json!({"tools": [], "execution": "client"})),
    ];
    for (id, arguments, value) in calls {
        let CallForm::Items(form) = find(id).unwrap().call else { panic!("{id} has items") };
        let mut call = json!({"type": form.call, "id": "i1", "call_id": "c1", "status": "completed"});
        call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let output = ToolCallOutput::new("c1", value.to_string());
        let mut outputs = vec![output];
        if !id.contains("computer") {
            outputs.push(ToolCallOutput::new("c1", "denied").error());
        }
        for output in outputs {
            let item = Value::Object(form.output_item(&output).unwrap());
            let body = json!({"model": "m", "input": [call, item]});
            Judge::shared().assert_valid(WireName::OpenAiResponses, &body);
        }
    }
}
