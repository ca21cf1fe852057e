//! Responses that are sent back.

use haft_core::{
    ContentPart, Item, Message, ProviderCall, Reasoning, Role, TextPart, ToolCall, ToolCallOutput, TurnRequest,
};
use haft_wire::{Delivery, GeminiContent, Wire};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{MODEL, OLD_MODEL, body_of, contents, parts_of, read, response, rich, send, weather};
use crate::seeded;

/// The signature for calls of other models.
const FOREIGN: &str = "skip_thought_signature_validator";

/// Returns a history with a response and an output for every call.
fn answered(response: &Value) -> Vec<Item> {
    let turn = read(response);
    let outputs: Vec<Item> =
        turn.tool_calls().iter().map(|call| ToolCallOutput::new(call.call_id.clone(), "done").into()).collect();
    let mut history = vec![Item::user("go")];
    history.extend(turn.items);
    history.extend(outputs);
    history
}

/// Sends a response back, and returns the parts of the model.
fn echoed(response: &Value) -> Value {
    let mut request = TurnRequest::new(MODEL, answered(response));
    request = request.tools(&[weather()]);
    body_of(&send(&request).unwrap())["contents"][1]["parts"].take()
}

#[test]
fn every_part_is_returned_unchanged_and_in_its_place() {
    assert_eq!(&echoed(&rich()), &Value::from(parts_of(&rich()).clone()));
}

#[test]
fn arguments_are_returned_as_the_model_wrote_them() {
    let args = r#"{ "city" : "Oslo", "day_count": 3.0 }"#;
    let body = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"acme--weather","args":{args}}}}}]}},"finishReason":"STOP"}}]}}"#
    );
    let context = super::context();
    let turn = GeminiContent::new().response(&body, &context).unwrap();
    let mut history = vec![Item::user("go")];
    let id = turn.tool_calls()[0].call_id.clone();
    history.extend(turn.items);
    history.push(ToolCallOutput::new(id, "done").into());
    let sent = send(&TurnRequest::new(MODEL, history).tools(&[weather()])).unwrap();
    assert!(sent.body.contains(args), "{}", sent.body);
}

#[test]
fn a_history_survives_storage() {
    let history = answered(&rich());
    let stored: Vec<Item> = serde_json::from_str(&serde_json::to_string(&history).unwrap()).unwrap();
    assert_eq!(contents(stored), contents(history));
}

#[test]
fn ids_are_returned_where_the_provider_assigned_them() {
    let calls = json!([
        {"functionCall": {"id": "f1", "name": "gone", "args": {"a": 1}}, "thoughtSignature": "s"},
        {"functionCall": {"name": "gone", "args": {"a": 2}}},
    ]);
    let history = answered(&response(calls, "STOP"));
    let ids = |wire: &GeminiContent| {
        let request = TurnRequest::new(MODEL, history.clone());
        let body = body_of(&wire.request(&request, Delivery::Whole).unwrap());
        let id =
            |content: usize, part: usize, member: &str| body["contents"][content]["parts"][part][member]["id"].clone();
        [id(1, 0, "functionCall"), id(2, 0, "functionResponse"), id(1, 1, "functionCall"), id(2, 1, "functionResponse")]
    };
    assert_eq!(ids(&GeminiContent::new()), [json!("f1"), json!("f1"), Value::Null, Value::Null]);
    assert_eq!(ids(&GeminiContent::new().without_call_ids()), [Value::Null, Value::Null, Value::Null, Value::Null]);
}

#[test]
fn the_first_call_of_each_step_in_the_current_turn_is_signed() {
    let call = |id: &str| Item::from(ToolCall::new(id, "t", "{}"));
    let output = |id: &str| Item::from(ToolCallOutput::new(id, "done"));
    let history = vec![
        Item::user("old"),
        call("a"),
        output("a"),
        Item::user("new"),
        call("b"),
        call("c"),
        output("b"),
        output("c"),
        call("d"),
        output("d"),
    ];
    let signatures = |model: &str| -> Vec<Value> {
        let body = body_of(&send(&TurnRequest::new(model, history.clone())).unwrap());
        let parts =
            body["contents"].as_array().unwrap().iter().flat_map(|content| content["parts"].as_array().unwrap());
        let calls = parts.filter(|part| part.get("functionCall").is_some());
        calls.map(|part| part["thoughtSignature"].clone()).collect()
    };
    assert_eq!(signatures(MODEL), [json!(null), json!(FOREIGN), json!(null), json!(FOREIGN)]);
    assert_eq!(signatures("gemini-flash-latest"), signatures(MODEL));
    for model in [OLD_MODEL, "gemma-4"] {
        assert_eq!(signatures(model), vec![Value::Null; 4]);
    }
}

#[test]
fn a_foreign_call_before_a_signed_one_is_signed() {
    let signed = json!([{"functionCall": {"id": "f1", "name": "gone", "args": {}}, "thoughtSignature": "own"}]);
    let mut history = vec![Item::user("go"), ToolCall::new("a", "t", "{}").into()];
    history.extend(read(&response(signed, "STOP")).items);
    history.extend(["a", "f1"].map(|id| Item::from(ToolCallOutput::new(id, "done"))));
    let sent = contents(history);
    assert_eq!(sent[1]["parts"][0]["thoughtSignature"], FOREIGN);
    assert_eq!(sent[1]["parts"][1]["thoughtSignature"], "own");
}

