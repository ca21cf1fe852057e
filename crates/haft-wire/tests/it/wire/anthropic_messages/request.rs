//! A whole request: golden files, judged by the types of the SDK.

use haft_core::{
    ContentPart, Item, MediaData, Message, Reasoning, Role, ToolCall, ToolCallOutput, ToolChoice, TurnRequest,
};
use haft_parts::{Judge, WireName};
use haft_wire::{AnthropicMessages, Delivery, Wire};
use serde_json::json;

use super::{MODEL, body_of, read, rich, weather};

fn history() -> Vec<Item> {
    let image = ContentPart::image("image/png", MediaData::Base64("aQ==".to_owned()));
    let mut history = vec![
        Item::system("Be brief."),
        Message::new(Role::User, vec![ContentPart::text("What is this?"), image.clone()]).into(),
        Reasoning::text("foreign").signed("google", "c2ln").into(),
        Item::assistant("A picture."),
        ToolCall::new("call.1", "acme/weather", r#"{"city":"Oslo","labels":{"a":"b"}}"#).into(),
        ToolCall::new("call.2", "removed/tool", r#"{"x":1}"#).into(),
        ToolCall::new("call.3", "acme/weather", "oops").into(),
        ToolCallOutput::new("call.1", "Sunny").into(),
        ToolCallOutput::new("call.2", vec![ContentPart::text("see"), image]).into(),
        ToolCallOutput::new("call.3", "invalid arguments").error().into(),
        Item::user("And now?"),
    ];
    history.extend(read(&rich()).items);
    history.extend([
        ToolCallOutput::new("toolu_4", "Rain").into(),
        ToolCallOutput::new("toolu_5", "no such tool").error().into(),
    ]);
    history
}

fn request() -> TurnRequest {
    TurnRequest::new(MODEL, history())
        .instructions("You are helpful.")
        .tools(&[weather()])
        .tool_choice(ToolChoice::Auto)
        .forbid_parallel_calls()
        .max_output_tokens(1_000)
        .stop("END")
        .metadata("user_id", "u1")
}

#[test]
fn a_rich_history_has_its_form() {
    let sent = AnthropicMessages::new().request(&request(), Delivery::Streamed).unwrap();
    insta::assert_json_snapshot!("request", body_of(&sent));
    let dropped: Vec<_> = sent.dropped.iter().map(ToString::to_string).collect();
    insta::assert_debug_snapshot!("request_dropped", dropped);
}

#[test]
fn the_sdk_accepts_requests() {
    let judge = Judge::shared();
    // The results of these calls of the server stand in other messages, and `telepathy` is no block of the SDK.
    let known = |item: &Item| !matches!(item, Item::ProviderCall(call) if call.name != "web_search");
    let mut plain = request();
    plain.history = history().into_iter().filter(known).collect::<Vec<_>>().into();
    for delivery in [Delivery::Whole, Delivery::Streamed] {
        let sent = AnthropicMessages::new().request(&plain, delivery).unwrap();
        judge.assert_valid(WireName::Anthropic, &body_of(&sent));
    }
}

#[test]
fn the_sdk_accepts_every_choice_and_format() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let search = haft_wire::catalogue::find("anthropic.web_search_20260318").unwrap();
    let search = search.with_args(json!({"max_uses": 3})).unwrap().define().unwrap();
    let base = TurnRequest::new(MODEL, vec![Item::assistant("Hi!"), Item::user("hi"), Item::system("Be brief.")])
        .tools(&vec![std::sync::Arc::new(weather()), search.descriptor()])
        .output_format(haft_core::OutputFormat::new("o", schema));
    for choice in [
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::tool("acme/weather"),
        ToolChoice::must_call_one_of(["acme/weather"]),
    ] {
        let request = base.clone().tool_choice(choice).forbid_parallel_calls();
        for wire in [AnthropicMessages::new(), AnthropicMessages::new().system_in_place()] {
            let sent = wire.request(&request, Delivery::Whole).unwrap();
            Judge::shared().assert_valid(WireName::Anthropic, &body_of(&sent));
        }
    }
}
