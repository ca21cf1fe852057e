use futures_util::StreamExt;
use haft_http::{HttpError, HttpRequest, SseEvents};
use tokio::join;

use crate::server::{CHUNKED, Connection, LAST_CHUNK, Server, chunk, client, response};

async fn receive(reply: &str) -> (SseEvents, Connection) {
    let server = Server::start().await;
    let client = client();
    let (sent, (_, connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(reply));
    (sent.unwrap().events().unwrap(), connection)
}

#[tokio::test]
async fn events_are_read_across_chunks() {
    let parts = ["event: del", "ta\nid: 7\ndata: {\"a\":", "1}\r", "\n\r\n: ping\n\nretry: 250\ndata: [DONE]\n", "\n"];
    let body: String = parts.iter().map(|part| chunk(part)).collect();
    let reply = [CHUNKED, &body, LAST_CHUNK].concat();

    let (mut events, _connection) = receive(&reply).await;
    let event = events.next_event().await.unwrap().unwrap();
    assert_eq!((&*event.name, &*event.data, &*event.id), ("delta", r#"{"a":1}"#, "7"));
    let event = events.next_event().await.unwrap().unwrap();
    assert_eq!((&*event.name, &*event.data, &*event.id), ("message", "[DONE]", "7"));
    assert!(events.next_event().await.is_none());
    assert_eq!(events.last_event_id(), "7");
    assert_eq!(events.retry().unwrap().as_millis(), 250);

    let (events, _connection) = receive(&reply).await;
    let events: Vec<_> = events.map(Result::unwrap).collect().await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[1].data, "[DONE]");
}

#[tokio::test]
async fn an_event_is_returned_as_soon_as_it_is_complete() {
    let (mut events, mut connection) = receive(CHUNKED).await;
    for line_end in ["\n\n", "\r\r", "\r\n\r\n"] {
        connection.write(chunk(&format!("data: one{line_end}"))).await;
        assert_eq!(events.next_event().await.unwrap().unwrap().data, "one");
    }
}

#[tokio::test]
async fn a_body_that_ends_within_an_event_is_reported() {
    for part in ["data: two", "data: two\n", "event: x\n", "d"] {
        let (mut events, _connection) = receive(&response(200, "", &format!("data: one\n\n{part}"))).await;
        assert_eq!(events.next().await.unwrap().unwrap().data, "one");
        let error = events.next().await.unwrap().unwrap_err();
        assert!(matches!(error, HttpError::IncompleteEvent { .. }), "{part}: {error:?}");
        assert!(error.sent() && error.retryable());
        assert!(events.next().await.is_none());
        let data = part.starts_with("data").then_some("two");
        assert_eq!(events.unfinished_event().as_ref().map(|event| &*event.data), data, "{part}");
        assert!(events.unfinished_event().is_none());
    }
    for part in ["", ": comment", ": comment\n", "\n\n"] {
        let (events, _connection) = receive(&response(200, "", &format!("data: one\n\n{part}"))).await;
        assert_eq!(events.map(Result::unwrap).count().await, 1, "{part}");
    }
}

#[tokio::test]
async fn a_connection_that_ends_within_an_event_is_an_error_of_the_connection() {
    let (mut events, connection) = receive(&[CHUNKED, &chunk("data: one\n\ndata: two")].concat()).await;
    assert_eq!(events.next().await.unwrap().unwrap().data, "one");
    connection.reset();
    let error = events.next().await.unwrap().unwrap_err();
    assert!(matches!(error, HttpError::Closed { .. }), "{error:?}");
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn the_declared_type_is_read() {
    for (header, expected) in [
        ("content-type: text/event-stream\r\n", true),
        ("content-type: Text/Event-Stream ; charset=utf-8\r\n", true),
        ("content-type: text/event-streams\r\n", false),
        ("content-type: application/json\r\n", false),
        ("", false),
    ] {
        let server = Server::start().await;
        let client = client();
        let reply = response(200, header, "");
        let (sent, _connection) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(&reply));
        assert_eq!(sent.unwrap().is_event_stream(), expected, "{header}");
    }
}

#[tokio::test]
async fn debug_output_contains_no_part_of_the_body() {
    let (mut events, mut connection) = receive(CHUNKED).await;
    connection.write(chunk("data: one\n\ndata: private\n\ndata: private")).await;
    assert_eq!(events.next_event().await.unwrap().unwrap().data, "one");
    assert!(!format!("{events:?}").contains("private"));
    assert_eq!(events.next_event().await.unwrap().unwrap().data, "private");
    assert!(!format!("{events:?}").contains("private"));
}
