//! Requests.

use haft_core::{
    ContentPart, Item, MediaData, MediaPart, Message, OutputFormat, ProviderCall, Reasoning, ResourceContents, Role,
    ToolCall, ToolCallOutput, ToolChoice, ToolDescriptor, TurnRequest,
};
use haft_wire::{Delivery, OpenAiChat, RequestError, Wire, WireRequest};
use serde_json::{Value, json};

fn tool(name: &str) -> ToolDescriptor {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string", "description": "A city."}, "unit": {"type": "string", "description": "C or F."}},
        "required": ["city"],
        "additionalProperties": false,
    });
    ToolDescriptor::new(name, schema).describe("Gets the weather.")
}

fn send(wire: &OpenAiChat, request: &TurnRequest) -> (Value, WireRequest) {
    let sent = wire.request(request, Delivery::Whole).unwrap();
    (serde_json::from_str(&sent.body).unwrap(), sent)
}

fn body(request: &TurnRequest) -> Value {
    send(&OpenAiChat::new(), request).0
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall::new(id, name, r#"{"city":"Oslo"}"#)
}

fn image() -> ContentPart {
    ContentPart::image("image/png", MediaData::Base64("AAAA".to_owned()))
}

#[test]
fn a_rich_history_has_its_form() {
    let user = Message::new(
        Role::User,
        vec![
            ContentPart::text("Look:"),
            image(),
            ContentPart::image("image/png", MediaData::Url("https://a.example/i.png".to_owned())),
            ContentPart::audio("audio/wav", MediaData::Base64("BBBB".to_owned())),
            ContentPart::file("application/pdf", MediaData::Base64("CCCC".to_owned())),
            ContentPart::File(MediaPart::new(MediaData::FileId("file_1".to_owned()))),
            ContentPart::resource("file:///notes.txt", ResourceContents::Text("notes".to_owned())),
            ContentPart::resource_link("https://a.example/doc", "doc"),
        ],
    );
    let history = vec![
        Item::Message(Message::text(Role::Developer, "Be brief.")),
        Item::Message(user),
        Item::assistant("One moment. "),
        Item::ToolCall(call("c1", "acme/weather")),
        Item::ToolCall(call("c2", "acme/weather")),
        // Answered in another order.
        Item::ToolOutput(ToolCallOutput::new("c2", r#"{"error":{"kind":"x"}}"#).error()),
        Item::ToolOutput(ToolCallOutput::new("c1", vec![ContentPart::text("18 C"), image()])),
        Item::Message(Message::new(
            Role::Assistant,
            vec![ContentPart::text("It is "), ContentPart::text("18 C."), ContentPart::refusal("No more.")],
        )),
        Item::user("Thanks"),
    ];
    let request = TurnRequest::new("gpt-4o", history)
        .instructions("Help.")
        .tools(&[tool("acme/weather")])
        .temperature(0.5)
        .top_p(0.9)
        .max_output_tokens(100)
        .stop("END")
        .forbid_parallel_calls()
        .metadata("user", "ana")
        .provider_options("openai", json!({"store": true}))
        .output_format(OutputFormat::new("answer", json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false})));
    let sent = OpenAiChat::new().request(&request, Delivery::Streamed).unwrap();
    assert!(sent.dropped.is_empty(), "{:?}", sent.dropped);
    insta::assert_json_snapshot!(serde_json::from_str::<Value>(&sent.body).unwrap());
}

#[test]
fn what_cannot_be_sent_is_reported() {
    let history = vec![
        Item::user("hi"),
        Item::Reasoning(Reasoning::text("hm").signed("anthropic", "sig")),
        Item::ProviderCall(ProviderCall::new("openai", "web_search", json!({}))),
        Item::Unknown(json!({"type": "hologram"})),
        Item::assistant("hello"),
        Item::Message(Message::new(
            Role::User,
            vec![
                ContentPart::text("see"),
                ContentPart::image("image/png", MediaData::FileId("f".to_owned())),
                ContentPart::audio("audio/ogg", MediaData::Base64("A".to_owned())),
                ContentPart::file("text/plain", MediaData::Url("https://a.example".to_owned())),
                ContentPart::Unknown(json!({"type": "smell"})),
            ],
        )),
    ];
    let (body, sent) = send(&OpenAiChat::new(), &TurnRequest::new("gpt-4o", history));
    let dropped: Vec<_> = sent.dropped.iter().map(|dropped| (dropped.item, &*dropped.part)).collect();
    assert_eq!(
        dropped,
        [
            (Some(1), "reasoning"),
            (Some(2), "provider call"),
            (Some(3), "unknown item"),
            (Some(5), "image"),
            (Some(5), "audio"),
            (Some(5), "file"),
            (Some(5), "unknown part")
        ]
    );
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
    assert!(!sent.body.contains("sig"));
}

#[test]
fn a_choice_has_its_form() {
    let tools = [tool("a"), tool("b/c")];
    let choice = |wire: &OpenAiChat, choice: ToolChoice| {
        let request = TurnRequest::new("m", vec![Item::user("hi")]).tools(&tools).tool_choice(choice);
        let body = send(wire, &request).0;
        (body["tool_choice"].clone(), body["tools"].as_array().unwrap().len())
    };
    let named = json!({"type": "function", "function": {"name": "b--c"}});
    let openai = OpenAiChat::new();
    assert_eq!(choice(&openai, ToolChoice::Auto), (Value::Null, 2));
    assert_eq!(choice(&openai, ToolChoice::None), (json!("none"), 2));
    assert_eq!(choice(&openai, ToolChoice::Required), (json!("required"), 2));
    assert_eq!(choice(&openai, ToolChoice::tool("b/c")), (named.clone(), 2));
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named]}});
    assert_eq!(choice(&openai, ToolChoice::must_call_one_of(["b/c", "gone"])), (allowed, 2));
    let other = OpenAiChat::compatible("acme");
    assert_eq!(choice(&other, ToolChoice::must_call_one_of(["b/c"])), (json!("required"), 1));
    assert_eq!(choice(&other, ToolChoice::may_call(["b/c"])), (Value::Null, 1));
    assert_eq!(choice(&openai, ToolChoice::may_call(["gone"])).0, json!("none"));
}

