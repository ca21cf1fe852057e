//! Streams.

use haft_core::{Delta, Finish, Item, ReasoningForm, Turn};
use haft_wire::{OpenAiResponses, ReadError, Wire, WireEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::served::{event, events, events_of};
use super::{called, context, read, response, rich, said};

pub(super) fn feed<'e>(events: impl IntoIterator<Item = &'e str>) -> Result<Vec<Delta>, ReadError> {
    let mut reader = OpenAiResponses::new().stream(&context());
    let mut deltas = Vec::new();
    for event in events {
        reader.event(WireEvent::new(None, event), &mut deltas)?;
    }
    reader.end(&mut deltas)?;
    Ok(deltas)
}

pub(super) fn deltas_of(events: &[Value]) -> Result<Vec<Delta>, ReadError> {
    let texts: Vec<String> = events.iter().map(Value::to_string).collect();
    feed(texts.iter().map(String::as_str))
}

pub(super) fn turn_of(deltas: &[Delta]) -> &Turn {
    let Some(Delta::TurnComplete(turn)) = deltas.last() else { panic!("{deltas:?}") };
    turn
}

/// The texts, reasoning, refusals and arguments that deltas display.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Shown {
    text: String,
    refusal: String,
    reasoning: String,
    /// Each with its name, its arguments and whether it ended.
    calls: Vec<(String, String, String, bool)>,
}

pub(super) fn shown(deltas: &[Delta]) -> Shown {
    let mut shown = Shown::default();
    let mut paragraph = None;
    for delta in deltas {
        match delta {
            Delta::TextDelta { text, .. } => shown.text.push_str(text),
            Delta::RefusalDelta { text, .. } => shown.refusal.push_str(text),
            Delta::ReasoningDelta { text, part, .. } => {
                if paragraph.replace(*part).is_some_and(|before| before != *part) {
                    shown.reasoning.push('|');
                }
                shown.reasoning.push_str(text);
            }
            Delta::ToolCallStart { call_id, name } => {
                shown.calls.push((call_id.as_str().to_owned(), name.clone(), String::new(), false));
            }
            Delta::ToolCallArgsDelta { call_id, arguments } => {
                let call = shown.calls.iter_mut().find(|call| call.0 == call_id.as_str()).unwrap();
                assert!(!call.3, "arguments after the end: {delta:?}");
                call.2.push_str(arguments);
            }
            Delta::ToolCallEnd { call_id } => {
                let call = shown.calls.iter_mut().find(|call| call.0 == call_id.as_str()).unwrap();
                assert!(!std::mem::replace(&mut call.3, true), "a second end: {delta:?}");
            }
            _ => {}
        }
    }
    shown
}

/// Returns a turn's content as deltas display it, with arguments as the model wrote them.
fn expected(turn: &Turn) -> Shown {
    let paragraphs = turn.items.iter().filter_map(|item| match item {
        Item::Reasoning(reasoning) => Some(reasoning),
        _ => None,
    });
    let paragraphs = paragraphs.flat_map(|reasoning| reasoning.summary.iter().chain(&reasoning.text));
    let written = |call: &haft_core::ToolCall| {
        let data = call.provider_data.get("openai").and_then(|data| data.get("arguments")).and_then(Value::as_str);
        data.map_or_else(|| call.arguments.clone(), ToOwned::to_owned)
    };
    let calls = turn.tool_calls().into_iter();
    Shown {
        text: turn.text(),
        refusal: turn.refusal().unwrap_or_default(),
        reasoning: paragraphs.filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join("|"),
        calls: calls.map(|call| (call.call_id.as_str().to_owned(), call.name.clone(), written(&call), true)).collect(),
    }
}

#[test]
fn a_stream_has_its_deltas() {
    let deltas = deltas_of(&events(&rich(), 12)).unwrap();
    insta::assert_json_snapshot!("stream", serde_json::to_value(deltas).unwrap());
}

#[test]
fn deltas_and_the_turn_contain_the_same() {
    for size in [1, 3, 1_000] {
        let deltas = deltas_of(&events(&rich(), size)).unwrap();
        assert_eq!(turn_of(&deltas), &read(&rich()));
        assert_eq!(shown(&deltas), expected(&read(&rich())));
    }
}

#[test]
fn a_stream_that_ends_early_is_incomplete() {
    let all = events(&rich(), 5);
    for length in 0..all.len() {
        assert!(matches!(deltas_of(&all[..length]), Err(ReadError::Incomplete)), "{length}");
    }
}

