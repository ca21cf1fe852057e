//! Thinking that belongs to one conversation.
//!
//! The newest models sign their thinking together with everything before it. If that has changed since (an output was
//! cleared, a summary replaced messages, a tool came or went), the API rejects the request, unless it is told to leave
//! such thinking out. See Anthropic's guide to preserved thinking.
//!
//! Earlier models that are given a budget demand thinking before the calls of the turn that a request continues. If
//! another provider's model made them there is none, and the turn ends without thinking.

use serde_json::{Map, Value, json};

use super::block::{SentBlock, SentRole};
use super::conversation::Conversation;
use crate::capability::Capabilities;
use crate::wire::Dropped;

/// The option for thinking.
pub(super) const THINKING: &str = "thinking";
/// Its member that decides about thinking from a changed conversation.
const BINDING: &str = "block_binding";
/// The feature in preview that has the member.
const BETA: &str = "thinking-binding-controls-2026-08-01";

/// Returns the thinking option if it has to change: turned off, or with the member added for a request that sends
/// thinking back. Returns `None` if the options decide about it themselves, or choose a form that lacks the member.
pub(super) fn thinking(
    options: &Map<String, Value>,
    capabilities: Capabilities,
    conversation: &Conversation<'_>,
    dropped: &mut Vec<Dropped>,
) -> Option<Map<String, Value>> {
    let kind = options.get(THINKING).and_then(|thinking| thinking.get("type"));
    if kind.is_some_and(|kind| kind == "enabled") && has_calls_without_thinking(conversation) {
        let reason =
            "the calls of this turn follow no thinking, which the API would reject; the next turn has it again";
        dropped.push(Dropped::setting(THINKING, reason));
        return Some(Map::from_iter([("type".to_owned(), "disabled".into())]));
    }
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
    (thinking.is_some_and(|thinking| thinking.contains_key(BINDING)) || is_given).then_some(BETA)
}

/// Reports whether the turn that the request continues has calls that follow no thinking.
fn has_calls_without_thinking(conversation: &Conversation<'_>) -> bool {
    let has = |blocks: &[SentBlock<'_>], is: fn(&SentBlock<'_>) -> bool| blocks.iter().any(is);
    let turn = conversation.messages.iter().rev().take_while(|message| {
        message.role != SentRole::User || has(&message.content, |block| matches!(block, SentBlock::ToolResult(_)))
    });
    let mut answers = turn.filter(|message| message.role == SentRole::Assistant);
    answers.any(|message| {
        let is_thought = message.content.first().is_some_and(SentBlock::is_thinking);
        !is_thought && has(&message.content, |block| matches!(block, SentBlock::ToolUse(_)))
    })
}
