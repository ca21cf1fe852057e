//! Turns that end without an answer, or before it is complete, as providers send them.

use std::time::Duration;

use haft_core::Finish;
use haft_executor::{Backoff, Tool, Toolkit};
use haft_model::{LoopEnd, LoopError, LoopOutcome, TurnLoop};
use serde_json::json;

use super::*;

/// Runs a loop with the tool `look` against these bodies, one connection each.
async fn run(provider: Provider, bodies: &[Value]) -> LoopOutcome {
    let server = Server::start().await;
    let look = Tool::new("look").handler(|(), _cx| async { "dark" }).unwrap();
    let agent = TurnLoop::new(provider.whole(&server), Toolkit::from_iter([look]))
        .retries(2)
        .backoff(Backoff::constant(Duration::ZERO));
    let served = async {
        for body in bodies {
            let (_, connection) = answer(&server, response(200, JSON, &body.to_string())).await;
            connection.end().await;
        }
        server.accept().await;
        panic!("there is one request too many");
    };
    tokio::select! {
        outcome = agent.start(request()).finish() => outcome,
        () = served => unreachable!(),
    }
}

fn claude(content: &Value, stop_reason: &str) -> Value {
    json!({"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": content,
        "stop_reason": stop_reason, "usage": {"input_tokens": 1, "output_tokens": 1}})
}

fn gemini(parts: &Value, reason: &str) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}]})
}

#[tokio::test]
async fn an_empty_end_turn_after_a_tool_result_is_the_end() {
    let call = claude(&json!([{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]), "tool_use");
    let outcome = run(Provider::Anthropic, &[call, claude(&json!([]), "end_turn")]).await;
    assert_eq!((outcome.end, outcome.state.turns()), (LoopEnd::Stopped, 2));
    assert_eq!(outcome.state.history().len(), 3, "nothing is added that the provider would reject");
}

#[tokio::test]
async fn a_refusal_without_content_is_a_refusal() {
    let outcome = run(Provider::Anthropic, &[claude(&json!([]), "refusal")]).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    let refused = outcome.state.history().last().cloned().unwrap();
    assert_eq!(Turn::new(vec![refused], Finish::Refusal).refusal().as_deref(), Some(""));
    // The next request leaves the empty message out.
    let (server, mut next) = (Server::start().await, request());
    next.history = outcome.state.history().to_vec().into();
    next.history.push(Item::user("And now?"));
    for provider in ALL {
        let model = provider.model(&server);
        let reply = provider.stream();
        let (turn, (sent, _connection)) = join!(model.stream_turn(&next).into_turn(), answer(&server, &reply));
        assert_eq!(turn.unwrap().text(), "Hello");
        assert!(!SentText(sent).body().to_string().contains("refusal"), "{provider:?}");
    }
}

#[tokio::test]
async fn geminis_empty_stop_and_malformed_calls_are_retried() {
    let answer = gemini(&json!([{"text": "Hello"}]), "STOP");
    for broken in [
        gemini(&json!([]), "STOP"),
        json!({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}),
        json!({"candidates": [{"finishReason": "STOP"}]}),
        gemini(&json!([{"text": ""}]), "STOP"),
        gemini(&json!([{"text": "hm", "thought": true}]), "STOP"),
        gemini(&json!([]), "MALFORMED_FUNCTION_CALL"),
        gemini(&json!([{"text": "I will look."}]), "MALFORMED_FUNCTION_CALL"),
    ] {
        let outcome = run(Provider::Gemini, &[broken.clone(), broken.clone(), answer.clone()]).await;
        assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "Hello"), "{broken}");
        // Not forever.
        let outcome = run(Provider::Gemini, &[broken.clone(), broken.clone(), broken.clone()]).await;
        let LoopEnd::Failed(LoopError::Model { source, .. }) = outcome.end else { panic!("{:?}", outcome.end) };
        assert_eq!((source.kind(), source.retryable()), ("unavailable", true), "{source}");
    }
}

#[tokio::test]
async fn a_malformed_call_is_described() {
    let mut body = gemini(&json!([]), "MALFORMED_FUNCTION_CALL");
    body["candidates"][0]["finishMessage"] = json!("Malformed function call: print(look())");
    let server = Server::start().await;
    let error = rejected(&Provider::Gemini.model(&server), &server, &response(200, JSON, &body.to_string())).await;
    assert!(error.to_string().contains("can't be read (MALFORMED_FUNCTION_CALL): Malformed function call"), "{error}");
    let stream = response(200, EVENTS, &sse(&[body.to_string()]));
    let error = rejected(&Provider::Gemini.model(&server), &server, &stream).await;
    assert_eq!(error.kind(), "unavailable", "{error}");
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_no_answer() {
    let chat = |reason: &str| json!({"choices": [{"message": {"content": "Hel"}, "finish_reason": reason}]});
    let text = json!([{"type": "text", "text": "Hel"}]);
    let responses = |reason: &str| {
        json!({"status": "incomplete", "incomplete_details": {"reason": reason}, "output": [{"type": "message",
            "id": "m", "role": "assistant", "status": "incomplete", "content": [{"type": "output_text", "text": "Hel"}]}]})
    };
    for (provider, body, finish) in [
        (Provider::Chat, chat("length"), "length"),
        (Provider::Chat, chat("insufficient_system_resource"), "insufficient_system_resource"),
        (Provider::Chat, chat(""), "missing"),
        (Provider::Anthropic, claude(&text, "max_tokens"), "length"),
        (Provider::Anthropic, claude(&text, "model_context_window_exceeded"), "length"),
        (Provider::Anthropic, claude(&text, "new_reason"), "new_reason"),
        (Provider::Responses, responses("max_output_tokens"), "length"),
        (Provider::Gemini, gemini(&json!([{"text": "Hel"}]), "MAX_TOKENS"), "length"),
        (Provider::Gemini, gemini(&json!([{"text": "Hel"}]), "OTHER"), "OTHER"),
    ] {
        let outcome = run(provider, &[body]).await;
        let finish = Finish::from(finish);
        assert_eq!(
            (outcome.end, outcome.state.text().as_str()),
            (LoopEnd::Truncated { finish }, "Hel"),
            "{provider:?}"
        );
    }
}