#[test]
fn a_required_call_of_a_missing_tool_is_an_error() {
    for (tools, choice) in [
        (vec![], ToolChoice::Required),
        (vec![tool("a")], ToolChoice::tool("b")),
        (vec![tool("a")], ToolChoice::must_call_one_of(["b"])),
    ] {
        let request = TurnRequest::new("m", vec![Item::user("hi")]).tools(&tools).tool_choice(choice);
        let error = OpenAiChat::new().request(&request, Delivery::Whole).unwrap_err();
        assert!(matches!(&error, RequestError::Invalid { param, .. } if param == "tool_choice"), "{error}");
    }
}

#[test]
fn a_request_without_tools_says_nothing_about_them() {
    let request = TurnRequest::new("m", vec![Item::user("hi")]).forbid_parallel_calls().tool_choice(ToolChoice::None);
    assert_eq!(body(&request), json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}));
}

#[test]
fn servers_that_are_not_openai_get_what_they_know() {
    let history = vec![
        Item::Message(Message::text(Role::Developer, "Be brief.")),
        Item::user("hi"),
        Item::ToolCall(call("call_0123456789", "t")),
        Item::ToolOutput(ToolCallOutput::new("call_0123456789", "done")),
    ];
    let request = TurnRequest::new("mistral-large", history).tools(&[tool("t")]).max_output_tokens(9);
    let (body, _) = send(&OpenAiChat::compatible("mistral"), &request);
    assert_eq!(body["messages"][0]["role"], "system");
    assert_eq!((&body["max_tokens"], &body["max_completion_tokens"]), (&json!(9), &Value::Null));
    assert_eq!(body["tools"][0]["function"]["strict"], false);
    let id = body["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    assert_eq!(body["messages"][3]["tool_call_id"], id);
}

#[test]
fn options_of_the_provider_win() {
    let request = TurnRequest::new("m", vec![Item::user("hi")])
        .temperature(1.0)
        .provider_options("openai", json!({"temperature": 0.1, "seed": 7}))
        .provider_options("mistral", json!({"safe_prompt": true}));
    let sent = body(&request);
    assert_eq!((&sent["temperature"], &sent["seed"], &sent["safe_prompt"]), (&json!(0.1), &json!(7), &Value::Null));
    let (other, _) = send(&OpenAiChat::compatible("mistral"), &request);
    assert_eq!((&other["temperature"], &other["safe_prompt"]), (&json!(1.0), &json!(true)));
}

#[test]
fn reasoning_is_sent_back_to_its_server_while_its_turn_lasts() {
    let reasoning = |text: &str| {
        let data = json!({"member": "reasoning_content"});
        Item::Reasoning(Reasoning::text(text).signed("xai", "").provider_data("xai", data))
    };
    let history = vec![
        Item::user("a"),
        reasoning("old"),
        Item::assistant("b"),
        Item::user("c"),
        reasoning("new"),
        Item::ToolCall(call("c1", "t")),
        Item::ToolOutput(ToolCallOutput::new("c1", "done")),
    ];
    let request = TurnRequest::new("grok-4", history).tools(&[tool("t")]);
    let (body, sent) = send(&OpenAiChat::compatible("xai"), &request);
    assert_eq!(body["messages"][1], json!({"role": "assistant", "content": "b"}));
    assert_eq!(body["messages"][3]["reasoning_content"], "new");
    assert!(sent.dropped.is_empty());
}

#[test]
fn arguments_are_sent_as_the_model_wrote_them() {
    let written = r#"{"city":"Oslo","unit":null}"#;
    let own = call("c1", "t").provider_data("openai", json!({"arguments": written}));
    let foreign = call("c2", "t").provider_data("anthropic", json!({"arguments": "{\"x\":1}"}));
    let history = vec![
        Item::user("hi"),
        Item::ToolCall(own),
        Item::ToolCall(foreign),
        Item::ToolOutput(ToolCallOutput::new("c1", "a")),
        Item::ToolOutput(ToolCallOutput::new("c2", "b")),
    ];
    let body = body(&TurnRequest::new("gpt-4o", history).tools(&[tool("t")]));
    let calls = &body["messages"][1]["tool_calls"];
    assert_eq!(calls[0]["function"]["arguments"], written);
    assert_eq!(calls[1]["function"]["arguments"], written);
}

#[test]
fn a_history_that_is_not_whole_is_an_error() {
    let request = TurnRequest::new("m", vec![Item::user("hi"), Item::ToolCall(call("c1", "t"))]);
    let error = OpenAiChat::new().request(&request, Delivery::Whole).unwrap_err().to_string();
    assert!(error.contains("history[1]") && error.contains("c1"), "{error}");
}

#[test]
fn calls_of_consecutive_turns_are_different_messages() {
    let history = vec![
        Item::user("hi"),
        Item::ToolCall(call("c1", "t")),
        Item::ToolOutput(ToolCallOutput::new("c1", "a")),
        Item::ToolCall(call("c2", "t")),
        Item::ToolOutput(ToolCallOutput::new("c2", "b")),
    ];
    let body = body(&TurnRequest::new("m", history));
    let roles: Vec<_> = body["messages"].as_array().unwrap().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "tool"]);
}

