//! Results that are written alone.

use haft_core::{ToolResult, Turn};
use haft_wire::{OpenAiResponses, Wire};
use serde_json::json;

use super::{called, context, read, response, rich};
use crate::wire::result::{sampled, shown};

fn written(turn: &Turn, results: &[ToolResult]) -> serde_json::Value {
    shown(&OpenAiResponses::new().results(turn, results, &context()).unwrap())
}

#[test]
fn the_calls_of_a_rich_response_have_their_outputs() {
    let turn = read(&rich());
    insta::assert_json_snapshot!(written(&turn, &sampled(&turn)));
}

#[test]
fn an_output_has_the_type_that_belongs_to_its_call() {
    let turn = read(&response(json!([
        called("c1", "acme--weather", "{}"),
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c2", "name": "run", "input": "1 + 1"},
        {
            "type": "computer_call", "id": "cu_1", "call_id": "c3", "status": "completed",
            "action": {"type": "screenshot"}, "pending_safety_checks": [],
        },
    ])));
    let results: Vec<_> = turn.tool_calls().iter().map(|call| ToolResult::ok(call, json!("done"))).collect();
    let written = written(&turn, &results);
    let types: Vec<_> = written["results"].as_array().unwrap().iter().map(|item| item["type"].clone()).collect();
    // There is no screenshot, so a message says why.
    assert_eq!(types, ["function_call_output", "custom_tool_call_output", "computer_call_output", "message"]);
    assert_eq!(written["dropped"].as_array().unwrap().len(), 1);
}

#[test]
fn a_verdict_that_the_provider_requires_is_reported() {
    let turn = read(&response(json!([
        called("c1", "acme--weather", "{}"),
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}", "server_label": "bank"},
    ])));
    let results: Vec<_> = turn.tool_calls().iter().map(|call| ToolResult::ok(call, json!("done"))).collect();
    let reports = written(&turn, &results)["dropped"].take();
    assert_eq!(reports, json!(["approval_request: the provider requires a verdict on `mcpr_1` as well"]));
}
