//! The span of a request of a client.

use haft_model::ModelTrace;

use super::*;
use crate::recorder::{Recorder, Seen};

/// Asks in a span, and records everything that the process reports meanwhile.
async fn watched(provider: Provider, reply: &str) -> Seen {
    let server = Server::start().await;
    let model = provider.model(&server);
    let seen = Recorder::watch(async {
        let turn = ModelTrace::new().stream_turn(&model, &request()).into_turn();
        let (_turn, _answered) = join!(turn, answer(&server, reply));
    })
    .await;
    assert!(!format!("{seen:?}").contains(KEY), "the key is in a span or an event");
    seen
}

fn fields<'s>(seen: &'s Seen, names: &[&str]) -> Vec<Option<&'s str>> {
    let span = seen.spans.iter().find(|span| span.name == "chat").unwrap();
    assert!(span.is_closed);
    names.iter().map(|name| span.get(name)).collect()
}

#[tokio::test]
async fn the_span_has_the_models_the_usage_and_the_finish_reason() {
    let names = [
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.response.model",
        "gen_ai.response.id",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.response.finish_reasons",
        "error.type",
    ];
    for (provider, company, model) in [
        (Provider::Responses, "openai", "gpt-4.1"),
        (Provider::Chat, "openai", "gpt-4.1"),
        (Provider::Anthropic, "anthropic", "claude-sonnet-4-5"),
        (Provider::Gemini, "gcp.gemini", "gemini-2.5-flash"),
    ] {
        let seen = watched(provider, &provider.stream()).await;
        let answered = format!("{model}-2025");
        let expected = [company, model, &answered, "r1", "9", "2", r#"["stop"]"#].map(Some);
        assert_eq!(fields(&seen, &names), [&expected[..], &[None]].concat(), "{provider:?}");
    }
}

#[tokio::test]
async fn the_span_of_a_failed_request_has_the_type_of_the_error() {
    let names = ["error.type", "http.response.status_code", "haft.request_id", "otel.status_code"];
    for provider in ALL {
        let quoted = provider.error("x", &format!("the key {KEY} sends too much"));
        let headers = format!("{JSON}x-request-id: req_1\r\n");
        let seen = watched(provider, &response(429, &headers, &quoted)).await;
        let expected = [Some("rate_limited"), Some("429"), Some("req_1"), Some("ERROR")];
        assert_eq!(fields(&seen, &names), expected, "{provider:?}");
        let seen = watched(provider, &response(200, EVENTS, &sse(&provider.events()[..1]))).await;
        assert_eq!(fields(&seen, &names[..1]), [Some("incomplete_turn")], "{provider:?}");
    }
}
