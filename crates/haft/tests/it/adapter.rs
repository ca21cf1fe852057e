//! The adapter of the guide `haft::model::adapter`, over a socket.

#[path = "../../src/model/adapter/acme.rs"]
#[allow(unreachable_pub, reason = "it is written as a module of a library")]
mod acme;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use haft::conversation::{ContentPart, Delta, Finish, MediaData, Message, Reasoning, Role};
use haft::http::{HttpClient, Secret};
use haft::middleware::Backoff;
use haft::model::{HttpModel, LoopEnd, LoopEvent, ModelError};
use haft::prelude::*;
use haft::serde_json::{self, Value, json};

use self::acme::Acme;

/// The copies of a book in a shop.
#[tool(name = "shop/copies")]
fn copies(title: String) -> usize {
    title.len()
}

/// A server that gives one response to each of its requests, then ends.
struct Server {
    url: String,
    thread: JoinHandle<Vec<(String, Value)>>,
}

impl Server {
    fn start<const N: usize>(responses: [String; N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let thread = std::thread::spawn(move || {
            let answer = |response: String| {
                let (mut socket, _) = listener.accept().unwrap();
                let request = read(&mut socket);
                socket.write_all(response.as_bytes()).unwrap();
                request
            };
            responses.into_iter().map(answer).collect()
        });
        Self { url, thread }
    }

    fn model(&self) -> HttpModel {
        let http = HttpClient::builder().no_proxy().build().unwrap();
        HttpModel::new(Acme::new(), &self.url).bearer(Secret::new("acme-key")).model("acme-1").http_client(http)
    }

    /// Returns the requests, each with its head and body, when all responses were sent.
    fn requests(self) -> Vec<(String, Value)> {
        self.thread.join().unwrap()
    }
}

fn read(socket: &mut TcpStream) -> (String, Value) {
    let mut received = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = socket.read(&mut piece).unwrap();
        assert!(length > 0, "the client closed the connection within a request");
        received.extend_from_slice(&piece[..length]);
        let text = String::from_utf8_lossy(&received).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            return (head.to_ascii_lowercase(), body);
        }
    }
}

/// Returns a response of events, which ends with the connection.
fn events<const N: usize>(events: [(&str, Value); N]) -> String {
    let events = events.map(|(name, data)| format!("event: {name}\ndata: {data}\n\n")).concat();
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}")
}

fn error(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}", body.len())
}

/// Returns an answer of one text.
fn said(text: &str) -> String {
    events([("text", json!(text)), ("usage", json!([30, 4])), ("done", json!("stop"))])
}

fn request() -> TurnRequest {
    TurnRequest::new("", vec![Item::user("How many copies of Dune?")])
}

async fn failed(response: String) -> ModelError {
    let server = Server::start([response]);
    let error = server.model().stream_turn(&request()).into_turn().await.unwrap_err();
    assert_eq!(server.requests().len(), 1);
    error
}

