//! Responses that are sent back.

use haft_core::{Item, Message, Reasoning, Role, ToolCall, ToolCallOutput, TurnRequest};
use haft_wire::{Delivery, OpenAiChat, OpenAiResponses, Profile, Wire};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{MODEL, body_of, context, input, read, response, rich, send};

/// Sends a response back, with an output for every call, and returns the items of the model.
fn echoed(response: &Value) -> Value {
    let turn = read(response);
    let outputs: Vec<Item> =
        turn.tool_calls().iter().map(|call| ToolCallOutput::new(call.call_id.clone(), "done").into()).collect();
    let count = turn.items.len();
    let mut history = vec![Item::user("go")];
    history.extend(turn.items);
    history.extend(outputs);
    let sent = input(history);
    sent.as_array().unwrap()[1..=count].into()
}

#[test]
fn every_item_is_returned_unchanged_and_in_its_place() {
    assert_eq!(echoed(&rich()), rich()["output"]);
}

#[test]
fn members_that_only_responses_have_are_not_returned() {
    let item = json!({
        "type": "shell_call_output", "id": "sho_1", "call_id": "c1", "status": "completed", "created_by": "me",
        "output": [{"stdout": "", "stderr": "", "outcome": {"type": "timeout"}, "created_by": "me"}],
    });
    let mut expected = item.clone();
    expected.as_object_mut().unwrap().remove("created_by");
    expected["output"][0].as_object_mut().unwrap().remove("created_by");
    assert_eq!(echoed(&response(json!([item]))), json!([expected]));
    let mut call = super::called("c1", "t", "{}");
    call["created_by"] = json!("me");
    call["namespace"] = Value::Null;
    assert_eq!(echoed(&response(json!([call]))), json!([super::called("c1", "t", "{}")]));
    let mut custom = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "t", "input": "a"});
    let expected = json!([custom]);
    custom["status"] = json!("completed");
    assert_eq!(echoed(&response(json!([custom]))), expected);
}

#[test]
fn arguments_are_returned_as_the_model_wrote_them() {
    let request = |history: Vec<Item>| TurnRequest::new(MODEL, history).tools(&[super::weather()]);
    let sent = |history: Vec<Item>| body_of(&send(&request(history)).unwrap())["input"].take();
    let written = "{ \"labels\": [{\"value\": \"b\", \"key\": \"a\"}], \"city\": \"Oslo\" }";
    let mut history = read(&response(json!([super::called("c1", "acme--weather", written)]))).items;
    history.push(ToolCallOutput::new("c1", "Sunny").into());
    assert_eq!(sent(history)[0]["arguments"], written);

    // A call of another provider has the shape that this one was sent.
    let mut foreign = ToolCall::new("c2", "acme/weather", r#"{"city":"Oslo","labels":{"a":"b"}}"#);
    foreign.provider_data.insert("anthropic".into(), json!({"arguments": "other", "id": "toolu_1"}));
    let item = sent(vec![foreign.into(), ToolCallOutput::new("c2", "Sunny").into()])[0].take();
    assert_eq!(
        item,
        json!({
            "type": "function_call", "call_id": "c2", "name": "acme--weather",
            "arguments": r#"{"city":"Oslo","labels":[{"key":"a","value":"b"}]}"#,
        })
    );
}

#[test]
fn the_caller_of_a_call_is_returned_with_its_output() {
    let mut call = super::called("c1", "t", "{}");
    call["caller"] = json!({"type": "program", "caller_id": "prog_1"});
    let mut history = read(&response(json!([call]))).items;
    history.push(ToolCallOutput::new("c1", "done").provider_data("openai", json!({"id": "fco_1"})).into());
    let sent = input(history);
    assert_eq!((&sent[0], &sent[1]["caller"]), (&call, &call["caller"]));
    assert_eq!(sent[1]["id"], "fco_1");
}

/// The Chat API has the same provider, and keeps data of its own under its name.
#[test]
fn data_of_the_chat_api_is_not_sent() {
    let choice = json!({"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "hi", "tool_calls": [
        {"type": "function", "id": "c1", "function": {"name": "t", "arguments": "{}"}, "extra_content": {"google": {"thought_signature": "x"}}},
        {"type": "custom", "id": "c2", "custom": {"name": "grep", "input": "a+"}},
    ]}});
    let chat = json!({"id": "chatcmpl_1", "model": "m", "choices": [choice]}).to_string();
    let mut history = OpenAiChat::new().response(&chat, &context()).unwrap().items;
    history.extend(["c1", "c2"].map(|id| ToolCallOutput::new(id, "done").into()));
    let sent = input(history);
    assert_eq!(
        sent,
        json!([
            {"type": "message", "role": "assistant", "content": "hi"},
            {"type": "function_call", "call_id": "c1", "name": "t", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "grep", "input": "a+"},
            {"type": "function_call_output", "call_id": "c1", "output": "done"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
        ])
    );
}

