//! The fake provider answers all wires from one list of fixtures, and keeps what it was sent.

use haft_parts::{Aimock, post};
use serde_json::{Value, json};

fn fixtures() -> Value {
    let call = json!({ "name": "get_weather", "arguments": "{\"city\":\"Paris\"}", "id": "call_w1" });
    json!([
        {
            "match": { "userMessage": "weather in Paris", "hasToolResult": false },
            "response": { "toolCalls": [call] },
        },
        {
            "match": { "userMessage": "weather in Paris", "hasToolResult": true },
            "response": { "content": "It is 18C in Paris." },
        },
    ])
}

/// The path of each wire, and its shortest request.
fn requests() -> [(&'static str, Value); 5] {
    let said = json!([{ "role": "user", "content": "weather in Paris" }]);
    let parts = json!([{ "role": "user", "parts": [{ "text": "weather in Paris" }] }]);
    [
        ("/v1/chat/completions", json!({ "model": "m", "messages": said })),
        ("/v1/responses", json!({ "model": "m", "input": said })),
        ("/v1/messages", json!({ "model": "m", "max_tokens": 9, "messages": said })),
        ("/v1beta/models/m:generateContent", json!({ "contents": parts })),
        ("/api/chat", json!({ "model": "m", "messages": said, "stream": false })),
    ]
}

#[test]
fn all_wires_answer_from_the_same_fixtures() {
    let mock = Aimock::start(&fixtures());
    for (path, body) in requests() {
        let answer = post(mock.url(), path, &body);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(answer.body.contains("get_weather"), "{path}: {}", answer.body);
    }
    let journal = mock.journal();
    let paths: Vec<_> = journal.iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(paths, requests().map(|(path, _)| path));
    for (sent, (path, body)) in mock.requests().iter().zip(requests()) {
        assert_eq!((sent.path.as_str(), sent.json()), (path, body));
        assert_eq!(sent.headers["content-type"], "application/json");
    }
    assert_eq!(mock.requests().len(), 5);
}

#[test]
fn a_request_without_a_fixture_is_an_error() {
    let mock = Aimock::start(&fixtures());
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "something else" }] });
    assert_eq!(post(mock.url(), "/v1/chat/completions", &body).status, 503);
}

#[test]
fn chaos_starts_and_ends_on_request() {
    let mock = Aimock::start(&fixtures());
    let (path, body) = &requests()[0];
    mock.set_chaos(&json!({ "rateLimitRate": 1 }));
    assert_eq!(post(mock.url(), path, body).status, 429);
    mock.set_chaos(&json!({}));
    assert_eq!(post(mock.url(), path, body).status, 200);
}

#[test]
fn a_stopped_server_is_gone() {
    let mock = Aimock::start(&fixtures());
    let host = mock.url().strip_prefix("http://").unwrap().to_owned();
    assert!(std::net::TcpStream::connect(&host).is_ok());
    drop(mock);
    assert!(std::net::TcpStream::connect(&host).is_err());
}
