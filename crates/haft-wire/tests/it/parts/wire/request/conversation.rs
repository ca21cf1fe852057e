//! Every item of a history, and the orders that a history may have.

use haft_core::{
    ApprovalRequest, ContentPart, Item, Message, ProviderCall, Reasoning, Role, ToolCall, ToolCallOutput, ToolChoice,
    TurnRequest,
};
use serde_json::json;

use super::super::sample_tools;
use super::case::RequestCase;
use super::setting::thinking;

fn call(id: &str, name: &str, arguments: &str) -> Item {
    ToolCall::new(id, name, arguments).into()
}

fn output(id: &str, text: &str) -> Item {
    ToolCallOutput::new(id, text).into()
}

fn after_user(items: Vec<Item>) -> Vec<Item> {
    let mut history = vec![Item::user("hi")];
    history.extend(items);
    history
}

pub(super) fn cases() -> Vec<RequestCase> {
    let mut cases = messages();
    cases.extend(calls());
    cases.extend(items_of_providers());
    cases.extend(found_tools());
    let called = after_user(vec![call("c1", "t", "{}"), output("c1", "answered")]);
    cases.push(RequestCase::new("thinking after calls of another provider", thinking(TurnRequest::new("", called))));
    cases
}

fn messages() -> Vec<RequestCase> {
    let developer = || Item::from(Message::text(Role::Developer, "rule of the developer"));
    let all = vec![Item::system("rule of the system"), developer(), Item::user("hi")];
    let late =
        vec![Item::user("hi"), Item::assistant("yes"), Item::system("late rule"), developer(), Item::user("go on")];
    let last = vec![Item::user("hi"), Item::assistant("yes"), Item::system("last rule")];
    vec![
        RequestCase::new("instructions", TurnRequest::new("", vec![Item::user("hi")]).instructions("be brief"))
            .contains("be brief"),
        RequestCase::new("empty instructions", TurnRequest::new("", vec![Item::user("hi")]).instructions("")),
        RequestCase::new("instructions and rules", TurnRequest::new("", all).instructions("be brief"))
            .contains("be brief")
            .contains("rule of the system")
            .contains("rule of the developer"),
        RequestCase::history("late rules", late).contains("late rule").contains("rule of the developer"),
        RequestCase::history("a rule at the end", last).contains("last rule"),
        RequestCase::history("rules only", vec![Item::system("only rule")]).contains("only rule"),
        RequestCase::history("nothing", vec![]),
        RequestCase::history("the model begins", vec![Item::assistant("I begin"), Item::user("hi")])
            .contains("I begin"),
        RequestCase::history("the model ends", vec![Item::user("hi"), Item::assistant("I end ")]).contains("I end"),
        RequestCase::history("the user twice", vec![Item::user("one"), Item::user("two")])
            .contains("one")
            .contains("two"),
        RequestCase::history(
            "the model twice",
            vec![Item::user("hi"), Item::assistant("one"), Item::assistant("two"), Item::user("go on")],
        )
        .contains("one")
        .contains("two"),
        RequestCase::history(
            "empty texts",
            vec![Item::user("hi"), Item::assistant(""), Item::user(""), Item::user("go on")],
        ),
        RequestCase::history("a message without parts", after_user(vec![Message::new(Role::User, vec![]).into()])),
        RequestCase::history("controls", vec![Item::user("\u{0}\u{7}\u{feff}\u{202e}\u{10ffff} \"\\")])
            .contains("\u{202e}"),
    ]
}

fn calls() -> Vec<RequestCase> {
    let long = "call_".repeat(30);
    let odd = "call:1/ä b";
    let mut cases = vec![
        RequestCase::history(
            "parallel calls",
            after_user(vec![
                call("c1", "t", "{\"a\":\"first\"}"),
                call("c2", "t", "{\"a\":\"second\"}"),
                ToolCallOutput::new("c2", "output of the second").error().into(),
                output("c1", "output of the first"),
            ]),
        )
        .contains("first")
        .contains("second")
        .contains("output of the first")
        .contains("output of the second"),
        RequestCase::history(
            "calls in consecutive turns",
            after_user(vec![
                call("c1", "t", "{}"),
                output("c1", "one"),
                call("c2", "t", "{}"),
                output("c2", "two"),
                Item::assistant("done"),
                Item::user("go on"),
            ]),
        )
        .contains("one")
        .contains("two"),
        RequestCase::history(
            "an output after the next message",
            after_user(vec![call("c1", "t", "{}"), Item::user("wait"), output("c1", "late output")]),
        )
        .contains("late output")
        .contains("wait"),
        RequestCase::history("a call without an output", after_user(vec![call("c1", "t", "{}")])),
        RequestCase::history("an output without a call", after_user(vec![output("c1", "stray")])),
        RequestCase::history(
            "an id twice",
            after_user(vec![call("c1", "t", "{}"), output("c1", "one"), call("c1", "t", "{}"), output("c1", "two")]),
        ),
        RequestCase::history(
            "text between calls",
            after_user(vec![
                call("c1", "t", "{}"),
                Item::assistant("between"),
                call("c2", "t", "{}"),
                output("c1", "one"),
                output("c2", "two"),
            ]),
        )
        .contains("between"),
    ];
    for id in [long.as_str(), odd, "", "x"] {
        let history = after_user(vec![call(id, "t", "{}"), output(id, "answered")]);
        cases.push(RequestCase::history(format!("the id {id:.12?}"), history).contains("answered"));
    }
    for name in ["acme/weather.get", "wetter für oslo", "1st", "x--y__z", "", &"n".repeat(200)] {
        let history = after_user(vec![call("c1", name, "{}"), output("c1", "answered")]);
        cases.push(RequestCase::history(format!("a call of {name:.12?}, which is not offered"), history));
    }
    for arguments in ["{\"a\": \"kept\" }", "", "{\"a\":", "[\"kept\"]", "null", "{\"$ref\":\"#/kept\"}"] {
        let history = after_user(vec![call("c1", "t", arguments), output("c1", "answered")]);
        cases.push(RequestCase::history(format!("the arguments {arguments}"), history).contains("answered"));
    }
    for text in
        ["", " ", "null", "{}", "[1]", "{\"$ref\":\"kept\"}", "{\"a\":{\"$defs\":\"kept\"}}", "{\"error\":\"kept\"}"]
    {
        for is_error in [false, true] {
            let mut answer = ToolCallOutput::new("c1", text);
            answer.is_error = is_error;
            let history = after_user(vec![call("c1", "t", "{}"), answer.into()]);
            let marker = if text.contains("kept") { "kept" } else { "" };
            cases
                .push(RequestCase::history(format!("the output {text:?}, error {is_error}"), history).contains(marker));
        }
    }
    cases
}

