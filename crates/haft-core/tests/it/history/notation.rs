//! Histories as short texts, so that a table of cases can be read.
//!
//! One word per item: `u`, `s` and `a` are messages of the user, the system and the assistant, `r` is reasoning, `?`
//! an unknown item. `c:1` is a call with the id 1, `p:1` one the provider executes, `P:1` a provider's own call item.
//! `o:1` is the output for it, `o:1=late` one with another text, `x:1` a cancelled one. `q:1` is the approval request
//! for the call 1 (with the id q1), `y:1` and `n:1` approve and deny it.

use haft_core::{ApprovalRequest, Item, Message, ProviderCall, Reasoning, Role, ToolCall, ToolCallOutput, ToolResult};
use serde_json::json;

/// The reason of cancelled calls in these tests.
pub(crate) const REASON: &str = "nobody answered";

/// Parses a text into items.
pub(crate) fn items(text: &str) -> Vec<Item> {
    text.split_whitespace().map(item).collect()
}

/// Formats items as a text.
pub(crate) fn text(items: &[Item]) -> String {
    items.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Creates the call `c:id`.
pub(crate) fn call(id: &str) -> ToolCall {
    ToolCall::new(id, "t", "{}")
}

/// Creates a result for the call `c:id` that becomes `o:id=text`.
pub(crate) fn result(id: &str, text: &str) -> ToolResult {
    ToolResult::ok(&call(id), json!(text))
}

fn item(word: &str) -> Item {
    let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
    let (id, text) = rest.split_once('=').unwrap_or((rest, "ok"));
    let request = || ApprovalRequest::new(format!("q{id}"), &call(id));
    match kind {
        "u" => Item::user("hello"),
        "s" => Item::system("be brief"),
        "d" => Message::text(Role::Developer, "be kind").into(),
        "a" => Item::assistant("well"),
        "r" => Reasoning::text("hm").into(),
        "?" => Item::Unknown(json!({"type": "weather_report"})),
        "c" => call(id).into(),
        "p" => call(id).executed_by_provider().into(),
        "P" => ProviderCall::new("openai", "web_search", json!({})).call_id(id).into(),
        "o" => ToolCallOutput::new(id, text).into(),
        "x" => Item::from(&ToolResult::cancelled(&call(id), REASON)),
        "q" => request().into(),
        "y" => request().approve().into(),
        "n" => request().deny("no").into(),
        other => panic!("no item is written '{other}'"),
    }
}

fn word(item: &Item) -> String {
    match item {
        Item::Message(message) => match message.role {
            Role::User => "u".to_owned(),
            Role::System => "s".to_owned(),
            Role::Developer => "d".to_owned(),
            Role::Assistant => "a".to_owned(),
            other => panic!("{other:?}"),
        },
        Item::Reasoning(_) => "r".to_owned(),
        Item::Unknown(_) => "?".to_owned(),
        Item::ToolCall(call) if call.provider_executed => format!("p:{}", call.call_id),
        Item::ToolCall(call) => format!("c:{}", call.call_id),
        Item::ProviderCall(call) => format!("P:{}", call.call_id.as_ref().unwrap()),
        Item::ToolOutput(output) if output.is_error && output.output.to_string().contains("\"cancelled\"") => {
            format!("x:{}", output.call_id)
        }
        Item::ToolOutput(output) => match output.output.to_string().as_str() {
            "ok" => format!("o:{}", output.call_id),
            text => format!("o:{}={text}", output.call_id),
        },
        Item::ApprovalRequest(request) => format!("q:{}", request.call_id),
        Item::Verdict(response) => {
            let kind = if response.decision.as_str() == "approved" { "y" } else { "n" };
            format!("{kind}:{}", &response.request_id.as_str()[1..])
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_is_what_its_items_are_written_as() {
    let all = "u s d a r ? c:1 p:2 P:3 o:1 o:1=late x:4 q:1 y:1 n:1";
    assert_eq!(text(&items(all)), all);
}
