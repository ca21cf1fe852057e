//! Credentials from named secrets.

use std::error::Error;

use haft_core::FailureKind;
use haft_executor::RunOptions;
use haft_http::Method;
use haft_registry::Secrets;
use haft_tools::http::HttpAuth;
use serde_json::json;

use super::server::Server;
use super::{SECRET, call, call_with, client, http_tool, of_kind, open_entry};

#[tokio::test]
async fn every_form_is_sent() {
    let server = Server::echo().await;
    let basic = "Basic YWRhOnMzY3IzdC90b2tlbisx";
    for (auth, header, value) in [
        (json!({"bearer": "key"}), "authorization", format!("Bearer {SECRET}")),
        (json!({"basic": {"user": "ada", "password": "key"}}), "authorization", basic.to_owned()),
        (json!({"basic": "pair"}), "authorization", basic.to_owned()),
        (json!({"header": {"name": "X-Key", "secret": "key"}}), "x-key", SECRET.to_owned()),
        (
            json!({"header": {"name": "authorization", "secret": "key", "prefix": "Token "}}),
            "authorization",
            format!("Token {SECRET}"),
        ),
        (json!({"cookie": {"name": "sid", "secret": "key"}}), "cookie", "sid=s3cr3t%2Ftoken%2B1".to_owned()),
    ] {
        let tool = of_kind(json!({"url": server.url("/"), "auth": auth})).await.unwrap();
        call(&tool, json!({})).await.unwrap();
        assert_eq!(server.one().header(header), value);
    }
    let auth = json!({"query": {"name": "api key", "secret": "key"}});
    let tool = of_kind(json!({"url": server.url("/?a=1"), "auth": auth})).await.unwrap();
    call(&tool, json!({})).await.unwrap();
    assert_eq!(server.one().query, "a=1&api%20key=s3cr3t%2Ftoken%2B1");
}

#[tokio::test]
async fn several_forms_are_sent_together() {
    let server = Server::echo().await;
    let auth = json!({
        "bearer": "key", "header": {"name": "x-other", "secret": "other"}, "cookie": {"name": "c", "secret": "other"},
    });
    let settings = json!({"url": server.url("/"), "auth": auth, "cookies": {"theme": "dark"}});
    let tool = of_kind(settings).await.unwrap();
    call(&tool, json!({})).await.unwrap();
    let received = server.one();
    assert_eq!(received.header("authorization"), format!("Bearer {SECRET}"));
    assert_eq!(received.header("x-other"), "0th3r-secret");
    assert_eq!(received.header("cookie"), "theme=dark; c=0th3r-secret");
}

#[tokio::test]
async fn a_secret_is_read_by_each_call() {
    let server = Server::echo().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let tool = http_tool(Method::GET, server.url("/")).auth(HttpAuth::bearer("key")).build(&open_entry()).unwrap();
    let options = || RunOptions::new().service(client()).service(Secrets::new().file("key", &path));

    let failure = call_with(&tool, json!({}), options()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::ExecutionError);
    assert_eq!(failure.message, "the tool can't authenticate itself; only its operator can see the cause");
    assert!(failure.source().unwrap().to_string().contains("the secret `key` can't be read"));
    assert!(!failure.retryable);
    assert_eq!(server.count(), 0);

    for text in ["one", "two\n"] {
        std::fs::write(&path, text).unwrap();
        call_with(&tool, json!({}), options()).await.unwrap();
        assert_eq!(server.one().header("authorization"), format!("Bearer {}", text.trim()));
    }
}

#[tokio::test]
async fn services_are_required_where_they_are_used() {
    let server = Server::echo().await;
    let plain = http_tool(Method::GET, server.url("/"));
    let with_secret = plain.clone().auth(HttpAuth::bearer("key"));
    assert_eq!(with_secret.secret_names().into_iter().collect::<Vec<_>>(), ["key"]);
    let options = || RunOptions::new().service(client());
    call_with(&plain.build(&open_entry()).unwrap(), json!({}), options()).await.unwrap();
    server.one();
    call_with(&with_secret.build(&open_entry()).unwrap(), json!({}), options()).await.unwrap_err();
    call_with(&plain.build(&open_entry()).unwrap(), json!({}), RunOptions::new()).await.unwrap_err();
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_secret_that_is_no_header_value_is_not_sent() {
    let server = Server::echo().await;
    let tool = http_tool(Method::GET, server.url("/")).auth(HttpAuth::bearer("key")).build(&open_entry()).unwrap();
    let secrets = Secrets::new().value("key", "a\r\nx-injected: 1");
    let options = RunOptions::new().service(client()).service(secrets);
    let failure = call_with(&tool, json!({}), options).await.unwrap_err();
    assert!(!format!("{failure:?}").contains("x-injected"), "{failure:?}");
    assert_eq!(server.count(), 0);
}
