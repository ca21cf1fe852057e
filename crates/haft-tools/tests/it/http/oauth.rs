//! Tokens by the OAuth 2 client credentials grant.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use futures_util::future::join_all;
use haft_core::FailureKind;
use haft_executor::{RunOptions, Tool};
use haft_registry::Secrets;
use haft_tools::http::{ClientAuthStyle, ClientCredentials, HttpAuth, TokenCache};
use serde_json::{Value, json};

use super::server::{Received, Server, json_answer};
use super::{SECRET, call, call_with, client, http_tool, open_entry};

/// A server of tokens `t1`, `t2` and so on, with this life.
async fn token_server(life: Option<u64>) -> Server {
    Server::start(move |_, number| {
        let mut token = json!({"access_token": format!("t{number}"), "token_type": "Bearer"});
        if let Some(life) = life {
            token["expires_in"] = life.into();
        }
        json_answer(200, &token)
    })
    .await
}

fn credentials(server: &Server) -> ClientCredentials {
    ClientCredentials::new(server.url("/token"), "client 1", "key").scope("read").scope("write:all")
}

fn tool(server: &Server, credentials: ClientCredentials) -> Tool {
    let tool = http_tool(haft_http::Method::POST, server.url("/api")).auth(HttpAuth::OAuth2(credentials));
    tool.build(&open_entry()).unwrap()
}

fn tokens(requests: &[Received]) -> Vec<&str> {
    requests.iter().map(|request| request.header("authorization")).collect()
}

#[tokio::test]
async fn a_token_is_fetched_once_and_sent_with_every_call() {
    let (issuer, api) = (token_server(Some(3600)).await, Server::echo().await);
    let tool = tool(&api, credentials(&issuer).audience("crm"));
    for _ in 0..3 {
        call(&tool, json!({})).await.unwrap();
    }
    assert_eq!(tokens(&api.take()), ["Bearer t1"; 3]);
    let request = issuer.one();
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/token"));
    // RFC 6749, section 2.3.1: both parts are escaped before they are joined.
    assert_eq!(request.header("authorization"), "Basic Y2xpZW50KzE6czNjcjN0JTJGdG9rZW4lMkIx");
    assert_eq!(request.body, "grant_type=client_credentials&scope=read+write%3Aall&audience=crm");
}

#[tokio::test]
async fn credentials_can_be_sent_in_the_body() {
    let (issuer, api) = (token_server(None).await, Server::echo().await);
    let tool = tool(&api, credentials(&issuer).style(ClientAuthStyle::Body));
    call(&tool, json!({})).await.unwrap();
    let request = issuer.one();
    assert_eq!(request.header("authorization"), "");
    assert!(request.body.contains("client_id=client+1&client_secret=s3cr3t%2Ftoken%2B1"), "{}", request.body);
}

#[tokio::test]
async fn concurrent_calls_share_one_token_request() {
    let (issuer, api) = (token_server(Some(3600)).await, Server::echo().await);
    let tool = tool(&api, credentials(&issuer));
    let results = join_all((0..20).map(|_| call(&tool, json!({})))).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(issuer.count(), 1);
    assert_eq!(tokens(&api.take()), ["Bearer t1"; 20]);
}

#[tokio::test]
async fn concurrent_calls_share_the_failure_of_one_token_request() {
    let issuer = Server::start(|_, _| json_answer(401, &json!({"error": "invalid_client"}))).await;
    let api = Server::echo().await;
    let tool = tool(&api, credentials(&issuer));
    let results = join_all((0..20).map(|_| call(&tool, json!({})))).await;
    assert!(results.iter().all(Result::is_err));
    // Calls that start after the request has failed make another one.
    assert!(issuer.take().len() < 20);
    call(&tool, json!({})).await.unwrap_err();
    assert_eq!(issuer.count(), 1);
    assert_eq!(api.count(), 0);
}

#[tokio::test]
async fn tools_with_a_common_cache_share_tokens_of_equal_credentials_and_secrets_only() {
    let (issuer, api) = (token_server(None).await, Server::echo().await);
    let cache = TokenCache::new();
    let shared = |credentials| {
        let tool = http_tool(haft_http::Method::GET, api.url("/")).auth(HttpAuth::OAuth2(credentials)).tokens(&cache);
        tool.build(&open_entry()).unwrap()
    };
    let (one, same, scoped) =
        (shared(credentials(&issuer)), shared(credentials(&issuer)), shared(credentials(&issuer).scope("admin")));
    for tool in [&one, &same, &scoped, &one] {
        call(tool, json!({})).await.unwrap();
    }
    assert_eq!(tokens(&api.take()), ["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t1"]);
    let other = RunOptions::new().service(client()).service(Secrets::new().value("key", "of another tenant"));
    call_with(&one, json!({}), other).await.unwrap();
    assert_eq!(tokens(&api.take()), ["Bearer t3"]);
}

