//! The marks up to which the API caches a prompt, for a wire that caches.
//!
//! The API reads a prompt in the order tools, system, messages, and a mark caches everything before it. So each gets
//! one at its end: the last moves with the conversation, and the other two keep the unchanged parts cached when a
//! history is shortened. The application's own marks count and stay.

use serde_json::{Value, json};

/// The most marks in a request.
const MAX_MARKS: usize = 4;
const MARK: &str = "cache_control";

/// A prompt's parts, as sent.
pub(super) struct MarkedPrompt {
    pub(super) tools: Vec<Value>,
    pub(super) system: Vec<Value>,
    pub(super) messages: Vec<Value>,
}

impl MarkedPrompt {
    /// Sets the marks.
    pub(super) fn mark(mut self) -> Self {
        let mut left = MAX_MARKS.saturating_sub(marks(&self.tools) + marks(&self.system) + marks(&self.messages));
        // An hour's mark must not follow a five-minute one, so none of ours precedes it.
        let all = [&self.tools, &self.system, &self.messages];
        let has_long = all.into_iter().flatten().any(|part| part.to_string().contains(r#""ttl":"1h""#));
        let last = self.messages.last_mut().and_then(|message| message["content"].as_array_mut());
        if let Some(blocks) = last {
            set(blocks, &mut left, |block| !matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking")));
        }
        if !has_long {
            set(&mut self.system, &mut left, |_| true);
            // A deferred definition does not belong to the prompt.
            set(&mut self.tools, &mut left, |tool| tool["defer_loading"] != true);
        }
        self
    }
}

/// Marks the last part that may have a mark, unless one already has it.
fn set(parts: &mut [Value], left: &mut usize, may: impl Fn(&Value) -> bool) {
    if *left == 0 || parts.iter().any(|part| part.get(MARK).is_some()) {
        return;
    }
    if let Some(part) = parts.iter_mut().rev().find(|part| part.is_object() && may(part)) {
        part[MARK] = json!({"type": "ephemeral"});
        *left -= 1;
    }
}

/// Counts marks, including those on blocks inside messages and results.
fn marks(parts: &[Value]) -> usize {
    let own = |part: &Value| usize::from(part.get(MARK).is_some_and(|mark| !mark.is_null()));
    let inner = |part: &Value| part.get("content").and_then(Value::as_array).map_or(0, |blocks| marks(blocks));
    parts.iter().map(|part| own(part) + inner(part)).sum()
}
