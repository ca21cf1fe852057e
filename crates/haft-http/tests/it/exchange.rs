use std::collections::BTreeMap;

use haft_http::{HttpRequest, Method, Secret, StatusCode};
use tokio::join;

use crate::server::{CHUNKED, LAST_CHUNK, Server, builder, chunk, client, response};

#[tokio::test]
async fn a_request_arrives_as_it_was_built() {
    let server = Server::start().await;
    let request = HttpRequest::post(server.url("/v1/messages?beta=true"))
        .header("x-plain", "old")
        .header("X-Plain", "new")
        .bearer(&Secret::new("sk-1"))
        .secret_header("x-api-key", &Secret::new("sk-2"))
        .json(&BTreeMap::from([("a", 1)]));
    let client = client();
    let (sent, answered) = join!(client.send(request), server.answer(response(200, "", "")));
    assert_eq!(sent.unwrap().status(), StatusCode::OK);
    let (head, body) = answered.0.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines.remove(0), "POST /v1/messages?beta=true HTTP/1.1");
    for line in [
        "x-plain: new",
        "authorization: Bearer sk-1",
        "x-api-key: sk-2",
        "content-type: application/json",
        "content-length: 7",
        concat!("user-agent: haft/", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(lines.contains(&line), "{line} is missing in {lines:?}");
    }
    assert_eq!(lines.iter().filter(|line| line.starts_with("x-plain")).count(), 1);
    assert_eq!(body, r#"{"a":1}"#);
}

#[tokio::test]
async fn a_request_without_a_body_and_another_method_is_sent() {
    let server = Server::start().await;
    let client = builder().user_agent("mine").build().unwrap();
    let request = HttpRequest::new(Method::DELETE, server.url("/x"));
    let (sent, answered) = join!(client.send(request), server.answer(response(204, "", "")));
    assert_eq!(sent.unwrap().body().await.unwrap(), "");
    assert!(answered.0.starts_with("DELETE /x HTTP/1.1\r\n") && answered.0.contains("user-agent: mine\r\n"));
}

#[tokio::test]
async fn an_error_status_is_a_response_with_its_body() {
    let server = Server::start().await;
    let client = client();
    let reply = response(429, "retry-after: 3\r\n", r#"{"error":"slow down"}"#);
    let (sent, _connection) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(&reply));
    let sent = sent.unwrap();
    assert_eq!(sent.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(sent.headers()["retry-after"], "3");
    assert_eq!(sent.endpoint().as_str(), format!("{}/", server.address()));
    assert!(!sent.is_event_stream());
    assert_eq!(sent.text().await.unwrap(), r#"{"error":"slow down"}"#);
}

#[tokio::test]
async fn chunks_arrive_as_they_are_sent_and_are_joined_on_request() {
    let server = Server::start().await;
    let client = client();
    let request = || HttpRequest::get(server.url("/"));
    let reply = [CHUNKED, &chunk("one "), &chunk("two "), &chunk("three"), LAST_CHUNK].concat();

    let (sent, mut connection) = join!(client.send(request()), async {
        let (_, mut connection) = server.answer(CHUNKED).await;
        connection.write(chunk("one ")).await;
        connection
    });
    let mut chunks = sent.unwrap().chunks().unwrap();
    assert_eq!(chunks.next().await.unwrap().unwrap(), "one ");
    // The second chunk does not exist before the first one has been read.
    connection.write([&chunk("two"), LAST_CHUNK].concat()).await;
    assert_eq!(chunks.next().await.unwrap().unwrap(), "two");
    assert!(chunks.next().await.is_none());
    assert!(chunks.next().await.is_none(), "the end is final");

    // The connection is used again.
    let (sent, ()) = join!(client.send(request()), async {
        connection.request().await;
        connection.write(&reply).await;
    });
    assert_eq!(sent.unwrap().body().await.unwrap(), "one two three");
}

#[tokio::test]
async fn invalid_utf8_in_a_text_is_replaced() {
    let server = Server::start().await;
    let client = client();
    let (sent, _connection) = join!(client.send(HttpRequest::get(server.url("/"))), async {
        let (_, mut connection) = server.answer("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n").await;
        connection.write(b"a\xff\xc3b").await;
        connection
    });
    assert_eq!(sent.unwrap().text().await.unwrap(), "a\u{fffd}\u{fffd}b");
}

#[tokio::test]
async fn concurrent_requests_of_clones_do_not_wait_for_each_other() {
    let server = Server::start().await;
    let one = client();
    let other = one.clone();
    let (first, second, ()) = join!(
        async { one.send(HttpRequest::get(server.url("/1"))).await.unwrap().text().await.unwrap() },
        async { other.send(HttpRequest::get(server.url("/2"))).await.unwrap().text().await.unwrap() },
        async {
            let (mut a, mut b) = (server.accept().await, server.accept().await);
            let (a_path, b_path) = (a.request().await, b.request().await);
            // The later connection is answered first.
            b.write(response(200, "", b_path.split(' ').nth(1).unwrap())).await;
            a.write(response(200, "", a_path.split(' ').nth(1).unwrap())).await;
        },
    );
    assert_eq!((first.as_str(), second.as_str()), ("/1", "/2"));
}

#[tokio::test]
async fn the_user_of_a_url_becomes_a_header() {
    let server = Server::start().await;
    let client = client();
    let url = format!("http://user:pass@{}/", server.address());
    let (sent, answered) = join!(client.send(HttpRequest::get(url)), server.answer(response(200, "", "")));
    sent.unwrap();
    assert!(answered.0.starts_with("GET / ") && answered.0.contains("authorization: Basic dXNlcjpwYXNz\r\n"));
}
