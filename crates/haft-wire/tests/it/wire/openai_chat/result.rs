//! Results that are written alone.

use haft_core::ToolResult;
use haft_wire::{OpenAiChat, Wire};
use serde_json::{Value, json};

use super::response::{completion, context};
use crate::wire::result::{sampled, shown};

fn calls(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "acme--weather", "arguments": "{not json"}});
    completion(json!({"role": "assistant", "tool_calls": ids.iter().map(call).collect::<Vec<_>>()}), "tool_calls")
}

#[test]
fn media_follows_the_outputs_in_a_message_of_the_user() {
    let wire = OpenAiChat::new();
    let turn = wire.response(&calls(&["c1", "c2", "c3"]).to_string(), &context()).unwrap();
    let written = wire.results(&turn, &sampled(&turn), &context()).unwrap();
    insta::assert_json_snapshot!(shown(&written));
}

#[test]
fn ids_have_the_form_that_the_server_accepts() {
    let wire = OpenAiChat::compatible("mistral");
    let turn = wire.response(&calls(&["abcdeFG12", "call_1"]).to_string(), &context()).unwrap();
    let results: Vec<_> = turn.tool_calls().iter().map(|call| ToolResult::ok(call, json!("done"))).collect();
    let written = shown(&wire.results(&turn, &results, &context()).unwrap());
    let ids: Vec<_> = written["results"].as_array().unwrap().iter().map(|item| item["tool_call_id"].as_str()).collect();
    assert_eq!(ids[0], Some("abcdeFG12"));
    assert_eq!(ids[1].map(str::len), Some(9));
}
