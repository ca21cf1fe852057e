//! The request: where it goes, with which headers, for which model.

use haft_core::TurnRequest;
use haft_wire::{AnthropicMessages, OpenAiResponses};
use serde_json::json;

use super::*;

#[tokio::test]
async fn each_client_sends_its_key_and_version_to_its_path_and_reads_the_answer() {
    for provider in ALL {
        let (path, whole_path, header, value) = match provider {
            Provider::Responses => ("/responses", "/responses", "authorization", format!("Bearer {KEY}")),
            Provider::Chat => ("/chat/completions", "/chat/completions", "authorization", format!("Bearer {KEY}")),
            Provider::Anthropic => ("/v1/messages", "/v1/messages", "x-api-key", KEY.to_owned()),
            Provider::Gemini => (
                "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
                "/v1beta/models/gemini-2.5-flash:generateContent",
                "x-goog-api-key",
                KEY.to_owned(),
            ),
        };
        let server = Server::start().await;
        let (streamed, sent) = asked(&provider.model(&server), &server, &provider.stream()).await;
        assert_eq!(sent.first_line(), format!("POST {path} HTTP/1.1"));
        assert_eq!(sent.header(header), Some(value.as_str()));
        assert_eq!(sent.0.matches(KEY).count(), 1, "the key is in one header");
        assert_eq!(sent.header("content-type"), Some("application/json"));
        let version = (provider == Provider::Anthropic).then_some("2023-06-01");
        assert_eq!(sent.header("anthropic-version"), version);
        if provider != Provider::Gemini {
            assert_eq!(sent.body()["stream"], true);
        }

        let whole_reply = response(200, JSON, provider.body());
        let (whole, sent) = asked(&provider.whole(&server), &server, &whole_reply).await;
        assert_eq!(sent.first_line(), format!("POST {whole_path} HTTP/1.1"));
        assert_ne!(sent.body()["stream"], true);
        let (streamed, whole) = (streamed.unwrap(), whole.unwrap());
        assert_eq!(streamed, whole, "both deliveries are the same turn");
        assert_eq!((whole.text().as_str(), whole.usage.input_tokens), ("Hello", 9));
    }
}

#[tokio::test]
async fn paths_are_added_to_any_base_url() {
    let server = Server::start().await;
    for (base, path) in [
        ("", "/chat/completions"),
        ("/", "/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1//", "/v1/chat/completions"),
        ("/a/b/v1/", "/a/b/v1/chat/completions"),
        ("/openai/v1/?api-version=preview", "/openai/v1/chat/completions?api-version=preview"),
    ] {
        let model = local(server.url(base));
        let (turn, sent) = asked(&model, &server, &Provider::Chat.stream()).await;
        assert_eq!(sent.first_line(), format!("POST {path} HTTP/1.1"), "{base}");
        assert_eq!(turn.unwrap().text(), "Hello");
    }
    let gemini = Gemini::new(Secret::new(KEY)).base_url(server.url("/?tenant=t")).model("m").http_client(client());
    let (_, sent) = asked(&gemini, &server, &Provider::Gemini.stream()).await;
    assert_eq!(sent.first_line(), "POST /v1beta/models/m:streamGenerateContent?alt=sse&tenant=t HTTP/1.1");
}