#[test]
fn arguments_that_are_no_object_are_sent_as_one_to_servers_that_parse_them() {
    let table = [
        ("{\"a\": 1 }", "{\"a\": 1 }", 0),
        ("", "{}", 0),
        ("{\"city\":\"Par", "{\"arguments\":\"{\\\"city\\\":\\\"Par\"}", 1),
        ("[1]", "{\"arguments\":\"[1]\"}", 1),
    ];
    for (written, sent_there, reports) in table {
        let output = ToolCallOutput::new("c", "interrupted");
        let history = vec![Item::user("hi"), ToolCall::new("c", "t", written).into(), output.into()];
        let request = TurnRequest::new("m", history);
        let arguments = |body: &Value| body["messages"][1]["tool_calls"][0]["function"]["arguments"].clone();
        let (body, sent) = send(&OpenAiChat::compatible("vllm"), &request);
        assert_eq!((arguments(&body), sent.dropped.len()), (sent_there.into(), reports), "{written}");
        let (body, sent) = send(&OpenAiChat::new(), &request);
        assert_eq!((arguments(&body), sent.dropped.len()), (written.into(), 0));
    }
}

#[test]
fn metadata_is_text_and_is_sent_where_it_is_accepted() {
    let request = TurnRequest::new("m", vec![Item::user("hi")]).metadata("a", json!({"b": 1})).metadata("c", "d");
    let (body, sent) = send(&OpenAiChat::new(), &request);
    assert_eq!((body.get("metadata"), sent.dropped.len()), (None, 1), "OpenAI takes it with `store` only");
    let stored = request.clone().provider_options("openai", json!({"store": true}));
    let (body, sent) = send(&OpenAiChat::new(), &stored);
    assert_eq!((&body["metadata"], sent.dropped.len()), (&json!({"a": "{\"b\":1}", "c": "d"}), 0));
    let (body, _) = send(&OpenAiChat::compatible("vllm"), &request);
    assert_eq!(body["metadata"]["a"], "{\"b\":1}");
}

