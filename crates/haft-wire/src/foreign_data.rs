//! The data of other providers in a history.
//!
//! Signatures and item ids are for the provider that assigned them. A wire writes only its own, and reports the others
//! here, so that no kind of item is forgotten. Reasoning and calls that a provider executed are left to the wires, which
//! drop them as a whole.

use haft_core::{ContentPart, Item};
use serde_json::{Map, Value};

use crate::wire::Dropped;

/// Reports the data of an item that belongs to other providers, once per kind and provider.
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
        }
        Item::ToolCall(call) => add("call data", &call.provider_data),
        Item::ToolOutput(output) => add("output data", &output.provider_data),
        _ => {}
    }
}

fn part_data(part: &ContentPart) -> Option<&Map<String, Value>> {
    match part {
        ContentPart::Text(part) => Some(&part.provider_data),
        ContentPart::Refusal(part) => Some(&part.provider_data),
        ContentPart::Image(part) | ContentPart::Audio(part) | ContentPart::File(part) => Some(&part.provider_data),
        ContentPart::Resource(part) => Some(&part.provider_data),
        ContentPart::ResourceLink(part) => Some(&part.provider_data),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use haft_core::{Message, Role, TextPart, ToolCall, ToolCallOutput};
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
        let call = ToolCall::new("c", "t", "{}").provider_data("other", json!({}));
        assert_eq!(reports(call), ["item 3: call data: it belongs to other"]);
        let output = ToolCallOutput::new("c", "a").provider_data("other", json!({}));
        assert_eq!(reports(output), ["item 3: output data: it belongs to other"]);
        assert_eq!(reports(ToolCall::new("c", "t", "{}").provider_data("acme", json!({}))), [""; 0]);
    }
}
