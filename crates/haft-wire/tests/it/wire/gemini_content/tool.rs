//! Tools in requests, and calls to the functions that a built-in tool stands for.

use haft_core::{ContentPart, Item, MediaData, ProviderOptions, ToolCall, ToolCallOutput, ToolDescriptor, TurnRequest};
use haft_executor::Tool;
use haft_wire::catalogue::google;
use haft_wire::{Delivery, GeminiContent, Profile, Wire};
use serde_json::{Value, json};

use super::{MODEL, body_of, response, send, weather};

#[test]
fn a_tool_has_its_options() {
    let mut tool = weather();
    tool.provider_options = ProviderOptions::new()
        .for_provider("google", json!({"behavior": "NON_BLOCKING"}))
        .for_provider("openai", json!({"x": 1}));
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[tool]);
    insta::assert_json_snapshot!("tool", body_of(&send(&request).unwrap())["tools"]);
}

#[test]
fn the_member_of_the_schema_follows_the_profile() {
    let empty = ToolDescriptor::new("empty", json!({"type": "object"}));
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[weather(), empty]);
    let wire = GeminiContent::new().profile(Profile::gemini_parameters());
    let body = body_of(&wire.request(&request, Delivery::Whole).unwrap());
    insta::assert_json_snapshot!("tool_parameters", body["tools"]);
}

#[test]
fn tools_of_the_provider_are_sent_natively() {
    let search = google::google_search().define().unwrap().descriptor();
    let foreign = Tool::provider("openai.web_search").with_args(()).define().unwrap().descriptor();
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&vec![search, foreign]);
    let sent = send(&request).unwrap();
    assert_eq!(body_of(&sent)["tools"], json!([{"googleSearch": {}}]));
    let findings: Vec<_> = sent.context.tools.findings().iter().map(ToString::to_string).collect();
    assert!(findings.iter().any(|finding| finding.contains("which google does not have")), "{findings:?}");
}

#[test]
fn a_function_of_the_browser_is_a_call_of_the_tool() {
    let computer = google::computer_use("ENVIRONMENT_BROWSER").define().unwrap().descriptor();
    let request = TurnRequest::new(MODEL, vec![Item::user("click")]).tools(&vec![computer.clone()]);
    let sent = send(&request).unwrap();
    assert_eq!(body_of(&sent)["tools"], json!([{"computerUse": {"environment": "ENVIRONMENT_BROWSER"}}]));
    let parts = json!([
        {"functionCall": {"id": "f1", "name": "click_at", "args": {"x": 1, "y": 2}}, "thoughtSignature": "s"},
        {"functionCall": {"id": "f2", "name": "unknown", "args": {"x": 1}}},
    ]);
    let body = response(parts.clone(), "STOP").to_string();
    let turn = GeminiContent::new().response(&body, &sent.context).unwrap();
    let calls = turn.tool_calls();
    assert_eq!(calls[0].name, computer.name);
    let arguments: Value = serde_json::from_str(&calls[0].arguments).unwrap();
    assert_eq!(arguments, json!({"action": "click_at", "x": 1, "y": 2}));
    assert_eq!((calls[1].name.as_str(), calls[1].arguments.as_str()), ("unknown", r#"{"x":1}"#));

    let mut next = request;
    let mut history = vec![Item::user("click")];
    history.extend(turn.items);
    history.push(ToolCallOutput::new("f1", "clicked").into());
    history.push(ToolCallOutput::new("f2", "no such function").error().into());
    next.history = history.into();
    let contents = body_of(&send(&next).unwrap())["contents"].take();
    assert_eq!(contents[1]["parts"], parts);
    assert_eq!(contents[2]["parts"][0]["functionResponse"]["name"], "click_at");
}

#[test]
fn the_address_of_a_browser_is_a_member_of_the_result() {
    let computer = google::computer_use("ENVIRONMENT_BROWSER").define().unwrap().descriptor();
    let call = ToolCall::new("f1", computer.name.clone(), r#"{"action":"go_back"}"#);
    let image = ContentPart::image("image/png", MediaData::Base64("aQ==".to_owned()));
    let output = ToolCallOutput::new("f1", vec![ContentPart::text(r#"{"url":"https://a.example"}"#), image]);
    let history = vec![Item::user("back"), call.into(), output.into()];
    let sent = send(&TurnRequest::new(MODEL, history).tools(&vec![computer])).unwrap();
    assert_eq!(
        body_of(&sent)["contents"][2]["parts"][0]["functionResponse"],
        json!({
            "name": "go_back", "response": {"url": "https://a.example"},
            "parts": [{"inlineData": {"mimeType": "image/png", "data": "aQ=="}}],
        })
    );
}
