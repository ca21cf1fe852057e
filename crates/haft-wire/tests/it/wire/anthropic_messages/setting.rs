//! Request settings, provider options and headers.

use haft_core::{Item, OutputFormat, TurnRequest};
use haft_wire::{AnthropicMessages, Capabilities, Delivery, ModelTable, Wire};
use serde_json::{Value, json};

use super::{MODEL, body_of, send};

fn request() -> TurnRequest {
    TurnRequest::new(MODEL, vec![Item::user("hi")])
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
        .metadata("trace", "t1");
    let sent = AnthropicMessages::new().request(&request, Delivery::Streamed).unwrap();
    assert_eq!(
        body_of(&sent),
        json!({
            "model": MODEL, "max_tokens": 77, "temperature": 0.5, "top_p": 0.25, "stop_sequences": ["END"],
            "metadata": {"user_id": "u1"}, "stream": true,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        })
    );
    assert_eq!((sent.path.as_str(), sent.headers.len()), ("/v1/messages", 0));
    let dropped: Vec<_> = sent.dropped.iter().map(|dropped| (dropped.item, &*dropped.part)).collect();
    assert_eq!(dropped, [(None, "stop"), (None, "metadata.trace")]);
}

#[test]
fn a_request_without_a_limit_has_the_default_of_the_wire() {
    let mut small = Capabilities::default();
    small.max_output_tokens = Some(4_096);
    let models = ModelTable::empty().with("small", small);
    let wire = AnthropicMessages::new().models(models);
    let limit = |wire: &AnthropicMessages, model: &str| {
        let request = TurnRequest::new(model, vec![Item::user("hi")]);
        body_of(&wire.request(&request, Delivery::Whole).unwrap())["max_tokens"].clone()
    };
    assert_eq!((limit(&wire, "large"), limit(&wire, "small")), (json!(16_384), json!(4_096)));
    let wire = wire.default_max_tokens(9_000);
    assert_eq!((limit(&wire, "large"), limit(&wire, "small")), (json!(9_000), json!(4_096)));
}

#[test]
fn options_win_over_the_request() {
    let options = json!({
        "max_tokens": 5, "thinking": {"type": "adaptive"}, "metadata": {"user_id": "mine"}, "stream": null,
        "betas": ["b1", "b2", "b1"],
    });
    let request = request().max_output_tokens(77).metadata("user_id", "u1").provider_options("anthropic", options);
    let sent = send(&request.provider_options("openai", json!({"store": false}))).unwrap();
    let body = body_of(&sent);
    assert_eq!((&body["max_tokens"], &body["metadata"]["user_id"]), (&json!(5), &json!("mine")));
    assert_eq!((&body["thinking"]["type"], body.get("betas"), body.get("store")), (&json!("adaptive"), None, None));
    assert_eq!(sent.body.matches("max_tokens").count(), 1, "no member occurs twice");
    assert_eq!(sent.headers, [("anthropic-beta", "b1,b2".to_owned())]);
}