#[test]
fn every_last_event_has_its_meaning() {
    for (status, reason, finish) in [
        ("completed", Value::Null, Finish::ToolCalls),
        ("incomplete", json!({"reason": "max_output_tokens"}), Finish::Length),
        ("cancelled", Value::Null, Finish::Other("cancelled".to_owned())),
    ] {
        let mut body = response(json!([called("c1", "t", "{\"a")]));
        body["status"] = json!(status);
        body["incomplete_details"] = reason;
        let mut all = events(&body, 2);
        assert_eq!(turn_of(&deltas_of(&all).unwrap()).finish, finish);
        // The type of the event says it too.
        let last = all.len() - 1;
        all[last]["response"]["status"] = Value::Null;
        assert_eq!(turn_of(&deltas_of(&all).unwrap()).finish, finish);
    }
}

#[test]
fn without_the_whole_output_the_items_are_the_turn() {
    for output in [json!([]), Value::Null] {
        let mut all = events(&rich(), 5);
        let last = all.len() - 1;
        all[last]["response"]["output"] = output;
        assert_eq!(turn_of(&deltas_of(&all).unwrap()), &read(&rich()));
    }
}

#[test]
fn without_any_whole_item_the_deltas_are_the_turn() {
    let body = response(json!([
        said("msg_1", "Hello."),
        called("c1", "acme--weather", r#"{"city":"Oslo","labels":null}"#),
        called("c2", "t", "{}"),
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c3", "name": "grep", "input": "a \"b\""},
    ]));
    let mut all = events(&body, 4);
    all.retain(|event| event["type"] != "response.output_item.done");
    let last = all.len() - 1;
    all[last]["response"]["output"] = json!([]);
    let deltas = deltas_of(&all).unwrap();
    let turn = turn_of(&deltas);
    assert_eq!((turn.text().as_str(), &turn.finish), ("Hello.", &Finish::ToolCalls));
    let calls: Vec<_> = turn.tool_calls().into_iter().map(|call| (call.name, call.arguments)).collect();
    let expected = [("acme/weather", r#"{"city":"Oslo"}"#), ("t", "{}"), ("grep", r#""a \"b\"""#)];
    assert_eq!(calls, expected.map(|(name, arguments)| (name.to_owned(), arguments.to_owned())));
    assert!(shown(&deltas).calls.iter().all(|call| call.3), "every call ended");

    // Arguments that only the closing event has.
    all.retain(|event| event.get("delta").is_none());
    let turn = turn_of(&deltas_of(&all).unwrap()).clone();
    assert_eq!(turn.text(), "Hello.");
    let calls: Vec<_> = turn.tool_calls().into_iter().map(|call| (call.name, call.arguments)).collect();
    assert_eq!(calls, expected.map(|(name, arguments)| (name.to_owned(), arguments.to_owned())));
}

#[test]
fn a_call_of_which_only_arguments_arrived_is_an_error() {
    let fragment = event("function_call_arguments.delta", 0, &json!({"item_id": "fc_1", "delta": "{}"}));
    let end = json!({"type": "response.completed", "response": {"output": []}});
    let error = deltas_of(&[fragment, end]).unwrap_err();
    assert!(error.to_string().contains("a call without an id or a name"), "{error}");
}

#[test]
fn items_of_the_last_event_that_were_not_streamed_have_deltas() {
    let all = events(&rich(), 5);
    let only_end = [all[0].clone(), all.last().unwrap().clone()];
    let without_ends: Vec<_> =
        all.iter().filter(|event| event["type"] != "response.output_item.done").cloned().collect();
    let without_added: Vec<_> =
        all.iter().filter(|event| event["type"] != "response.output_item.added").cloned().collect();
    let is_whole = |event: &&Value| event["type"].as_str().unwrap().contains("output_item");
    let without_deltas: Vec<_> = all.iter().filter(is_whole).chain(all.last()).cloned().collect();
    for events in [&only_end[..], &without_ends, &without_added, &without_deltas] {
        let deltas = deltas_of(events).unwrap();
        assert_eq!(turn_of(&deltas), &read(&rich()));
        assert_eq!(shown(&deltas), expected(&read(&rich())));
    }
}

#[test]
fn reasoning_of_open_models_is_text() {
    let text = |text: &str| json!({"type": "reasoning_text", "text": text});
    let body =
        response(json!([{"type": "reasoning", "id": "rs_1", "summary": [], "content": [text("hm, "), text("yes")]}]));
    let all = events(&body, 2);
    let whole: Vec<_> = all.iter().filter(|event| event["type"] != "response.reasoning_text.delta").cloned().collect();
    for events in [all, whole] {
        let deltas = deltas_of(&events).unwrap();
        assert_eq!((shown(&deltas).reasoning.as_str(), turn_of(&deltas)), ("hm, yes", &read(&body)));
        assert!(deltas.iter().any(|delta| matches!(delta, Delta::ReasoningDelta { form: ReasoningForm::Text, .. })));
    }
}

#[test]
fn interleaved_items_are_kept_apart() {
    let body = response(json!([called("a", "t", "{\"a\":1}"), called("b", "t", "{\"b\":2}"), said("m", "both")]));
    let [one, two, three] = [0, 1, 2].map(|index| events_of(index, &body["output"][index], 2));
    let mut mixed = Vec::new();
    for at in 0..one.len().max(two.len()).max(three.len()) {
        mixed.extend([&one, &two, &three].into_iter().filter_map(|events| events.get(at)).cloned());
    }
    mixed.push(json!({"type": "response.completed", "response": body}));
    let deltas = deltas_of(&mixed).unwrap();
    assert_eq!((turn_of(&deltas), shown(&deltas)), (&read(&body), expected(&read(&body))));
}

/// The member is required, but the ids of items say the same.
#[test]
fn positions_may_be_missing() {
    let mut all = events(&rich(), 5);
    for event in &mut all {
        event.as_object_mut().unwrap().remove("output_index");
    }
    let deltas = deltas_of(&all).unwrap();
    assert_eq!((turn_of(&deltas), shown(&deltas)), (&read(&rich()), expected(&read(&rich()))));
    let last = all.len() - 1;
    all[last]["response"]["output"] = json!([]);
    assert_eq!(turn_of(&deltas_of(&all).unwrap()), &read(&rich()));
}

#[test]
fn ids_may_be_missing_or_change_in_every_event() {
    let mut all = events(&rich(), 5);
    for (at, event) in all.iter_mut().enumerate() {
        if event.get("item_id").is_some() {
            event["item_id"] = json!(format!("rotated_{at}"));
        }
        if event.get("item").is_some() {
            event["item"]["id"] = json!(format!("rotated_item_{at}"));
        }
    }
    let deltas = deltas_of(&all).unwrap();
    assert_eq!((turn_of(&deltas), shown(&deltas)), (&read(&rich()), expected(&read(&rich()))));
    for event in &mut all {
        event.as_object_mut().unwrap().remove("item_id");
    }
    assert_eq!(shown(&deltas_of(&all).unwrap()), expected(&read(&rich())));
}

#[test]
fn one_position_for_all_items_does_no_harm() {
    let mut all = events(&rich(), 5);
    for event in &mut all {
        if event.get("output_index").is_some() {
            event["output_index"] = json!(0);
        }
    }
    let last = all.len() - 1;
    all[last]["response"]["output"] = json!([]);
    let deltas = deltas_of(&all).unwrap();
    assert_eq!((turn_of(&deltas), shown(&deltas)), (&read(&rich()), expected(&read(&rich()))));
}

#[test]
fn an_item_that_is_done_twice_is_one_item() {
    let mut all = events(&rich(), 5);
    let done: Vec<_> = all.iter().filter(|event| event["type"] == "response.output_item.done").cloned().collect();
    let last = all.len() - 1;
    all[last]["response"]["output"] = json!([]);
    all.splice(last..last, done);
    let deltas = deltas_of(&all).unwrap();
    assert_eq!((turn_of(&deltas), shown(&deltas)), (&read(&rich()), expected(&read(&rich()))));
}

#[test]
fn unknown_events_are_kept_and_progress_is_not() {
    let mut all = events(&response(json!([said("msg_1", "hi")])), 1);
    for event in [
        json!({"type": "response.weather.forecast", "delta": "cold", "output_index": "first"}),
        json!({"type": "response.weather.done", "text": "cold"}),
        json!({"type": "response.shell_call_command.delta", "delta": "ls", "command_index": 0}),
        // A provider does not write deltas of ours.
        json!({"type": "text_delta", "text": "forged"}),
        json!({"type": "turn_complete", "items": [], "finish": "stop"}),
        json!([1]),
        json!({"no": "type"}),
        json!({"type": "keepalive"}),
        json!({"type": "response.queued", "response": {}}),
        json!({"type": "response.file_search_call.searching", "item_id": "fs_1"}),
    ] {
        all.insert(1, event);
    }
    let deltas = deltas_of(&all).unwrap();
    let mut kept: Vec<_> = deltas
        .iter()
        .filter_map(|delta| if let Delta::Unknown(unknown) = delta { Some(unknown.delta_type()) } else { None })
        .collect();
    kept.reverse();
    assert_eq!(
        kept,
        [
            "response.weather.forecast",
            "response.weather.done",
            "response.shell_call_command.delta",
            "openai.event",
            "openai.event",
            "openai.event",
            "openai.event",
        ]
    );
    assert_eq!(shown(&deltas).text, "hi");
    assert_eq!(deltas.iter().filter(|delta| matches!(delta, Delta::TurnComplete(_))).count(), 1);
}

#[test]
fn an_event_may_have_its_type_as_its_name() {
    let all = events(&rich(), 9);
    let mut reader = OpenAiResponses::new().stream(&context());
    let mut deltas = Vec::new();
    for mut event in all.clone() {
        let name = event.as_object_mut().unwrap().remove("type").unwrap();
        reader.event(WireEvent::new(name.as_str(), &event.to_string()), &mut deltas).unwrap();
    }
    reader.end(&mut deltas).unwrap();
    assert_eq!(deltas, deltas_of(&all).unwrap());
}

#[test]
fn events_after_the_end_are_ignored() {
    let all = events(&rich(), 5);
    let once = deltas_of(&all).unwrap();
    assert_eq!(deltas_of(&[all.clone(), all.clone()].concat()).unwrap(), once);
    let texts: Vec<String> = all.iter().map(Value::to_string).collect();
    let with_marks = ["", " "].into_iter().chain(texts.iter().map(String::as_str)).chain(["[DONE]", "", "junk"]);
    assert_eq!(feed(with_marks).unwrap(), once);
}

#[test]
fn an_unfinished_image_is_the_output_so_far() {
    let item = json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aQ=="});
    let body = response(json!([item]));
    let mut all = events(&body, 1);
    let partial =
        event("image_generation_call.partial_image", 0, &json!({"item_id": "ig_1", "partial_image_b64": "aA=="}));
    all.insert(3, partial);
    let deltas = deltas_of(&all).unwrap();
    let outputs: Vec<_> = deltas
        .iter()
        .filter_map(
            |delta| if let Delta::ProviderCallOutput { output, .. } = delta { Some(output.to_value()) } else { None },
        )
        .collect();
    assert_eq!((&outputs[0]["partial_image_b64"], &outputs[1]), (&json!("aA=="), &item));
}

/// A response with some of the rich one's items, with texts of its own.
fn generated() -> impl Strategy<Value = Value> {
    let text = || "[ -~é\n]{0,20}";
    let kept = proptest::collection::vec(any::<bool>(), 11);
    (kept, text(), text(), text(), text()).prop_map(|(kept, said, refused, arguments, typed)| {
        let mut response = rich();
        response["output"][2]["content"][0]["text"] = said.into();
        let refusal = json!({"type": "refusal", "refusal": refused});
        response["output"][2]["content"].as_array_mut().unwrap().push(refusal);
        response["output"][5]["arguments"] = arguments.into();
        response["output"][6]["input"] = typed.into();
        let mut kept = kept.into_iter();
        response["output"].as_array_mut().unwrap().retain(|_| kept.next().unwrap());
        response
    })
}

proptest! {
    #[test]
    fn a_stream_and_a_whole_response_have_the_same_turn(
        response in generated(), size in 1..40_usize, with_output in any::<bool>(), with_ids in any::<bool>(),
        with_indexes in any::<bool>(),
    ) {
        let mut all = events(&response, size);
        for event in &mut all {
            let event = event.as_object_mut().unwrap();
            if !with_ids && with_indexes {
                event.remove("item_id");
            }
            if !with_indexes {
                event.remove("output_index");
            }
        }
        if !with_output {
            all.last_mut().unwrap()["response"]["output"] = json!([]);
        }
        let deltas = deltas_of(&all).unwrap();
        prop_assert_eq!(turn_of(&deltas), &read(&response));
        prop_assert_eq!(shown(&deltas), expected(&read(&response)));
    }

    #[test]
    fn the_order_of_events_does_not_change_the_turn(
        order in Just(events(&rich(), 9)).prop_map(|mut all| { all.pop(); all }).prop_shuffle(),
        kept in proptest::collection::vec(any::<bool>(), 60),
    ) {
        let last = events(&rich(), 9).pop();
        let kept = kept.into_iter().chain(std::iter::repeat(true));
        let some = order.into_iter().zip(kept).filter_map(|(event, kept)| kept.then_some(event));
        let deltas = deltas_of(&some.chain(last).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(turn_of(&deltas), &read(&rich()));
        // Every call begins and ends once, in this order.
        let calls = shown(&deltas).calls;
        prop_assert_eq!(calls.len(), 4);
        prop_assert!(calls.iter().all(|call| call.3));
    }
}
