//! Works of what a provider sends: streams of many parts, and the body of an error. The provider decides about the size.

use haft_core::{Delta, Item, TurnRequest};
use haft_http::{HttpClient, Secret};
use haft_model::{HttpModel, LanguageModel};
use haft_wire::{AnthropicMessages, Delivery, GeminiContent, OpenAiChat, OpenAiResponses, Wire, WireEvent};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::{Work, measured};

pub(crate) const WORKS: [Work; 5] = [
    ("stream-chat", 80_000, stream_chat),
    ("stream-responses", 80_000, stream_responses),
    ("stream-messages", 80_000, stream_messages),
    ("stream-gemini", 80_000, stream_gemini),
    ("error-body", 4_000_000, error_body),
];

/// Reads a stream, and returns the number of its deltas.
fn deltas(wire: &dyn Wire, events: impl Iterator<Item = String>) -> usize {
    let request = TurnRequest::new("m", vec![Item::user("go")]);
    let context = wire.request(&request, Delivery::Streamed).unwrap().context;
    let events: Vec<String> = events.collect();
    measured(|| {
        let (mut reader, mut deltas) = (wire.stream(&context), Vec::new());
        for event in &events {
            reader.event(WireEvent::new(None, event), &mut deltas).unwrap();
        }
        reader.end(&mut deltas).unwrap();
        assert!(matches!(deltas.last(), Some(Delta::TurnComplete(_))));
        deltas.len()
    })
}

/// Begins calls, and then adds to each of them.
fn stream_chat(count: usize) {
    let half = count / 2;
    let chunk = |call: String| format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}}}}]}}"#);
    let begun = (0..half)
        .map(|n| chunk(format!(r#"{{"index":{n},"id":"c{n}","function":{{"name":"look","arguments":"{{"}}}}"#)));
    let ended = (0..half).map(|n| chunk(format!(r#"{{"index":{n},"function":{{"arguments":"}}"}}}}"#)));
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned();
    assert!(deltas(&OpenAiChat::new(), begun.chain(ended).chain([end])) >= 2 * half);
}

/// Adds to as many texts and refusals, twice each.
fn stream_responses(count: usize) {
    let quarter = count / 4;
    let delta = |kind: &str, n: usize| {
        format!(r#"{{"type":"response.{kind}.delta","output_index":{n},"content_index":0,"delta":"a"}}"#)
    };
    let texts = (0..2 * quarter).map(|n| delta("output_text", n % quarter));
    let refusals = (0..2 * quarter).map(|n| delta("refusal", quarter + n % quarter));
    let end = r#"{"type":"response.completed","response":{"id":"r1","status":"completed","output":[]}}"#.to_owned();
    assert!(deltas(&OpenAiResponses::new(), texts.chain(refusals).chain([end])) >= 4 * quarter);
}

/// Begins blocks of all kinds, and then adds to each of them.
fn stream_messages(count: usize) {
    let half = count / 2;
    let start = |n: usize| {
        let block = match n % 4 {
            0 => r#"{"type":"text","text":""}"#.to_owned(),
            1 => r#"{"type":"thinking","thinking":""}"#.to_owned(),
            2 => format!(r#"{{"type":"tool_use","id":"c{n}","name":"look","input":{{}}}}"#),
            _ => format!(r#"{{"type":"server_tool_use","id":"c{n}","name":"web_search","input":{{}}}}"#),
        };
        format!(r#"{{"type":"content_block_start","index":{n},"content_block":{block}}}"#)
    };
    let delta = |n: usize| {
        let delta = match n % 4 {
            0 => r#""type":"text_delta","text":"a""#,
            1 => r#""type":"thinking_delta","thinking":"a""#,
            _ => r#""type":"input_json_delta","partial_json":"{}""#,
        };
        format!(r#"{{"type":"content_block_delta","index":{n},"delta":{{{delta}}}}}"#)
    };
    let end = [
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#.to_owned(),
        r#"{"type":"message_stop"}"#.to_owned(),
    ];
    let events = (0..half).map(start).chain((0..half).map(delta)).chain(end);
    assert!(deltas(&AnthropicMessages::new(), events) >= half);
}

/// Sends calls and texts in turn.
fn stream_gemini(count: usize) {
    let chunk = |n: usize| {
        let part = match n % 3 {
            0 => format!(r#"{{"functionCall":{{"id":"c{n}","name":"look","args":{{}}}}}}"#),
            1 => r#"{"text":"a"}"#.to_owned(),
            _ => r#"{"text":"a","thought":true,"thoughtSignature":"s"}"#.to_owned(),
        };
        format!(r#"{{"candidates":[{{"index":0,"content":{{"parts":[{part}]}}}}]}}"#)
    };
    let end = r#"{"candidates":[{"index":0,"content":{"parts":[]},"finishReason":"STOP"}]}"#.to_owned();
    assert!(deltas(&GeminiContent::new(), (0..count).map(chunk).chain([end])) >= count);
}

/// Rejects a request with a body of backslashes, each of which may begin an escaped character of the key.
fn error_body(count: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let body = "\\".repeat(count);
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let http = HttpClient::builder().no_proxy().build().unwrap();
    let model = HttpModel::new(OpenAiChat::new(), url).http_client(http).bearer(Secret::new("sk-0123456789abcdef"));
    let request = TurnRequest::new("m", vec![Item::user("go")]);
    let answer = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut vec![0; 64 * 1024]).await.unwrap();
        let head = format!("HTTP/1.1 500 Error\r\nconnection: close\r\ncontent-length: {count}\r\n\r\n");
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(body.as_bytes()).await.unwrap();
    };
    let asked =
        measured(|| runtime.block_on(async { tokio::join!(model.stream_turn(&request).into_turn(), answer).0 }));
    assert_eq!(asked.unwrap_err().status(), Some(500));
}