#[test]
fn more_stops_than_openai_accepts_are_an_error() {
    let stops = |count: u8| {
        (0..count).fold(TurnRequest::new("m", vec![Item::user("hi")]), |request, at| request.stop(at.to_string()))
    };
    let error = OpenAiChat::new().request(&stops(5), Delivery::Whole).unwrap_err().to_string();
    assert!(error.contains("accepts 4"), "{error}");
    OpenAiChat::new().request(&stops(4), Delivery::Whole).unwrap();
    OpenAiChat::compatible("vllm").request(&stops(5), Delivery::Whole).unwrap();
}

#[test]
fn a_failure_is_marked_in_its_text() {
    let history = vec![Item::user("hi"), call("c", "t").into(), ToolCallOutput::new("c", "it broke").error().into()];
    let content = body(&TurnRequest::new("m", history))["messages"][2]["content"].clone();
    assert_eq!(content, r#"{"error":{"message":"it broke"}}"#);
}

#[test]
fn a_call_without_a_name_gets_one() {
    let history = vec![Item::user("hi"), call("c", "").into(), ToolCallOutput::new("c", "no such tool").into()];
    let body = body(&TurnRequest::new("m", history));
    assert_eq!(body["messages"][1]["tool_calls"][0]["function"]["name"], "_x5F_empty");
}

#[test]
fn the_output_of_a_call_that_a_provider_executed_is_reported() {
    let executed = call("p", "search").executed_by_provider();
    let history = vec![Item::user("hi"), executed.into(), ToolCallOutput::new("p", "found").into()];
    let (body, sent) = send(&OpenAiChat::new(), &TurnRequest::new("m", history));
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    assert_eq!(sent.dropped.iter().map(|dropped| dropped.item).collect::<Vec<_>>(), [Some(1), Some(2)]);
}

#[test]
fn a_choice_without_a_tool_says_nothing_about_tools() {
    let none: [&str; 0] = [];
    let request = TurnRequest::new("m", vec![Item::user("hi")]).tools(&[tool("a")]);
    let (body, _) = send(&OpenAiChat::compatible("vllm"), &request.tool_choice(ToolChoice::may_call(none)));
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
}
