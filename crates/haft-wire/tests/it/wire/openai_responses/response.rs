//! Whole responses.

use haft_core::{ContentPart, Finish, Item, Usage};
use haft_wire::{ErrorCause, OpenAiResponses, ReadError, Wire};
use serde_json::{Value, json};

use super::{called, context, read, response, rich, said};

fn fail(body: &Value) -> ReadError {
    OpenAiResponses::new().response(&body.to_string(), &context()).unwrap_err()
}

#[test]
fn a_rich_response_has_its_turn() {
    insta::assert_json_snapshot!("response", read(&rich()));
}

#[test]
fn every_status_has_its_meaning() {
    for (status, reason, finish) in [
        (json!("completed"), json!(null), Finish::Stop),
        (json!(null), json!(null), Finish::Stop),
        (json!("incomplete"), json!("max_output_tokens"), Finish::Length),
        (json!("incomplete"), json!("content_filter"), Finish::ContentFilter),
        (json!("incomplete"), json!("steered"), Finish::Other("steered".to_owned())),
        (json!("incomplete"), json!(null), Finish::Other("incomplete".to_owned())),
        (json!("cancelled"), json!(null), Finish::Other("cancelled".to_owned())),
        (json!("queued"), json!(null), Finish::Other("queued".to_owned())),
    ] {
        let mut body = response(json!([said("msg_1", "hi")]));
        body["status"] = status.clone();
        body["incomplete_details"] = if reason.is_null() { Value::Null } else { json!({"reason": reason}) };
        assert_eq!(read(&body).finish, finish, "{status}");
        body["output"] = json!([called("c1", "gone", "{}")]);
        let expected = if finish == Finish::Stop { Finish::ToolCalls } else { finish };
        assert_eq!(read(&body).finish, expected, "{status}");
    }
    // The next request of the application answers it.
    let approval =
        json!({"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "t", "arguments": "{}"});
    assert_eq!(read(&response(json!([approval]))).finish, Finish::Stop);
}

#[test]
fn usage_includes_the_cache_and_reasoning() {
    let usage = Usage::new(115, 40).total(155).cache_read(100).cache_write(10).reasoning(7);
    assert_eq!(read(&response(json!([]))).usage, usage);
    for (usage, expected) in [
        (json!(null), Usage::default()),
        (json!({}), Usage::default()),
        (json!({"input_tokens": -1, "output_tokens": "many"}), Usage::default()),
        (json!({"input_tokens": 3, "output_tokens": 4, "input_tokens_details": null}), Usage::new(3, 4)),
        (json!({"input_tokens": 3, "new": {}, "input_tokens_details": {"new": []}}), Usage::new(3, 0)),
    ] {
        assert_eq!(read(&json!({"output": [], "usage": usage})).usage, expected);
    }
}

#[test]
fn a_response_without_output_is_an_error() {
    // An empty turn would end a conversation as if the model had nothing to say.
    for body in [
        json!({}),
        json!({"detail": "ok"}),
        json!({"choices": [{"message": {"role": "assistant", "content": "hi"}}]}),
        json!({"id": "resp_1", "status": "completed", "output": null}),
    ] {
        let error = fail(&body);
        assert!(error.to_string().contains("`output`"), "{error}");
    }
    for body in [json!([]), json!("response"), json!({"output": {}}), json!({"output": [1]})] {
        assert!(matches!(fail(&body), ReadError::Invalid { .. }), "{body}");
    }
}

#[test]
fn a_failed_response_is_an_error() {
    let mut failed = response(json!([said("msg_1", "half")]));
    failed["status"] = json!("failed");
    failed["error"] = json!({"code": "server_error", "message": "Try again."});
    let alone = json!({"error": {"type": "invalid_request_error", "code": null, "message": "Bad."}});
    for (body, cause, message) in [
        (failed, ErrorCause::Unavailable, "Try again."),
        (alone, ErrorCause::InvalidRequest, "Bad."),
        (json!({"error": "text"}), ErrorCause::Unavailable, "text"),
        (
            json!({"status": "failed", "output": []}),
            ErrorCause::Unavailable,
            "the provider reported an error without a message",
        ),
    ] {
        let ReadError::Provider(report) = fail(&body) else { panic!("{body}") };
        assert_eq!((report.cause, report.message.as_str()), (cause, message));
    }
}

#[test]
fn a_call_that_could_not_be_answered_is_an_error() {
    for (item, member) in [
        (json!({"type": "function_call", "name": "t", "arguments": "{}"}), "call_id"),
        (json!({"type": "function_call", "call_id": "", "name": "t"}), "call_id"),
        (json!({"type": "function_call", "call_id": 5, "name": "t"}), "call_id"),
        (json!({"type": "function_call", "call_id": "c1", "name": ""}), "name"),
        (json!({"type": "custom_tool_call", "call_id": "c1"}), "name"),
        (json!({"type": "shell_call", "action": {}}), "call_id"),
        (json!({"type": "mcp_approval_request", "name": "t"}), "id"),
        (json!({"type": "mcp_approval_request", "id": "r1"}), "name"),
    ] {
        let error = fail(&response(json!([item]))).to_string();
        assert!(error.contains(&format!("has no `{member}`")), "{item}: {error}");
    }
}

#[test]
fn arguments_are_kept_and_decoded() {
    let calls = read(&rich()).tool_calls();
    assert_eq!((calls[0].name.as_str(), calls[0].call_id.as_str()), ("acme/weather", "call_1"));
    assert_eq!(calls[0].arguments, r#"{"city":"Oslo","labels":{"a":"b"}}"#);
    assert_eq!((calls[1].name.as_str(), calls[1].arguments.as_str()), ("gone", "{}"));
    assert_eq!((calls[2].name.as_str(), calls[2].arguments.as_str()), ("grep", r#""say \"hi\"\n""#));
    assert_eq!((calls[3].name.as_str(), calls[3].arguments.contains("timeout_ms")), ("shell", true));
    for (arguments, expected) in
        [(json!("oops"), "oops"), (json!(null), ""), (json!({"a": 1}), r#"{"a":1}"#), (json!(""), "")]
    {
        let mut item = called("c1", "gone", "");
        item["arguments"] = arguments;
        assert_eq!(read(&response(json!([item]))).tool_calls()[0].arguments, expected);
    }
}

#[test]
fn a_null_of_strict_mode_is_an_absent_member() {
    let call = called("c1", "acme--weather", r#"{"city":"Oslo","labels":null}"#);
    assert_eq!(read(&response(json!([call]))).tool_calls()[0].arguments, r#"{"city":"Oslo"}"#);
}

#[test]
fn a_refusal_is_kept_and_ends_the_turn() {
    let mut message = said("msg_1", "Well.");
    message["content"].as_array_mut().unwrap().push(json!({"type": "refusal", "refusal": "I can't help."}));
    let turn = read(&response(json!([message])));
    assert_eq!((turn.refusal().as_deref(), &turn.finish), (Some("I can't help."), &Finish::Refusal));
    assert_eq!(turn.text(), "Well.");
}

#[test]
fn absent_and_unknown_members_are_tolerated() {
    let turn = read(&json!({"output": [
        {"type": "message"},
        {"type": "message", "content": []},
        {"type": "message", "content": "plain"},
        {"type": "message", "content": ["text", 5, {"type": "output_text"}, {"type": "text", "text": "!"}]},
        {"type": "message", "content": [{"type": "output_text", "text": 7}, {"type": "hologram"}]},
        {"type": "reasoning"},
        {"no": "type"},
    ], "new": {}}));
    assert_eq!((turn.text().as_str(), turn.items.len()), ("plaintext5!", 5));
    assert_eq!((&turn.response_id, &turn.model), (&None, &None));
    let Item::Message(odd) = &turn.items[2] else { panic!("{:?}", turn.items) };
    assert!(odd.content.iter().all(|part| matches!(part, ContentPart::Unknown(_))), "{odd:?}");
    assert!(matches!(turn.items[4], Item::Unknown(_)));
}

#[test]
fn reasoning_keeps_its_parts() {
    let text = |text: &str| json!({"type": "reasoning_text", "text": text});
    let turn = read(&response(json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [text("a")]},
        {"type": "reasoning", "id": "rs_2", "summary": [], "content": [text("a"), text("b")], "status": "completed"},
        {"type": "reasoning", "id": "rs_3", "summary": [{"type": "summary_text", "text": "s", "new": 1}]},
    ])));
    let reasoning: Vec<_> = turn
        .items
        .iter()
        .map(|item| if let Item::Reasoning(reasoning) = item { reasoning } else { panic!("{item:?}") })
        .collect();
    assert_eq!(reasoning[0].text.as_deref(), Some("a"));
    assert!(reasoning[0].provider_data.is_empty());
    assert_eq!(reasoning[1].text.as_deref(), Some("ab"));
    assert_eq!(reasoning[1].provider_data["openai"]["content"][1], text("b"));
    assert_eq!(reasoning[2].provider_data["openai"]["summary"][0]["new"], 1);
    assert!(reasoning.iter().all(|reasoning| reasoning.provider.as_deref() == Some("openai")));
}

#[test]
fn further_data_of_the_response_is_kept() {
    let mut body = response(json!([]));
    body["conversation"] = json!({"id": "conv_1"});
    body["moderation"] = Value::Null;
    let turn = read(&body);
    assert_eq!(turn.provider_data["openai"], json!({"conversation": {"id": "conv_1"}, "service_tier": "default"}));
    assert_eq!((turn.response_id.as_deref(), turn.model.as_deref()), (Some("resp_1"), Some("gpt-5-2026")));
}

#[test]
fn two_calls_with_one_id_are_two_calls() {
    let turn = read(&response(json!([called("c1", "a", "{\"a\":1}"), called("c1", "b", "{\"b\":2}")])));
    let calls: Vec<_> = turn.tool_calls().into_iter().map(|call| (call.name, call.arguments)).collect();
    assert_eq!(calls, [("a".to_owned(), "{\"a\":1}".to_owned()), ("b".to_owned(), "{\"b\":2}".to_owned())]);
}
