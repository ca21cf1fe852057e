//! Requests, judged by the types of the SDK.

use haft_core::{Item, OutputFormat, ProviderOptions, ToolCallOutput, ToolChoice, TurnRequest};
use haft_parts::{Judge, WireName};
use haft_wire::{Delivery, OpenAiResponses, Profile, Wire, catalogue};
use serde_json::json;

use super::request::{history, request};
use super::{MODEL, body_of, read, response, send, weather};

#[test]
fn the_sdk_accepts_requests() {
    let mut known = request();
    // The SDK has no type for it.
    known.history = history().into_iter().filter(|item| !matches!(item, Item::Unknown(_))).collect::<Vec<_>>().into();
    for delivery in [Delivery::Whole, Delivery::Streamed] {
        let sent = OpenAiResponses::new().request(&known, delivery).unwrap();
        Judge::shared().assert_valid(WireName::OpenAiResponses, &body_of(&sent));
    }
}

#[test]
fn the_sdk_accepts_every_choice_and_format() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let search = catalogue::find("openai.web_search").unwrap().with_args(json!({})).unwrap().define().unwrap();
    let base = TurnRequest::new(MODEL, vec![Item::assistant("Hi!"), Item::user("hi"), Item::system("Be brief.")])
        .tools(&vec![std::sync::Arc::new(weather()), search.descriptor()])
        .output_format(OutputFormat::new("o", schema));
    for choice in [
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::tool("acme/weather"),
        ToolChoice::tool("OpenAiWebSearch"),
        ToolChoice::must_call_one_of(["acme/weather", "OpenAiWebSearch"]),
    ] {
        let sent = send(&base.clone().tool_choice(choice).forbid_parallel_calls()).unwrap();
        Judge::shared().assert_valid(WireName::OpenAiResponses, &body_of(&sent));
    }
}

#[test]
fn the_sdk_accepts_items_without_their_reasoning() {
    let mut items = read(&response(json!([
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "shell_call", "id": "sh_1", "call_id": "c1", "status": "completed", "action": {"commands": ["ls"]}},
        {
            "type": "local_shell_call", "id": "lsh_1", "call_id": "c2", "status": "completed",
            "action": {"type": "exec", "command": ["ls"], "env": {}},
        },
        super::called("c3", "t", "{}"),
        super::said("msg_1", "hi"),
    ])))
    .items;
    items.extend(["c1", "c2", "c3"].map(|id| ToolCallOutput::new(id, "done").into()));
    let sent = send(&TurnRequest::new(MODEL, items)).unwrap();
    Judge::shared().assert_valid(WireName::OpenAiResponses, &body_of(&sent));
}

#[test]
fn the_sdk_accepts_its_own_responses_back() {
    let judge = Judge::shared();
    let mut count = 0;
    for sample in judge.samples(WireName::OpenAiResponses) {
        let (Some(body), false) = (&sample.body, sample.name.starts_with("unknown")) else { continue };
        let Ok(turn) = OpenAiResponses::new().response(&body.to_string(), &super::context()) else { continue };
        let mut history = vec![Item::user("go")];
        let answers = |item: &Item| match item {
            Item::ToolCall(call) => Some(ToolCallOutput::new(call.call_id.clone(), "done").into()),
            Item::ApprovalRequest(request) => Some(request.approve().into()),
            _ => None,
        };
        let outputs: Vec<Item> = turn.items.iter().filter_map(answers).collect();
        history.extend(turn.items);
        history.extend(outputs);
        let sent = send(&TurnRequest::new(MODEL, history)).unwrap_or_else(|error| panic!("{}: {error}", sample.name));
        let faults = judge.validate(WireName::OpenAiResponses, &body_of(&sent));
        assert!(faults.is_empty(), "{}: {faults:#?}\n{}", sample.name, sent.body);
        count += 1;
    }
    assert!(count > 5, "{count} samples");
}

#[test]
fn the_sdk_accepts_namespaces_with_a_search_for_deferred_tools() {
    let tool = |name: &str| {
        let mut tool = weather();
        tool.name = name.to_owned();
        tool.provider_options =
            ProviderOptions::new().deferred().allowed_caller("direct").allowed_caller("programmatic");
        std::sync::Arc::new(tool)
    };
    let provider = |id: &str| catalogue::find(id).unwrap().with_args(json!({})).unwrap().define().unwrap().descriptor();
    let search = provider("openai.tool_search");
    let programs = provider("openai.programmatic_tool_calling");
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&vec![
        tool("shop/find"),
        tool("shop/price"),
        search,
        programs,
        tool("crm/orders"),
    ]);
    let wire = OpenAiResponses::new().profile(Profile::openai().namespaces());
    let body = body_of(&wire.request(&request, Delivery::Whole).unwrap());
    Judge::shared().assert_valid(WireName::OpenAiResponses, &body);
    let types: Vec<_> = body["tools"].as_array().unwrap().iter().map(|tool| tool["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["namespace", "tool_search", "programmatic_tool_calling", "namespace"]);
}
