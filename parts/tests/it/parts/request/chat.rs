use haft_parts::WireName;
use serde_json::{Value, json};

use super::{Cases, list, remove, set};

fn right() -> Value {
    json!({
        "model": "gpt-5-mini",
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": [
                { "type": "text", "text": "Weather?" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } },
            ] },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "get_weather", "arguments": "{}" } },
                { "id": "c2", "type": "function", "function": { "name": "get_weather", "arguments": "{}" } },
            ] },
            { "role": "tool", "tool_call_id": "c2", "content": "19" },
            { "role": "tool", "tool_call_id": "c1", "content": [{ "type": "text", "text": "18" }] },
            { "role": "assistant", "content": "Warm." },
            { "role": "user", "content": "Thanks" },
        ],
        "tools": [{ "type": "function", "function": { "name": "get_weather", "description": "d", "strict": true,
            "parameters": { "type": "object", "properties": {}, "required": [], "additionalProperties": false } } }],
        "tool_choice": { "type": "function", "function": { "name": "get_weather" } },
        "parallel_tool_calls": false,
        "max_completion_tokens": 100,
        "response_format": { "type": "json_schema", "json_schema":
            { "name": "answer", "schema": { "type": "object" }, "strict": true } },
    })
}

#[test]
fn shapes() {
    let cases = Cases::of(WireName::OpenAiChat, right());
    cases.accepts("streamed", |body| {
        body["stream"] = json!(true);
        body["stream_options"] = json!({ "include_usage": true });
    });
    cases.rejects("stream options without a stream", "/stream_options", |body| {
        body["stream_options"] = json!({ "include_usage": true });
    });
    cases.rejects("an unknown key", "/top_k", |body| body["top_k"] = json!(5));
    cases.rejects("an unknown key of a message", "/messages/3/name", |body| {
        set(body, "/messages/3", "name", json!("x"));
    });
    cases.rejects("an unknown key deep inside", "/messages/2/tool_calls/0/function/id", |body| {
        set(body, "/messages/2/tool_calls/0/function", "id", json!("x"));
    });
    cases.rejects("an unknown key of a part", "/messages/1/content/1/image_url/mime", |body| {
        set(body, "/messages/1/content/1/image_url", "mime", json!("image/png"));
    });
    cases.rejects("an unknown key of a tool", "/tools/0/name", |body| set(body, "/tools/0", "name", json!("x")));
    cases.rejects("no arguments", "/messages/2/tool_calls/0/function/arguments", |body| {
        remove(body, "/messages/2/tool_calls/0/function", "arguments");
    });
    cases.rejects("no messages", "/messages", |body| remove(body, "", "messages"));
    cases.rejects("no id of the call", "/messages/3/tool_call_id", |body| remove(body, "/messages/3", "tool_call_id"));
    cases.rejects("a wrong role", "/messages/6", |body| set(body, "/messages/6", "role", json!("model")));
    cases.rejects("an image as a result", "/messages/4/content", |body| {
        set(body, "/messages/4", "content", json!([{ "type": "image_url", "image_url": { "url": "x" } }]));
    });
    cases.rejects("arguments as an object", "/messages/2/tool_calls/0/function/arguments", |body| {
        set(body, "/messages/2/tool_calls/0/function", "arguments", json!({}));
    });
}

#[test]
fn calls_and_results() {
    let cases = Cases::of(WireName::OpenAiChat, right());
    cases.rejects("an orphan result", "/messages/7/tool_call_id", |body| {
        list(body, "/messages").push(json!({ "role": "tool", "tool_call_id": "c9", "content": "" }));
    });
    cases
        .rejects("a call without a result", "/messages/2/tool_calls/1", |body| drop(list(body, "/messages").remove(3)));
    cases.rejects("a result after another message", "/messages/2/tool_calls/0", |body| {
        list(body, "/messages").swap(4, 5);
    });
    cases.rejects("two results", "/messages/5/tool_call_id", |body| {
        let result = body["messages"][4].clone();
        list(body, "/messages").insert(5, result);
    });
    cases.rejects("two calls with one id", "/messages/2/tool_calls/1/id", |body| {
        set(body, "/messages/2/tool_calls/1", "id", json!("c1"));
    });
    cases.rejects("an empty assistant message", "/messages/5", |body| set(body, "/messages/5", "content", json!(null)));
    cases.rejects("no calls in the list", "/messages/5/tool_calls", |body| {
        set(body, "/messages/5", "tool_calls", json!([]));
    });
    cases.rejects("a choice without tools", "/tool_choice", |body| remove(body, "", "tools"));
    cases.rejects("a choice that is not offered", "/tool_choice", |body| {
        set(body, "/tool_choice/function", "name", json!("other"));
    });
    cases.rejects("a list as parameters", "/tools/0/function/parameters/type", |body| {
        set(body, "/tools/0/function/parameters", "type", json!("array"));
    });
}

#[test]
fn arguments_on_other_servers() {
    let mut cases = Cases::of(WireName::OpenAiChat, right());
    let half = |body: &mut Value| set(body, "/messages/2/tool_calls/0/function", "arguments", json!("{\"a\":"));
    cases.accepts("half of the arguments", half);
    cases.options = json!({ "compatible": true });
    cases.rejects("half of the arguments", "/messages/2/tool_calls/0/function/arguments", half);
    cases.rejects("a list as arguments", "/messages/2/tool_calls/1/function/arguments", |body| {
        set(body, "/messages/2/tool_calls/1/function", "arguments", json!("[]"));
    });
}
