//! Servers of the Chat Completions API that are not OpenAI: what they are sent, and what they answer.

use haft_core::{Finish, ToolChoice};
use haft_executor::{Tool, Toolkit};
use haft_model::{LoopEnd, TurnLoop};
use serde_json::json;

use super::*;

/// A server that answers one stream of these chunks.
async fn streamed(provider: &'static str, chunks: &[Value]) -> (Turn, SentText) {
    let server = Server::start().await;
    let model = OpenAi::compatible(provider, server.url("")).model("m").http_client(client());
    let mut events: Vec<String> = chunks.iter().map(Value::to_string).collect();
    events.push("[DONE]".to_owned());
    let (turn, sent) = asked(&model, &server, &response(200, EVENTS, &sse(&events))).await;
    (turn.unwrap(), sent)
}

fn calls(turn: &Turn) -> Vec<(String, String)> {
    turn.tool_calls().into_iter().map(|call| (call.name.clone(), call.arguments.clone())).collect()
}

#[tokio::test]
async fn streams_that_deviate_are_read() {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": ""}], "error": false});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 7.0, "completion_tokens": null, "total_tokens": 7.5}});
    let whole = |index: Value, name: &str| {
        let mut call = json!({"function": {"name": name, "arguments": {"x": 1}}});
        if !index.is_null() {
            call["index"] = index;
        }
        call
    };
    for index in [json!(null), json!(-1), json!(0)] {
        let (one, two) = (whole(index.clone(), "a"), whole(index.clone(), "b"));
        for chunks in [
            vec![delta(json!({"tool_calls": [one, two]})), end.clone()],
            vec![delta(json!({"tool_calls": [one]})), delta(json!({"tool_calls": [two]})), end.clone()],
        ] {
            let (turn, _) = streamed("acme", &chunks).await;
            let expected =
                [("a", r#"{"x":1}"#), ("b", r#"{"x":1}"#)].map(|(name, text)| (name.to_owned(), text.to_owned()));
            assert_eq!(calls(&turn), expected, "index {index}");
            assert_eq!((turn.finish, turn.usage.input_tokens, turn.usage.total_tokens), (Finish::ToolCalls, 7, 7));
        }
    }
}

/// Runs two turns with a tool against a server, and returns both requests.
async fn conversation(provider: &'static str, message: Value) -> (Value, Value) {
    let server = Server::start().await;
    let model = OpenAi::compatible(provider, server.url("")).model("m").http_client(client());
    let look = Tool::new("look").handler(|(), _cx| async { "dark" }).unwrap();
    let agent = TurnLoop::new(model, Toolkit::from_iter([look]));
    let first = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let second = json!({"choices": [{"index": 0, "message": {"content": "done"}, "finish_reason": "stop"}]});
    let (outcome, sent) = join!(agent.start(request()).finish(), async {
        let (one, connection) = answer(&server, response(200, JSON, &first.to_string())).await;
        connection.end().await;
        let (two, connection) = answer(&server, response(200, JSON, &second.to_string())).await;
        connection.end().await;
        (SentText(one).body(), SentText(two).body())
    });
    assert_eq!(outcome.end, LoopEnd::Stopped);
    sent
}

#[tokio::test]
async fn mistral_gets_nothing_that_it_rejects() {
    let call = json!({"id": "D681PevKs", "function": {"name": "look", "arguments": "{}"}});
    let thinking = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Let me look."}]);
    for message in [
        json!({"role": "assistant", "content": thinking, "tool_calls": [call]}),
        json!({"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [call]}),
    ] {
        let (first, second) = conversation("mistral", message).await;
        for body in [&first, &second] {
            assert_eq!((body.get("stream_options"), &body["stream"]), (None, &json!(true)));
            let text = body.to_string();
            assert!(!text.contains("reasoning") && !text.contains("thinking"), "{text}");
        }
        assert_eq!(second["messages"][1]["tool_calls"][0]["id"], "D681PevKs");
    }
}

#[tokio::test]
async fn openrouter_gets_its_reasoning_back_in_one_piece() {
    let text = |text: &str, signature: Value| {
        json!({"choices": [{"index": 0, "delta": {"reasoning": text, "reasoning_details": [
            {"type": "reasoning.text", "text": text, "signature": signature, "format": "anthropic-claude-v1", "index": 0}]}}]})
    };
    let call = json!({"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        "finish_reason": "tool_calls"}]});
    let chunks = [text("Let ", json!(null)), text("me see.", json!(null)), text("", json!("sig")), call];
    let (turn, sent) = streamed("openrouter", &chunks).await;
    assert_eq!(sent.body()["stream_options"]["include_usage"], true);
    let server = Server::start().await;
    let model = OpenAi::compatible("openrouter", server.url("")).model("m").http_client(client());
    let mut next = request();
    next.history.extend(turn.items.clone());
    let results = turn.tool_calls().into_iter().map(|call| haft_core::ToolResult::ok(&call, json!("dark")));
    next.history.extend(results.map(|result| Item::from(&result)).collect::<Vec<_>>());
    let reply = Provider::Chat.stream();
    let (_, (sent, _connection)) = join!(model.stream_turn(&next).into_turn(), answer(&server, &reply));
    let message = &SentText(sent).body()["messages"][1];
    let whole = json!([{"type": "reasoning.text", "text": "Let me see.", "signature": "sig", "format": "anthropic-claude-v1", "index": 0}]);
    assert_eq!((&message["reasoning_details"], &message["reasoning"]), (&whole, &json!("Let me see.")));
}

#[tokio::test]
async fn a_choice_that_a_server_ignores_is_made_for_it() {
    let tools: Toolkit =
        ["look", "listen"].map(|name| Tool::new(name).handler(|(), _cx| async {}).unwrap()).into_iter().collect();
    let named = json!({"type": "function", "function": {"name": "look"}});
    for (provider, choice, sent, offered) in [
        ("ollama", ToolChoice::tool("look"), None, Some(1)),
        ("ollama", ToolChoice::None, None, None),
        ("ollama", ToolChoice::Required, None, Some(2)),
        ("llama.cpp", ToolChoice::tool("look"), Some(json!("required")), Some(1)),
        ("llama.cpp", ToolChoice::None, Some(json!("none")), Some(2)),
        ("vllm", ToolChoice::tool("look"), Some(named), Some(2)),
    ] {
        let server = Server::start().await;
        let model = OpenAi::compatible(provider, server.url("")).model("m").http_client(client());
        let asking = request().tools(&tools).tool_choice(choice.clone());
        let reply = Provider::Chat.stream();
        let (_, (text, _connection)) = join!(model.stream_turn(&asking).into_turn(), answer(&server, &reply));
        let body = SentText(text).body();
        assert_eq!(body.get("tool_choice"), sent.as_ref(), "{provider} {choice:?}");
        assert_eq!(body.get("tools").and_then(Value::as_array).map(Vec::len), offered, "{provider} {choice:?}");
    }
}
