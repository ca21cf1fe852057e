//! Request settings and provider options.

use haft_core::{Item, OutputFormat, TurnRequest};
use haft_wire::{Delivery, GeminiContent, Profile, Wire};
use serde_json::{Value, json};

use super::{MODEL, OLD_MODEL, body_of, send, weather};

fn request() -> TurnRequest {
    TurnRequest::new(MODEL, vec![Item::user("hi")])
}

fn format() -> OutputFormat {
    OutputFormat::new(
        "verdict",
        json!({
            "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false,
        }),
    )
}

#[test]
fn every_setting_has_its_member() {
    let request = request()
        .temperature(0.5)
        .top_p(0.25)
        .max_output_tokens(77)
        .stop("END")
        .stop("\n")
        .metadata("user_id", "u1")
        .forbid_parallel_calls();
    let sent = send(&request).unwrap();
    assert_eq!(
        body_of(&sent),
        json!({
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "generationConfig": {
                "temperature": 0.5, "topP": 0.25, "maxOutputTokens": 77, "stopSequences": ["END", "\n"],
            },
        })
    );
    let dropped: Vec<_> = sent.dropped.iter().map(|dropped| (dropped.item, &*dropped.part)).collect();
    assert_eq!(dropped, [(None, "parallel_tool_calls"), (None, "metadata")]);
}

#[test]
fn limits_are_checked_before_sending() {
    let stops = ["a", "b", "c", "d", "e", "f"].into_iter().fold(request(), TurnRequest::stop);
    let error = send(&stops).unwrap_err().to_string();
    assert!(error.starts_with("stop: ") && error.contains('5'), "{error}");
    let sent = send(&request().max_output_tokens(70_000)).unwrap();
    let warning = sent.warnings[0].to_string();
    assert!(warning.contains("65536") && warning.contains(MODEL) && sent.body.contains("70000"), "{warning}");
    send(&TurnRequest::new("models/unknown", vec![Item::user("hi")]).max_output_tokens(70_000)).unwrap();
}

#[test]
fn options_win_over_the_request_and_extend_it() {
    let options = json!({
        "generationConfig": {"temperature": 1.5, "thinkingConfig": {"includeThoughts": true}},
        "toolConfig": {"functionCallingConfig": {"mode": "NONE"}, "retrievalConfig": {"languageCode": "no"}},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "cachedContent": "cachedContents/1",
    });
    let request = request()
        .temperature(0.5)
        .top_p(0.25)
        .tools(&[weather()])
        .tool_choice(haft_core::ToolChoice::Required)
        .provider_options("google", options)
        .provider_options("openai", json!({"store": false}));
    let sent = send(&request).unwrap();
    let body = body_of(&sent);
    let config = json!({"temperature": 1.5, "topP": 0.25, "thinkingConfig": {"includeThoughts": true}});
    assert_eq!(body["generationConfig"], config);
    assert_eq!(
        body["toolConfig"],
        json!({"functionCallingConfig": {"mode": "NONE"}, "retrievalConfig": {"languageCode": "no"}})
    );
    assert_eq!((&body["cachedContent"], body.get("store")), (&json!("cachedContents/1"), None));
    assert_eq!(sent.body.matches("generationConfig").count(), 1, "no member occurs twice");
}

#[test]
fn options_without_a_form_are_rejected() {
    for options in [json!([1]), json!("x"), json!(1)] {
        let error = send(&request().provider_options("google", options)).unwrap_err().to_string();
        assert!(error.contains("provider_options.google"), "{error}");
    }
    for options in [Value::Null, json!({}), json!({"generationConfig": {}})] {
        send(&request().provider_options("google", options)).unwrap();
    }
}

#[test]
fn a_format_is_sent_in_the_member_of_the_profile() {
    let sent = |wire: &GeminiContent| {
        let request = request().output_format(format().describe("A verdict."));
        body_of(&wire.request(&request, Delivery::Whole).unwrap())["generationConfig"].take()
    };
    let config = sent(&GeminiContent::new());
    assert_eq!(config["responseMimeType"], "application/json");
    assert_eq!(config["responseJsonSchema"]["required"], json!(["ok"]));
    assert_eq!(config["responseJsonSchema"]["description"], "A verdict.");
    let config = sent(&GeminiContent::new().profile(Profile::gemini_parameters()));
    assert_eq!(config["responseSchema"]["required"], json!(["ok"]));
    assert_eq!(config.get("responseJsonSchema"), None);
}

#[test]
fn a_format_beside_tools_needs_a_newer_model() {
    let request =
        |model: &str| TurnRequest::new(model, vec![Item::user("hi")]).tools(&[weather()]).output_format(format());
    send(&request(MODEL)).unwrap();
    let error = send(&request(OLD_MODEL)).unwrap_err().to_string();
    assert!(error.contains("together with tools") && error.contains("Gemini 3"), "{error}");
}

#[test]
fn the_name_of_a_model_stays_in_the_path() {
    let path = |model: &str| send(&TurnRequest::new(model, vec![Item::user("hi")])).map(|sent| sent.path);
    assert_eq!(path("models/gemini-3-pro").unwrap(), "/v1beta/models/gemini-3-pro:generateContent");
    assert_eq!(path("x?key=1").unwrap(), "/v1beta/models/x%3Fkey%3D1:generateContent");
    assert!(path("../files").is_ok_and(|path| path == "/v1beta/models/..%2Ffiles:generateContent"));
    for model in ["", "..", "models/../x"] {
        assert!(path(model).unwrap_err().to_string().starts_with("model: "));
    }
}