#[tokio::test]
async fn a_rejected_token_is_replaced_once() {
    let issuer = token_server(Some(3600)).await;
    let status = Arc::new(AtomicU16::new(200));
    let api = {
        let status = Arc::clone(&status);
        Server::start(move |request, _| {
            let is_fresh = request.header("authorization") != "Bearer t1";
            let code = if is_fresh { 200 } else { status.load(Ordering::Relaxed) };
            json_answer(code, &json!({"body": request.body}))
        })
        .await
    };
    let tool = tool(&api, credentials(&issuer));
    call(&tool, json!({"a": 1})).await.unwrap();
    assert_eq!(tokens(&api.take()), ["Bearer t1"]);

    status.store(401, Ordering::Relaxed);
    let result = call(&tool, json!({"a": 2})).await.unwrap();
    assert_eq!(result, json!({"body": r#"{"a":2}"#}), "the request is sent again as a whole");
    assert_eq!(tokens(&api.take()), ["Bearer t1", "Bearer t2"]);
    assert_eq!(issuer.count(), 2);

    let never = Server::start(|_, _| json_answer(401, &json!({"why": "no"}))).await;
    let tool = self::tool(&never, credentials(&issuer));
    let failure = call(&tool, json!({})).await.unwrap_err();
    assert_eq!(failure.details.unwrap().to_value()["status"], 401);
    assert_eq!(never.count(), 2, "the token is replaced once");

    // Without OAuth a 401 is final.
    let tool = http_tool(haft_http::Method::GET, never.url("/")).auth(HttpAuth::bearer("key"));
    never.take();
    call(&tool.build(&open_entry()).unwrap(), json!({})).await.unwrap_err();
    assert_eq!(never.count(), 1);
}

#[tokio::test]
async fn a_token_that_has_expired_is_replaced_before_it_is_used() {
    let lives = [0, 3600];
    let issued = Arc::new(AtomicUsize::new(0));
    let issuer = Server::start(move |_, _| {
        let number = issued.fetch_add(1, Ordering::Relaxed);
        let life = lives[number.min(1)];
        json_answer(200, &json!({"access_token": format!("t{number}"), "token_type": "bearer", "expires_in": life}))
    })
    .await;
    let api = Server::echo().await;
    let tool = tool(&api, credentials(&issuer));
    for _ in 0..3 {
        call(&tool, json!({})).await.unwrap();
    }
    assert_eq!(tokens(&api.take()), ["Bearer t0", "Bearer t1", "Bearer t1"]);
}

#[tokio::test]
async fn a_token_that_can_not_be_had_is_for_the_operator() {
    let answers: [(u16, Value, &str); 6] = [
        (
            401,
            json!({"error": "invalid_client", "error_description": format!("bad secret {SECRET}")}),
            "the server rejected the OAuth 2 token request with the error `invalid_client`: bad secret [removed]",
        ),
        (400, json!({"error": SECRET}), "with the error `[removed]`"),
        (200, json!({"access_token": "t", "token_type": "mac"}), "with status 200, is no token of the type `bearer`"),
        (200, json!({"access_token": "", "token_type": "bearer"}), "is no token"),
        (200, json!({"secret": SECRET}), "with status 200, is no token"),
        (503, json!([SECRET]), "with status 503, is no token"),
    ];
    for (status, body, cause) in answers {
        let issuer = Server::start(move |_, _| json_answer(status, &body)).await;
        let api = Server::echo().await;
        let failure = call(&tool(&api, credentials(&issuer)), json!({})).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::ExecutionError);
        assert_eq!(failure.message, "the tool can't authenticate itself; only its operator can see the cause");
        assert_eq!(failure.retryable, status == 503);
        let text = failure.source().unwrap().to_string();
        assert!(text.contains(cause), "{text}");
        assert!(!format!("{failure:?} {text}").contains(SECRET), "{failure:?}");
        assert_eq!(api.count(), 0);
    }
}
