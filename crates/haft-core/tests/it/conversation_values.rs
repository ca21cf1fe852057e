//! The values of a conversation: their serialized form is pinned, and everything written can be read back.

mod arbitrary;
mod form;
mod model_output;
mod round_trip;

use std::io;

use haft_core::{ContentPart, FailureKind, Item, ToolCall, ToolFailure, ToolResult, Turn, TurnRequest};
use serde_json::{Value, json};

#[test]
fn every_value_that_leaves_the_process_is_read_without_a_version_and_not_of_a_newer_one() {
    fn refusal<T: serde::de::DeserializeOwned + std::fmt::Debug>(mut value: Value) -> String {
        serde_json::from_value::<T>(value.clone()).unwrap();
        value["v"] = json!(1);
        serde_json::from_value::<T>(value.clone()).unwrap();
        value["v"] = json!(0);
        let none = serde_json::from_value::<T>(value.clone()).unwrap_err().to_string();
        assert!(none.contains("0 is not a format version"), "{none}");
        value["v"] = json!(2);
        serde_json::from_value::<T>(value).unwrap_err().to_string()
    }
    let call = json!({"call_id": "c1", "name": "t", "arguments": "{}"});
    let tagged = |kind: &str, fields: Value| {
        let mut item = fields;
        item["type"] = json!(kind);
        item
    };
    let refusals = [
        refusal::<ToolCall>(call.clone()),
        refusal::<Item>(tagged("tool_call", call)),
        refusal::<ToolResult>(json!({"call_id": "c1", "tool": "t", "outcome": {"status": "ok", "value": 1}})),
        refusal::<Turn>(json!({"items": [], "finish": "stop"})),
        refusal::<TurnRequest>(json!({"model": "m", "history": []})),
        refusal::<Item>(tagged(
            "approval_request",
            json!({"request_id": "r", "call_id": "c", "tool": "t", "arguments": "{}"}),
        )),
        refusal::<Item>(tagged("approval_response", json!({"request_id": "r", "decision": "approved"}))),
    ];
    for refusal in refusals {
        assert!(refusal.contains("written by a newer version (2); this one reads up to 1"), "{refusal}");
    }
}

#[test]
fn an_item_of_an_unknown_type_does_not_destroy_its_history() {
    let history = json!([
        {"type": "message", "role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"type": "memory", "v": 9, "z": 1, "a": [null, 1.5, {"deep": true}]},
        {"type": "message", "role": "assistant", "content": [{"type": "smell", "of": "rain"}]},
    ]);
    let items: Vec<Item> = serde_json::from_value(history.clone()).unwrap();
    assert_eq!(items[0], Item::user("hi"));
    assert_eq!(items[1], Item::Unknown(history[1].clone()));
    let Item::Message(message) = &items[2] else { panic!("{:?}", items[2]) };
    assert!(matches!(message.content[0], ContentPart::Unknown(_)));
    assert_eq!(serde_json::to_string(&items).unwrap(), history.to_string());
}

#[test]
fn a_known_item_with_a_mistake_is_an_error_and_not_an_unknown_one() {
    for (wrong, names) in [
        (json!({"type": "tool_call", "name": "t"}), "call_id"),
        (json!({"type": "message", "role": "ghost", "content": []}), "ghost"),
        (json!({"type": "tool_output", "call_id": "c1", "output": 3}), "string or a list"),
        (json!({"type": 3}), "type"),
        (json!({"role": "user"}), "type"),
        (json!("message"), "type"),
    ] {
        let error = serde_json::from_value::<Item>(wrong.clone()).unwrap_err().to_string();
        assert!(error.contains(names), "{wrong}: {error}");
    }
    let outcome = json!({"call_id": "c1", "tool": "t", "outcome": {"status": "maybe"}});
    assert!(serde_json::from_value::<ToolResult>(outcome).unwrap_err().to_string().contains("maybe"));
}

#[test]
fn the_cause_of_a_failure_is_on_no_wire() {
    let call = ToolCall::new("c1", "t", "{}");
    for kind in FailureKind::ALL {
        let failure = ToolFailure::new(kind, "it broke").details(json!({"code": 7})).cause(io::Error::other("hunter2"));
        let result = ToolResult::from_failure(&call, failure);
        let turn = Turn::new(vec![Item::from(&result)], haft_core::Finish::Stop);
        let request = TurnRequest::new("m", turn.items.clone());
        for written in [
            serde_json::to_string(&result).unwrap(),
            serde_json::to_string(&result.to_call_output()).unwrap(),
            serde_json::to_string(&turn).unwrap(),
            serde_json::to_string(&request).unwrap(),
            result.to_call_output().output.to_string(),
            result.failure().unwrap().to_string(),
        ] {
            assert!(!written.contains("hunter2"), "{written}");
            assert!(written.contains("it broke"), "{written}");
        }
        let source = std::error::Error::source(result.failure().unwrap()).unwrap();
        assert_eq!(source.to_string(), "hunter2");
    }
}
