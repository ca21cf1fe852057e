//! Message order, and where results go.

use haft_core::{ApprovalRequest, Item, Message, Role, ToolCall, ToolCallOutput, TurnRequest};
use haft_wire::{AnthropicMessages, Delivery, Wire};
use serde_json::{Value, json};

use super::{MODEL, body_of, dropped, messages, send};

fn call(id: &str) -> Item {
    ToolCall::new(id, "look", "{}").into()
}

fn output(id: &str) -> Item {
    ToolCallOutput::new(id, format!("output of {id}")).into()
}

/// Writes messages as `role: block block`, where a block is its text, its id or its type.
fn outline(messages: &Value) -> Vec<String> {
    let block = |block: &Value| {
        let named = ["text", "id", "tool_use_id", "data", "signature"].iter().find_map(|key| block[key].as_str());
        match block["type"].as_str().unwrap() {
            "tool_result" => format!("={}", named.unwrap()),
            other => named.unwrap_or(other).to_owned(),
        }
    };
    let line = |message: &Value| {
        let blocks: Vec<_> = message["content"].as_array().unwrap().iter().map(block).collect();
        format!("{}: {}", message["role"].as_str().unwrap(), blocks.join(" "))
    };
    messages.as_array().unwrap().iter().map(line).collect()
}

#[test]
fn items_of_one_role_are_one_message() {
    let history = vec![
        Item::user("a"),
        Item::user("b"),
        Item::assistant("c"),
        call("d"),
        call("e"),
        output("d"),
        output("e"),
        Item::user("f"),
        Item::assistant("g"),
        Item::user("h"),
    ];
    assert_eq!(
        outline(&messages(history)),
        ["user: a b", "assistant: c d e", "user: =d =e f", "assistant: g", "user: h"]
    );
}

#[test]
fn results_follow_their_calls_wherever_the_history_has_them() {
    let late =
        vec![Item::user("a"), call("b"), call("c"), Item::user("d"), output("c"), Item::assistant("e"), output("b")];
    assert_eq!(outline(&messages(late)), ["user: a", "assistant: b c", "user: =b =c d", "assistant: e"]);
    let early = vec![Item::user("a"), output("b"), call("b"), Item::assistant("c")];
    assert_eq!(outline(&messages(early)), ["user: a", "assistant: b c", "user: =b"]);
    let one_by_one = vec![Item::user("a"), call("b"), output("b"), call("c"), output("c")];
    assert_eq!(outline(&messages(one_by_one)), ["user: a", "assistant: b", "user: =b", "assistant: c", "user: =c"]);
}

#[test]
fn approvals_of_the_application_are_not_sent() {
    let pay = ToolCall::new("c1", "pay", "{}");
    let request = ApprovalRequest::new("q1", &pay);
    let history = vec![
        Item::user("pay"),
        pay.into(),
        request.clone().into(),
        request.approve().into(),
        output("c1"),
        Item::assistant("paid"),
        Item::user("thanks"),
    ];
    assert_eq!(
        outline(&messages(history.clone())),
        ["user: pay", "assistant: c1", "user: =c1", "assistant: paid", "user: thanks"]
    );
    assert_eq!(dropped(history), Vec::<String>::new());
}

#[test]
fn a_history_that_is_not_whole_names_the_item_and_the_remedy() {
    for (history, problem) in [
        (vec![call("a"), call("b"), output("b")], "history[0]: the call `a` of `look` has no output"),
        (vec![Item::user("x"), output("a")], "history[1]: the output for `a` answers no call"),
        (vec![call("a"), output("a"), call("a")], "history[2]: another call has the id `a`"),
        (vec![call("a"), output("a"), output("a")], "history[2]: the call `a` has another output"),
    ] {
        let error = send(&TurnRequest::new(MODEL, history)).unwrap_err().to_string();
        assert!(error.starts_with(problem) && error.contains("history::repair"), "{error}");
    }
    for nothing in [vec![], vec![Item::system("x")], vec![Item::user(" ")]] {
        let error = send(&TurnRequest::new(MODEL, nothing)).unwrap_err().to_string();
        assert!(error.starts_with("history: ") && error.contains("add a message of the user"), "{error}");
    }
}

