//! Content order, and where results go.

use haft_core::{ApprovalRequest, Item, Message, Role, ToolCall, ToolCallOutput, TurnRequest};
use serde_json::{Value, json};

use super::{MODEL, body_of, contents, dropped, send};

fn call(id: &str) -> Item {
    ToolCall::new(id, format!("look_{id}"), "{}").into()
}

fn output(id: &str) -> Item {
    ToolCallOutput::new(id, format!("output of {id}")).into()
}

/// Writes contents as `role: part part`, where a part is its text or its name.
fn outline(contents: &Value) -> Vec<String> {
    let part = |part: &Value| match (part["text"].as_str(), part["functionCall"]["name"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(name)) => name.trim_start_matches("look_").to_owned(),
        (None, None) => {
            let result = &part["functionResponse"];
            let name = result["name"].as_str().unwrap().trim_start_matches("look_");
            assert_eq!(result["response"]["output"], format!("output of {name}"));
            format!("={name}")
        }
    };
    let line = |content: &Value| {
        let parts: Vec<_> = content["parts"].as_array().unwrap().iter().map(part).collect();
        format!("{}: {}", content["role"].as_str().unwrap(), parts.join(" "))
    };
    contents.as_array().unwrap().iter().map(line).collect()
}

#[test]
fn items_of_one_role_are_one_content_and_results_have_their_own() {
    let history = vec![
        Item::user("a"),
        Item::user("b"),
        Item::assistant("c"),
        call("d"),
        call("e"),
        output("e"),
        output("d"),
        Item::user("f"),
        Item::assistant("g"),
        Item::user("h"),
    ];
    assert_eq!(
        outline(&contents(history)),
        ["user: a b", "model: c d e", "user: =d =e", "user: f", "model: g", "user: h"]
    );
}

#[test]
fn results_follow_their_calls_in_their_order_wherever_the_history_has_them() {
    let late =
        vec![Item::user("a"), call("b"), call("c"), Item::user("d"), output("c"), Item::assistant("e"), output("b")];
    assert_eq!(outline(&contents(late)), ["user: a", "model: b c", "user: =b =c", "user: d", "model: e"]);
    let one_by_one = vec![Item::user("a"), call("b"), output("b"), call("c"), output("c")];
    assert_eq!(outline(&contents(one_by_one)), ["user: a", "model: b", "user: =b", "model: c", "user: =c"]);
    let text_after = vec![Item::user("a"), call("b"), Item::assistant("c"), output("b")];
    assert_eq!(outline(&contents(text_after)), ["user: a", "model: b c", "user: =b"]);
}

#[test]
fn approvals_of_the_application_are_not_sent() {
    let pay = ToolCall::new("c1", "look_c1", "{}");
    let request = ApprovalRequest::new("q1", &pay);
    let history = vec![Item::user("pay"), pay.into(), request.clone().into(), request.approve().into(), output("c1")];
    assert_eq!(outline(&contents(history.clone())), ["user: pay", "model: c1", "user: =c1"]);
    assert_eq!(dropped(history), Vec::<String>::new());
}

#[test]
fn a_history_that_is_not_whole_names_the_item_and_the_remedy() {
    for (history, problem) in [
        (vec![call("a"), call("b"), output("b")], "history[0]: the call `a` has no output"),
        (vec![Item::user("x"), output("a")], "history[1]: there is no call `a` before this output"),
        (vec![call("a"), output("a"), call("a")], "history[2]: the call id `a` occurs twice"),
        (vec![call("a"), output("a"), output("a")], "history[2]: the call `a` has two outputs"),
    ] {
        let error = send(&TurnRequest::new(MODEL, history)).unwrap_err().to_string();
        assert!(error.starts_with(problem) && error.contains("history::repair"), "{error}");
    }
    for nothing in [vec![], vec![Item::system("x")], vec![Item::user("")]] {
        let error = send(&TurnRequest::new(MODEL, nothing)).unwrap_err().to_string();
        assert!(error.starts_with("history: ") && error.contains("add a message of the user"), "{error}");
    }
}

#[test]
fn system_messages_at_the_start_are_instructions() {
    let developer = Message::text(Role::Developer, "c");
    let history = vec![Item::system("b"), developer.into(), Item::system(""), Item::user("d")];
    let sent = send(&TurnRequest::new(MODEL, history).instructions("a")).unwrap();
    let body = body_of(&sent);
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "a"}, {"text": "b"}, {"text": "c"}]}));
    assert_eq!((outline(&body["contents"]), sent.dropped.len()), (vec!["user: d".to_owned()], 0));
    let none = body_of(&send(&TurnRequest::new(MODEL, vec![Item::user("a")]).instructions("")).unwrap());
    assert_eq!(none.get("systemInstruction"), None);
}

#[test]
fn later_system_messages_are_text_of_the_user_and_reported() {
    let history = vec![Item::user("a"), call("b"), Item::system("c"), output("b"), Item::user("d")];
    assert_eq!(outline(&contents(history.clone())), ["user: a", "model: b", "user: =b", "user: c d"]);
    let reports = dropped(history);
    assert!(reports.len() == 1 && reports[0].starts_with("item 2: role: sent as a message of the user"), "{reports:?}");
}

#[test]
fn a_conversation_begins_with_the_user() {
    for history in [vec![Item::assistant("Hello!"), Item::user("a")], vec![call("b"), output("b")]] {
        let sent = contents(history.clone());
        assert_eq!((&sent[0]["role"], &sent[1]["role"]), (&json!("user"), &json!("model")));
        assert!(dropped(history)[0].starts_with("history: "));
    }
}

#[test]
fn parallel_results_of_one_function_keep_the_order_of_their_calls() {
    let look = |id: &str| Item::from(ToolCall::new(id, "look", "{}"));
    let history = vec![Item::user("a"), look("x"), look("y"), output("y"), output("x")];
    let sent = contents(history);
    let results: Vec<_> = (0..2).map(|at| &sent[2]["parts"][at]["functionResponse"]["response"]["output"]).collect();
    assert_eq!(results, ["output of x", "output of y"]);
}
