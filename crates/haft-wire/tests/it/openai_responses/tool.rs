//! Tools in requests.

use haft_core::{Item, ProviderOptions, Schema, Tool, ToolCallOutput, ToolDescriptor, TurnRequest};
use haft_wire::{Delivery, ModelTable, OpenAiResponses, Wire, catalogue};
use serde_json::{Value, json};

use super::{MODEL, body_of, response, send, weather};

fn listed(tool: ToolDescriptor) -> Value {
    body_of(&send(&TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[tool])).unwrap())["tools"][0].take()
}

#[test]
fn a_tool_has_its_options() {
    let mut tool = weather();
    tool.provider_options = ProviderOptions::new()
        .deferred()
        .allowed_caller("programmatic")
        .allowed_caller("code_execution_20260120")
        .for_provider("openai", json!({"output_schema": {"type": "string"}}))
        .for_provider("anthropic", json!({"x": 1}));
    insta::assert_json_snapshot!("tool", listed(tool));
}

#[test]
fn strict_mode_is_always_stated_and_follows_the_model() {
    let request = |model: &str| TurnRequest::new(model, vec![Item::user("hi")]).tools(&[weather()]);
    let strict = |wire: &OpenAiResponses, model: &str| {
        body_of(&wire.request(&request(model), Delivery::Whole).unwrap())["tools"][0]["strict"].clone()
    };
    let mut plain = haft_wire::Capabilities::default();
    plain.strict_tools = false;
    let wire = OpenAiResponses::new().models(ModelTable::built_in().with("local-*", plain));
    assert_eq!((strict(&wire, "gpt-5"), strict(&wire, "local-1")), (json!(true), json!(false)));
    assert_eq!(listed(ToolDescriptor::new("open", Schema::json(json!({"type": "object"})).unwrap()))["strict"], false);
}

#[test]
fn a_tool_of_another_provider_is_left_out_with_a_finding() {
    let search = catalogue::find("openai.web_search").unwrap();
    let search = search.with_args(json!({"search_context_size": "low"})).unwrap().define().unwrap().descriptor();
    let foreign = Tool::provider("anthropic.bash_20250124").with_args(()).define().unwrap().descriptor();
    let sent = send(&TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&vec![search, foreign])).unwrap();
    assert_eq!(body_of(&sent)["tools"], json!([{"type": "web_search", "search_context_size": "low"}]));
    let findings: Vec<_> = sent.context.tools.findings().iter().map(ToString::to_string).collect();
    assert!(findings.iter().any(|finding| finding.contains("anthropic")), "{findings:?}");
}

/// Sends a custom tool whose schema is this one, and returns the item of a call and what is echoed of it.
fn custom(schema: Value) -> (String, Value, Value) {
    let mut tool = ToolDescriptor::new("grep", Schema::json(schema).unwrap());
    tool.provider_options = ProviderOptions::new().for_provider(
        "openai",
        json!({"type": "custom", "format": {"type": "grammar", "syntax": "regex", "definition": "a+"}}),
    );
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[tool]);
    let sent = send(&request).unwrap();
    let listed = body_of(&sent)["tools"][0].take();
    let item =
        json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "grep", "input": "a \"b\"\\"});
    let turn = OpenAiResponses::new().response(&response(json!([item])).to_string(), &sent.context).unwrap();
    let arguments = turn.tool_calls()[0].arguments.clone();
    let mut next = request;
    let mut history = turn.items;
    history.push(ToolCallOutput::new("c1", "found").into());
    next.history = history.into();
    let input = body_of(&send(&next).unwrap())["input"].take();
    assert_eq!(input[0], item);
    (arguments, listed, input[1].clone())
}

#[test]
fn a_custom_tool_is_called_with_a_text() {
    for schema in [json!({"type": "string"}), json!({"type": "object"}), json!(true)] {
        let (arguments, listed, output) = custom(schema);
        assert_eq!(arguments, r#""a \"b\"\\""#);
        assert_eq!(
            listed,
            json!({"type": "custom", "name": "grep", "format": {"type": "grammar", "syntax": "regex", "definition": "a+"}})
        );
        assert_eq!(output, json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "found"}));
    }
}

#[test]
fn the_list_of_tools_is_rendered_once() {
    let wire = OpenAiResponses::new();
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[weather()]);
    let [first, second] = [(); 2].map(|()| wire.request(&request, Delivery::Whole).unwrap());
    assert!(std::sync::Arc::ptr_eq(&first.context.tools, &second.context.tools));
    assert_eq!(first.body, second.body);
}
