//! Shapes that this API's servers send though its specification lacks them. Each costs the member at most, never the
//! turn.

use haft_core::{Delta, Finish, Turn};
use haft_wire::{OpenAiChat, Wire, WireEvent};
use serde_json::{Value, json};

use super::response::context;

/// Reads a stream of these chunks, which must be one turn.
#[track_caller]
fn streamed(chunks: &[Value]) -> Turn {
    let mut reader = OpenAiChat::compatible("acme").stream(&context());
    let mut deltas = Vec::new();
    for chunk in chunks {
        let read = reader.event(WireEvent::new(None, &chunk.to_string()), &mut deltas);
        read.unwrap_or_else(|error| panic!("{error}: {chunk}"));
    }
    reader.end(&mut deltas).unwrap();
    match deltas.pop() {
        Some(Delta::TurnComplete(turn)) => *turn,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn whole(response: &Value) -> Turn {
    let read = OpenAiChat::compatible("acme").response(&response.to_string(), &context());
    read.unwrap_or_else(|error| panic!("{error}: {response}"))
}

#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn chunk(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn end(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn calls(turn: &Turn) -> Vec<(String, String)> {
    turn.tool_calls().into_iter().map(|call| (call.name.clone(), call.arguments.clone())).collect()
}

/// One value of each form that JSON has.
fn forms() -> [Value; 8] {
    [json!(null), json!(false), json!(-1), json!(7), json!(1.5), json!("text"), json!([[1]]), json!({"x": {"y": 1}})]
}

#[test]
fn a_member_of_any_form_costs_no_turn() {
    let members = [
        "/id",
        "/model",
        "/usage",
        "/usage/prompt_tokens",
        "/usage/total_tokens",
        "/usage/prompt_tokens_details",
        "/usage/prompt_tokens_details/cached_tokens",
        "/usage/completion_tokens_details",
        "/choices/0/index",
        "/choices/0/ANSWER/refusal",
        "/choices/0/ANSWER/reasoning",
        "/choices/0/ANSWER/reasoning_content",
        "/choices/0/ANSWER/reasoning_details",
        "/choices/0/ANSWER/annotations",
        "/choices/0/ANSWER/annotations/0",
        "/choices/0/ANSWER/annotations/0/url_citation",
        "/choices/0/ANSWER/annotations/0/url_citation/start_index",
        "/choices/0/ANSWER/audio",
        "/choices/0/ANSWER/audio/data",
        "/choices/0/ANSWER/tool_calls",
        "/choices/0/ANSWER/tool_calls/0",
        "/choices/0/ANSWER/tool_calls/0/index",
        "/choices/0/ANSWER/tool_calls/0/id",
        "/choices/0/ANSWER/tool_calls/0/type",
        "/choices/0/ANSWER/tool_calls/0/function/arguments",
        "/choices/0/ANSWER/tool_calls/0/extra_content",
    ];
    for member in members {
        for form in forms() {
            // Only one answer is read, and it is the one with the index zero.
            if member == "/choices/0/index" && (form == json!(7) || form == json!(1.5)) {
                continue;
            }
            for (name, is_whole) in [("message", true), ("delta", false)] {
                let answer = json!({
                    "role": "assistant", "content": "hi", "refusal": null, "reasoning": null, "reasoning_content": null,
                    "reasoning_details": [], "annotations": [{"url_citation": {"url": "u", "start_index": 0}}],
                    "audio": {"data": ""},
                    "tool_calls": [{"index": 0, "id": "c", "type": "function", "extra_content": {},
                        "function": {"name": "t", "arguments": "{}"}}],
                });
                let mut response = json!({
                    "id": "r", "model": "m", "choices": [{"index": 0, name: answer, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2,
                        "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {}},
                });
                *response.pointer_mut(&member.replace("ANSWER", name)).unwrap() = form.clone();
                let turn = if is_whole { whole(&response) } else { streamed(&[response]) };
                assert!(turn.text().starts_with("hi"), "{member} {form}: {turn:?}");
                assert!(!turn.is_cut_off() || turn.finish == Finish::Refusal, "{member} {form}: {turn:?}");
            }
        }
    }
}

#[test]
fn content_of_another_form_is_left_out() {
    for form in forms().into_iter().filter(|form| !form.is_string() && !form.is_array()) {
        let turn = streamed(&[chunk(json!({"content": form})), chunk(json!({"content": "hi"})), end("stop")]);
        assert_eq!(turn.text(), "hi", "{form}");
        let choice = json!({"message": {"content": form, "refusal": "no"}, "finish_reason": "stop"});
        assert_eq!(whole(&json!({"choices": [choice]})).refusal().as_deref(), Some("no"), "{form}");
    }
}

#[test]
fn counts_may_be_null_or_fractions() {
    let usage = json!({"prompt_tokens": 12.0, "completion_tokens": null, "total_tokens": 12.7,
        "prompt_tokens_details": null, "completion_tokens_details": {"reasoning_tokens": 2.5}});
    let choice = json!({"message": {"content": "hi"}, "finish_reason": "stop"});
    for turn in [
        streamed(&[chunk(json!({"content": "hi"})), end("stop"), json!({"choices": [], "usage": usage})]),
        whole(&json!({"choices": [choice], "usage": usage})),
    ] {
        let counted = (turn.usage.input_tokens, turn.usage.output_tokens, turn.usage.total_tokens);
        assert_eq!((counted, turn.usage.reasoning_tokens), ((12, 0, 12), 2));
    }
}

#[test]
fn what_is_no_error_is_none() {
    for none in [json!(null), json!(false), json!(""), json!({}), json!([]), json!(0)] {
        let mut events = [chunk(json!({"content": "hi"})), end("stop")];
        for event in &mut events {
            event["error"] = none.clone();
        }
        assert_eq!(streamed(&events).text(), "hi", "{none}");
        let choice = json!({"message": {"content": "hi"}, "finish_reason": "stop"});
        assert_eq!(whole(&json!({"choices": [choice], "error": none})).text(), "hi", "{none}");
    }
}

#[test]
fn an_empty_finish_reason_is_none() {
    let mut first = chunk(json!({"content": "hi"}));
    first["choices"][0]["finish_reason"] = json!("");
    let turn = streamed(&[first.clone(), end("stop"), first]);
    assert_eq!((turn.text().as_str(), turn.finish), ("hihi", Finish::Stop));
    let choice = json!({"message": {"content": "hi"}, "finish_reason": ""});
    assert_eq!(whole(&json!({"choices": [choice]})).finish, Finish::from("missing"));
}

/// A stream's fragments, each list in one delta, and the resulting calls.
type Row = (&'static str, Vec<Value>, &'static [(&'static str, &'static str)]);

fn named(members: &[(&str, Value)], name: &str, arguments: &str) -> Value {
    let mut call = json!({"function": {"name": name, "arguments": arguments}});
    for (member, value) in members {
        call[*member] = value.clone();
    }
    call
}

fn more(members: &[(&str, Value)], arguments: &str) -> Value {
    let mut call = json!({"function": {"arguments": arguments}});
    for (member, value) in members {
        call[*member] = value.clone();
    }
    call
}

const X: &str = r#"{"x":1}"#;
const Y: &str = r#"{"y":2}"#;
const ONE: &[(&str, &str)] = &[("a", X)];
const TWO: &[(&str, &str)] = &[("a", X), ("b", Y)];
const SAME: &[(&str, &str)] = &[("a", X), ("a", X)];

fn id(id: &str) -> (&'static str, Value) {
    ("id", json!(id))
}

fn index(index: i64) -> (&'static str, Value) {
    ("index", json!(index))
}

/// Two calls that must not become one.
fn two_calls() -> Vec<Row> {
    vec![
        ("no index and no id, in one delta", vec![json!([named(&[], "a", X), named(&[], "b", Y)])], TWO),
        ("no index and no id, in two deltas", vec![json!([named(&[], "a", X)]), json!([named(&[], "b", Y)])], TWO),
        ("the same tool twice", vec![json!([named(&[], "a", X)]), json!([named(&[], "a", X)])], SAME),
        ("an index of -1", vec![json!([named(&[index(-1)], "a", X)]), json!([named(&[index(-1)], "b", Y)])], TWO),
        (
            "an index of -1, in pieces",
            vec![
                json!([named(&[index(-1)], "a", r#"{"x""#)]),
                json!([more(&[index(-1)], ":1}")]),
                json!([named(&[index(-1)], "b", "")]),
                json!([more(&[index(-1)], Y)]),
            ],
            TWO,
        ),
        (
            "pieces told apart by ids",
            vec![
                json!([named(&[id("1")], "a", r#"{"x""#)]),
                json!([named(&[id("2")], "b", r#"{"y""#)]),
                json!([more(&[id("1")], ":1}")]),
                json!([more(&[id("2")], ":2}")]),
            ],
            TWO,
        ),
        (
            "pieces told apart by their place",
            vec![
                json!([named(&[], "a", r#"{"x""#), named(&[], "b", r#"{"y""#)]),
                json!([more(&[], ":1}"), more(&[], ":2}")]),
            ],
            TWO,
        ),
        (
            "all with the index 0, no ids",
            vec![json!([named(&[index(0)], "a", X)]), json!([named(&[index(0)], "b", Y)])],
            TWO,
        ),
        (
            "the same tool with the index 0",
            vec![json!([named(&[index(0)], "a", X)]), json!([named(&[index(0)], "a", X)])],
            SAME,
        ),
    ]
}

/// Forms that servers send calls in.
fn other_forms() -> Vec<Row> {
    vec![
        (
            "a name in every piece",
            vec![json!([named(&[index(0)], "a", r#"{"x""#)]), json!([named(&[index(0)], "a", ":1}")])],
            ONE,
        ),
        (
            "an id in every piece",
            vec![json!([named(&[id("1")], "a", r#"{"x""#)]), json!([named(&[id("1")], "a", ":1}")])],
            ONE,
        ),
        (
            "the name after the id",
            vec![json!([{"id": "1", "function": {}}]), json!([named(&[], "a", X)]), json!([named(&[], "b", Y)])],
            TWO,
        ),
        (
            "one id for two calls",
            vec![json!([named(&[index(0), id("1")], "a", X), named(&[index(1), id("1")], "b", Y)])],
            TWO,
        ),
        ("arguments as an object", vec![json!([{"index": 0, "function": {"name": "a", "arguments": {"x": 1}}}])], ONE),
        ("no name at all", vec![json!([more(&[index(0), id("1")], X)])], &[("", X)]),
        (
            "a call of another kind",
            vec![json!([{"index": 0, "id": "1", "type": "smell", "smell": {}}, named(&[index(1)], "a", X)])],
            ONE,
        ),
    ]
}

#[test]
fn calls_are_told_apart() {
    for (name, deltas, expected) in two_calls().into_iter().chain(other_forms()) {
        let mut events: Vec<Value> = deltas.iter().map(|list| chunk(json!({"tool_calls": list}))).collect();
        events.push(end("stop"));
        let turn = streamed(&events);
        let expected: Vec<_> = expected.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        assert_eq!(calls(&turn), expected, "{name}");
        let mut ids: Vec<_> = turn.tool_calls().into_iter().map(|call| call.call_id.clone()).collect();
        ids.dedup();
        assert_eq!(ids.len(), expected.len(), "{name}: two calls have the id {ids:?}");
        // The same in a whole response, where it has but one list.
        if let [list] = &deltas[..] {
            let choice = json!({"message": {"content": null, "tool_calls": list}, "finish_reason": "stop"});
            assert_eq!(calls(&whole(&json!({"choices": [choice]}))), expected, "{name}");
        }
    }
}

#[test]
fn details_of_reasoning_are_sent_back_whole() {
    let text = |text: &str, signature: Value| {
        json!({"reasoning": text, "reasoning_details": [{"type": "reasoning.text", "text": text, "signature": signature,
            "format": "anthropic-claude-v1", "index": 0}]})
    };
    let call = json!({"tool_calls": [named(&[("index", json!(0)), ("id", json!("c1"))], "t", "{}")]});
    let wire = OpenAiChat::compatible("openrouter");
    let mut reader = wire.stream(&context());
    let mut deltas = Vec::new();
    for event in [
        chunk(text("Let ", json!(null))),
        chunk(text("me ", json!(null))),
        chunk(text("see.", json!("sig"))),
        chunk(call),
        end("tool_calls"),
    ] {
        reader.event(WireEvent::new(None, &event.to_string()), &mut deltas).unwrap();
    }
    reader.end(&mut deltas).unwrap();
    let Some(Delta::TurnComplete(turn)) = deltas.pop() else { panic!("no turn") };
    let whole = text("Let me see.", json!("sig"))["reasoning_details"].clone();
    let sent = sent_back(&wire, &turn);
    assert_eq!((&sent["reasoning_details"], &sent["reasoning"]), (&whole, &json!("Let me see.")));

    // Fragments in a whole response are merged as well.
    let mut message = json!({"content": null, "tool_calls": [named(&[("id", json!("c1"))], "t", "{}")]});
    message["reasoning_details"] = json!([
        text("Let ", json!(null))["reasoning_details"][0],
        text("me see.", json!("sig"))["reasoning_details"][0],
    ]);
    let response = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
    let turn = wire.response(&response.to_string(), &context()).unwrap();
    assert_eq!(sent_back(&wire, &turn)["reasoning_details"], whole);
}

/// Returns the model's message in the request that follows a turn with one call.
fn sent_back(wire: &OpenAiChat, turn: &Turn) -> Value {
    let mut history = vec![haft_core::Item::user("go")];
    history.extend(turn.items.clone());
    let results = turn.tool_calls().into_iter().map(|call| haft_core::ToolResult::ok(&call, json!("done")));
    history.extend(results.collect::<Vec<_>>().iter().map(Into::into));
    let sent = wire.request(&haft_core::TurnRequest::new("m", history), haft_wire::Delivery::Whole).unwrap();
    serde_json::from_str::<Value>(&sent.body).unwrap()["messages"][1].clone()
}
