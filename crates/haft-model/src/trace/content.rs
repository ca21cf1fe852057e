//! Messages in the JSON of OpenTelemetry's conventions, for spans that record content.
//!
//! Calls are recorded by id and name: which parts of their arguments and results are secret is known to their tools, not
//! here. Media is recorded by its type.

use haft_core::{ContentPart, Item, Message, Role, Turn, TurnRequest};
use serde_json::{Value, json};

/// Returns a list of texts, as JSON.
pub(super) fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    texts.into_iter().map(|text| Value::from(text.as_ref())).collect::<Value>().to_string()
}

/// Returns the instructions of a request.
pub(super) fn instructions(request: &TurnRequest) -> Option<String> {
    request.instructions.as_ref().map(|text| json!([{"type": "text", "content": text}]).to_string())
}

/// Returns the messages of a request.
pub(super) fn input(request: &TurnRequest) -> String {
    Value::Array(messages(&request.history)).to_string()
}

/// Returns the tools that a request offers, without their schemas.
pub(super) fn tools(request: &TurnRequest) -> Option<String> {
    let tools = request.tools.iter().map(|tool| json!({"type": "function", "name": tool.name}));
    (!request.tools.is_empty()).then(|| tools.collect::<Value>().to_string())
}

/// Returns the messages of a turn.
pub(super) fn output(turn: &Turn) -> String {
    let mut messages = messages(&turn.items);
    for message in &mut messages {
        message["finish_reason"] = turn.finish.as_str().into();
    }
    Value::Array(messages).to_string()
}

/// Returns messages: adjacent items of one role are one.
fn messages(items: &[Item]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for (role, parts) in items.iter().filter_map(parts) {
        match messages.last_mut() {
            Some((last, more)) if *last == role => more.extend(parts),
            _ => messages.push((role, parts)),
        }
    }
    messages.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

/// Returns the role and the parts of an item. Approvals are no part of what a model reads or writes.
fn parts(item: &Item) -> Option<(&'static str, Vec<Value>)> {
    Some(match item {
        Item::Message(message) => (role(message), message.content.iter().map(part).collect()),
        Item::Reasoning(reasoning) => ("assistant", vec![json!({"type": "reasoning", "content": reasoning.words()})]),
        Item::ToolCall(call) => {
            ("assistant", vec![json!({"type": "tool_call", "id": call.call_id, "name": call.name})])
        }
        Item::ToolOutput(output) => ("tool", vec![json!({"type": "tool_call_response", "id": output.call_id})]),
        Item::ProviderCall(call) => {
            ("assistant", vec![json!({"type": "tool_call", "id": call.call_id, "name": call.name})])
        }
        _ => return None,
    })
}

fn part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => json!({"type": "text", "content": text.text}),
        ContentPart::Refusal(refusal) => json!({"type": "refusal", "content": refusal.text}),
        ContentPart::Image(media) => json!({"type": "image", "mime_type": media.media_type}),
        ContentPart::Audio(media) => json!({"type": "audio", "mime_type": media.media_type}),
        ContentPart::File(media) => json!({"type": "file", "mime_type": media.media_type}),
        ContentPart::Resource(_) | ContentPart::ResourceLink(_) => json!({"type": "resource"}),
        ContentPart::Unknown(_) => json!({"type": "unknown"}),
    }
}

fn role(message: &Message) -> &'static str {
    match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        _ => "system",
    }
}

#[cfg(test)]
mod tests {
    use haft_core::{Finish, MediaData, Reasoning, ToolCall, ToolCallOutput};

    use super::*;

    #[test]
    fn messages_are_recorded_without_arguments_results_and_media() {
        let image = ContentPart::image("image/png", MediaData::Base64("c2VjcmV0".to_owned()));
        let items = vec![
            Item::system("Be brief."),
            Message::new(Role::User, vec![ContentPart::text("Look!"), image]).into(),
            Reasoning::text("hm").into(),
            ToolCall::new("c1", "look", r#"{"key": "secret"}"#).into(),
            ToolCallOutput::new("c1", "secret").into(),
            Item::Unknown(json!({"type": "note", "text": "secret"})),
            Item::assistant("Nice."),
        ];
        let recorded: Value = serde_json::from_str(&input(&TurnRequest::new("m", items))).unwrap();
        assert_eq!(
            recorded,
            json!([
                {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
                {"role": "user", "parts": [
                    {"type": "text", "content": "Look!"},
                    {"type": "image", "mime_type": "image/png"},
                ]},
                {"role": "assistant", "parts": [
                    {"type": "reasoning", "content": "hm"},
                    {"type": "tool_call", "id": "c1", "name": "look"},
                ]},
                {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1"}]},
                {"role": "assistant", "parts": [{"type": "text", "content": "Nice."}]},
            ])
        );
    }

    #[test]
    fn a_turn_is_recorded_with_its_finish_reason() {
        let turn = Turn::new(vec![Item::assistant("a"), Item::assistant("b")], Finish::Length);
        let recorded: Value = serde_json::from_str(&output(&turn)).unwrap();
        let parts = json!([{"type": "text", "content": "a"}, {"type": "text", "content": "b"}]);
        assert_eq!(recorded, json!([{"role": "assistant", "parts": parts, "finish_reason": "length"}]));
        assert_eq!(texts(["a\"", "b"]), r#"["a\"","b"]"#);
    }
}
