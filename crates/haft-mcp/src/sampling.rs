//! Requests of a server for a model's answer.

use std::pin::Pin;
use std::sync::Arc;

use haft_core::{ContentPart, Finish, Item, Message, Role, Turn, TurnRequest};
use haft_executor::BoxError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::convert::content;

type Sampled = Pin<Box<dyn Future<Output = Result<Turn, BoxError>> + Send>>;

/// The application's handler, with its types erased.
pub(crate) type SamplingHandler = Arc<dyn Fn(TurnRequest) -> Sampled + Send + Sync>;

/// The members of a `sampling/createMessage` that are used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SamplingParams {
    messages: Vec<SamplingText>,
    #[serde(default)]
    system_prompt: Option<String>,
    #[serde(default)]
    max_tokens: Option<u64>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    stop_sequences: Vec<String>,
    #[serde(default)]
    tools: Vec<Value>,
}

#[derive(Deserialize)]
struct SamplingText {
    role: String,
    content: Value,
}

/// Erases the types of a handler.
pub(crate) fn erase<F, Fut, E>(handler: F) -> SamplingHandler
where
    F: Fn(TurnRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Turn, E>> + Send + 'static,
    E: Into<BoxError>,
{
    Arc::new(move |request| {
        let answer = handler(request);
        Box::pin(async move { answer.await.map_err(Into::into) })
    })
}

/// Answers a request. The error is for the server, and contains nothing of the application's.
pub(crate) async fn sample(handler: &SamplingHandler, params: &Value) -> Result<Value, &'static str> {
    let request = request(params)?;
    let turn = handler(request).await.map_err(|error| {
        tracing::warn!(%error, "a server's request for a model's answer failed");
        "the model did not answer"
    })?;
    let text = turn.text();
    if text.is_empty() {
        return Err("the model answered without text");
    }
    Ok(json!({
        "role": "assistant",
        "content": {"type": "text", "text": text},
        "model": turn.model.as_deref().unwrap_or("unknown"),
        "stopReason": if turn.finish == Finish::Length { "maxTokens" } else { "endTurn" },
    }))
}

fn request(params: &Value) -> Result<TurnRequest, &'static str> {
    let params = SamplingParams::deserialize(params).map_err(|_| "the request is malformed")?;
    if !params.tools.is_empty() {
        return Err("this client samples without tools");
    }
    let history = params.messages.iter().map(message).collect::<Result<_, _>>()?;
    let mut request = TurnRequest::new("", history);
    request.instructions = params.system_prompt;
    request.max_output_tokens = params.max_tokens;
    request.temperature = params.temperature;
    request.stop = params.stop_sequences;
    Ok(request)
}

fn message(message: &SamplingText) -> Result<Item, &'static str> {
    let role = match message.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return Err("a message has an unknown role"),
    };
    let parts: Vec<ContentPart> = match &message.content {
        Value::Array(parts) => parts.iter().map(content::read).collect(),
        part => vec![content::read(part)],
    };
    if parts.iter().any(|part| matches!(part, ContentPart::Unknown(_))) {
        return Err("a message has content of an unknown type");
    }
    Ok(Item::Message(Message::new(role, parts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(text: &str) -> Turn {
        Turn::new(vec![Item::Message(Message::text(Role::Assistant, text))], Finish::Stop).model("m")
    }

    #[tokio::test]
    async fn a_request_reaches_the_handler_and_its_turn_the_server() {
        let handler = erase(|request: TurnRequest| async move {
            assert_eq!((request.instructions.as_deref(), request.max_output_tokens), (Some("be kind"), Some(9)));
            Ok::<_, BoxError>(turn(&format!("{} messages", request.history.len())))
        });
        let params = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
            "systemPrompt": "be kind", "maxTokens": 9});
        let answer = sample(&handler, &params).await.unwrap();
        assert_eq!(answer["content"]["text"], "1 messages");
        assert_eq!((&answer["model"], &answer["stopReason"]), (&json!("m"), &json!("endTurn")));
    }

    #[tokio::test]
    async fn what_can_not_be_sampled_is_refused_without_a_word_of_the_application() {
        let handler = erase(|_| async { Err::<Turn, _>("the key sk-1 is invalid") });
        let message = |role: &str, kind: &str| json!([{"role": role, "content": {"type": kind, "text": "x"}}]);
        for (params, expected) in [
            (json!({}), "the request is malformed"),
            (json!({"messages": message("user", "text"), "tools": [{}]}), "this client samples without tools"),
            (json!({"messages": message("wizard", "text")}), "a message has an unknown role"),
            (json!({"messages": message("user", "tool_use")}), "a message has content of an unknown type"),
            (json!({"messages": message("user", "text")}), "the model did not answer"),
        ] {
            assert_eq!(sample(&handler, &params).await.unwrap_err(), expected);
        }
    }
}
