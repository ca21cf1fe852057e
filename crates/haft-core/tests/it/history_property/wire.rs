//! The requirements of each provider on a conversation.
//!
//! The items are first converted into the messages of a wire, then each rule is checked there. Nothing here knows how
//! a history is repaired: these are the rules by which providers reject a request.

use std::collections::HashSet;

use haft_core::{CallId, Item, Role};

/// A conversation as a provider sees it, one entry per item.
enum Seen<'h> {
    /// A message, reasoning, or a provider-executed item: the model's side, nothing to pair.
    Model,
    Call {
        id: &'h str,
        name: &'h str,
    },
    Result {
        id: &'h str,
        name: &'h str,
    },
    /// The other side.
    Other,
}

/// A message of a wire where each result is a separate message.
enum Chat<'h> {
    /// The model's, with the ids of its calls.
    Assistant(Vec<&'h str>),
    /// The result of the call with this id.
    Tool(&'h str),
    Other,
}

/// A message of a wire with two sides: consecutive items of one side.
struct Said<'h> {
    by_model: bool,
    calls: Vec<(&'h str, &'h str)>,
    /// The results at the start, in order.
    results: Vec<(&'h str, &'h str)>,
    /// True if results follow other content.
    has_late_results: bool,
    has_words: bool,
}

/// Returns whether every provider accepts the conversation.
pub(crate) fn all_take(items: &[Item]) -> bool {
    responses_takes(items) && chat_takes(items) && messages_takes(items) && contents_takes(items)
}

/// Checks the rules of `OpenAI` Responses: ids of calls are unique; each call has exactly one output, after it; each
/// output has a call before it.
pub(crate) fn responses_takes(items: &[Item]) -> bool {
    let (mut asked, mut answered) = (HashSet::new(), HashSet::new());
    for entry in seen(items) {
        let is_fine = match entry {
            Seen::Call { id, .. } => asked.insert(id),
            Seen::Result { id, .. } => asked.contains(id) && answered.insert(id),
            Seen::Model | Seen::Other => true,
        };
        if !is_fine {
            return false;
        }
    }
    asked == answered && ids_are_unique(items)
}

/// Checks the rules of `OpenAI` Chat: an assistant message with calls is followed by one tool message for each of
/// them, before anything else; there are no other tool messages.
pub(crate) fn chat_takes(items: &[Item]) -> bool {
    let mut messages = chat(items).into_iter();
    while let Some(message) = messages.next() {
        match message {
            Chat::Assistant(mut calls) => {
                let next = messages.by_ref().take(calls.len());
                let mut tools: Vec<_> = next.filter_map(|message| message.tool()).collect();
                calls.sort_unstable();
                tools.sort_unstable();
                if tools != calls {
                    return false;
                }
            }
            Chat::Tool(_) => return false,
            Chat::Other => {}
        }
    }
    true
}

/// Checks the rules of Anthropic: the results of all calls of an assistant message come first in the user message
/// right after it, one each, and there are no other results; ids of calls are unique.
pub(crate) fn messages_takes(items: &[Item]) -> bool {
    let said = said(items);
    let mut expected: Vec<&str> = Vec::new();
    for message in &said {
        let mut results: Vec<_> = message.results.iter().map(|(id, _)| *id).collect();
        results.sort_unstable();
        expected.sort_unstable();
        if results != expected || message.has_late_results {
            return false;
        }
        expected = message.calls.iter().map(|(id, _)| *id).collect();
    }
    expected.is_empty() && ids_are_unique(items)
}

/// Checks the rules of Gemini: a content with function calls is followed by one with as many function responses, first
/// in it, each with the name of its call; there are no other responses.
pub(crate) fn contents_takes(items: &[Item]) -> bool {
    let mut expected = Vec::new();
    for content in said(items) {
        let mut responses = content.results;
        responses.sort_unstable();
        expected.sort_unstable();
        if responses != expected || content.has_late_results {
            return false;
        }
        expected = content.calls;
    }
    expected.is_empty()
}

/// Returns whether ids of calls are unique, including those of provider-executed calls.
fn ids_are_unique(items: &[Item]) -> bool {
    let mut ids = HashSet::new();
    items.iter().all(|item| match item {
        Item::ToolCall(call) => ids.insert(&call.call_id),
        _ => true,
    })
}

