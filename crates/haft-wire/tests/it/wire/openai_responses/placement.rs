//! Item order and call ids.

use haft_core::{
    ApprovalDecision, ApprovalRequest, Item, ProviderCall, Reasoning, ToolCall, ToolCallOutput, TurnRequest, Verdict,
};
use serde_json::{Value, json};

use super::{MODEL, body_of, called, dropped, input, read, response, said, send};

fn call(id: &str) -> Item {
    ToolCall::new(id, "look", "{}").into()
}

fn output(id: &str) -> Item {
    ToolCallOutput::new(id, format!("output of {id}")).into()
}

/// Writes items as their type, and their id, text or call id.
fn outline(items: &Value) -> Vec<String> {
    let line = |item: &Value| {
        let named = ["id", "call_id", "content", "approval_request_id"].iter().find_map(|key| item[key].as_str());
        format!("{} {}", item["type"].as_str().unwrap(), named.unwrap_or("-"))
    };
    items.as_array().unwrap().iter().map(line).collect()
}

fn with_options(history: Vec<Item>, options: Value) -> Result<Value, String> {
    let request = TurnRequest::new(MODEL, history).provider_options("openai", options);
    send(&request).map(|sent| body_of(&sent)["input"].take()).map_err(|error| error.to_string())
}

#[test]
fn items_keep_their_order() {
    let history =
        vec![Item::user("a"), Item::assistant("b"), call("c"), call("d"), output("d"), output("c"), Item::user("e")];
    assert_eq!(
        outline(&input(history)),
        [
            "message a",
            "message b",
            "function_call c",
            "function_call d",
            "function_call_output d",
            "function_call_output c",
            "message e",
        ]
    );
}

#[test]
fn a_history_that_the_provider_would_reject_is_rejected() {
    for (history, problem) in [
        (vec![call("a")], "history[0]: the call `a` has no output"),
        (vec![output("a")], "history[0]: there is no call `a`"),
        (vec![call("a"), output("a"), output("a")], "history[2]: the call `a` has two outputs"),
        (vec![call("a"), call("a"), output("a")], "history[1]: the call id `a` occurs twice"),
    ] {
        let error = send(&TurnRequest::new(MODEL, history)).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_part_of_a_stored_conversation_may_begin_with_outputs() {
    for options in [json!({"previous_response_id": "resp_1"}), json!({"conversation": "conv_1"})] {
        let sent = with_options(vec![output("a"), Item::user("go")], options.clone()).unwrap();
        assert_eq!(outline(&sent), ["function_call_output a", "message go"]);
        let error = with_options(vec![output("a"), call("b")], options).unwrap_err();
        assert!(error.contains("the call `b` of `look` has no output"), "{error}");
    }
    with_options(vec![output("a")], json!({"previous_response_id": null})).unwrap_err();
}

#[test]
fn an_id_that_is_too_long_is_replaced_in_the_call_and_its_output() {
    let (long, longest) = ("é".repeat(65), "é".repeat(64));
    let sent = input(vec![call(&long), call(&longest), output(&long), output(&longest)]);
    let id = sent[0]["call_id"].as_str().unwrap();
    assert!(id.starts_with("call_") && id.len() == 37, "{id}");
    assert_eq!((&sent[2]["call_id"], &sent[1]["call_id"]), (&json!(id), &json!(longest)));
    assert_eq!(sent[3]["call_id"], json!(longest));
    let again = input(vec![call(&long), output(&long)]);
    assert_eq!(again[0]["call_id"], id, "the same in every request");
}

fn thought(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "ZQ=="})
}

/// Reasoning that was stored at the provider, and is not encrypted.
fn stored(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": "s"}]})
}

#[test]
fn reasoning_precedes_the_item_that_it_led_to() {
    let mut history = read(&response(json!([thought("rs_1"), called("c1", "look", "{}")]))).items;
    history.extend([output("c1")]);
    history.extend(read(&response(json!([thought("rs_2"), thought("rs_3"), said("msg_1", "done")]))).items);
    assert_eq!(
        outline(&input(history)),
        [
            "reasoning rs_1",
            "function_call fc_c1",
            "function_call_output c1",
            "reasoning rs_2",
            "reasoning rs_3",
            "message msg_1"
        ]
    );
}

