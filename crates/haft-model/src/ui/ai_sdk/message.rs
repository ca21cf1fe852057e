//! The messages of a stored conversation, as `useChat` takes them when a page is loaded.

use std::collections::HashMap;

use haft_core::CallId;
use haft_schema::JsonText;
use serde::Serialize;
use serde_json::Value;

use super::chunk::ApprovalDescriptor;
use crate::turn_loop::LoopState;
use crate::ui::event::UiEvent;
use crate::ui::history::history;

/// A message, as the AI SDK has them.
#[derive(Serialize)]
struct UiMessage {
    id: String,
    role: &'static str,
    parts: Vec<Value>,
}

/// Returns the messages of a conversation, as `useChat` takes them in `messages` when a page is loaded: a list in JSON.
/// Approvals that wait can be answered there, and the answer continues the last message.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_model::LoopState;
/// use haft_model::ui::ai_sdk_messages;
///
/// let state = LoopState::new(TurnRequest::new("any", vec![Item::user("Hi."), Item::assistant("Hello!")]));
/// let messages = ai_sdk_messages(&state);
/// assert_eq!(messages[0]["parts"][0]["text"], "Hi.");
/// assert_eq!(messages[1]["role"], "assistant");
/// ```
#[must_use]
pub fn ai_sdk_messages(state: &LoopState) -> Value {
    let mut writer = MessageWriter::default();
    for event in history(state) {
        writer.add(event);
    }
    // Every part is JSON already.
    serde_json::to_value(writer.messages).unwrap_or_default()
}

#[derive(Default)]
struct MessageWriter {
    messages: Vec<UiMessage>,
    /// The positions of the calls: message and part.
    calls: HashMap<CallId, (usize, usize)>,
    sources: u32,
}

/// The part of a call. The members that are unset are not written.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct CallPart<'a> {
    #[serde(rename = "type")]
    part_type: String,
    tool_call_id: &'a str,
    state: &'static str,
    input: Option<&'a JsonText>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    provider_executed: bool,
}

impl MessageWriter {
    fn add(&mut self, event: UiEvent) {
        match event {
            UiEvent::UserMessage { text, files } => {
                let mut parts: Vec<Value> = files.iter().map(|file| file_part(&file.media_type, &file.url)).collect();
                for (part, file) in parts.iter_mut().zip(&files) {
                    if let Some(name) = &file.name {
                        part["filename"] = name.as_str().into();
                    }
                }
                parts.push(text_part("text", &text));
                self.push_message("user", parts);
            }
            UiEvent::StepStarted { .. } => self.push_part(serde_json::json!({"type": "step-start"})),
            UiEvent::TextDelta { text, .. } => self.push_part(text_part("text", &text)),
            UiEvent::ReasoningDelta { text, .. } => self.push_part(text_part("reasoning", &text)),
            UiEvent::Source { url, title } => {
                self.sources += 1;
                let mut part =
                    serde_json::json!({"type": "source-url", "sourceId": format!("source-{}", self.sources)});
                part["url"] = url.into();
                if let Some(title) = title {
                    part["title"] = title.into();
                }
                self.push_part(part);
            }
            UiEvent::Media { file } => self.push_part(file_part(&file.media_type, &file.url)),
            UiEvent::Called { call_id, tool, arguments, by_provider } => {
                self.put_call(&call_id, &tool, Some(&arguments), by_provider);
            }
            UiEvent::AnswerRequested { call_id, tool, arguments } => {
                self.put_call(&call_id, &tool, Some(&arguments), false);
            }
            UiEvent::Output { call_id, tool, output, by_provider } => {
                let part = self.call_part(&call_id, &tool, by_provider);
                part["state"] = "output-available".into();
                part["output"] = output.to_value();
            }
            UiEvent::CallFailed { call_id, tool, message, by_provider, .. } => {
                let part = self.call_part(&call_id, &tool, by_provider);
                part["state"] = "output-error".into();
                part["errorText"] = message.into();
            }
            UiEvent::ApprovalRequested {
                request_id,
                call_id,
                tool,
                arguments,
                question,
                digest,
                expires_at,
                by_provider,
            } => {
                self.put_call(&call_id, &tool, Some(&arguments), by_provider);
                let descriptor = ApprovalDescriptor { digest: &digest, expires_at, question: question.as_deref() };
                let part = self.call_part(&call_id, &tool, by_provider);
                part["state"] = "approval-requested".into();
                part["approval"] = serde_json::json!({"id": request_id.as_str(), "descriptor": descriptor});
            }
            // A history has whole texts, and no events that are about the way of a call.
            _ => {}
        }
    }

    fn push_message(&mut self, role: &'static str, parts: Vec<Value>) {
        let id = format!("message-{}", self.messages.len() + 1);
        self.messages.push(UiMessage { id, role, parts });
    }

    /// Adds a part to the answer.
    fn push_part(&mut self, part: Value) {
        if self.messages.last().is_none_or(|message| message.role != ANSWER) {
            self.push_message(ANSWER, Vec::new());
        }
        if let Some(message) = self.messages.last_mut() {
            message.parts.push(part);
        }
    }

    /// Adds the part of a call, or changes the input of the part that is there.
    fn put_call(&mut self, call_id: &CallId, tool: &str, input: Option<&JsonText>, by_provider: bool) {
        let part = CallPart {
            part_type: format!("tool-{tool}"),
            tool_call_id: call_id.as_str(),
            state: "input-available",
            input,
            provider_executed: by_provider,
        };
        let part = serde_json::to_value(part).unwrap_or_default();
        match self.calls.get(call_id) {
            Some(&(message, at)) => self.messages[message].parts[at] = part,
            None => {
                self.push_part(part);
                let message = self.messages.len() - 1;
                self.calls.insert(call_id.clone(), (message, self.messages[message].parts.len() - 1));
            }
        }
    }

    /// Returns the part of a call, which is added if the history does not have the call.
    fn call_part(&mut self, call_id: &CallId, tool: &str, by_provider: bool) -> &mut Value {
        if !self.calls.contains_key(call_id) {
            self.put_call(call_id, tool, None, by_provider);
        }
        let (message, at) = self.calls[call_id];
        &mut self.messages[message].parts[at]
    }
}

/// The role of the messages of the model.
const ANSWER: &str = "assistant";

fn text_part(part_type: &str, text: &str) -> Value {
    serde_json::json!({"type": part_type, "text": text, "state": "done"})
}

fn file_part(media_type: &str, url: &str) -> Value {
    serde_json::json!({"type": "file", "mediaType": media_type, "url": url})
}
