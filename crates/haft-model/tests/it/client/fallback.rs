//! A second provider in the place of one that is unavailable, and conversations that are too long for one.

use std::sync::{Arc, Mutex};

use haft_core::{ToolCall, ToolResult};
use haft_executor::Toolkit;
use haft_model::{ClearToolResults, Fallback, LoopEnd, TurnLoop};
use haft_wire::{Delivery, OpenAiResponses, Wire};

use super::*;

/// A conversation in which a model of OpenAI has reasoned and called a tool.
fn history() -> Vec<Item> {
    let body = r#"{"id":"r1","object":"response","created_at":1,"model":"gpt-5","status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"signed by the first"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"look","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}"#;
    let wire = OpenAiResponses::new();
    let asked = wire.request(&TurnRequest::new("gpt-5", vec![Item::user("hi")]), Delivery::Whole).unwrap();
    let turn = wire.response(body, &asked.context).unwrap();
    let mut history = vec![Item::user("hi")];
    let result = ToolResult::ok(&turn.tool_calls()[0], serde_json::json!("it is dark"));
    turn.append_to_history(&mut history, [result]).unwrap();
    history
}

#[tokio::test]
async fn another_provider_continues_the_conversation_and_reports_what_it_can_not_read() {
    for status in [500, 503, 529, 429] {
        let (first, second) = (Server::start().await, Server::start().await);
        let reports = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&reports);
        let anthropic = Anthropic::new(Secret::new(KEY)).base_url(second.url("")).http_client(client());
        let anthropic = anthropic.model("claude-sonnet-4-5");
        let anthropic = anthropic.on_report(move |report| log.lock().unwrap().push(report.to_string()));
        let openai = OpenAi::new(Secret::new(KEY)).base_url(first.url("")).http_client(client());
        let model = Fallback::new(openai, anthropic);
        let request = TurnRequest::new("gpt-5", history());
        let busy = response(status, JSON, &Provider::Responses.error("x", "overloaded"));
        let (turn, (sent, _connection)) = join!(model.stream_turn(&request).into_turn(), async {
            let (sent, connection) = answer(&first, &busy).await;
            connection.end().await;
            let sent = SentText(sent).body();
            assert_eq!(sent["model"], "gpt-5");
            assert!(sent.to_string().contains("signed by the first"));
            answer(&second, Provider::Anthropic.stream()).await
        });
        assert_eq!(turn.unwrap().text(), "Hello", "{status}");
        let sent = SentText(sent).body();
        assert_eq!(sent["model"], "claude-sonnet-4-5");
        let text = sent.to_string();
        assert!(text.contains("it is dark") && !text.contains("signed by the first"), "{text}");
        assert_eq!(sent["messages"][1]["content"][0]["type"], "tool_use", "{text}");
        let reports = reports.lock().unwrap().join("\n");
        assert!(reports.contains("reasoning"), "{reports}");
    }
}

#[tokio::test]
async fn an_error_of_the_key_goes_to_no_other_provider() {
    let (first, second) = (Server::start().await, Server::start().await);
    let model = Fallback::new(Provider::Chat.model(&first), Provider::Anthropic.model(&second));
    let error = rejected(&model, &first, &response(401, JSON, &Provider::Chat.error("invalid_api_key", "no"))).await;
    assert_eq!(error.kind(), "authentication");
}

#[tokio::test]
async fn a_stream_that_breaks_after_content_goes_to_no_other_provider() {
    for provider in ALL {
        let (first, second) = (Server::start().await, Server::start().await);
        let model = Fallback::new(provider.model(&first), Provider::Chat.model(&second));
        let mut events = provider.events();
        let content = events.iter().position(|event| event.contains("Hel")).unwrap();
        events.truncate(content + 1);
        let text = cut(&model, &first, &sse(&events)).await;
        assert_eq!(text.unwrap_err().kind(), "incomplete_turn", "{provider:?}");
    }
}

/// The provider's way to say that a conversation is too long.
fn too_long(provider: Provider) -> String {
    let (kind, message) = match provider {
        Provider::Responses | Provider::Chat => ("context_length_exceeded", "too long"),
        Provider::Anthropic => ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        Provider::Gemini => ("INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed"),
    };
    response(400, JSON, &provider.error(kind, message))
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_shortened_and_sent_again() {
    for provider in ALL {
        let server = Server::start().await;
        let look = ToolCall::new("c1", "look", "{}");
        let dark = ToolResult::ok(&look, serde_json::json!("dark ".repeat(100)));
        let history = vec![Item::user("hi"), Item::from(look), Item::from(&dark)];
        let agent = TurnLoop::new(provider.model(&server), Toolkit::default())
            .retries(0)
            .prepare(ClearToolResults::keep_last(0).above(u64::MAX));
        let (outcome, (first, second)) = join!(agent.start(TurnRequest::new("", history)).finish(), async {
            let (first, connection) = answer(&server, too_long(provider)).await;
            connection.end().await;
            let (second, connection) = answer(&server, provider.stream()).await;
            connection.end().await;
            (first, second)
        });
        assert_eq!((&outcome.end, outcome.state.text().as_str()), (&LoopEnd::Stopped, "Hello"), "{provider:?}");
        assert!(first.contains("dark dark") && !second.contains("dark dark"), "{provider:?}: {second}");
        assert!(second.contains("this output was removed"), "{provider:?}: {second}");
    }
}