/// Searches whose tools may be gone: only references to tools of the request are sent back.
fn found_tools() -> Vec<RequestCase> {
    let reference = |name: &str| json!({"type": "tool_reference", "tool_name": name});
    let found = json!([
        {"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_regex", "input": {}},
        {"type": "tool_search_tool_result", "tool_use_id": "s1", "content": {
            "type": "tool_search_tool_search_result", "tool_references": [reference("gone"), reference("add")]}},
    ]);
    let search = ProviderCall::new("anthropic", "tool_search_tool_regex", found).call_id("s1");
    let parts = vec![ContentPart::Unknown(reference("gone")), ContentPart::Unknown(reference("add"))];
    let returned = vec![call("c1", "t", "{}"), ToolCallOutput::new("c1", parts).into()];
    let offering = |history: Vec<Item>| TurnRequest::new("", history).tools(&sample_tools());
    let searched = || after_user(vec![search.clone().into(), Item::assistant("so"), Item::user("go on")]);
    vec![
        RequestCase::new("tools that were found", offering(searched())),
        RequestCase::new(
            "tools that were found and may not be called",
            offering(searched()).tool_choice(ToolChoice::may_call(["now"])),
        ),
        RequestCase::history("tools that were found and are gone", searched()),
        RequestCase::new("tools that a tool has found", offering(after_user(returned))),
    ]
}

fn items_of_providers() -> Vec<RequestCase> {
    let waiting = ToolCall::new("c1", "t", "{}");
    let request = ApprovalRequest::new("q1", &waiting);
    let verdict = request.approve();
    let mut cases = vec![
        RequestCase::history(
            "an approved call",
            after_user(vec![waiting.into(), request.into(), verdict.into(), output("c1", "approved output")]),
        )
        .contains("approved output"),
        RequestCase::history(
            "an unknown item",
            after_user(vec![Item::Unknown(json!({"type": "mood", "mood": "odd"}))]),
        )
        .contains("odd"),
        RequestCase::history(
            "reasoning of nobody",
            after_user(vec![Reasoning::text("a thought").into(), Item::assistant("so")]),
        )
        .contains("a thought"),
    ];
    for provider in ["openai", "anthropic", "google", "acme"] {
        let signed = Reasoning::text("signed thought").signed(provider, "c2lnbmVk").id("rs_1");
        let hidden = Reasoning::encrypted(provider, "aGlkZGVu").id("rs_2");
        let turn = vec![signed.clone().into(), hidden.clone().into(), call("c1", "t", "{}"), output("c1", "answered")];
        let name = format!("reasoning of {provider}");
        cases.push(RequestCase::history(name, after_user(turn)).contains("signed thought").contains("aGlkZGVu"));
        let alone = vec![signed.into(), hidden.into(), Item::user("go on")];
        let name = format!("reasoning of {provider} alone");
        cases.push(RequestCase::history(name, after_user(alone)).contains("signed thought").contains("aGlkZGVu"));
        let executed = ToolCall::new("p1", "web_search", "{\"q\":\"searched\"}").executed_by_provider();
        let turn = vec![executed.into(), output("p1", "found"), Item::assistant("so")];
        let name = format!("a call that {provider} executed, with its output");
        cases.push(RequestCase::history(name, after_user(turn)).contains("searched").contains("found"));
        let payload = json!("not in the form of the provider");
        let call = ProviderCall::new(provider, "web_search", payload).call_id("p1");
        let name = format!("a provider call of {provider} with an odd payload");
        cases.push(
            RequestCase::history(name, after_user(vec![call.into(), Item::assistant("so")]))
                .contains("not in the form"),
        );
    }
    cases
}
