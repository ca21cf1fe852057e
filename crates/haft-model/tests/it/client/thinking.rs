//! Thinking of Anthropic's models: its budget, and a service that binds it to the conversation before it.

use std::hash::{DefaultHasher, Hash, Hasher};

use haft_core::{ContentPart, ToolChoice};
use haft_executor::{SharedToolkit, Tool, Toolkit};
use haft_model::{ClearToolResults, LoopEnd, LoopOutcome, TurnLoop};
use serde_json::json;

use super::*;

fn claude(server: &Server, model: &'static str) -> Anthropic {
    Anthropic::new(Secret::new(KEY)).base_url(server.url("")).model(model).http_client(client()).whole()
}

/// Answers one request unless the budget of thinking leaves nothing of the limit.
async fn limited(server: &Server) -> Value {
    let mut connection = server.accept().await;
    let body = SentText(connection.request().await).body();
    let (budget, limit) = (body["thinking"]["budget_tokens"].as_u64(), body["max_tokens"].as_u64().unwrap());
    let reply = match budget {
        Some(budget) if budget >= limit => {
            let message = "`max_tokens` must be greater than `thinking.budget_tokens`";
            response(400, JSON, &Provider::Anthropic.error("invalid_request_error", message))
        }
        _ => response(200, JSON, Provider::Anthropic.body()),
    };
    connection.write(reply.replacen("\r\n", "\r\nconnection: close\r\n", 1)).await;
    body
}

#[tokio::test]
async fn a_budget_of_thinking_is_below_the_limit_of_the_answer() {
    let server = Server::start().await;
    let model = claude(&server, "claude-sonnet-4-5");
    let budget = |tokens: u64| json!({"thinking": {"type": "enabled", "budget_tokens": tokens}});
    for tokens in [1_024, 4_096, 10_000, 32_000] {
        let asking = request().provider_options("anthropic", budget(tokens));
        let (turn, body) = join!(model.stream_turn(&asking).into_turn(), limited(&server));
        assert_eq!(turn.unwrap().text(), "Hello", "{tokens}: {body}");
        let asking = asking.max_output_tokens(tokens + 1);
        let (turn, body) = join!(model.stream_turn(&asking).into_turn(), limited(&server));
        assert_eq!((turn.unwrap().text().as_str(), &body["max_tokens"]), ("Hello", &json!(tokens + 1)));
        // The application states both, and nothing is sent.
        let error = model.stream_turn(&asking.max_output_tokens(tokens)).into_turn().await.unwrap_err().to_string();
        assert!(error.contains("thinking.budget_tokens") && error.contains("`max_output_tokens`"), "{error}");
    }
}

#[tokio::test]
async fn a_call_is_not_forced_on_models_that_reject_it() {
    let server = Server::start().await;
    let look: Toolkit = Toolkit::from_iter([Tool::new("look").handler(|(), _cx| async {}).unwrap()]);
    for name in ["claude-opus-5-5", "claude-sonnet-5-5", "anthropic/claude-fable-5.1"] {
        let asking = request().tools(&look).tool_choice(ToolChoice::Required);
        let error = claude(&server, name).stream_turn(&asking).into_turn().await.unwrap_err();
        assert_eq!(error.kind(), "unsupported", "{error}");
        assert!(error.to_string().contains("`ToolChoice::Auto`") && error.to_string().contains(name), "{error}");
    }
}

/// A service that binds thinking, as Anthropic documents it: everything before a block must be as it was when the
/// block was made. Thinking and marks of caches do not count.
#[derive(Default)]
struct BindingService {
    requests: Vec<Value>,
    /// The number of blocks that were sent behind a changed conversation.
    mismatches: usize,
}

