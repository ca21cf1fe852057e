//! Whole responses.

use haft_core::{Finish, Item, Usage};
use haft_wire::{AnthropicMessages, ErrorCause, ReadError, Wire};
use serde_json::{Value, json};

use super::{context, message, read, rich};

fn fail(body: &Value) -> ReadError {
    AnthropicMessages::new().response(&body.to_string(), &context()).unwrap_err()
}

#[test]
fn a_rich_response_has_its_turn() {
    insta::assert_json_snapshot!("response", read(&rich()));
}

#[test]
fn every_reason_for_the_end_has_its_meaning() {
    for (reason, finish) in [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("tool_use", Finish::ToolCalls),
        ("max_tokens", Finish::Length),
        ("model_context_window_exceeded", Finish::Length),
        ("pause_turn", Finish::Pause),
        ("compaction", Finish::Pause),
        ("refusal", Finish::Refusal),
        ("eclipse", Finish::Other("eclipse".to_owned())),
    ] {
        let turn = read(&message(json!([]), reason));
        assert_eq!(turn.finish, finish);
        assert_eq!(turn.provider_data["anthropic"]["stop_reason"], reason);
    }
    assert!(read(&json!({"content": [], "stop_reason": null})).is_cut_off());
}

#[test]
fn usage_includes_the_cache() {
    let turn = read(&message(json!([]), "end_turn"));
    assert_eq!(turn.usage, Usage::new(115, 40).cache_read(100).cache_write(10).reasoning(7));
    for usage in [json!(null), json!({}), json!({"input_tokens": -1, "output_tokens": "many"})] {
        assert_eq!(read(&json!({"content": [], "usage": usage})).usage, Usage::default());
    }
}

#[test]
fn absent_and_unknown_members_are_tolerated() {
    let turn = read(
        &json!({"content": [{"type": "text"}, {"type": "thinking"}, {"type": "text", "text": "hi", "new": 1}], "new": {}}),
    );
    assert_eq!((turn.text(), turn.items.len()), ("hi".to_owned(), 1));
    assert_eq!((turn.response_id, turn.model), (None, None));
}

#[test]
fn a_call_that_could_not_be_answered_is_an_error() {
    for call in [
        json!({"type": "tool_use", "id": "c1", "input": {}}),
        json!({"type": "tool_use", "name": "t", "input": {}}),
        json!({"type": "tool_use", "id": "", "name": "t"}),
        json!({"type": "tool_use", "id": "c1", "name": ""}),
        json!({"type": "server_tool_use", "name": "web_search"}),
        json!({"type": "tool_use", "id": 5, "name": "t"}),
        json!({"id": "c1"}),
        json!("text"),
    ] {
        let error = fail(&message(json!([call]), "tool_use"));
        assert!(matches!(error, ReadError::Invalid { .. }), "{call}: {error:?}");
    }
    assert!(fail(&json!({"id": "m"})).to_string().contains("`content`"));
    assert!(fail(&json!(["message"])).to_string().contains("`content`"));
    assert!(fail(&json!("message")).to_string().contains("the response is invalid"));
}

#[test]
fn an_error_in_the_place_of_a_response_is_reported() {
    let body = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let ReadError::Provider(report) = fail(&body) else { panic!("another error") };
    assert_eq!((report.cause, report.message.as_str()), (ErrorCause::Unavailable, "Overloaded"));
}

#[test]
fn arguments_are_kept_and_decoded() {
    let turn = read(&rich());
    let calls = turn.tool_calls();
    assert_eq!(calls[0].name, "acme/weather");
    assert_eq!(calls[0].arguments, r#"{"city":"Oslo","labels":{"a":"b"}}"#);
    assert_eq!((calls[1].name.as_str(), calls[1].arguments.as_str()), ("gone", "{}"));
}

#[test]
fn a_refusal_has_its_explanation() {
    let mut body = message(json!([]), "refusal");
    body["stop_details"] = json!({"type": "refusal", "category": "cyber", "explanation": "Not this."});
    let turn = read(&body);
    assert_eq!((turn.refusal().as_deref(), &turn.finish), (Some("Not this."), &Finish::Refusal));
    assert_eq!(turn.provider_data["anthropic"]["stop_details"]["category"], "cyber");
    // It is no text of the model, so it is not sent as one.
    let mut history = vec![Item::user("go")];
    history.extend(turn.items);
    assert!(!super::messages(history).to_string().contains("Not this."));
}

#[test]
fn a_function_of_a_toolset_is_a_call_of_the_tool() {
    let toolset = haft_wire::catalogue::find("anthropic.computer_toolset_20260801").unwrap();
    let tool = toolset.with_args(json!({})).unwrap().define().unwrap();
    let name = tool.descriptor().name.clone();
    let request = haft_core::TurnRequest::new(super::MODEL, vec![Item::user("click")]).tools(&vec![tool.descriptor()]);
    let sent = super::send(&request).unwrap();
    let block = json!({
        "type": "tool_use", "id": "toolu_1", "name": "left_click", "toolset_name": "computer", "input": {"coordinate": [1, 2]},
    });
    let body = message(json!([block]), "tool_use").to_string();
    let turn = AnthropicMessages::new().response(&body, &sent.context).unwrap();
    let call = &turn.tool_calls()[0];
    assert_eq!(
        (call.name.as_str(), call.arguments.as_str()),
        (name.as_str(), r#"{"action":"left_click","coordinate":[1,2]}"#)
    );

    let mut next = request;
    let mut history = vec![Item::user("click")];
    history.extend(turn.items);
    history.push(haft_core::ToolCallOutput::new("toolu_1", "clicked").into());
    next.history = history.into();
    let messages = super::body_of(&super::send(&next).unwrap())["messages"].take();
    assert_eq!(messages[1]["content"][0], block);
    assert_eq!(messages[2]["content"][0]["toolset_name"], "computer");
}
