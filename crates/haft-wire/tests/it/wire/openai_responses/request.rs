//! A whole request: golden files.

use haft_core::{
    ContentPart, Item, MediaData, Message, Reasoning, Role, ToolCall, ToolCallOutput, ToolChoice, TurnRequest,
};
use haft_wire::{Delivery, OpenAiResponses, Wire};

use super::{MODEL, body_of, read, rich, weather};

pub(super) fn history() -> Vec<Item> {
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
        ToolCallOutput::new("call_1", "Rain").into(),
        ToolCallOutput::new("call_2", "no such tool").error().into(),
        ToolCallOutput::new("call_3", "found").into(),
        ToolCallOutput::new("call_4", "files").into(),
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
        .stop("END")
        .metadata("user_id", "u1")
}

#[test]
fn a_rich_history_has_its_form() {
    let sent = OpenAiResponses::new().request(&request(), Delivery::Streamed).unwrap();
    insta::assert_json_snapshot!("request", body_of(&sent));
    let dropped: Vec<_> = sent.dropped.iter().map(ToString::to_string).collect();
    insta::assert_debug_snapshot!("request_dropped", dropped);
}

#[test]
fn a_request_may_have_no_history_if_the_provider_has_it() {
    let request = TurnRequest::new(MODEL, vec![])
        .provider_options("openai", serde_json::json!({"previous_response_id": "resp_1", "store": true}));
    let sent = OpenAiResponses::new().request(&request, Delivery::Whole).unwrap();
    assert_eq!(body_of(&sent)["input"], serde_json::json!([]));
}
