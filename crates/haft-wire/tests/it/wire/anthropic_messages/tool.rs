//! Tools in requests.

use haft_core::{CacheControl, Item, ProviderOptions, ToolChoice, ToolDescriptor, TurnRequest};
use haft_executor::Tool;
use haft_wire::catalogue::anthropic::tool_search_regex;
use haft_wire::{AnthropicMessages, Delivery, ModelTable, Wire};
use serde_json::{Value, json};

use super::{MODEL, body_of, send, weather};

/// Sends a tool beside one that searches for others, and returns it as it is listed.
fn listed(tool: ToolDescriptor) -> Value {
    let search = tool_search_regex().define().unwrap().descriptor().as_ref().clone();
    body_of(&send(&TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[tool, search])).unwrap())["tools"][0].take()
}

#[test]
fn a_request_in_which_nothing_could_be_found_has_no_deferred_tools() {
    let deferred = || {
        let mut tool = weather();
        tool.provider_options = ProviderOptions::new().deferred();
        tool
    };
    let search = || tool_search_regex().define().unwrap().descriptor().as_ref().clone();
    let foreign = || haft_wire::catalogue::openai::tool_search().define().unwrap().descriptor().as_ref().clone();
    let request = |tools: &[ToolDescriptor]| TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(tools);
    let only = ToolChoice::may_call([deferred().name]);
    for (request, is_deferred) in [
        (request(&[deferred()]), false),
        (request(&[deferred(), foreign()]), false),
        (request(&[deferred(), search()]), true),
        (request(&[deferred(), ToolDescriptor::new("now", json!({"type": "object"}))]), true),
        (request(&[deferred(), search()]).tool_choice(only), false),
    ] {
        for wire in [AnthropicMessages::new(), AnthropicMessages::new().cache_prompt()] {
            let sent = wire.request(&request, Delivery::Whole).unwrap();
            let flag = body_of(&sent)["tools"][0].get("defer_loading").cloned();
            assert_eq!(flag, is_deferred.then_some(json!(true)), "{}", sent.body);
            let reported = sent.dropped.iter().any(|dropped| dropped.part == "defer_loading");
            assert_eq!(reported, !is_deferred, "{:?}", sent.dropped);
        }
    }
}

#[test]
fn a_tool_has_its_options_and_examples() {
    let mut tool = weather();
    tool.examples = vec![json!({"city": "Oslo", "labels": {"a": "b"}}), json!({"city": "Rome"})];
    tool.provider_options = ProviderOptions::new()
        .cache_control(CacheControl::new().ttl("1h"))
        .deferred()
        .allowed_caller("code_execution_20260120")
        .for_provider("anthropic", json!({"eager_input_streaming": true}))
        .for_provider("openai", json!({"x": 1}));
    insta::assert_json_snapshot!("tool", listed(tool));
}

#[test]
fn strict_mode_follows_the_model() {
    let request = |model: &str| TurnRequest::new(model, vec![Item::user("hi")]).tools(&[weather()]);
    let strict = |wire: &AnthropicMessages, model: &str| {
        body_of(&wire.request(&request(model), Delivery::Whole).unwrap())["tools"][0]["strict"].clone()
    };
    let wire = AnthropicMessages::new();
    assert_eq!(
        (strict(&wire, "claude-sonnet-5"), strict(&wire, "claude-3-5-haiku-latest")),
        (json!(true), json!(false))
    );
    assert_eq!(strict(&wire.models(ModelTable::empty()), "claude-3-5-haiku-latest"), json!(true));
}

#[test]
fn tools_of_the_provider_are_sent_natively() {
    let bash = haft_wire::catalogue::find("anthropic.bash_20241022").unwrap();
    let bash = bash
        .with_args(Value::Null)
        .unwrap()
        .provider_options(ProviderOptions::new().cache_control(CacheControl::new()));
    let bash = bash.define().unwrap().descriptor();
    let foreign = Tool::provider("openai.web_search").with_args(()).define().unwrap().descriptor();
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")])
        .tools(&vec![bash, foreign])
        .provider_options("anthropic", json!({"betas": ["mine"]}));
    let sent = send(&request).unwrap();
    assert_eq!(
        body_of(&sent)["tools"],
        json!([{"type": "bash_20241022", "name": "bash", "cache_control": {"type": "ephemeral"}}])
    );
    assert_eq!(sent.headers, [("anthropic-beta", "computer-use-2024-10-22,mine".to_owned())]);
    let findings: Vec<_> = sent.context.tools.findings().iter().map(ToString::to_string).collect();
    assert!(findings.iter().any(|finding| finding.contains("which anthropic does not have")), "{findings:?}");
}