impl BindingService {
    fn answer(&mut self, sent: &SentText) -> String {
        let body = sent.body();
        let binding = body["thinking"].get("block_binding").cloned();
        let has_beta = sent.header("anthropic-beta").is_some_and(|beta| beta.contains("thinking-binding-controls"));
        assert_eq!(binding.is_some(), has_beta, "{body:#}");
        let messages = body["messages"].as_array().unwrap().clone();
        let signature = signature_of(&body, &messages);
        let mut mismatches = 0;
        for (at, message) in messages.iter().enumerate() {
            for block in message["content"].as_array().unwrap().iter().filter(|block| block["type"] == "thinking") {
                mismatches += usize::from(block["signature"] != signature_of(&body, &messages[..at]).as_str());
            }
        }
        self.mismatches += mismatches;
        let turn = messages.iter().filter(|message| message["role"] == "assistant").count();
        self.requests.push(body);
        if mismatches > 0 && binding != Some(json!({"prefix_mismatch_behavior": "drop_block"})) {
            let message = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
                           conversation.";
            return response(400, JSON, &Provider::Anthropic.error("invalid_request_error", message));
        }
        let thought = json!({"type": "thinking", "thinking": "", "signature": signature});
        let content = match turn {
            0 | 1 => {
                json!([thought, {"type": "tool_use", "id": format!("c{turn}"), "name": "read", "input": {"page": turn}}])
            }
            _ => json!([thought, {"type": "text", "text": "Read."}]),
        };
        let stop = if turn < 2 { "tool_use" } else { "end_turn" };
        let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": content, "stop_reason": stop, "usage": {"input_tokens": 1, "output_tokens": 1}});
        response(200, JSON, &message.to_string())
    }
}

fn signature_of(body: &Value, before: &[Value]) -> String {
    let mut hasher = DefaultHasher::new();
    for part in [&body["system"], &body["tools"], &json!(before)] {
        unmarked(part).to_string().hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Removes thinking, and the marks of caches.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().filter(|item| item["type"] != "thinking").map(unmarked).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| *key != "cache_control");
            kept.map(|(key, member)| (key.clone(), unmarked(member))).collect()
        }
        other => other.clone(),
    }
}