#[test]
fn system_messages_at_the_start_precede_the_conversation() {
    let developer = Message::text(Role::Developer, "c");
    let history = vec![Item::system("b"), developer.into(), Item::system(" "), Item::user("d")];
    let sent = send(&TurnRequest::new(MODEL, history).instructions("a")).unwrap();
    let texts = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(body_of(&sent)["system"], json!([texts("a"), texts("b"), texts("c")]));
    assert_eq!(sent.dropped, []);
    let none = body_of(&send(&TurnRequest::new(MODEL, vec![Item::user("a")]).instructions("")).unwrap());
    assert_eq!(none.get("system"), None);
}

#[test]
fn later_system_messages_are_text_of_the_user_and_reported() {
    let history = vec![Item::user("a"), Item::assistant("b"), Item::system("c"), Item::user("d")];
    assert_eq!(outline(&messages(history.clone())), ["user: a", "assistant: b", "user: <system>\nc\n</system> d"]);
    assert_eq!(dropped(history), ["item 2: system message: it is sent as text of the user, in tags"]);
}

#[test]
fn later_system_messages_stay_where_the_model_accepts_them() {
    let history = vec![
        Item::user("a"),
        Item::system("b"),
        Item::user("c"),
        call("d"),
        Item::system("e"),
        Item::system("f"),
        output("d"),
        Item::assistant("g"),
        Item::system("h"),
    ];
    let sent =
        AnthropicMessages::new().system_in_place().request(&TurnRequest::new(MODEL, history), Delivery::Whole).unwrap();
    assert_eq!(
        outline(&body_of(&sent)["messages"]),
        [
            "user: a c",
            "system: b",
            "assistant: d",
            "user: =d",
            "system: e f",
            "assistant: g",
            "user: <system>\nh\n</system>",
        ]
    );
    assert_eq!(sent.dropped.len(), 1, "after the assistant it is text of the user");
}

#[test]
fn a_conversation_begins_with_the_user() {
    let history = vec![Item::assistant("Hello!"), Item::user("a")];
    let sent = messages(history.clone());
    assert_eq!(sent[0]["role"], "user");
    assert_eq!(outline(&sent)[1..], ["assistant: Hello!", "user: a"]);
    assert!(dropped(history)[0].starts_with("history: "));
}

#[test]
fn text_of_the_assistant_at_the_end_has_no_white_space_after_it() {
    let sent = messages(vec![Item::user("a"), Item::assistant("The answer is \n")]);
    assert_eq!(sent[1]["content"][0]["text"], "The answer is");
    let inside = messages(vec![Item::user("a"), Item::assistant("b "), Item::user("c ")]);
    assert_eq!((&inside[1]["content"][0]["text"], &inside[2]["content"][0]["text"]), (&json!("b "), &json!("c ")));
    let blank = messages(vec![Item::user("a"), Item::assistant(" \n")]);
    assert_eq!(outline(&blank), ["user: a"]);
}

#[test]
fn ids_that_the_api_rejects_are_mapped_without_collisions() {
    let ids = ["a.b", "a_x2E_b", "", "toolu_01-ok", "ü", &"long".repeat(30)];
    let mut history = vec![Item::user("a")];
    history.extend(ids.iter().map(|id| call(id)));
    history.extend(ids.iter().rev().map(|id| output(id)));
    let sent = messages(history.clone());
    let written = |at: usize, key: &str| -> Vec<String> {
        let blocks = sent[at]["content"].as_array().unwrap();
        blocks.iter().map(|block| block[key].as_str().unwrap().to_owned()).collect()
    };
    let calls = written(1, "id");
    assert_eq!(calls, written(2, "tool_use_id"));
    assert_eq!(calls[3], "toolu_01-ok");
    let accepted = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    assert!(calls.iter().all(|id| (1..=64).contains(&id.len()) && id.bytes().all(accepted)), "{calls:?}");
    let distinct: std::collections::HashSet<_> = calls.iter().collect();
    assert_eq!(distinct.len(), ids.len());
    assert_eq!(sent, messages(history), "the same in every request");
}