/// Servers of open models do not encrypt reasoning, and read it as text.
#[test]
fn readable_reasoning_is_returned_to_its_server() {
    let wire = OpenAiResponses::new().profile(Profile::openai().of_provider("local"));
    let thought = json!({
        "type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}],
    });
    let body = response(json!([thought, super::said("msg_1", "hi")])).to_string();
    let sent = |wire: &OpenAiResponses| {
        let history = wire.response(&body, &context()).unwrap().items;
        let sent = wire.request(&TurnRequest::new(MODEL, history), Delivery::Whole).unwrap();
        body_of(&sent)["input"].take()
    };
    assert_eq!(sent(&wire)[0], thought);
    assert_eq!(sent(&OpenAiResponses::new())[0]["type"], "message", "OpenAI takes encrypted reasoning only");
}

#[test]
fn an_unfinished_message_keeps_its_status() {
    let mut half = super::said("msg_1", "half");
    half["status"] = json!("incomplete");
    assert_eq!(echoed(&response(json!([half.clone()]))), json!([half]));
}

fn items() -> impl Strategy<Value = Vec<Value>> {
    let text = "[ -~é]{0,12}";
    let item = prop_oneof![
        (text, 0..3_usize).prop_map(|(text, parts)| {
            let part = json!({"type": "output_text", "text": text, "annotations": []});
            let refusal = json!({"type": "refusal", "refusal": text});
            let content = [vec![part; parts], vec![refusal]].concat();
            json!({"type": "message", "role": "assistant", "status": "completed", "content": content})
        }),
        (text, "[a-z]{1,4}").prop_map(|(text, secret)| json!({
            "type": "reasoning", "summary": [{"type": "summary_text", "text": text}], "encrypted_content": secret,
        })),
        text.prop_map(|text| json!({
            "type": "function_call", "name": "gone", "arguments": text, "status": "completed",
        })),
        text.prop_map(|text| json!({"type": "custom_tool_call", "name": "grep", "input": text})),
        text.prop_map(|text| json!({"type": "apply_patch_call", "status": "completed", "operation": {"type": "delete_file", "path": text}})),
        text.prop_map(|text| json!({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": text}})),
        text.prop_map(|text| json!({"type": "telepathy", "thought": {"t": text, "n": [1.5, null, {}]}})),
    ];
    proptest::collection::vec(item, 0..12).prop_map(|mut items| {
        for (at, item) in items.iter_mut().enumerate() {
            item["id"] = format!("id_{at}").into();
            let is_call = item["type"].as_str().unwrap().ends_with("_call") && item["type"] != "web_search_call";
            if is_call {
                item["call_id"] = format!("call_{at}").into();
            }
        }
        // A turn does not end in reasoning.
        items.push(super::said("msg_end", "end"));
        items
    })
}

proptest! {
    #[test]
    fn any_response_is_returned_unchanged(items in items()) {
        let response = response(items.into());
        prop_assert_eq!(echoed(&response), response["output"].clone());
    }

    #[test]
    fn the_secrets_of_another_provider_are_never_sent(
        provider in "anthropic|google|mistral|opena|openai2", secret in "[a-z]{12}", text in "[ -~]{0,8}",
    ) {
        let mut data = Map::new();
        data.insert(provider.clone(), json!({"id": secret, "type": "custom_tool_call", "arguments": secret}));
        let mut call = ToolCall::new("c1", "t", "{}");
        call.provider_data = data.clone();
        let mut said = Message::text(Role::Assistant, format!("x{text}"));
        said.provider_data = data;
        let history = vec![
            Item::user("go"),
            Reasoning::text("r").signed(&*provider, &*secret).into(),
            Reasoning::encrypted(&*provider, &*secret).id(&*secret).into(),
            haft_core::ProviderCall::new(&*provider, "web_search", json!({"type": "web_search_call", "id": secret})).into(),
            said.into(),
            call.into(),
            ToolCallOutput::new("c1", "done").provider_data(&*provider, json!({"id": secret})).into(),
        ];
        let sent = send(&TurnRequest::new(MODEL, history)).unwrap();
        prop_assert!(!sent.body.contains(&secret), "{}", sent.body);
        let parts: Vec<_> = sent.dropped.iter().map(|dropped| &*dropped.part).collect();
        let expected = ["reasoning", "reasoning", "provider_call", "message data", "call data", "output data"];
        prop_assert_eq!(parts, expected);
    }
}