#[test]
fn a_result_of_a_built_in_tool_in_a_later_turn_keeps_its_place() {
    let call = json!({"toolCall": {"id": "s1", "toolType": "URL_CONTEXT", "args": {}}, "thoughtSignature": "s"});
    let result = json!({"toolResponse": {"id": "s1", "toolType": "URL_CONTEXT", "response": {}}});
    let nested = json!({"functionCall": {"id": "f1", "name": "gone", "args": {}}});
    let mut history = answered(&response(json!([call, nested]), "STOP"));
    history.extend(read(&response(json!([result, {"text": "done"}]), "STOP")).items);
    let sent = contents(history);
    assert_eq!(sent[1]["parts"][0], call);
    assert_eq!(sent[3]["parts"], json!([result, {"text": "done"}]));
}

/// Parts of a response, in which texts that would be joined do not follow each other.
pub(super) fn parts() -> impl Strategy<Value = Vec<Value>> {
    let text = "[ -~é]{1,12}";
    let sign = "[a-z]{1,4}";
    let part = prop_oneof![
        text.prop_map(|text| json!({"text": text})),
        text.prop_map(|text| json!({"text": text, "thought": true})),
        (text, sign).prop_map(|(text, sign)| json!({"text": text, "thoughtSignature": sign})),
        (text, sign).prop_map(|(text, sign)| json!({"text": text, "thought": true, "thoughtSignature": sign})),
        sign.prop_map(|sign| json!({"text": "", "thoughtSignature": sign})),
        text.prop_map(|text| json!({"text": text, "partMetadata": {"t": text}})),
        (text, sign).prop_map(|(text, sign)| json!({
            "functionCall": {"name": "gone", "args": {"a": text, "b": [1.5, null, {}]}}, "thoughtSignature": sign,
        })),
        (text, 0..3_u8).prop_map(|(text, id)| json!({
            "functionCall": {"id": format!("f{id}"), "name": "acme--weather", "args": {"city": text, "day_count": id}},
            "thoughtSignature": "s",
        })),
        text.prop_map(|text| json!({"executableCode": {"code": text, "language": "PYTHON"}})),
        text.prop_map(|text| json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": text}})),
        sign.prop_map(|id| json!({"toolCall": {"id": id, "toolType": "URL_CONTEXT"}, "thoughtSignature": id})),
        sign.prop_map(|id| json!({"toolResponse": {"id": id, "toolType": "URL_CONTEXT", "response": {}}})),
        text.prop_map(|text| json!({"inlineData": {"mimeType": "image/png", "data": text}})),
        text.prop_map(|text| json!({"telepathy": {"t": text}, "thought": true})),
    ];
    proptest::collection::vec(part, 0..12).prop_map(|mut parts| {
        let is_joined = |part: &Value| part.as_object().unwrap().keys().all(|name| name == "text" || name == "thought");
        parts.dedup_by(|later, earlier| {
            is_joined(later) && is_joined(earlier) && later.get("thought") == earlier.get("thought")
        });
        parts
    })
}

#[test]
fn any_response_is_returned_unchanged() {
    seeded::for_all(300, parts(), |mut parts| {
        parts.push(json!({"functionCall": {"name": "gone", "args": {}}, "thoughtSignature": "end"}));
        let body = response(parts.into(), "STOP");
        prop_assert_eq!(&echoed(&body), &Value::from(parts_of(&body).clone()));
        Ok(())
    });
}

#[test]
fn the_data_of_another_provider_is_never_sent() {
    let drawn = ("openai|anthropic|mistral|googl|google2", "[a-z]{12}");
    seeded::for_all(100, drawn, |(provider, secret)| {
        let mut data = Map::new();
        data.insert(
            provider.clone(),
            json!({
                "thoughtSignature": secret, "arguments": secret, "id": secret, "members": {"secret": secret},
            }),
        );
        let mut call = ToolCall::new("c1", "t", "{}");
        call.provider_data = data.clone();
        let mut text = TextPart { text: "said".to_owned(), ..TextPart::default() };
        text.provider_data = data.clone();
        let mut said = Message::new(
            Role::Assistant,
            vec![
                ContentPart::Text(text),
                ContentPart::Unknown(json!({"type": "google.part", "provider": provider, "part": {"text": secret}})),
            ],
        );
        said.provider_data = data;
        let history = vec![
            Item::user("go"),
            Reasoning::text(&*secret).signed(&*provider, &*secret).into(),
            Reasoning::encrypted(&*provider, &*secret).into(),
            ProviderCall::new(&*provider, "web_search", json!([{"secret": secret}])).into(),
            said.into(),
            call.into(),
            ToolCallOutput::new("c1", "done").into(),
        ];
        let sent = send(&TurnRequest::new(MODEL, history)).unwrap();
        prop_assert!(!sent.body.contains(&secret), "{}", sent.body);
        prop_assert_eq!(sent.dropped.len(), 7, "{:?}", sent.dropped);
        Ok(())
    });
}
