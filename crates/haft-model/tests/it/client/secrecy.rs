//! The key is in one header of the request, and in nothing else.

use std::error::Error;

use super::server::builder;
use super::*;

#[track_caller]
fn assert_hidden(error: &ModelError) {
    let mut shown = format!("{error} {error:?} {error:#?}");
    let mut source = error.source();
    while let Some(error) = source {
        shown += &format!("{error} {error:?}");
        source = error.source();
    }
    assert!(!shown.contains(KEY) && !shown.contains("0123"), "{shown}");
}

#[test]
fn debug_output_of_clients_contains_no_key_and_no_url() {
    let key = || Secret::new(KEY);
    let url = format!("http://user:{KEY}@127.0.0.1:1/");
    for shown in [
        format!("{:?} {:#?}", OpenAi::new(key()).base_url(&url), OpenAi::new(key()).chat().base_url(&url)),
        format!("{:?}", OpenAi::compatible("x", &url).key(key())),
        format!("{:?}", Anthropic::new(key()).base_url(&url).header("x", KEY)),
        format!("{:?}", Gemini::new(key()).base_url(&url)),
        format!("{:?}", local(&url).key_header("api-key", key())),
    ] {
        assert!(!shown.contains(KEY) && !shown.contains("user"), "{shown}");
        assert!(shown.contains("HttpModel"), "{shown}");
        assert!(shown.len() < 8_000, "the tables of models are not printed: {} bytes", shown.len());
    }
}

#[tokio::test]
async fn a_provider_that_quotes_the_key_does_not_put_it_into_an_error() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        let text = format!("the key {KEY} is wrong; Bearer {KEY}; {KEY}{KEY}");
        let escaped = provider.error("x", &text).replace('/', "\\/");
        let encoded = provider.error("x", &text.replace('/', "%2f").replace("0123", "%30123"));
        let headers = format!("{JSON}x-request-id: {KEY}\r\n");
        for status in [400, 401, 403, 404, 429, 500] {
            for body in
                [provider.error("x", &text), escaped.clone(), encoded.clone(), text.clone(), format!("\"{KEY}\"")]
            {
                let error = rejected(&model, &server, &response(status, &headers, &body)).await;
                assert_hidden(&error);
                assert!(error.to_string().contains("[key]"), "{error}");
            }
        }
        // A long message is shortened, perhaps in the middle of a key.
        for padding in 1_980..2_000 {
            let long = format!("{}{KEY}", "x".repeat(padding));
            assert_hidden(&rejected(&model, &server, &response(401, JSON, &provider.error("x", &long))).await);
        }
    }
}

#[tokio::test]
async fn a_stream_that_quotes_the_key_does_not_put_it_into_an_error() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        let errors = [
            format!(
                r#"{{"type":"error","error":{{"type":"x","code":"x","message":"{KEY} is wrong","param":"{KEY}"}}}}"#
            ),
            format!(r#"{{"type":"error","code":"{KEY}","message":"{KEY} is wrong","param":"{KEY}"}}"#),
            format!(r#""{KEY}""#),
            format!(r#"{{"{KEY}"#),
            format!(r#"{{"choices":"{KEY}","candidates":"{KEY}","response":"{KEY}","type":"{KEY}"}}"#),
            format!(r#"{{"type":"response.completed","response":{{"id":5,"output":"{KEY}"}}}}"#),
            format!(r#"{{"type":"message_start","message":{{"content":"{KEY}","usage":"{KEY}"}}}}"#),
        ];
        for data in errors {
            let reply = response(200, EVENTS, &format!("data: {data}\n\n"));
            assert_hidden(&rejected(&model, &server, &reply).await);
            assert_hidden(&rejected(&model, &server, &response(200, JSON, &data)).await);
            assert_hidden(&rejected(&model, &server, &response(200, &format!("content-type: {KEY}\r\n"), &data)).await);
        }
    }
}

#[tokio::test]
async fn the_key_does_not_follow_a_redirect_to_another_origin() {
    for provider in ALL {
        let (server, other) = (Server::start().await, Server::start().await);
        let model = provider.with(&server, builder().redirects(2).build().unwrap(), false);
        let redirect = response(307, &format!("location: {}\r\n", other.url("/elsewhere")), "");
        let stream = provider.stream();
        let (turn, (sent, _connection)) = join!(model.stream_turn(&request()).into_turn(), async {
            answer(&server, &redirect).await;
            answer(&other, &stream).await
        });
        assert_eq!(turn.unwrap().text(), "Hello");
        assert!(sent.starts_with("POST /elsewhere ") && !sent.contains(KEY), "{sent}");

        // By default, no redirect is followed at all.
        let error = rejected(&provider.model(&server), &server, &redirect).await;
        assert_eq!((error.kind(), error.status()), ("invalid_request", Some(307)), "{error}");
    }
}

#[tokio::test]
async fn errors_of_the_connection_contain_no_key() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        let (turn, ()) = join!(model.stream_turn(&request()).into_turn(), async { server.accept().await.reset() });
        assert_hidden(&turn.unwrap_err());
        drop(server);
        assert_hidden(&model.stream_turn(&request()).into_turn().await.unwrap_err());
        let url = format!("http://{KEY}@127.0.0.1:1/?key={KEY}").replacen("opensesame/", "opensesame", 1);
        let model = local(url).bearer(Secret::new(KEY));
        assert_hidden(&model.stream_turn(&request()).into_turn().await.unwrap_err());
    }
}