/// Sends a history to a model, and returns the outline of the items and what was left out.
fn sent_to(model: &str, history: &[Item], options: Value) -> (Vec<String>, Vec<String>) {
    let sent = send(&TurnRequest::new(model, history.to_vec()).provider_options("openai", options)).unwrap();
    (outline(&body_of(&sent)["input"]), sent.dropped.iter().map(ToString::to_string).collect())
}

#[test]
fn reasoning_is_not_sent_to_a_model_that_is_not_known_to_reason() {
    let search = json!({
        "type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"},
    });
    let thoughts =
        json!([thought("rs_1"), search, said("msg_1", "found"), thought("rs_2"), called("c1", "look", "{}")]);
    let mut history = vec![Item::user("a")];
    history.extend(read(&response(thoughts)).items);
    history.extend([output("c1"), Item::user("b")]);
    let kept = ["message a", "message found", "function_call c1", "function_call_output c1", "message b"];
    for model in ["gpt-4.1", "ft:gpt-4.1-mini:acme::7p4l", "chatgpt-4o-latest", "gpt-5-chat-latest", "prod-assistant"] {
        let (items, dropped) = sent_to(model, &history, json!({}));
        assert_eq!(items, kept, "{model}");
        let parts = dropped.iter().map(|dropped| dropped.split(": ").take(2).collect::<Vec<_>>().join(" "));
        assert_eq!(
            parts.collect::<Vec<_>>(),
            ["item 1 reasoning", "item 2 provider_call", "item 4 reasoning"],
            "{model}"
        );
        assert!(dropped[0].contains("not known to reason") && dropped[1].contains("can't be sent"), "{dropped:?}");
    }
    // A request that says so makes a deployment a model that reasons. What is known does not change.
    for options in [json!({"reasoning": {"effort": "low"}}), json!({"include": ["reasoning.encrypted_content"]})] {
        let (items, dropped) = sent_to("prod-assistant", &history, options.clone());
        assert_eq!((items.len(), dropped.len()), (8, 0), "{dropped:?}");
        assert_eq!(sent_to("gpt-4.1", &history, options).0, kept);
    }
    assert_eq!(sent_to("openai/gpt-5.2", &history, json!({})).0.len(), 8);
}

#[test]
fn reasoning_that_nothing_follows_is_dropped() {
    let mut history = vec![Item::user("a")];
    history.extend(read(&response(json!([thought("rs_1")]))).items);
    history.push(Item::user("b"));
    history.extend(read(&response(json!([thought("rs_2")]))).items);
    assert_eq!(outline(&input(history.clone())), ["message a", "message b"]);
    let reports = dropped(history);
    assert_eq!(reports.len(), 2);
    assert!(reports[0].starts_with("item 1: reasoning: no item of the model follows it"), "{reports:?}");
}

