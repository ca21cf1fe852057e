//! Requests and responses, judged by the types of the SDK.

use haft_core::{ContentPart, Delta, Item, Message, OutputFormat, ToolChoice, TurnRequest};
use haft_parts::{Judge, WireName};
use haft_wire::{Delivery, GeminiContent, Profile, Wire, WireEvent};
use serde_json::json;

use super::{MODEL, body_of, context, weather};

#[test]
fn the_sdk_accepts_requests() {
    let mut request = super::request::request();
    // `telepathy` is no part of the SDK.
    let known = |item: Item| match item {
        Item::Message(Message { role, content, .. }) => {
            let content = content.into_iter().filter(|part| !matches!(part, ContentPart::Unknown(_))).collect();
            Item::Message(Message::new(role, content))
        }
        other => other,
    };
    request.history = super::request::history().into_iter().map(known).collect::<Vec<_>>().into();
    for wire in [
        GeminiContent::new(),
        GeminiContent::new().without_call_ids(),
        GeminiContent::new().profile(Profile::gemini_parameters()),
    ] {
        let sent = wire.request(&request, Delivery::Streamed).unwrap();
        Judge::shared().assert_valid(WireName::Gemini, &body_of(&sent));
    }
}

#[test]
fn the_sdk_accepts_every_choice_and_format() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let search = haft_wire::catalogue::google::google_search().define().unwrap().descriptor();
    let base = TurnRequest::new(MODEL, vec![Item::assistant("Hi!"), Item::user("hi"), Item::system("Be brief.")])
        .tools(&vec![std::sync::Arc::new(weather()), search])
        .output_format(OutputFormat::new("o", schema));
    for choice in [
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::tool("acme/weather"),
        ToolChoice::may_call(["acme/weather"]),
        ToolChoice::must_call_one_of(["acme/weather"]),
    ] {
        for profile in [Profile::gemini(), Profile::gemini_parameters()] {
            let wire = GeminiContent::new().profile(profile);
            let sent = wire.request(&base.clone().tool_choice(choice.clone()), Delivery::Whole).unwrap();
            Judge::shared().assert_valid(WireName::Gemini, &body_of(&sent));
        }
    }
}

#[test]
fn every_response_of_the_sdk_is_read_and_sent_back() {
    let wire = GeminiContent::new();
    let mut read = 0;
    for sample in Judge::shared().samples(WireName::Gemini) {
        let Some(body) = &sample.body else { continue };
        let Ok(turn) = wire.response(&body.to_string(), &context()) else { continue };
        read += 1;
        let mut history = vec![Item::user("go")];
        let outputs: Vec<Item> = turn
            .tool_calls()
            .iter()
            .map(|call| haft_core::ToolCallOutput::new(call.call_id.clone(), "done").into())
            .collect();
        history.extend(turn.items);
        history.extend(outputs);
        let sent = wire.request(&TurnRequest::new(MODEL, history), Delivery::Whole).unwrap();
        if !sample.name.starts_with("unknown") {
            Judge::shared().assert_valid(WireName::Gemini, &body_of(&sent));
        }
    }
    assert!(read > 3, "{read}");
}

#[test]
fn every_stream_of_the_sdk_has_the_turn_of_its_response() {
    let wire = GeminiContent::new();
    let mut compared = 0;
    for sample in Judge::shared().samples(WireName::Gemini) {
        let (Some(body), Some(sse)) = (&sample.body, &sample.sse) else { continue };
        let mut reader = wire.stream(&context());
        let mut deltas = Vec::new();
        let events = sse.lines().filter_map(|line| line.strip_prefix("data:"));
        let streamed: Result<Vec<()>, _> =
            events.map(|data| reader.event(WireEvent::new(None, data), &mut deltas)).collect();
        let streamed = streamed.and_then(|_| reader.end(&mut deltas));
        match wire.response(&body.to_string(), &context()) {
            Ok(turn) => {
                streamed.unwrap_or_else(|error| panic!("{}: {error}", sample.name));
                let Some(Delta::TurnComplete(complete)) = deltas.pop() else { panic!("{}", sample.name) };
                assert_eq!((complete.text(), &complete.finish), (turn.text(), &turn.finish), "{}", sample.name);
                assert_eq!(complete.tool_calls().len(), turn.tool_calls().len(), "{}", sample.name);
                compared += 1;
            }
            Err(_) => assert!(streamed.is_err(), "{}", sample.name),
        }
    }
    assert!(compared > 3, "{compared}");
}
