//! Thinking that belongs to one conversation.
//!
//! The newest models sign their thinking together with everything before it. If that has changed since (an output was
//! cleared, a summary replaced messages, a tool came or went), the API rejects the request, unless it is told to leave
//! such thinking out. See Anthropic's guide to preserved thinking.

use serde_json::{Map, Value, json};

use super::conversation::Conversation;
use crate::capability::Capabilities;

/// The option for thinking.
pub(super) const THINKING: &str = "thinking";
/// Its member that decides about thinking from a changed conversation.
const BINDING: &str = "block_binding";
/// The feature in preview that has the member.
const BETA: &str = "thinking-binding-controls-2026-08-01";

/// Returns the thinking option with the member added, for a request that sends thinking back. Returns `None` if the
/// options decide about it themselves, or choose a thinking form that lacks the member.
pub(super) fn thinking(
    options: &Map<String, Value>,
    capabilities: Capabilities,
    conversation: &Conversation<'_>,
) -> Option<Map<String, Value>> {
    if !capabilities.bound_reasoning || !conversation.has_thinking() {
        return None;
    }
    let mut thinking = match options.get(THINKING) {
        // What these models do by default.
        None | Some(Value::Null) => Map::from_iter([("type".to_owned(), "adaptive".into())]),
        Some(thinking) => thinking.as_object()?.clone(),
    };
    let kind = thinking.get("type").and_then(Value::as_str)?;
    if thinking.contains_key(BINDING) || !matches!(kind, "adaptive" | "enabled") {
        return None;
    }
    thinking.insert(BINDING.to_owned(), json!({"prefix_mismatch_behavior": "drop_block"}));
    Some(thinking)
}

/// Returns the feature that a request requires.
pub(super) fn beta(options: &Map<String, Value>, thinking: Option<&Map<String, Value>>) -> Option<&'static str> {
    let is_given = options.get(THINKING).is_some_and(|thinking| thinking.get(BINDING).is_some());
    (thinking.is_some() || is_given).then_some(BETA)
}
