use haft_http::HttpRequest;
use tokio::{join, select};

use crate::server::{CHUNKED, Server, chunk, client};

#[tokio::test]
async fn dropping_a_request_closes_the_connection() {
    let server = Server::start().await;
    let client = client();
    let sending = client.send(HttpRequest::post(server.url("/")).body("text"));
    let connection = async {
        let mut connection = server.accept().await;
        connection.request().await;
        connection
    };
    let connection = select! {
        sent = sending => panic!("answered: {sent:?}"),
        connection = connection => connection,
    };
    connection.closed().await;
}

#[tokio::test]
async fn dropping_a_response_closes_the_connection() {
    let server = Server::start().await;
    let client = client();
    let (sent, (_, connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(CHUNKED));
    drop(sent.unwrap());
    connection.closed().await;
}

#[tokio::test]
async fn dropping_the_read_of_a_whole_body_closes_the_connection() {
    let server = Server::start().await;
    let client = client();
    let reply = [CHUNKED, &chunk("one")].concat();
    let (sent, (_, connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(&reply));
    select! {
        biased;
        body = sent.unwrap().body() => panic!("complete: {body:?}"),
        () = std::future::ready(()) => {}
    }
    connection.closed().await;
}

#[tokio::test]
async fn dropping_a_stream_closes_the_connection() {
    let server = Server::start().await;
    let client = client();
    let (sent, (_, mut connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(CHUNKED));
    let mut events = sent.unwrap().events().unwrap();
    connection.write(chunk("data: one\n\ndata: tw")).await;
    assert_eq!(events.next_event().await.unwrap().unwrap().data, "one");
    drop(events);
    connection.closed().await;
}

#[tokio::test]
async fn a_cancelled_wait_loses_nothing() {
    let server = Server::start().await;
    let client = client();
    let (sent, (_, mut connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(CHUNKED));
    let mut events = sent.unwrap().events().unwrap();
    for part in ["da", "ta: o", "ne\n", "data: two\r\n\r", "\ndata: three\n\n"] {
        connection.write(chunk(part)).await;
        select! {
            biased;
            event = events.next_event() => assert_eq!(event.unwrap().unwrap().data, "one\ntwo"),
            () = tokio::task::yield_now() => {}
        }
    }
    let mut seen = Vec::new();
    connection.write("0\r\n\r\n").await;
    while let Some(event) = events.next_event().await {
        seen.push(event.unwrap().data.into_owned());
    }
    assert_eq!(seen.last().map(String::as_str), Some("three"));
    assert!(seen.len() == 1 || seen == ["one\ntwo", "three"], "{seen:?}");
}