/// Runs a loop of three turns and returns its end, with what the service has seen.
async fn run(
    model: &'static str,
    change: impl FnOnce(Anthropic, SharedToolkit) -> TurnLoop,
    asking: TurnRequest,
) -> (LoopOutcome, BindingService) {
    let server = Server::start().await;
    let tools = SharedToolkit::default();
    let read = Tool::new("read")
        .handler(|page: Page, _cx| async move { format!("page {}: {}", page.page, "word ".repeat(90)) });
    tools.add(read.unwrap()).unwrap();
    let agent = change(claude(&server, model), tools);
    let mut service = BindingService::default();
    let served = async {
        loop {
            let mut connection = server.accept().await;
            let sent = SentText(connection.request().await);
            let reply = service.answer(&sent);
            connection.write(reply.replacen("\r\n", "\r\nconnection: close\r\n", 1)).await;
            connection.end().await;
        }
    };
    let outcome = tokio::select! {
        outcome = agent.start(asking).finish() => outcome,
        () = served => unreachable!(),
    };
    (outcome, service)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Page {
    page: u8,
}

fn asking() -> TurnRequest {
    let text = Item::user("Read both.");
    let image = ContentPart::image("image/png", haft_core::MediaData::Base64("AA==".to_owned()));
    let seen = haft_core::Message::new(haft_core::Role::User, vec![image]);
    TurnRequest::new("", vec![text, seen.into()]).instructions("Be brief.")
}

#[tokio::test]
async fn a_conversation_is_sent_back_as_it_was() {
    for model in ["claude-opus-5-5", "claude-opus-5"] {
        let (outcome, service) = run(model, TurnLoop::new, asking()).await;
        assert_eq!((&outcome.end, outcome.state.text().as_str()), (&LoopEnd::Stopped, "Read."));
        assert_eq!((service.requests.len(), service.mismatches), (3, 0), "{model}");
        let (outcome, service) = run(model, |model, tools| TurnLoop::new(model.cache_prompt(), tools), asking()).await;
        assert_eq!((outcome.end, service.mismatches), (LoopEnd::Stopped, 0), "{model}, cached");
        let bound = service.requests[2].get("thinking").is_some();
        assert_eq!(bound, model == "claude-opus-5-5", "the member is sent to models that have it");
        assert_eq!(service.requests[0].get("thinking"), None, "there is nothing to bind yet");
    }
}

#[tokio::test]
async fn thinking_before_which_the_conversation_has_changed_is_left_out_by_the_service() {
    let (outcome, service) = run(
        "claude-opus-5-5",
        |model, tools| TurnLoop::new(model, tools).prepare(ClearToolResults::keep_last(1)),
        asking(),
    )
    .await;
    assert_eq!((outcome.end, service.requests.len(), service.mismatches), (LoopEnd::Stopped, 3, 1));
    let more = |model, tools: SharedToolkit| {
        let added = tools.clone();
        TurnLoop::new(model, tools).decide(move |after| {
            let late = Tool::new("late").handler(|(), _cx| async {}).unwrap();
            let _ = added.add(late);
            async move { if after.turn().tool_calls().is_empty() { after.stop() } else { after.next() } }
        })
    };
    let (outcome, service) = run("claude-haiku-5-5", more, asking()).await;
    assert_eq!((outcome.end, service.requests.len()), (LoopEnd::Stopped, 3));
    assert!(service.mismatches > 0, "tools are part of what is checked");
}

#[tokio::test]
async fn the_options_decide_about_thinking_of_a_changed_conversation() {
    let shortened = |model, tools| TurnLoop::new(model, tools).prepare(ClearToolResults::keep_last(1));
    let with = |thinking: Value| asking().provider_options("anthropic", json!({"thinking": thinking}));
    let adaptive = with(json!({"type": "adaptive", "display": "summarized"}));
    let (outcome, service) = run("claude-sonnet-5-5", shortened, adaptive).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    let sent = json!({"type": "adaptive", "display": "summarized", "block_binding": {"prefix_mismatch_behavior": "drop_block"}});
    assert_eq!(service.requests[2]["thinking"], sent);

    let strict = with(json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}));
    let (outcome, service) = run("claude-opus-5-5", shortened, strict).await;
    assert!(outcome.end.error().is_some_and(|error| error.to_string().contains("different conversation")));
    assert_eq!(service.requests.len(), 3);
    // A form of thinking without the member gets none.
    let (outcome, service) = run("claude-sonnet-5-5", TurnLoop::new, with(json!({"type": "between_tools"}))).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    assert!(service.requests.iter().all(|body| body["thinking"] == json!({"type": "between_tools"})));
}

#[tokio::test]
async fn a_turn_that_another_provider_began_ends_without_thinking() {
    let server = Server::start().await;
    let call = haft_core::ToolCall::new("c1", "look", "{}");
    let mut asking =
        request().provider_options("anthropic", json!({"thinking": {"type": "enabled", "budget_tokens": 2048}}));
    asking.history.extend([call.into(), haft_core::ToolCallOutput::new("c1", "dark").into()]);
    let served = async {
        let mut connection = server.accept().await;
        let body = SentText(connection.request().await).body();
        let thinks = body["thinking"]["type"] == "enabled";
        let reply = if thinks && body["messages"][1]["content"][0]["type"] == "tool_use" {
            let message = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When \
                           `thinking` is enabled, a final `assistant` message must start with a thinking block";
            response(400, JSON, &Provider::Anthropic.error("invalid_request_error", message))
        } else {
            response(200, JSON, Provider::Anthropic.body())
        };
        connection.write(reply.replacen("\r\n", "\r\nconnection: close\r\n", 1)).await;
        (body, connection)
    };
    let model = claude(&server, "claude-sonnet-4-5");
    let (turn, (body, _connection)) = join!(model.stream_turn(&asking).into_turn(), served);
    assert_eq!((turn.unwrap().text().as_str(), &body["thinking"]), ("Hello", &json!({"type": "disabled"})));
    asking.history.extend([Item::assistant("It is dark."), Item::user("And now?")]);
    let (turn, body) = join!(model.stream_turn(&asking).into_turn(), limited(&server));
    assert_eq!((turn.unwrap().text().as_str(), &body["thinking"]["type"]), ("Hello", &json!("enabled")));
}
