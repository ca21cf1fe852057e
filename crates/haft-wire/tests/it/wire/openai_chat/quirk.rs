//! The differences between the servers of this API.

use haft_core::{
    ContentPart, Item, MediaData, Message, OutputFormat, Reasoning, Role, ToolCall, ToolCallOutput, ToolChoice,
    ToolDescriptor, TurnRequest,
};
use haft_wire::{CallIdRule, ChatQuirks, Delivery, OpenAiChat, TokenLimit, Wire};
use serde_json::{Value, json};

fn tool(name: &str) -> ToolDescriptor {
    ToolDescriptor::new(name, json!({"type": "object", "properties": {}, "additionalProperties": false}))
        .describe("Looks.")
}

/// Returns a streamed request's body and the names of what was left out.
fn sent(wire: &OpenAiChat, request: &TurnRequest) -> (Value, Vec<String>) {
    let sent = wire.request(request, Delivery::Streamed).unwrap();
    let dropped = sent.dropped.iter().map(|dropped| dropped.part.to_string()).collect();
    (serde_json::from_str(&sent.body).unwrap(), dropped)
}

/// The table's servers, with the request members that distinguish them: the limit, `stream_options`,
/// `parallel_tool_calls`, `metadata` and the format's type.
#[rustfmt::skip]
const SERVERS: [(&str, &str, bool, bool, bool, &str); 9] = [
    ("mistral",    "max_tokens",            false, true,  true,  "json_schema"),
    ("openrouter", "max_tokens",            true,  true,  true,  "json_schema"),
    ("groq",       "max_completion_tokens", true,  true,  false, "json_schema"),
    ("deepseek",   "max_tokens",            true,  false, false, "json_object"),
    ("xai",        "max_completion_tokens", true,  true,  false, "json_schema"),
    ("ollama",     "max_tokens",            true,  false, true,  "json_schema"),
    ("vllm",       "max_completion_tokens", true,  true,  true,  "json_schema"),
    ("llama.cpp",  "max_tokens",            true,  true,  true,  "json_schema"),
    ("acme",       "max_tokens",            true,  true,  true,  "json_schema"),
];

#[test]
fn every_server_gets_the_members_that_it_knows() {
    let developer = Item::Message(Message::text(Role::Developer, "Be brief."));
    let request = TurnRequest::new("m", vec![developer, Item::user("hi")])
        .tools(&[tool("look")])
        .max_output_tokens(9)
        .forbid_parallel_calls()
        .metadata("a", "b")
        .output_format(OutputFormat::new(
            "answer",
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ));
    for (provider, limit, options, parallel, metadata, format) in SERVERS {
        let (body, dropped) = sent(&OpenAiChat::compatible(provider), &request);
        let other = if limit == "max_tokens" { "max_completion_tokens" } else { "max_tokens" };
        assert_eq!((&body[limit], body.get(other)), (&json!(9), None), "{provider}");
        assert_eq!(body.get("stream_options").is_some(), options, "{provider}");
        assert_eq!(body.get("parallel_tool_calls"), parallel.then_some(&json!(false)), "{provider}");
        assert_eq!(body.get("metadata").is_some(), metadata, "{provider}");
        assert_eq!(body["response_format"]["type"], format, "{provider}");
        assert_eq!(body["messages"][0]["role"], "system", "{provider}");
        let lost = [
            (!parallel).then_some("parallel_tool_calls"),
            (format == "json_object").then_some("output_format"),
            (!metadata).then_some("metadata"),
        ];
        assert_eq!(dropped, lost.into_iter().flatten().collect::<Vec<_>>(), "{provider}");
    }
}

#[test]
fn reasoning_goes_back_in_the_members_that_a_server_takes() {
    let history = |provider: &str, member: &str| {
        let data = json!({"member": member, "details": [{"type": "reasoning.text", "text": "hm"}]});
        let reasoning = Reasoning::text("hm").signed(provider, "").provider_data(provider, data);
        vec![
            Item::user("hi"),
            reasoning.into(),
            ToolCall::new("c1", "look", "{}").into(),
            ToolCallOutput::new("c1", "dark").into(),
        ]
    };
    for (provider, taken) in [
        ("mistral", vec![]),
        ("openrouter", vec!["reasoning", "reasoning_details"]),
        ("groq", vec!["reasoning"]),
        ("deepseek", vec!["reasoning_content"]),
        ("xai", vec!["reasoning_content"]),
        ("ollama", vec!["reasoning"]),
        ("vllm", vec!["reasoning", "reasoning_content"]),
        ("llama.cpp", vec!["reasoning_content"]),
        ("acme", vec!["reasoning", "reasoning_content", "reasoning_details"]),
    ] {
        for member in ["reasoning", "reasoning_content", "details", "thinking"] {
            let request = TurnRequest::new("m", history(provider, member));
            let (body, dropped) = sent(&OpenAiChat::compatible(provider), &request);
            let mut message = body["messages"][1].as_object().unwrap().clone();
            // DeepSeek demands it of every call.
            if provider == "deepseek" && message["reasoning_content"] == "" {
                message.remove("reasoning_content");
            }
            let found: Vec<&str> =
                message.keys().map(String::as_str).filter(|key| key.starts_with("reasoning")).collect();
            let expected: Vec<&str> =
                taken.iter().copied().filter(|key| *key == member || *key == "reasoning_details").collect();
            assert_eq!(found, expected, "{provider} {member}");
            assert_eq!(dropped.is_empty(), !expected.is_empty(), "{provider} {member}: {dropped:?}");
        }
    }
}

