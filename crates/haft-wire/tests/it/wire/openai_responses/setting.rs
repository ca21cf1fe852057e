//! Request settings and provider options.

use haft_core::{Item, OutputFormat, TurnRequest};
use haft_wire::{Delivery, OpenAiResponses, Profile, Wire};
use serde_json::{Value, json};

use super::{MODEL, body_of, response, said, send};

fn request() -> TurnRequest {
    TurnRequest::new(MODEL, vec![Item::user("hi")])
}

fn with_options(options: impl Into<Value>) -> Value {
    body_of(&send(&request().provider_options("openai", options)).unwrap())
}

#[test]
fn every_setting_has_its_member() {
    let request = request()
        .instructions("Be brief.")
        .temperature(0.5)
        .top_p(0.25)
        .max_output_tokens(77)
        .stop("END")
        .metadata("user_id", "u1")
        .metadata("attempt", 2);
    let sent = OpenAiResponses::new().request(&request, Delivery::Streamed).unwrap();
    assert_eq!(
        body_of(&sent),
        json!({
            "model": MODEL, "instructions": "Be brief.", "temperature": 0.5, "top_p": 0.25, "max_output_tokens": 77,
            "input": [{"type": "message", "role": "user", "content": "hi"}],
            "metadata": {"user_id": "u1", "attempt": "2"}, "store": false, "include": ["reasoning.encrypted_content"],
            "stream": true,
        })
    );
    assert_eq!((sent.path.as_str(), sent.headers.len()), ("/responses", 0));
    let dropped: Vec<_> = sent.dropped.iter().map(|dropped| (dropped.item, &*dropped.part)).collect();
    assert_eq!(dropped, [(None, "stop")]);
}

#[test]
fn metadata_beyond_the_limits_is_reported() {
    let mut request = request().metadata("k".repeat(65), "v").metadata("é".repeat(64), "é".repeat(512));
    request = request.metadata("long", "v".repeat(513));
    for at in 0..17 {
        request = request.metadata(format!("key{at}"), "v");
    }
    let sent = send(&request).unwrap();
    let body = body_of(&sent);
    let metadata = body["metadata"].as_object().unwrap();
    assert_eq!((metadata.len(), metadata.contains_key(&"é".repeat(64))), (16, true));
    let dropped: Vec<_> = sent.dropped.iter().map(|dropped| dropped.part.to_string()).collect();
    assert_eq!(
        dropped,
        [format!("metadata.{}", "k".repeat(65)).as_str(), "metadata.long", "metadata.key15", "metadata.key16"]
    );
}

#[test]
fn encrypted_reasoning_is_requested_where_the_model_has_it() {
    let include = |model: &str, options: Value| {
        let request = TurnRequest::new(model, vec![Item::user("hi")]).provider_options("openai", options);
        body_of(&send(&request).unwrap()).get("include").cloned()
    };
    let encrypted = json!(["reasoning.encrypted_content"]);
    assert_eq!(include("gpt-5", json!({})), Some(encrypted.clone()));
    // A fine-tuned model is that which was tuned, and the name of a deployment says nothing.
    for without in ["gpt-4o", "chatgpt-4o-latest", "ft:gpt-4.1-mini:acme::7p4l", "openai/gpt-4.1", "prod-assistant", ""]
    {
        assert_eq!(include(without, json!({})), None, "{without}");
    }
    for with in ["openai/gpt-5.2", "o3", "ft:o4-mini-2025-04-16:acme::7p4l", "gpt-6.1-terra"] {
        assert_eq!(include(with, json!({})), Some(encrypted.clone()), "{with}");
    }
    assert_eq!(include("gpt-5", json!({"store": true})), None);
    assert_eq!(include("gpt-5", json!({"store": false})), Some(encrypted.clone()));
    // The API stores by default.
    assert_eq!(include("gpt-5", json!({"store": null})), None);
    assert_eq!(include("gpt-5", json!({"include": null})), Some(Value::Null));
    assert_eq!(include("gpt-5", json!({"include": []})), Some(json!([])));
    assert_eq!(include("prod-assistant", json!({"include": encrypted.clone()})), Some(encrypted.clone()));
    let more = json!({"include": ["file_search_call.results", "reasoning.encrypted_content"]});
    assert_eq!(include("gpt-5", more.clone()), Some(more["include"].clone()));
    let logprobs = json!({"include": ["message.output_text.logprobs"]});
    assert_eq!(
        include("gpt-5", logprobs),
        Some(json!(["reasoning.encrypted_content", "message.output_text.logprobs"]))
    );
}