#[test]
fn invalid_options_are_rejected() {
    for (options, problem) in [
        (json!([1]), "provider_options.anthropic: it must be an object"),
        (json!({"betas": "b1"}), "`betas` must be a list of names"),
        (json!({"betas": [1]}), "`betas` must be a list of names"),
        (json!({"betas": ["a\r\nx-evil: 1"]}), "`betas` must be a list of names"),
    ] {
        let error = send(&request().provider_options("anthropic", options)).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    send(&request().provider_options("anthropic", Value::Null)).unwrap();
}

#[test]
fn a_format_is_enforced_where_its_schema_can_be() {
    let schema = json!({
        "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false,
    });
    let options = json!({"output_config": {"effort": "low"}});
    let request = request().output_format(OutputFormat::new("verdict", schema)).provider_options("anthropic", options);
    let body = body_of(&send(&request).unwrap());
    assert_eq!(body["output_config"]["effort"], "low");
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
    assert_eq!(body["output_config"]["format"]["schema"]["required"], json!(["ok"]));
    assert_eq!(body.get("system"), None);
}

#[test]
fn a_format_that_cannot_be_enforced_is_an_instruction() {
    let format = OutputFormat::new("any", json!({"type": "object"})).not_strict().describe("A verdict.");
    let sent = send(&request().output_format(format)).unwrap();
    let body = body_of(&sent);
    assert_eq!(body.get("output_config"), None);
    let text = body["system"][0]["text"].as_str().unwrap();
    assert!(text.contains("A verdict.") && text.contains(r#"{"type":"object"}"#), "{text}");
    assert_eq!(&*sent.dropped[0].part, "output_format");
}

#[test]
fn an_answer_in_a_format_is_converted_back() {
    let format = OutputFormat::new("list", json!({"type": "array", "items": {"type": "string"}}));
    let sent = send(&request().output_format(format)).unwrap();
    let answer = super::message(json!([{"type": "text", "text": "{\"value\":[\"a\"]}"}]), "end_turn");
    let turn = AnthropicMessages::new().response(&answer.to_string(), &sent.context).unwrap();
    assert_eq!(turn.text(), r#"["a"]"#);
}

#[test]
fn the_limit_of_an_answer_leaves_room_behind_the_thinking() {
    let thinking = |tokens: u64| json!({"thinking": {"type": "enabled", "budget_tokens": tokens}});
    let limit = |model: &str, asked: Option<u64>, options: Value| {
        let mut request = TurnRequest::new(model, vec![Item::user("hi")]).provider_options("anthropic", options);
        request.max_output_tokens = asked;
        let sent = send(&request).map_err(|error| error.to_string())?;
        Ok::<_, String>(body_of(&sent)["max_tokens"].as_u64().unwrap())
    };
    assert_eq!(limit(MODEL, None, thinking(20_000)), Ok(36_384));
    assert_eq!(limit("claude-opus-4-1", None, thinking(20_000)), Ok(32_000));
    assert_eq!(limit(MODEL, Some(2_049), thinking(2_048)), Ok(2_049));
    let error = limit(MODEL, Some(2_048), thinking(2_048)).unwrap_err();
    assert!(error.starts_with("thinking.budget_tokens: ") && error.contains("raise `max_output_tokens`"), "{error}");
    limit("claude-opus-4-1", None, thinking(32_000)).unwrap_err();
    let mut both = thinking(2_048);
    both["max_tokens"] = json!(1_024);
    limit(MODEL, Some(9_999), both).unwrap_err();
    // Thinking between calls has a budget of its own.
    let tool = haft_core::ToolDescriptor::new("t", json!({"type": "object"}));
    let mut interleaved = thinking(20_000);
    interleaved["betas"] = json!(["interleaved-thinking-2025-05-14"]);
    let request = request().max_output_tokens(4_096).provider_options("anthropic", interleaved);
    send(&request).unwrap_err();
    send(&request.tools(&[tool])).unwrap();
}

#[test]
fn settings_of_sampling_that_the_api_rejects_are_left_off_and_reported() {
    let sampled = |model: &str, options: Value| {
        let request = TurnRequest::new(model, vec![Item::user("hi")]).temperature(0.5).top_p(0.97);
        let sent = send(&request.provider_options("anthropic", options)).unwrap();
        let parts: Vec<_> = sent.dropped.iter().map(|dropped| dropped.part.to_string()).collect();
        (body_of(&sent).get("temperature").cloned(), body_of(&sent).get("top_p").cloned(), parts.join(" "))
    };
    let none = || json!({});
    assert_eq!(sampled("claude-3-7-sonnet-latest", none()), (Some(json!(0.5)), Some(json!(0.97)), String::new()));
    for model in ["claude-opus-4-1", "claude-sonnet-4-5", "claude-opus-4-6"] {
        assert_eq!(sampled(model, none()), (Some(json!(0.5)), None, "top_p".to_owned()), "{model}");
    }
    for model in
        ["claude-opus-4-7", "claude-opus-4-8", "anthropic/claude-opus-4.7", "us.anthropic.claude-opus-4-7-v1:0"]
    {
        assert_eq!(sampled(model, none()), (None, None, "temperature top_p".to_owned()), "{model}");
    }
    let forced = json!({"temperature": 0.1});
    assert_eq!(sampled("claude-opus-4-7", forced).0, Some(json!(0.1)), "a wrong row does not keep it off");
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 2_048}});
    assert_eq!(sampled("claude-opus-4-6", thinking), (None, Some(json!(0.97)), "temperature".to_owned()));
}
