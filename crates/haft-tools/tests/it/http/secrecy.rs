//! No secret is part of anything that is shown.

use std::error::Error;

use haft_core::ToolFailure;
use haft_http::Method;
use haft_tools::http::{ClientCredentials, ErrorDetail, HttpAuth, ResponseMapping};
use serde_json::json;

use super::server::{RawServer, Server, answer, json_answer};
use super::{SECRET, call, http_tool, open_entry};

/// All texts of a failure: for the model, for people, and for the operator.
fn texts(failure: &ToolFailure) -> String {
    let mut texts = format!("{failure} {failure:?} {failure:#?} {}", failure.to_model_text());
    let mut cause: Option<&dyn Error> = failure.source();
    while let Some(error) = cause {
        texts.push_str(&format!(" {error} {error:?}"));
        cause = error.source();
    }
    texts.push_str(&serde_json::to_string(failure).unwrap());
    texts
}

fn forms() -> Vec<HttpAuth> {
    vec![
        HttpAuth::bearer("key"),
        HttpAuth::basic("ada", "key"),
        HttpAuth::BasicPair { secret: "pair".into() },
        HttpAuth::header("x-key", "key"),
        HttpAuth::query("k", "key"),
        HttpAuth::cookie("c", "key"),
    ]
}

const SHOWN: [&str; 5] =
    ["s3cr3t/token+1", "s3cr3t%2Ftoken%2B1", "YWRhOnMzY3IzdC90b2tlbisx", "czNjcjN0L3Rva2VuKzE=", "s3cr3t\\/token+1"];

fn assert_hidden(text: &str) {
    for secret in SHOWN {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[tokio::test]
async fn a_body_that_echoes_the_request_is_redacted_in_failures() {
    for auth in forms() {
        let server = Server::start(|request, _| {
            let echo = format!("{} {} {:?} {SECRET}", request.path, request.query, request.headers);
            answer(400, "text/plain", echo)
        })
        .await;
        let mapping = ResponseMapping::new().errors(ErrorDetail::Body);
        let tool = http_tool(Method::GET, server.url("/")).auth(auth.clone()).response(mapping);
        let tool = tool.build(&open_entry()).unwrap();
        let failure = call(&tool, json!({})).await.unwrap_err();
        assert!(failure.to_model_text().contains("[removed]"), "{auth:?}: {failure:?}");
        assert_hidden(&texts(&failure));
        assert_hidden(&format!("{tool:?} {auth:?}"));
    }
}

#[tokio::test]
async fn a_secret_at_the_end_of_an_excerpt_is_not_cut_in_half() {
    // The secret straddles the end of the read text, and the redacted text before is shorter than what the model reads.
    let filler = SECRET.repeat(16 * 1024 / SECRET.len() - 1);
    let padding = "x".repeat(16 * 1024 - filler.len() - 5);
    let body = format!("{filler}{padding}{SECRET}{SECRET}");
    let server = Server::start(move |_, _| answer(400, "text/plain", body.clone())).await;
    let tool = http_tool(Method::GET, server.url("/")).auth(HttpAuth::bearer("key")).build(&open_entry()).unwrap();
    let failure = call(&tool, json!({})).await.unwrap_err();
    let text = texts(&failure);
    assert_hidden(&text);
    assert!(!text.contains("s3cr"), "{text}");
}

#[tokio::test]
async fn errors_of_the_connection_contain_none() {
    for auth in forms() {
        let server = RawServer::start().await;
        let tool = http_tool(Method::GET, server.url("/")).auth(auth).build(&open_entry()).unwrap();
        let (result, ()) = tokio::join!(call(&tool, json!({})), server.answer_once(b"HTTP/1.1 200 OK\r\nbad"));
        assert_hidden(&texts(&result.unwrap_err()));
    }
}

#[tokio::test]
async fn tokens_are_secrets_too() {
    let issuer = Server::start(|_, _| json_answer(200, &json!({"access_token": SECRET, "token_type": "bearer"}))).await;
    let server =
        Server::start(|request, _| answer(400, "text/plain", request.header("authorization").to_owned())).await;
    let auth = HttpAuth::OAuth2(ClientCredentials::new(issuer.url("/"), "c", "other"));
    let response = ResponseMapping::new().errors(ErrorDetail::Body);
    let mapping = http_tool(Method::GET, server.url("/")).auth(auth).response(response);
    let tool = mapping.build(&open_entry()).unwrap();
    let failure = call(&tool, json!({})).await.unwrap_err();
    assert_eq!(failure.details.as_ref().unwrap().to_value()["body"], "Bearer [removed]");
    assert_hidden(&texts(&failure));
    assert_hidden(&format!("{tool:?} {mapping:?} {mapping:#?}"));
}

#[tokio::test]
async fn a_value_that_echoes_the_request_is_redacted() {
    for auth in forms() {
        let server = Server::start(|request, _| {
            json_answer(200, &json!({"query": request.query, "headers": [format!("{:?}", request.headers)], "n": 1}))
        })
        .await;
        let tool = http_tool(Method::GET, server.url("/")).auth(auth.clone()).build(&open_entry()).unwrap();
        let value = call(&tool, json!({})).await.unwrap();
        assert_eq!(value["n"], 1);
        assert!(value.to_string().contains("[removed]"), "{auth:?}: {value}");
        assert_hidden(&value.to_string());
    }
}
