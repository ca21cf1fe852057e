//! Responses that are sent back.

use haft_core::{Item, Reasoning, ToolCallOutput, TurnRequest};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{MODEL, body_of, message, messages, read, rich, send};

/// Sends a response back with an output for every call, and returns the assistant's blocks.
fn echoed(response: &Value) -> Value {
    let turn = read(response);
    let outputs: Vec<Item> =
        turn.tool_calls().iter().map(|call| ToolCallOutput::new(call.call_id.clone(), "done").into()).collect();
    let mut history = vec![Item::user("go")];
    history.extend(turn.items);
    history.extend(outputs);
    messages(history)[1]["content"].clone()
}

/// Removes members that are `null`, which stand for absent ones.
fn without_nulls(blocks: &Value) -> Value {
    let mut blocks = blocks.clone();
    for block in blocks.as_array_mut().unwrap() {
        if block["type"] == "text" {
            block.as_object_mut().unwrap().retain(|_, member| !member.is_null());
        }
    }
    blocks
}

#[test]
fn every_block_is_returned_unchanged_and_in_its_place() {
    assert_eq!(echoed(&rich()), without_nulls(&rich()["content"]));
}

#[test]
fn a_citation_is_returned_without_the_file_that_it_names() {
    let cited = json!({
        "type": "char_location", "cited_text": "a", "document_index": 0, "document_title": null,
        "start_char_index": 0, "end_char_index": 1, "file_id": "file_1",
    });
    let response = message(json!([{"type": "text", "text": "a", "citations": [cited]}]), "end_turn");
    assert_eq!(read(&response).items.len(), 1);
    let sent = &echoed(&response)[0]["citations"][0];
    assert_eq!((sent["type"].as_str(), sent.get("file_id")), (Some("char_location"), None));
}

#[test]
fn the_container_of_a_turn_is_used_until_the_user_writes_again() {
    let mut history = vec![Item::user("go")];
    history.extend(read(&rich()).items);
    history.extend(["toolu_4", "toolu_5"].map(|id| ToolCallOutput::new(id, "done").into()));
    let container = |history: Vec<Item>, options: Value| {
        let request = TurnRequest::new(MODEL, history).provider_options("anthropic", options);
        body_of(&send(&request).unwrap())["container"].clone()
    };
    assert_eq!(container(history.clone(), json!({})), "container_1");
    assert_eq!(container(history.clone(), json!({"container": "mine"})), "mine");
    history.push(Item::user("next"));
    assert_eq!(container(history, json!({})), Value::Null);
}

#[test]
fn a_result_in_a_later_turn_keeps_its_place() {
    let call = json!({"type": "server_tool_use", "id": "s1", "name": "code_execution", "input": {"code": "t()"}});
    let nested = json!({"type": "tool_use", "id": "t1", "name": "t", "input": {}, "caller": {"type": "code_execution_20260120", "tool_id": "s1"}});
    let result = json!({"type": "code_execution_tool_result", "tool_use_id": "s1", "content": {"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0, "content": []}});
    let mut history = vec![Item::user("go")];
    history.extend(read(&message(json!([call, nested]), "tool_use")).items);
    history.push(ToolCallOutput::new("t1", "1").into());
    history.extend(read(&message(json!([result, {"type": "text", "text": "1."}]), "end_turn")).items);
    history.push(Item::user("thanks"));
    let sent = messages(history);
    assert_eq!(sent[1]["content"], json!([call, nested]));
    assert_eq!((&sent[3]["content"][0], &sent[4]["role"]), (&result, &json!("user")));
}

fn blocks() -> impl Strategy<Value = Vec<Value>> {
    let text = "[ -~é]{0,12}";
    let block = prop_oneof![
        text.prop_map(|text| json!({"type": "text", "text": format!("t{text}")})),
        (text, "[a-z]{1,4}").prop_map(|(text, sign)| json!({"type": "thinking", "thinking": text, "signature": sign})),
        "[a-z]{1,4}".prop_map(|data| json!({"type": "redacted_thinking", "data": data})),
        text.prop_map(|text| json!({"type": "tool_use", "name": "gone", "input": {"a": text, "b": [1.5, null, {}]}})),
        text.prop_map(|text| json!({"type": "server_tool_use", "name": "web_search", "input": {"query": text}})),
        text.prop_map(|text| json!({"type": "telepathy", "thought": {"t": text}})),
    ];
    proptest::collection::vec(block, 0..12).prop_map(|mut blocks| {
        for (at, block) in blocks.iter_mut().enumerate() {
            if block["type"].as_str().unwrap().ends_with("tool_use") {
                block["id"] = format!("id_{at}").into();
            }
        }
        // A message does not end in reasoning.
        blocks.push(json!({"type": "text", "text": "end"}));
        blocks
    })
}

proptest! {
    #[test]
    fn any_response_is_returned_unchanged(blocks in blocks()) {
        let response = message(blocks.into(), "tool_use");
        prop_assert_eq!(echoed(&response), response["content"].clone());
    }

    #[test]
    fn the_signature_of_another_provider_is_never_sent(
        provider in "openai|google|mistral|anthropi|anthropic2", secret in "[a-z]{12}", text in "[ -~]{0,8}",
    ) {
        let mut data = Map::new();
        data.insert(provider.clone(), json!({"signature": secret, "arguments": secret}));
        let mut call = haft_core::ToolCall::new("c1", "t", "{}");
        call.provider_data = data.clone();
        let mut said = haft_core::Message::text(haft_core::Role::Assistant, format!("x{text}"));
        said.provider_data = data;
        let history = vec![
            Item::user("go"),
            Reasoning::text("r").signed(&*provider, &*secret).into(),
            Reasoning::encrypted(&*provider, &*secret).into(),
            haft_core::ProviderCall::new(&*provider, "web_search", json!([{"type": "web_search", "secret": secret}])).into(),
            said.into(),
            call.into(),
            ToolCallOutput::new("c1", "done").into(),
        ];
        let sent = send(&TurnRequest::new(MODEL, history)).unwrap();
        prop_assert!(!sent.body.contains(&secret), "{}", sent.body);
        // The reasoning twice, the provider call, and the data of the message and of the call.
        prop_assert_eq!(sent.dropped.len(), 5);
    }
}