#[tokio::test]
async fn a_server_without_a_key_receives_none() {
    let server = Server::start().await;
    let model = OpenAi::compatible("ollama", server.url("/v1")).model("m").http_client(client());
    let (_, sent) = asked(&model, &server, &Provider::Chat.stream()).await;
    assert_eq!(sent.header("authorization"), None);
    let (_, sent) = asked(&model.key(Secret::new(KEY)), &server, &Provider::Chat.stream()).await;
    assert_eq!(sent.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let model = local(server.url("")).key_header("api-key", Secret::new(KEY));
    let (_, sent) = asked(&model, &server, &Provider::Chat.stream()).await;
    assert_eq!((sent.header("api-key"), sent.header("authorization")), (Some(KEY), None));
}

#[tokio::test]
async fn a_compatible_client_keeps_its_provider() {
    let server = Server::start().await;
    let ollama = || OpenAi::compatible("ollama", server.url("/v1")).model("m").http_client(client());
    let options = request().provider_options("ollama", json!({"keep_alive": 5}));
    for model in [ollama(), ollama().chat(), ollama().responses_wire(OpenAiResponses::new()).chat()] {
        assert_eq!(model.info().to_string(), "ollama/m");
        let reply = Provider::Chat.stream();
        let (turn, (sent, _connection)) = join!(model.stream_turn(&options).into_turn(), answer(&server, &reply));
        let sent = SentText(sent);
        assert_eq!(sent.first_line(), "POST /v1/chat/completions HTTP/1.1");
        assert_eq!((sent.body()["keep_alive"].as_i64(), turn.is_ok()), (Some(5), true));
    }
    let mine = OpenAi::new(Secret::new(KEY)).chat_wire(OpenAiChat::compatible("mine")).chat();
    assert_eq!(
        (mine.info().to_string(), OpenAi::new(Secret::new(KEY)).chat().info().to_string()),
        ("mine".into(), "openai".into())
    );
}

#[tokio::test]
async fn headers_replace_those_of_the_client_and_betas_are_added_to_those_of_the_request() {
    let server = Server::start().await;
    let client = |model: Anthropic| model.base_url(server.url("")).model("claude-sonnet-4-5").http_client(client());
    let plain = client(Anthropic::new(Secret::new(KEY)).header("Anthropic-Version", "2099-01-01"));
    let (_, sent) = asked(&plain, &server, &Provider::Anthropic.stream()).await;
    assert_eq!((sent.header("anthropic-version"), sent.header("anthropic-beta")), (Some("2099-01-01"), None));

    let model = client(Anthropic::new(Secret::new(KEY)).wire(AnthropicMessages::new()));
    let beta = request().provider_options("anthropic", json!({"betas": ["context-1m-2025-08-07"]}));
    for (model, expected) in [
        (model.clone(), "context-1m-2025-08-07"),
        (model.header("Anthropic-Beta", "mine-2026-01-01"), "context-1m-2025-08-07,mine-2026-01-01"),
    ] {
        let reply = Provider::Anthropic.stream();
        let (turn, (sent, _connection)) = join!(model.stream_turn(&beta).into_turn(), answer(&server, &reply));
        let sent = SentText(sent);
        assert_eq!((sent.header("anthropic-beta"), turn.is_ok()), (Some(expected), true));
        assert_eq!(sent.0.to_lowercase().matches("anthropic-beta").count(), 1);
    }
}

#[tokio::test]
async fn the_model_of_the_request_is_preferred_and_one_must_be_named() {
    let server = Server::start().await;
    let named = TurnRequest::new("other", request().history.to_vec());
    let model = local(server.url(""));
    let reply = Provider::Chat.stream();
    let (turn, (sent, _connection)) = join!(model.stream_turn(&named).into_turn(), answer(&server, &reply));
    assert_eq!((SentText(sent).body()["model"].as_str(), turn.is_ok()), (Some("other"), true));
    let (_, sent) = asked(&model, &server, &reply).await;
    assert_eq!(sent.body()["model"], "m");

    let nameless = HttpModel::new(OpenAiChat::new(), server.url("")).http_client(client());
    let error = nameless.stream_turn(&request()).into_turn().await.unwrap_err();
    assert!(matches!(&error, ModelError::InvalidRequest { param: Some(param), .. } if param == "model"), "{error}");
    assert!(error.to_string().contains("`.model(…)`"), "{error}");
    assert_eq!(nameless.info().to_string(), "openai");
}

#[tokio::test]
async fn invalid_settings_are_errors_before_anything_is_sent() {
    for (model, part) in [
        (local("not a url"), "the base URL `not a url` is invalid"),
        (local("file:///etc/passwd"), "scheme"),
        (local("localhost:11434/v1"), "start it with `https://`"),
        (local("user:pass@host/v1?key=secret"), "the base URL `host/v1` is invalid"),
        (local("http://127.0.0.1:9").bearer(Secret::new("")), "the API key is empty"),
        (local("http://127.0.0.1:9").key_header("x-key", Secret::new(" \n")), "`Secret::new(…)`"),
        (local("http://127.0.0.1:9").header("x-a", "a\nb"), "x-a"),
        (local("http://127.0.0.1:9").header("bad name", "b"), "bad name"),
        (local("http://127.0.0.1:9").bearer(Secret::new("sk\n1")), "authorization"),
    ] {
        let error = model.stream_turn(&request()).into_turn().await.unwrap_err();
        assert_eq!(error.kind(), "invalid_request", "{error}");
        assert!(!error.retryable() && error.to_string().contains(part), "{error}");
    }
}