#[tokio::test]
async fn two_turns_with_a_tool_call() {
    let server = Server::start([
        events([
            ("thought", json!("I need the ")),
            ("thought", json!("shop.")),
            ("text", json!("One moment.")),
            ("call", json!(["c1", "shop--copies"])),
            ("call", json!(["c2", "shop--copies"])),
            ("input", json!(["c1", r#"{"title":"#])),
            ("input", json!(["c2", r#"{"title":7}"#])),
            ("news", json!("of a later version of the API")),
            ("input", json!(["c1", r#""Dune"}"#])),
            ("usage", json!([20, 10])),
            ("done", json!("tool_calls")),
        ]),
        said("There are 4."),
    ]);
    let mut run = TurnLoop::new(server.model(), toolkit![Copies]).start(request());
    let (mut deltas, mut ended) = (Vec::new(), None);
    while let Some(event) = run.next().await {
        match event {
            LoopEvent::Delta(Delta::TurnComplete(turn)) => deltas.push(format!("turn: {}", turn.reasoning())),
            LoopEvent::Delta(Delta::ToolCallStart { name, .. }) => deltas.push(name),
            LoopEvent::Delta(delta) => {
                deltas.extend(serde_json::to_value(&delta).unwrap()["text"].as_str().map(str::to_owned));
            }
            LoopEvent::Ended { end, state } => ended = Some((end, state)),
            _ => {}
        }
    }
    let shown = ["I need the ", "shop.", "One moment.", "shop/copies", "shop/copies", "turn: I need the shop."];
    assert_eq!(deltas[..6], shown);
    assert_eq!(deltas[6..], ["There are 4.", "turn: "]);
    let (end, state) = ended.unwrap();
    assert!(end.is_stopped(), "{end:?}");
    assert_eq!((state.text(), state.usage().total_tokens), ("There are 4.".to_owned(), 64));

    let requests = server.requests();
    for (head, body) in &requests {
        assert!(head.starts_with("post /v1/turns ") && head.contains("authorization: bearer acme-key"), "{head}");
        assert_eq!(body["model"], "acme-1");
        assert_eq!(body["tools"][0]["name"], "shop--copies");
        assert_eq!(body["tools"][0]["input"]["required"], json!(["title"]));
    }
    let history = &requests[1].1["history"];
    assert_eq!(history[0], json!({"by": "user", "text": "How many copies of Dune?"}));
    assert_eq!(history[1], json!({"by": "assistant", "text": "One moment."}));
    assert_eq!(history[2], json!({"call": "c1", "tool": "shop--copies", "input": r#"{"title":"Dune"}"#}));
    assert_eq!(history[4], json!({"result": "c1", "text": "4", "failed": false}));
    assert_eq!((&history[5]["result"], &history[5]["failed"]), (&json!("c2"), &json!(true)));
}

#[tokio::test]
async fn an_error_status_is_a_cause() {
    let busy = failed(error("429 Too Many Requests", "retry-after: 7\r\n", "slow down, acme-key")).await;
    assert!(matches!(&busy, ModelError::RateLimited { .. }) && busy.retryable(), "{busy:?}");
    assert_eq!(
        (busy.retry_after(), busy.status(), busy.provider()),
        (Some(Duration::from_secs(7)), Some(429), Some("acme"))
    );
    assert!(busy.to_string().contains("slow down") && !busy.to_string().contains("acme-key"), "{busy}");
    assert!(matches!(failed(error("401 Unauthorized", "", "")).await, ModelError::Authentication { .. }));
    assert!(matches!(failed(error("400 Bad Request", "", "{}")).await, ModelError::InvalidRequest { .. }));
}

#[tokio::test]
async fn an_error_in_the_stream_is_a_cause() {
    let error = failed(events([("text", json!("It is")), ("error", json!("the model is gone"))])).await;
    assert!(matches!(&error, ModelError::Unavailable { .. }) && error.to_string().contains("is gone"), "{error:?}");
    let error = failed(events([("call", json!({"id": "c1"}))])).await;
    assert!(matches!(&error, ModelError::Unreadable { .. }), "{error:?}");
    let whole = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    assert!(matches!(failed(whole.to_owned()).await, ModelError::Unreadable { .. }));
}

#[tokio::test]
async fn a_stream_that_is_cut_within_a_call_runs_nothing_and_is_retried() {
    let cut = events([("call", json!(["c1", "shop--copies"])), ("input", json!(["c1", r#"{"title":"Dune"}"#]))]);
    assert!(matches!(failed(cut.clone()).await, ModelError::IncompleteTurn));

    let server = Server::start([cut, said("I do not know.")]);
    let agent = TurnLoop::new(server.model(), toolkit![Copies]).backoff(Backoff::constant(Duration::ZERO));
    let outcome = agent.start(request()).finish().await;
    assert!(outcome.end.is_stopped(), "{:?}", outcome.end);
    assert_eq!(outcome.state.text(), "I do not know.");
    let requests = server.requests();
    assert_eq!(requests[0].1, requests[1].1, "nothing of the cut answer is in the history");
}

#[tokio::test]
async fn a_turn_that_the_provider_cut_off_runs_nothing() {
    let long = [("call", json!(["c1", "shop--copies"])), ("input", json!(["c1", "{"])), ("done", json!("length"))];
    let server = Server::start([events(long), said("Sorry.")]);
    let outcome = TurnLoop::new(server.model(), toolkit![Copies]).start(request()).finish().await;
    let requests = server.requests();
    assert_eq!(requests[1].1["history"][2]["failed"], true, "{:?}", outcome.end);
}

#[tokio::test]
async fn what_the_provider_does_not_take_is_reported() {
    let server = Server::start([said("A picture.")]);
    let reported = Arc::new(Mutex::new(Vec::new()));
    let reports = Arc::clone(&reported);
    let model = server.model().on_report(move |report| {
        reports.lock().unwrap().extend(report.dropped.iter().map(ToString::to_string));
    });
    let picture = ContentPart::image("image/png", MediaData::Url("https://example.com/a.png".to_owned()));
    let mut asked = request();
    asked.history.push(Item::from(Reasoning::default()));
    asked.history.push(Item::from(Message::new(Role::User, vec![ContentPart::text("This?"), picture])));
    let turn = model.stream_turn(&asked).into_turn().await.unwrap();
    assert_eq!((turn.text(), turn.finish), ("A picture.".to_owned(), Finish::Stop));
    let reason = "item: Acme takes text, calls and results only";
    assert_eq!(*reported.lock().unwrap(), [format!("item 1: {reason}"), format!("item 2: {reason}")]);
    assert_eq!(server.requests()[0].1["history"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_unknown_tool_is_answered_like_any_failed_call() {
    let called = [("call", json!(["c1", "shop--burn"])), ("done", json!("tool_calls"))];
    let server = Server::start([events(called), said("No.")]);
    let outcome = TurnLoop::new(server.model(), toolkit![Copies]).start(request()).finish().await;
    assert!(!matches!(outcome.end, LoopEnd::Failed(_)));
    let history = server.requests()[1].1["history"].clone();
    assert_eq!(history[1]["tool"], "shop--burn", "under the name that the model wrote");
    assert!(history[2]["text"].as_str().unwrap().contains("shop/burn"), "{history}");
}

#[test]
fn the_adapter_has_less_than_eighty_lines() {
    assert!(include_str!("../../src/model/adapter/acme.rs").lines().count() < 80);
}