/// Converts items. Approvals are invisible. The outputs of provider-executed calls are part of the model's side.
fn seen(items: &[Item]) -> Vec<Seen<'_>> {
    let local: Vec<_> = items
        .iter()
        .filter_map(|item| match item {
            Item::ToolCall(call) if !call.provider_executed => Some((call.call_id.as_str(), call.name.as_str())),
            _ => None,
        })
        .collect();
    let remote: HashSet<_> = items
        .iter()
        .filter_map(|item| match item {
            Item::ToolCall(call) if call.provider_executed => Some(call.call_id.as_str()),
            Item::ProviderCall(call) => call.call_id.as_ref().map(CallId::as_str),
            _ => None,
        })
        .collect();
    let entries = items.iter().filter_map(|item| match item {
        Item::ToolCall(call) if !call.provider_executed => {
            Some(Seen::Call { id: call.call_id.as_str(), name: &call.name })
        }
        Item::ToolOutput(output) => {
            let id = output.call_id.as_str();
            let called = local.iter().find(|(other, _)| *other == id);
            // a wire that pairs by name looks it up where the output has none
            let name = output.tool.as_deref().or(called.map(|(_, name)| *name)).unwrap_or_default();
            let is_remote = called.is_none() && remote.contains(id);
            Some(if is_remote { Seen::Model } else { Seen::Result { id, name } })
        }
        Item::Message(message) if message.role != Role::Assistant => Some(Seen::Other),
        Item::Unknown(_) => Some(Seen::Other),
        Item::ApprovalRequest(_) | Item::Verdict(_) => None,
        _ => Some(Seen::Model),
    });
    entries.collect()
}

impl<'h> Chat<'h> {
    fn tool(&self) -> Option<&'h str> {
        match self {
            Self::Tool(id) => Some(id),
            Self::Assistant(_) | Self::Other => None,
        }
    }
}

/// Converts to messages of which the model's are joined and all others are separate.
fn chat(items: &[Item]) -> Vec<Chat<'_>> {
    let mut messages = Vec::new();
    for entry in seen(items) {
        let call = match entry {
            Seen::Result { id, .. } => {
                messages.push(Chat::Tool(id));
                continue;
            }
            Seen::Other => {
                messages.push(Chat::Other);
                continue;
            }
            Seen::Call { id, .. } => Some(id),
            Seen::Model => None,
        };
        match messages.last_mut() {
            Some(Chat::Assistant(calls)) => calls.extend(call),
            _ => messages.push(Chat::Assistant(call.into_iter().collect())),
        }
    }
    messages
}

/// Converts to alternating messages of two sides: consecutive items of one side are one message.
fn said(items: &[Item]) -> Vec<Said<'_>> {
    let mut said: Vec<Said<'_>> = Vec::new();
    for entry in seen(items) {
        let by_model = matches!(entry, Seen::Model | Seen::Call { .. });
        if said.last().is_none_or(|last| last.by_model != by_model) {
            said.push(Said { by_model, calls: vec![], results: vec![], has_late_results: false, has_words: false });
        }
        let Some(message) = said.last_mut() else { continue };
        match entry {
            Seen::Call { id, name } => message.calls.push((id, name)),
            Seen::Result { .. } if message.has_words => message.has_late_results = true,
            Seen::Result { id, name } => message.results.push((id, name)),
            Seen::Model | Seen::Other => message.has_words = true,
        }
    }
    said
}

mod tests {
    use super::*;
    use crate::history::notation::items;

    /// Returns which of Responses, Chat, Anthropic and Gemini accept it.
    fn takers(text: &str) -> [bool; 4] {
        let items = items(text);
        [responses_takes(&items), chat_takes(&items), messages_takes(&items), contents_takes(&items)]
    }

    #[test]
    fn the_rules_differ_as_the_providers_do() {
        for (text, taken) in [
            ("u c:1 c:2 o:2 o:1 u", [true; 4]),
            ("u c:1 o:1 c:2 o:2 a", [true; 4]),
            ("u c:1", [false; 4]),
            ("u o:1", [false; 4]),
            ("u c:1 o:1 o:1", [false; 4]),
            // a late output is valid where pairs are found by id alone
            ("u c:1 u o:1", [true, false, false, false]),
            ("u c:1 c:2 o:1 a o:2", [true, false, false, false]),
            // ids may be reused where messages are paired with their neighbours
            ("u c:1 o:1 u c:1 o:1", [false, true, false, true]),
            // provider-executed calls
            ("u p:1 o:1 c:2 o:2", [true; 4]),
        ] {
            assert_eq!(takers(text), taken, "{text}");
        }
    }
}