#[test]
fn without_its_reasoning_an_item_has_no_id() {
    let shell = json!({"type": "shell_call", "id": "sh_1", "call_id": "c2", "action": {"commands": ["ls"]}, "status": "completed"});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}});
    let listed = json!({"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []});
    let turn = json!([stored("rs_1"), search, listed, called("c1", "look", "{}"), shell, said("msg_1", "hi")]);
    let mut history = read(&response(turn)).items;
    history.extend([output("c1"), output("c2")]);
    let sent = input(history.clone());
    assert_eq!(
        outline(&sent),
        [
            "mcp_list_tools mcpl_1",
            "function_call c1",
            "shell_call c2",
            "message hi",
            "function_call_output c1",
            "shell_call_output c2",
        ]
    );
    let reports = dropped(history.clone());
    assert!(reports[0].contains("request `reasoning.encrypted_content`"), "{reports:?}");
    assert!(reports[1].starts_with("item 1: provider_call: the reasoning before it"), "{reports:?}");

    // A provider that stores it finds it by its id.
    let sent = with_options(history, json!({"store": true})).unwrap();
    assert_eq!(
        outline(&sent)[..4],
        ["reasoning rs_1", "web_search_call ws_1", "mcp_list_tools mcpl_1", "function_call fc_c1"]
    );
    assert_eq!(sent[0], stored("rs_1"));
}

#[test]
fn the_ids_of_a_later_turn_are_kept() {
    let mut history = read(&response(json!([stored("rs_1"), called("c1", "look", "{}")]))).items;
    history.push(output("c1"));
    history.extend(read(&response(json!([thought("rs_2"), called("c2", "look", "{}")]))).items);
    history.push(output("c2"));
    assert_eq!(
        outline(&input(history)),
        [
            "function_call c1",
            "function_call_output c1",
            "reasoning rs_2",
            "function_call fc_c2",
            "function_call_output c2"
        ]
    );
}

fn approval() -> Value {
    json!({"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "pay", "arguments": "{\"cents\":5}"})
}

#[test]
fn an_approval_of_the_provider_is_answered_once() {
    let items = read(&response(json!([approval()]))).items;
    let Item::ApprovalRequest(request) = items[0].clone() else { panic!("{items:?}") };
    assert_eq!((request.tool.as_str(), request.arguments.as_str()), ("pay", "{\"cents\":5}"));
    let error = send(&TurnRequest::new(MODEL, items.clone())).unwrap_err().to_string();
    assert!(error.contains("approval request"), "{error}");
    for (verdict, approve, reason) in [
        (request.approve(), true, Value::Null),
        (request.deny("too much"), false, json!("too much")),
        (request.edit(json!({"cents": 1})), false, json!("the call was not approved as it is")),
        (request.respond(ApprovalDecision::Other("maybe".into())), false, json!("the call was not approved as it is")),
    ] {
        let history = vec![items[0].clone(), verdict.clone().into(), verdict.into()];
        let sent = input(history);
        assert_eq!((&sent[0], sent.as_array().unwrap().len()), (&approval(), 2));
        assert_eq!((&sent[1]["approval_request_id"], &sent[1]["approve"]), (&json!("mcpr_1"), &json!(approve)));
        assert_eq!(sent[1]["reason"], reason);
    }
}

#[test]
fn an_approval_of_the_application_is_not_sent() {
    let request = ApprovalRequest::new("q1", &ToolCall::new("c1", "look", "{}"));
    let stray = Verdict::new("q9", ApprovalDecision::Approved);
    let history = vec![call("c1"), request.clone().into(), request.approve().into(), stray.into(), output("c1")];
    assert_eq!(outline(&input(history.clone())), ["function_call c1", "function_call_output c1"]);
    assert!(dropped(history).is_empty());
    let mut foreign = request;
    foreign.provider_data.insert("acme".into(), json!({"id": "x"}));
    let history = vec![call("c1"), foreign.clone().into(), foreign.approve().into(), output("c1")];
    assert_eq!(dropped(history), ["item 1: approval_request: it is of another provider"]);
}

#[test]
fn what_another_provider_executed_is_dropped_with_a_report() {
    let remote = ToolCall::new("r1", "search", "{}").executed_by_provider();
    let history = vec![
        Reasoning::encrypted("anthropic", "eA==").into(),
        Reasoning::text("plain").into(),
        remote.into(),
        output("r1"),
        ProviderCall::new("anthropic", "web_search", json!([{"type": "server_tool_use"}])).call_id("p1").into(),
        ProviderCall::new("openai", "web_search", json!("no item")).into(),
        Item::Unknown(json!({"type": "acme.thing", "provider": "acme", "item": {"type": "thing"}})),
        Item::Unknown(json!({"type": "new_item_of_haft"})),
        Item::assistant("hi"),
    ];
    assert_eq!(outline(&input(history.clone())), ["message hi"]);
    let parts: Vec<_> = dropped(history).iter().map(|report| report.split(": ").nth(1).unwrap().to_owned()).collect();
    assert_eq!(parts, ["reasoning", "reasoning", "call", "output", "provider_call", "provider_call", "item", "item"]);
}
