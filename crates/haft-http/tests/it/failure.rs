use std::io;

use haft_http::{HttpError, HttpRequest};
use tokio::join;

use crate::server::{CHUNKED, Connection, Server, chunk, client};

#[tokio::test]
async fn a_refused_connection_was_not_sent() {
    let server = Server::start().await;
    let url = server.url("/path");
    let endpoint = format!("{}/path", server.address());
    drop(server);
    let error = client().send(HttpRequest::get(url)).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { .. }), "{error:?}");
    assert!(error.retryable() && !error.sent());
    assert_eq!(error.to_string(), format!("can't connect to {endpoint}"));
    assert_eq!(error.endpoint().unwrap().as_str(), endpoint);
    // The error of the system is among the sources.
    let mut source = std::error::Error::source(&error);
    let mut kinds = Vec::new();
    while let Some(error) = source {
        kinds.extend(error.downcast_ref().map(io::Error::kind));
        source = error.source();
    }
    assert_eq!(kinds, [io::ErrorKind::ConnectionRefused]);
}

#[tokio::test]
async fn a_host_name_without_an_address_is_a_dns_error() {
    // No resolver sends a query for a label of more than 63 bytes.
    let url = format!("http://{}.example/", "a".repeat(64));
    let error = client().send(HttpRequest::get(url)).await.unwrap_err();
    assert!(matches!(error, HttpError::Dns { .. }), "{error:?}");
    assert!(error.retryable() && !error.sent());
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_a_tls_error() {
    let client = client();
    for answer in ["HTTP/1.1 400 Bad Request\r\n\r\n", ""] {
        let server = Server::start().await;
        let request = HttpRequest::get(format!("https://{}/", server.address()));
        let (sent, ()) = join!(client.send(request), async {
            let mut connection = server.accept().await;
            assert!(connection.read_some().await > 0);
            connection.write(answer).await;
            connection.end().await;
        });
        let error = sent.unwrap_err();
        assert!(matches!(error, HttpError::Tls { .. }), "{error:?}");
        assert!(!error.retryable() && !error.sent());
    }
}

#[track_caller]
fn assert_closed(error: &HttpError) {
    assert!(matches!(error, HttpError::Closed { .. }), "{error:?}");
    assert!(error.retryable() && error.sent());
}

#[tokio::test]
async fn a_connection_that_ends_before_the_headers_was_closed_midway() {
    let client = client();
    let ends: [fn(Connection); 2] = [drop, Connection::reset];
    for part in ["", "HTTP/1.1 200 OK\r\ncontent-le", "this is no HTTP\r\n\r\n"] {
        for end in ends {
            let server = Server::start().await;
            let (sent, ()) = join!(client.send(HttpRequest::post(server.url("/")).body("text")), async {
                end(server.answer(part).await.1);
            });
            assert_closed(&sent.unwrap_err());
        }
    }
}

#[tokio::test]
async fn a_body_that_ends_early_was_closed_midway() {
    let client = client();
    let parts = ["HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345".to_owned(), [CHUNKED, &chunk("12345")].concat()];
    let ends: [fn(Connection); 2] = [drop, Connection::reset];
    for part in &parts {
        for end in ends {
            let server = Server::start().await;
            let (sent, (_, connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(part));
            let mut chunks = sent.unwrap().chunks().unwrap();
            assert_eq!(chunks.next().await.unwrap().unwrap(), "12345");
            end(connection);
            assert_closed(&chunks.next().await.unwrap().unwrap_err());
            assert!(chunks.next().await.is_none());

            let (sent, (_, connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(part));
            let sent = sent.unwrap();
            end(connection);
            assert_closed(&sent.body().await.unwrap_err());
        }
    }
}

#[tokio::test]
async fn a_chunk_that_is_malformed_ends_the_body() {
    let server = Server::start().await;
    let client = client();
    let reply = [CHUNKED, "not a length\r\n"].concat();
    let (sent, _connection) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(&reply));
    assert_closed(&sent.unwrap().text().await.unwrap_err());
}

#[tokio::test]
async fn an_idle_connection_that_was_closed_is_replaced() {
    let server = Server::start().await;
    let client = client();
    let reply = crate::server::response(200, "", "ok");
    let (sent, answered) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(&reply));
    assert_eq!(sent.unwrap().text().await.unwrap(), "ok");
    answered.1.end().await;
    let (sent, _connection) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(&reply));
    assert_eq!(sent.unwrap().text().await.unwrap(), "ok");
}
