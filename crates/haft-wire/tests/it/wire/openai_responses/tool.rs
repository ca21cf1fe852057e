//! Tools in requests.

use haft_core::{Item, ProviderOptions, ToolCall, ToolCallOutput, ToolChoice, ToolDescriptor, TurnRequest};
use haft_executor::Tool;
use haft_schema::Schema;
use haft_wire::{Delivery, ModelTable, OpenAiResponses, Profile, Wire, catalogue};
use serde_json::{Value, json};

use super::{MODEL, body_of, called, response, send, weather};

/// Sends a tool beside one that searches for others, and returns it as it is listed.
fn listed(tool: ToolDescriptor) -> Value {
    let tools = [tool, search()];
    body_of(&send(&TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&tools)).unwrap())["tools"][0].take()
}

fn search() -> ToolDescriptor {
    catalogue::openai::tool_search().define().unwrap().descriptor().as_ref().clone()
}

#[test]
fn tools_are_deferred_only_beside_the_search() {
    let mut deferred = ToolDescriptor::new("shop/find", json!({"type": "object"}));
    deferred.provider_options = ProviderOptions::new().deferred();
    let foreign = catalogue::anthropic::tool_search_regex().define().unwrap().descriptor().as_ref().clone();
    let flat = OpenAiResponses::new();
    let grouped = OpenAiResponses::new().profile(Profile::openai().namespaces());
    for (wire, at) in [(flat, "/tools/0/defer_loading"), (grouped, "/tools/0/tools/0/defer_loading")] {
        for (beside, is_deferred) in [(search(), true), (foreign.clone(), false)] {
            let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[deferred.clone(), beside]);
            let sent = wire.request(&request, Delivery::Whole).unwrap();
            assert_eq!(body_of(&sent).pointer(at), is_deferred.then_some(&json!(true)), "{}", sent.body);
            let reported = sent.dropped.iter().any(|dropped| dropped.part == "defer_loading");
            assert_eq!(reported, !is_deferred, "{:?}", sent.dropped);
        }
    }
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

/// Sends a custom tool with this schema, and returns a call's item and what is echoed.
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

#[test]
fn the_tools_of_a_namespace_are_sent_as_one_and_their_calls_map_back() {
    let named = |name: &str| {
        let mut tool = weather();
        tool.name = name.to_owned();
        tool.id = name.into();
        tool
    };
    let mut deferred = named("shop/eu/price");
    deferred.provider_options = ProviderOptions::new().deferred();
    let tools = [
        named("shop/eu/find"),
        named("plain"),
        deferred,
        named("crm/orders"),
        named("other/x"),
        named("other"),
        search(),
    ];
    let wire = OpenAiResponses::new().profile(Profile::openai().namespaces().namespace("crm", "Customers."));
    let call = |name: &str, id: &str| Item::from(ToolCall::new(id, name, "{}"));
    let history = vec![
        Item::user("a"),
        call("shop/eu/price", "c1"),
        call("plain", "c2"),
        ToolCallOutput::new("c1", "1").into(),
        ToolCallOutput::new("c2", "2").into(),
    ];
    let request = TurnRequest::new(MODEL, history).tools(&tools);
    let sent = wire.request(&request, Delivery::Whole).unwrap();
    let body = body_of(&sent);
    let outline = |body: &Value| {
        let name = |tool: &Value| tool["name"].as_str().or(tool["type"].as_str()).unwrap().to_owned();
        let inner = |tool: &Value| tool["tools"].as_array().into_iter().flatten().map(name).collect::<Vec<_>>();
        body["tools"].as_array().unwrap().iter().map(|tool| (name(tool), inner(tool))).collect::<Vec<_>>()
    };
    let flat = |name: &str| (name.to_owned(), Vec::new());
    assert_eq!(
        outline(&body),
        [
            ("shop--eu".to_owned(), vec!["shop--eu--find".to_owned(), "shop--eu--price".to_owned()]),
            flat("plain"),
            ("crm".to_owned(), vec!["crm--orders".to_owned()]),
            // A function has the name already.
            flat("other--x"),
            flat("other"),
            flat("tool_search"),
        ]
    );
    assert_eq!(body["tools"][0]["description"], "The tools of `shop/eu`: find, price.");
    assert_eq!(body["tools"][2]["description"], "Customers.");
    assert_eq!(body["tools"][0]["tools"][1]["defer_loading"], true);
    assert_eq!((&body["input"][1]["namespace"], body["input"][2].get("namespace")), (&json!("shop--eu"), None));

    let mut item = called("c3", "shop--eu--price", "{}");
    item["namespace"] = json!("shop--eu");
    let turn = wire.response(&response(json!([item])).to_string(), &sent.context).unwrap();
    assert_eq!(turn.tool_calls()[0].name, "shop/eu/price");
    let next = [turn.items, vec![ToolCallOutput::new("c3", "1").into()]].concat();
    let echoed = wire.request(&TurnRequest::new(MODEL, next).tools(&tools), Delivery::Whole).unwrap();
    assert_eq!(body_of(&echoed)["input"][0]["namespace"], "shop--eu");

    // A choice can't name a tool in a namespace.
    let chosen = request.clone().tool_choice(ToolChoice::tool("shop/eu/find"));
    let body = body_of(&wire.request(&chosen, Delivery::Whole).unwrap());
    assert_eq!(outline(&body).len(), 7);
    assert_eq!(body["tool_choice"], json!({"type": "function", "name": "shop--eu--find"}));
}
