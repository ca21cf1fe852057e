//! Redirects are followed up to a limit, and never to a place that the guard does not permit.

use std::error::Error;

use haft_core::FailureKind;
use haft_executor::RunOptions;
use haft_http::{GuardedClient, HttpError, Method};
use haft_tools::http::{ClientAuthStyle, ClientCredentials, HttpAuth};
use serde_json::json;

use super::server::{Received, Server, answer, json_answer};
use super::{call, call_with, http_tool, of_kind, open_entry};

/// A server that redirects `/3` to `/2` and so on, and answers at `/0`.
async fn counting(status: u16) -> Server {
    Server::start(move |request: &Received, _| match request.path.trim_start_matches('/').parse::<usize>().unwrap() {
        0 => json_answer(200, &json!("arrived")),
        left => redirect(status, &format!("/{}", left - 1)),
    })
    .await
}

fn redirect(status: u16, location: &str) -> axum::http::Response<axum::body::Body> {
    let mut response = answer(status, "text/plain", "moved");
    response.headers_mut().insert("location", location.parse().unwrap());
    response
}

#[tokio::test]
async fn requests_that_read_follow_a_few_and_others_none() {
    let server = counting(302).await;
    let tool = http_tool(Method::GET, server.url("/{n}")).build(&open_entry()).unwrap();
    assert_eq!(call(&tool, json!({"n": 5})).await.unwrap(), json!("arrived"));
    let failure = call(&tool, json!({"n": 6})).await.unwrap_err();
    assert_eq!(failure.message, "the server redirected the request too often");
    assert!(!failure.retryable);

    server.take();
    let tool = http_tool(Method::POST, server.url("/{n}")).build(&open_entry()).unwrap();
    let failure = call(&tool, json!({"n": 1, "text": "body"})).await.unwrap_err();
    assert_eq!(failure.details.unwrap().to_value(), json!({"status": 302}));
    assert_eq!(server.count(), 1);

    let settings = json!({"url": server.url("/{n}"), "redirects": 0});
    call(&of_kind(settings).await.unwrap(), json!({"n": "1"})).await.unwrap_err();
    let server = counting(307).await;
    let settings = json!({"url": server.url("/{n}"), "redirects": 2, "body": {"argument": "b"}});
    call(&of_kind(settings).await.unwrap(), json!({"n": "2", "b": 1})).await.unwrap();
    assert!(server.take().iter().all(|request| request.method == "POST" && request.body == "1"));
}

#[tokio::test]
async fn credentials_stay_with_the_first_server() {
    let other = Server::echo().await;
    let target = other.url("/");
    let first = Server::start(move |_, _| redirect(302, &target)).await;
    for auth in [HttpAuth::bearer("key"), HttpAuth::header("x-key", "key"), HttpAuth::cookie("c", "key")] {
        let tool = http_tool(Method::GET, first.url("/")).auth(auth).build(&open_entry()).unwrap();
        call(&tool, json!({})).await.unwrap();
        let received = other.one();
        for name in ["authorization", "x-key", "cookie"] {
            assert_eq!(received.header(name), "");
        }
    }
}

#[tokio::test]
async fn the_guard_decides_about_every_hop_and_about_tokens() {
    let inward = Server::start(|_, _| redirect(302, "http://[::1]:9/secret")).await;
    let tool = http_tool(Method::GET, inward.url("/")).build(&open_entry()).unwrap();
    let failure = call(&tool, json!({})).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::ExecutionError);
    assert!(failure.message.starts_with("the address of the server is not permitted"), "{failure}");
    let cause = failure.source().and_then(|cause| cause.downcast_ref::<HttpError>());
    assert!(matches!(cause, Some(HttpError::Forbidden { endpoint, .. }) if endpoint.redirects() == 1), "{failure:?}");

    let server = Server::echo().await;
    let strict = || RunOptions::new().service(strict_client()).service(super::secrets());
    let tool = http_tool(Method::GET, server.url("/")).build(&open_entry()).unwrap();
    call_with(&tool, json!({}), strict()).await.unwrap_err();
    let credentials = ClientCredentials::new(server.url("/token"), "c", "key");
    let tool = http_tool(Method::GET, server.url("/")).auth(HttpAuth::OAuth2(credentials));
    let failure = call_with(&tool.build(&open_entry()).unwrap(), json!({}), strict()).await.unwrap_err();
    assert!(failure.source().is_some());
    assert_eq!(server.count(), 0);
}

/// A client that connects to public addresses only.
fn strict_client() -> GuardedClient {
    haft_http::HttpClient::builder().no_proxy().guarded(haft_http::AddressGuard::new()).unwrap()
}

#[tokio::test]
async fn a_token_request_is_never_redirected() {
    let other = Server::echo().await;
    let target = other.url("/");
    let issuer = Server::start(move |_, _| redirect(307, &target)).await;
    let credentials = ClientCredentials::new(issuer.url("/"), "c", "key").style(ClientAuthStyle::Body);
    let tool = http_tool(Method::GET, other.url("/")).auth(HttpAuth::OAuth2(credentials)).build(&open_entry()).unwrap();
    let failure = call(&tool, json!({})).await.unwrap_err();
    assert!(failure.source().unwrap().to_string().contains("with status 307, is no token"), "{failure:?}");
    assert_eq!(other.count(), 0);
}