#[test]
fn deepseek_gets_the_reasoning_of_all_calls_back() {
    let data = json!({"member": "reasoning_content"});
    let thought = Reasoning::text("hm").signed("deepseek", "").provider_data("deepseek", data);
    let called = |id: &str| [ToolCall::new(id, "look", "{}").into(), ToolCallOutput::new(id, "dark").into()];
    let mut history = vec![Item::user("hi"), thought.into()];
    history.extend(called("c1"));
    history.extend([Item::assistant("Dark."), Item::user("Again.")]);
    // Calls of another provider's model have no reasoning that could be sent.
    history.push(Reasoning::encrypted("openai", "ZW5j").into());
    history.extend(called("c2"));
    history.push(Item::assistant("Still dark."));
    history.push(Item::user("And now?"));
    let (body, dropped) =
        sent(&OpenAiChat::compatible("deepseek"), &TurnRequest::new("deepseek-v4-pro", history.clone()));
    let reasoning = |at: usize| body["messages"][at].get("reasoning_content").cloned();
    assert_eq!([1, 3, 5, 7].map(reasoning), [Some(json!("hm")), None, Some(json!("")), None]);
    assert_eq!(dropped, ["reasoning"]);
    let (body, _) = sent(&OpenAiChat::compatible("xai"), &TurnRequest::new("grok-4", history));
    assert!(!body.to_string().contains("reasoning_content"), "{body}");
}

#[test]
fn the_model_reads_a_schema_that_a_server_does_not_take() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let format = OutputFormat::new("place", schema).describe("Where it is.");
    let request = TurnRequest::new("m", vec![Item::user("hi")]).instructions("Be brief.").output_format(format);
    let (body, _) = sent(&OpenAiChat::compatible("deepseek"), &request);
    let texts: Vec<_> = body["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!((texts.len(), texts[0], texts[2]), (3, &json!("Be brief."), &json!("hi")));
    let instruction = texts[1].as_str().unwrap();
    assert!(["JSON", "Where it is.", r#""city""#].iter().all(|part| instruction.contains(part)), "{instruction}");
    let (body, _) = sent(&OpenAiChat::compatible("acme"), &request);
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn no_message_of_the_user_follows_that_of_a_tool_where_it_is_rejected() {
    let image = ContentPart::image("image/png", MediaData::Base64("AAAA".to_owned()));
    let output = ToolCallOutput::new("c1", vec![ContentPart::text("a picture"), image]);
    let history = vec![
        Item::user("hi"),
        ToolCall::new("c1", "look", "{}").into(),
        output.into(),
        ToolCall::new("c2", "look", "{}").into(),
        ToolCallOutput::new("c2", "dark").into(),
        Item::user("Stop that."),
    ];
    let roles = |provider: &'static str| {
        let (body, _) = sent(&OpenAiChat::compatible(provider), &TurnRequest::new("m", history.clone()));
        let messages = body["messages"].as_array().unwrap().clone();
        messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let usual = ["user", "assistant", "tool", "user", "assistant", "tool", "user"];
    assert_eq!(roles("vllm"), usual);
    assert_eq!(
        roles("mistral"),
        ["user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant", "user"]
    );
}

#[test]
fn a_refusal_is_text_where_messages_have_no_member_for_it() {
    let refused = Message::new(Role::Assistant, vec![ContentPart::refusal("No.")]);
    let request = TurnRequest::new("m", vec![Item::user("hi"), refused.into(), Item::user("please")]);
    let message = |provider: &'static str| sent(&OpenAiChat::compatible(provider), &request).0["messages"][1].clone();
    assert_eq!(message("mistral"), json!({"role": "assistant", "content": "No."}));
    assert_eq!(message("acme"), json!({"role": "assistant", "refusal": "No."}));
}

#[test]
fn the_quirks_of_a_server_can_be_changed() {
    let mut quirks = ChatQuirks::named("mistral").unwrap();
    quirks.stream_options = true;
    quirks.token_limit = TokenLimit::MaxCompletionTokens;
    let wire = OpenAiChat::compatible("mistral").quirks(quirks).call_ids(CallIdRule::Any);
    let history =
        vec![Item::user("hi"), ToolCall::new("call_1", "look", "{}").into(), ToolCallOutput::new("call_1", "").into()];
    let (body, _) = sent(&wire, &TurnRequest::new("m", history).max_output_tokens(9).tool_choice(ToolChoice::Auto));
    assert_eq!((&body["max_completion_tokens"], body.get("stream_options").is_some()), (&json!(9), true));
    assert_eq!(body["messages"][1]["tool_calls"][0]["id"], "call_1");
}