#[test]
fn options_win_over_the_request() {
    let options = json!({
        "temperature": 0.1, "reasoning": {"effort": "low"}, "store": true, "metadata": {"mine": "1"}, "stream": true,
    });
    let request = request().temperature(0.5).metadata("user_id", "u1").provider_options("openai", options);
    let sent = send(&request.provider_options("anthropic", json!({"thinking": {}}))).unwrap();
    let body = body_of(&sent);
    assert_eq!((&body["temperature"], &body["store"]), (&json!(0.1), &json!(true)));
    assert_eq!((&body["reasoning"]["effort"], &body["metadata"]), (&json!("low"), &json!({"mine": "1"})));
    assert_eq!((body.get("thinking"), body.get("stream")), (None, None));
    assert_eq!(sent.body.matches("temperature").count(), 1, "no member occurs twice");
    assert_eq!(&*sent.dropped[0].part, "provider_options.stream");
}

#[test]
fn invalid_options_are_rejected() {
    for options in [json!([1]), json!("store"), json!(true)] {
        let error = send(&request().provider_options("openai", options)).unwrap_err().to_string();
        assert!(error.starts_with("provider_options.openai: ") && error.contains("object"), "{error}");
    }
    for none in [Value::Null, json!({})] {
        assert_eq!(with_options(none)["store"], false);
    }
}

fn verdict() -> OutputFormat {
    let schema = json!({
        "type": "object", "properties": {"ok": {"type": "boolean"}, "why": {"type": "string"}}, "required": ["ok"],
        "additionalProperties": false,
    });
    OutputFormat::new("acme/verdict", schema)
}

#[test]
fn a_format_is_enforced_where_its_schema_can_be() {
    let base = request().output_format(verdict().describe("A verdict."));
    let sent = body_of(&send(&base).unwrap());
    let format = &sent["text"]["format"];
    assert_eq!(
        (&format["type"], &format["name"], &format["strict"], &format["description"]),
        (&json!("json_schema"), &json!("acme--verdict"), &json!(true), &json!("A verdict."))
    );
    assert_eq!(format["schema"]["required"], json!(["ok", "why"]));

    let loose = body_of(&send(&request().output_format(verdict().not_strict())).unwrap());
    assert_eq!(loose["text"]["format"]["strict"], false);
    assert_eq!(loose["text"]["format"]["schema"]["required"], json!(["ok"]));
    let unnamed = body_of(&send(&request().output_format(OutputFormat::new("", json!({"type": "object"})))).unwrap());
    assert_eq!(unnamed["text"]["format"]["name"], "output");
}

#[test]
fn the_members_of_text_are_merged() {
    let text = |options: Value| {
        let request = request().output_format(verdict()).provider_options("openai", options);
        body_of(&send(&request).unwrap())["text"].take()
    };
    let both = text(json!({"text": {"verbosity": "low"}}));
    assert_eq!((&both["verbosity"], &both["format"]["name"]), (&json!("low"), &json!("acme--verdict")));
    let own = json!({"format": {"type": "json_object"}});
    assert_eq!(text(json!({"text": own})), own);
    assert_eq!(with_options(json!({"text": {"verbosity": "low"}}))["text"], json!({"verbosity": "low"}));
}

#[test]
fn an_answer_in_a_format_is_converted_back() {
    let list = OutputFormat::new("list", json!({"type": "array", "items": {"type": "string"}}));
    for (format, written, expected) in [
        (list, r#"{"value":["a"]}"#, r#"["a"]"#),
        (verdict(), r#"{"ok":true,"why":null}"#, r#"{"ok":true}"#),
        (verdict(), "half a {", "half a {"),
    ] {
        let sent = send(&request().output_format(format)).unwrap();
        let answer = response(json!([said("msg_1", written)]));
        let turn = OpenAiResponses::new().response(&answer.to_string(), &sent.context).unwrap();
        assert_eq!(turn.text(), expected);
    }
}

#[test]
fn a_format_that_no_answer_has_is_rejected() {
    let error = send(&request().output_format(OutputFormat::new("o", json!(false)).strict())).unwrap_err().to_string();
    assert!(error.starts_with("output_format: "), "{error}");
}

#[test]
fn another_provider_has_its_own_name() {
    let wire = OpenAiResponses::new().profile(Profile::openai().of_provider("acme"));
    let request = request().provider_options("acme", json!({"x": 1})).provider_options("openai", json!({"y": 1}));
    let body = body_of(&wire.request(&request, Delivery::Whole).unwrap());
    assert_eq!((&body["x"], body.get("y")), (&json!(1), None));
}
