//! Whole requests: golden files.

use haft_core::{
    ContentPart, Item, MediaData, Message, Reasoning, Role, ToolCall, ToolCallOutput, ToolChoice, TurnRequest,
};
use haft_wire::{Delivery, GeminiContent, Wire};

use super::{MODEL, body_of, read, rich, weather};

fn image() -> ContentPart {
    ContentPart::image("image/png", MediaData::Base64("aQ==".to_owned()))
}

/// A conversation that began elsewhere.
pub(super) fn history() -> Vec<Item> {
    let mut history = vec![
        Item::system("Be brief."),
        Message::new(Role::User, vec![ContentPart::text("What is this?"), image()]).into(),
        Reasoning::text("foreign").signed("anthropic", "c2ln").into(),
        Item::assistant("A picture."),
        ToolCall::new("call.1", "acme/weather", r#"{"city":"Oslo","day-count":2}"#).into(),
        ToolCall::new("call.2", "removed/tool", r#"{"x":1}"#).into(),
        ToolCall::new("call.3", "acme/weather", "oops").into(),
        ToolCallOutput::new("call.1", r#"{"sky":"clear"}"#).into(),
        ToolCallOutput::new("call.2", vec![ContentPart::text("see"), image()]).into(),
        ToolCallOutput::new("call.3", "invalid arguments").error().into(),
        Item::user("And now?"),
    ];
    history.extend(read(&rich()).items);
    history.extend([
        ToolCallOutput::new("f1", "Rain").into(),
        ToolCallOutput::new("call_1_2", "no such tool").error().into(),
    ]);
    history
}

pub(super) fn request() -> TurnRequest {
    TurnRequest::new(MODEL, history())
        .instructions("You are helpful.")
        .tools(&[weather()])
        .tool_choice(ToolChoice::must_call_one_of(["acme/weather"]))
        .forbid_parallel_calls()
        .max_output_tokens(1_000)
        .temperature(0.5)
        .stop("END")
        .metadata("user_id", "u1")
}

#[test]
fn a_rich_history_has_its_form() {
    let sent = GeminiContent::new().request(&request(), Delivery::Streamed).unwrap();
    insta::assert_json_snapshot!("request", body_of(&sent));
    let dropped: Vec<_> = sent.dropped.iter().map(ToString::to_string).collect();
    insta::assert_debug_snapshot!("request_dropped", dropped);
    assert_eq!(sent.path, "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
    assert!(sent.headers.is_empty());
}

#[test]
fn the_delivery_changes_the_path_alone() {
    let whole = GeminiContent::new().request(&request(), Delivery::Whole).unwrap();
    let streamed = GeminiContent::new().request(&request(), Delivery::Streamed).unwrap();
    assert_eq!(whole.path, "/v1beta/models/gemini-3-pro:generateContent");
    assert_eq!(whole.body, streamed.body);
}

#[test]
fn the_same_request_is_written_to_the_same_bytes() {
    let wire = GeminiContent::new();
    let first = wire.request(&request(), Delivery::Whole).unwrap();
    assert_eq!(first.body, wire.request(&request(), Delivery::Whole).unwrap().body);
}
