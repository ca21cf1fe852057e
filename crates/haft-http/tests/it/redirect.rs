use haft_http::{HttpError, HttpRequest, Secret, StatusCode};
use tokio::join;

use crate::server::{Server, builder, client, response};

fn to(location: &str) -> String {
    response(307, &format!("location: {location}\r\nconnection: close\r\n"), "")
}

#[tokio::test]
async fn a_redirect_is_the_response_by_default() {
    let (server, other) = (Server::start().await, Server::start().await);
    let client = client();
    let reply = to(&other.url("/"));
    let (sent, _connection) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(&reply));
    let sent = sent.unwrap();
    assert_eq!(sent.status(), StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(sent.headers()["location"], other.url("/"));
}

#[tokio::test]
async fn a_request_can_have_a_limit_of_its_own() {
    let server = Server::start().await;
    let (none, two) = (client(), builder().redirects(2).build().unwrap());
    let request = || HttpRequest::get(server.url("/"));
    let reply = to("/1");
    let (sent, _connection) = join!(two.send(request().redirects(0)), server.answer(&reply));
    assert_eq!(sent.unwrap().status(), StatusCode::TEMPORARY_REDIRECT);
    let (sent, ()) = join!(none.send(request().redirects(1)), async {
        server.answer(&to("/1")).await;
        server.answer(&to("/2")).await;
    });
    assert!(matches!(sent, Err(HttpError::TooManyRedirects { limit: 1, .. })), "{sent:?}");
}

#[tokio::test]
async fn redirects_are_followed_up_to_the_limit() {
    let server = Server::start().await;
    let client = builder().redirects(2).build().unwrap();
    for redirects in 0..4 {
        let request = HttpRequest::post(server.url("/0")).body("text");
        let (sent, requests) = join!(client.send(request), async {
            let mut requests = Vec::new();
            for index in 1..=redirects.min(3) {
                requests.push(server.answer(&to(&format!("/{index}"))).await.0);
            }
            if redirects < 3 {
                requests.push(server.answer(&response(200, "connection: close\r\n", "done")).await.0);
            }
            requests
        });
        for (index, request) in requests.iter().enumerate() {
            assert!(request.starts_with(&format!("POST /{index} ")) && request.ends_with("text"), "{request}");
        }
        match sent {
            Ok(sent) => {
                assert_eq!(sent.endpoint().as_str(), format!("{}/{redirects}", server.address()));
                assert_eq!(sent.text().await.unwrap(), "done");
                assert!(redirects < 3);
            }
            Err(error) => {
                assert!(matches!(error, HttpError::TooManyRedirects { limit: 2, .. }), "{error:?}");
                assert!(error.sent() && !error.retryable());
                assert_eq!(redirects, 3);
            }
        }
    }
}

#[tokio::test]
async fn secret_headers_are_not_sent_to_another_origin() {
    let (server, other) = (Server::start().await, Server::start().await);
    let client = builder().redirects(5).build().unwrap();
    let request = HttpRequest::get(server.url("/"))
        .secret_header("x-api-key", &Secret::new("sk-123"))
        .bearer(&Secret::new("sk-123"))
        .header("x-plain", "shown");
    let reply = to(&other.url("/"));
    let done = response(200, "", "");
    let (sent, first, second) = join!(client.send(request), server.answer(&reply), other.answer(&done));
    assert_eq!(sent.unwrap().status(), StatusCode::OK);
    assert_eq!(first.0.matches("sk-123").count(), 2);
    assert!(!second.0.contains("sk-123"), "{}", second.0);
    assert!(second.0.contains("x-plain: shown"));
}

#[tokio::test]
async fn a_redirect_without_a_usable_location_is_the_response() {
    let server = Server::start().await;
    let client = builder().redirects(5).build().unwrap();
    for location in ["", "location: file:///etc/passwd\r\n", "location: http://\r\n"] {
        let reply = response(302, &format!("{location}connection: close\r\n"), "");
        let (sent, _connection) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(&reply));
        assert_eq!(sent.unwrap().status(), StatusCode::FOUND, "{location}");
    }
}

#[tokio::test]
async fn a_request_that_was_redirected_was_sent() {
    let server = Server::start().await;
    let closed = {
        let other = Server::start().await;
        other.url("/")
    };
    let unresolved = format!("http://{}.example/", "a".repeat(64));
    let client = builder().redirects(1).build().unwrap();
    for location in [closed, unresolved] {
        let error = client.send(HttpRequest::get(&location)).await.unwrap_err();
        assert!(error.retryable() && !error.sent(), "{error:?}");
        assert_eq!(error.endpoint().unwrap().redirects(), 0);

        let reply = to(&location);
        let (sent, _connection) = join!(client.send(HttpRequest::post(server.url("/"))), server.answer(&reply));
        let error = sent.unwrap_err();
        assert!(matches!(error, HttpError::Connect { .. } | HttpError::Dns { .. }), "{error:?}");
        assert!(error.retryable() && error.sent(), "{error:?}");
        assert_eq!(error.endpoint().unwrap().redirects(), 1);
    }
}
