//! The choice of tools, and parallel calls.

use haft_core::{Item, ToolChoice, ToolDescriptor, TurnRequest};
use haft_schema::Schema;
use haft_wire::{AnthropicMessages, Capabilities, Delivery, ForcedChoice, ModelTable, Wire};
use serde_json::{Value, json};

use super::{MODEL, body_of, send};

fn request(choice: ToolChoice) -> TurnRequest {
    let tools = ["acme/a", "b", "c"].map(|name| ToolDescriptor::new(name, Schema::empty()));
    TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&tools).tool_choice(choice)
}

#[test]
fn every_choice_has_its_form() {
    let all = json!(["acme--a", "b", "c"]);
    let nobody: [&str; 0] = [];
    for (choice, sent, tools) in [
        (ToolChoice::Auto, Value::Null, all.clone()),
        (ToolChoice::None, json!({"type": "none"}), all.clone()),
        (ToolChoice::Required, json!({"type": "any"}), all.clone()),
        (ToolChoice::tool("acme/a"), json!({"type": "tool", "name": "acme--a"}), all.clone()),
        (ToolChoice::may_call(["c", "acme/a"]), Value::Null, json!(["acme--a", "c"])),
        (ToolChoice::must_call_one_of(["b"]), json!({"type": "any"}), json!(["b"])),
        (ToolChoice::may_call(nobody), json!({"type": "none"}), all),
    ] {
        let body = body_of(&send(&request(choice.clone())).unwrap());
        assert_eq!(body["tool_choice"], sent, "{choice:?}");
        let names: Vec<_> = body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(json!(names), tools, "{choice:?}");
    }
}

#[test]
fn one_call_at_a_time_is_part_of_the_choice() {
    for (choice, sent) in [
        (ToolChoice::Auto, json!({"type": "auto", "disable_parallel_tool_use": true})),
        (ToolChoice::Required, json!({"type": "any", "disable_parallel_tool_use": true})),
        (ToolChoice::tool("b"), json!({"type": "tool", "name": "b", "disable_parallel_tool_use": true})),
        (ToolChoice::None, json!({"type": "none"})),
    ] {
        let body = body_of(&send(&request(choice).forbid_parallel_calls()).unwrap());
        assert_eq!(body["tool_choice"], sent);
    }
    assert_eq!(body_of(&send(&request(ToolChoice::Auto).allow_parallel_calls()).unwrap()).get("tool_choice"), None);
}

#[test]
fn without_tools_there_is_no_choice() {
    for choice in [ToolChoice::Auto, ToolChoice::None, ToolChoice::may_call(["a"])] {
        let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tool_choice(choice).forbid_parallel_calls();
        let body = body_of(&send(&request).unwrap());
        assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
    }
    for choice in [ToolChoice::Required, ToolChoice::tool("gone"), ToolChoice::must_call_one_of(["gone"])] {
        let error = send(&TurnRequest::new(MODEL, vec![Item::user("hi")]).tool_choice(choice)).unwrap_err().to_string();
        assert!(error.starts_with("tool_choice: "), "{error}");
    }
    assert!(send(&request(ToolChoice::tool("gone"))).is_err());
}

#[test]
fn a_forced_call_together_with_thinking_is_rejected_before_sending() {
    let mut capabilities = Capabilities::default();
    capabilities.forced_choice = ForcedChoice::WithoutThinking;
    let wire = AnthropicMessages::new().models(ModelTable::empty().with("*", capabilities));
    for (thinking, choice, is_sent) in [
        (json!({"type": "enabled", "budget_tokens": 2000}), ToolChoice::Required, false),
        (json!({"type": "adaptive"}), ToolChoice::tool("b"), false),
        (json!({"type": "enabled", "budget_tokens": 2000}), ToolChoice::Auto, true),
        (json!({"type": "disabled"}), ToolChoice::Required, true),
        (Value::Null, ToolChoice::Required, true),
    ] {
        let request = request(choice).provider_options("anthropic", json!({"thinking": thinking}));
        let sent = wire.request(&request, Delivery::Whole);
        assert_eq!(sent.is_ok(), is_sent, "{thinking}");
        if let Err(error) = sent {
            assert!(error.to_string().contains("ToolChoice::Auto"), "{error}");
        }
    }
}

#[test]
fn one_call_at_a_time_is_not_demanded_with_tools_that_programs_call() {
    let tool = |name: &str| ToolDescriptor::new(name, json!({"type": "object"}));
    let mut by_programs = tool("by_programs");
    by_programs.provider_options = haft_core::ProviderOptions::new().allowed_caller("code_execution_20260120");
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[tool("direct"), by_programs]);
    let request = request.forbid_parallel_calls();
    let sent = send(&request).unwrap();
    assert_eq!(body_of(&sent).get("tool_choice"), None);
    let dropped: Vec<_> = sent.dropped.iter().map(ToString::to_string).collect();
    assert!(
        dropped.len() == 1 && dropped[0].starts_with("parallel_tool_calls: ") && dropped[0].contains("`by_programs`")
    );
    // The tool is not sent.
    let sent = send(&request.tool_choice(ToolChoice::may_call(["direct"]))).unwrap();
    assert_eq!(body_of(&sent)["tool_choice"]["disable_parallel_tool_use"], true);
    assert_eq!(sent.dropped.len(), 0);
}
