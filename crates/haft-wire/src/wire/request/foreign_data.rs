//! History data that only its own provider's wire sends.
//!
//! Signatures and item ids are for the provider that assigned them. A wire writes only its own, and reports the others
//! here, so that no item kind is forgotten. Reasoning and calls that a provider executed are left to the wires, which
//! drop them whole.

use haft_core::{CallOutputBody, ContentPart, Item, Role};
use serde_json::{Map, Value};

use crate::wire::Dropped;

const ONLY_OF_MODEL: &str = "only messages of a model have them";

/// Reports an item's data that belongs to other providers, once per kind and provider.
pub(crate) fn report(provider: &str, at: usize, item: &Item, dropped: &mut Vec<Dropped>) {
    let first = dropped.len();
    let mut add = |part: &'static str, data: &Map<String, Value>| {
        for owner in data.keys().filter(|owner| *owner != provider) {
            let report = Dropped::item(at, part, format!("it belongs to {owner}"));
            if !dropped[first..].contains(&report) {
                dropped.push(report);
            }
        }
    };
    match item {
        Item::Message(message) => {
            add("message data", &message.provider_data);
            message.content.iter().filter_map(part_data).for_each(|data| add("content data", data));
            // Those in model messages are left to the wires: some take them back.
            if message.role != Role::Assistant && has_citations(&message.content) {
                dropped.push(Dropped::item(at, "citations", ONLY_OF_MODEL));
            }
        }
        Item::ToolCall(call) => add("call data", &call.provider_data),
        Item::ToolOutput(output) => {
            add("output data", &output.provider_data);
            if let CallOutputBody::Parts(parts) = &output.output {
                parts.iter().filter_map(part_data).for_each(|data| add("content data", data));
                if has_citations(parts) {
                    dropped.push(Dropped::item(at, "citations", ONLY_OF_MODEL));
                }
            }
        }
        _ => {}
    }
}

fn has_citations(parts: &[ContentPart]) -> bool {
    parts.iter().any(|part| matches!(part, ContentPart::Text(text) if !text.citations.is_empty()))
}

fn part_data(part: &ContentPart) -> Option<&Map<String, Value>> {
    match part {
        ContentPart::Text(part) => Some(&part.provider_data),
        ContentPart::Refusal(part) => Some(&part.provider_data),
        ContentPart::Image(part) | ContentPart::Audio(part) | ContentPart::File(part) => Some(&part.provider_data),
        ContentPart::Resource(part) => Some(&part.provider_data),
        ContentPart::ResourceLink(part) => Some(&part.provider_data),
        ContentPart::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use haft_core::{Citation, Message, TextPart, ToolCall, ToolCallOutput};
    use serde_json::json;

    use super::*;

    fn reports(item: impl Into<Item>) -> Vec<String> {
        let mut dropped = vec![Dropped::setting("stop", "unrelated")];
        report("acme", 3, &item.into(), &mut dropped);
        dropped[1..].iter().map(ToString::to_string).collect()
    }

    #[test]
    fn data_of_other_providers_is_reported_once_per_kind() {
        let mut part = TextPart::new("a");
        part.provider_data.extend([("acme".to_owned(), json!({})), ("other".to_owned(), json!({}))]);
        let parts = vec![ContentPart::Text(part.clone()), ContentPart::Text(part), ContentPart::text("b")];
        let message = Message::new(Role::User, parts).provider_data("third", json!({}));
        assert_eq!(
            reports(message),
            ["item 3: message data: it belongs to third", "item 3: content data: it belongs to other"]
        );
        let cited = || vec![ContentPart::Text(TextPart::new("a").cite(Citation::url("https://a.example")))];
        let citations = ["item 3: citations: only messages of a model have them"];
        assert_eq!(reports(Message::new(Role::User, cited())), citations);
        assert_eq!(reports(ToolCallOutput::new("c", cited())), citations);
        assert_eq!(reports(Message::new(Role::Assistant, cited())), [""; 0]);
        let call = ToolCall::new("c", "t", "{}").provider_data("other", json!({}));
        assert_eq!(reports(call), ["item 3: call data: it belongs to other"]);
        let output = ToolCallOutput::new("c", "a").provider_data("other", json!({}));
        assert_eq!(reports(output), ["item 3: output data: it belongs to other"]);
        assert_eq!(reports(ToolCall::new("c", "t", "{}").provider_data("acme", json!({}))), [""; 0]);
    }
}
