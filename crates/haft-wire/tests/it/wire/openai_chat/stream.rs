//! Streams.

use haft_core::{Delta, Finish, Turn};
use haft_wire::{OpenAiChat, ReadError, Wire, WireEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::response::{completion, context};

fn read(events: &[String]) -> Result<Vec<Delta>, ReadError> {
    let mut reader = OpenAiChat::new().stream(&context());
    let mut deltas = Vec::new();
    for event in events {
        reader.event(WireEvent::new(None, event), &mut deltas)?;
    }
    reader.end(&mut deltas)?;
    Ok(deltas)
}

fn turn(deltas: &[Delta]) -> &Turn {
    match deltas.last() {
        Some(Delta::TurnComplete(turn)) => turn,
        other => panic!("{other:?}"),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn chunk(delta: Value) -> String {
    json!({"id": "r1", "model": "gpt-4o-2024", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
        .to_string()
}

fn finish(reason: &str) -> String {
    json!({"id": "r1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}).to_string()
}

#[test]
fn a_stream_has_its_deltas() {
    let events = [
        chunk(json!({"role": "assistant", "content": ""})),
        chunk(json!({"content": "It "})),
        chunk(json!({"content": "rains."})),
        chunk(json!({"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "gone", "arguments": ""}}]})),
        chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"ci"}}]})),
        chunk(
            json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "acme--weather", "arguments": "ty\":"}}]}),
        ),
        chunk(
            json!({"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}, {"index": 0, "id": "other", "function": {"arguments": "\"Oslo\"}"}}]}),
        ),
        finish("tool_calls"),
        json!({"id": "r1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}})
            .to_string(),
        json!({"notice": "unknown"}).to_string(),
        "[DONE]".to_owned(),
    ];
    insta::assert_json_snapshot!(read(&events).unwrap());
}

#[test]
fn a_stream_without_its_end_is_incomplete() {
    let events = [chunk(json!({"content": "It "})), "[DONE]".to_owned()];
    assert!(matches!(read(&events), Err(ReadError::Incomplete)));
    assert!(matches!(read(&events[..1]), Err(ReadError::Incomplete)));
    let ended = [chunk(json!({"content": "It "})), finish("length")];
    assert_eq!(turn(&read(&ended).unwrap()).finish, Finish::Length);
}

#[test]
fn an_error_in_a_stream_is_reported() {
    let events = [
        chunk(json!({"content": "It "})),
        json!({"error": {"message": "overloaded", "type": "server_error"}}).to_string(),
    ];
    let error = read(&events).unwrap_err();
    assert!(matches!(&error, ReadError::Provider(report) if report.message == "overloaded"), "{error}");
}

#[test]
fn an_error_in_a_stream_is_short_and_contains_no_key() {
    let message = format!("Incorrect key: sk-abcdef123456. {}", "a".repeat(100_000));
    let event = json!({"error": {"message": message, "code": "invalid_api_key"}}).to_string();
    let Err(ReadError::Provider(report)) = read(&[event]) else { panic!("no error") };
    assert!(report.message.starts_with("Incorrect key: [key] a"), "{}", report.message);
    assert!(report.message.len() < 3_000, "{} bytes", report.message.len());
}

#[test]
fn calls_that_share_an_index_are_told_apart_by_their_ids() {
    let whole =
        |id: &str| json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": "t", "arguments": "{}"}}]});
    let events = [chunk(whole("a")), chunk(whole("b")), finish("stop")];
    let deltas = read(&events).unwrap();
    let ids: Vec<_> = turn(&deltas).tool_calls().into_iter().map(|call| call.call_id.to_string()).collect();
    assert_eq!(ids, ["a", "b"]);
}

#[test]
fn an_event_that_is_no_json_is_an_error() {
    for event in ["{", "[1", "null", "3", r#""text""#] {
        assert!(matches!(read(&[event.to_owned()]), Err(ReadError::Invalid { .. })), "{event}");
    }
}

/// Cuts text into pieces at these places.
fn pieces(text: &str, cuts: &[usize]) -> Vec<String> {
    let mut places: Vec<usize> =
        cuts.iter().map(|cut| cut % (text.len() + 1)).filter(|at| text.is_char_boundary(*at)).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.dedup();
    places.windows(2).map(|pair| text[pair[0]..pair[1]].to_owned()).collect()
}

proptest! {
    /// However an answer is cut, the stream ends in the turn of the whole response.
    #[test]
    fn a_stream_ends_in_the_turn_of_the_whole_response(
        text in "[a-zé\"\\\\ ]{1,12}",
        reasoning in "[a-z ]{0,12}",
        arguments in prop::collection::vec("[a-z{}\"]{1,12}", 0..4),
        cuts in prop::collection::vec(0..64usize, 0..8),
        interleaved in any::<bool>(),
    ) {
        let calls: Vec<_> = arguments.iter().enumerate().map(|(at, arguments)| {
            json!({"id": format!("c{at}"), "type": "function", "function": {"name": "acme--weather", "arguments": arguments}})
        }).collect();
        let mut message = json!({"content": text, "reasoning_content": reasoning});
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        let whole = OpenAiChat::new().response(&completion(message, "stop").to_string(), &context()).unwrap();

        let mut events: Vec<String> = pieces(&reasoning, &cuts).iter().map(|piece| chunk(json!({"reasoning_content": piece}))).collect();
        events.extend(pieces(&text, &cuts).iter().map(|piece| chunk(json!({"content": piece}))));
        for (at, _) in arguments.iter().enumerate() {
            events.push(chunk(json!({"tool_calls": [{"index": at, "id": format!("c{at}"), "function": {"name": "acme--weather", "arguments": ""}}]})));
        }
        let mut fragments: Vec<(usize, usize, String)> = Vec::new();
        for (at, arguments) in arguments.iter().enumerate() {
            fragments.extend(pieces(arguments, &cuts).into_iter().enumerate().map(|(order, piece)| (order, at, piece)));
        }
        if interleaved {
            fragments.sort_by_key(|(order, ..)| *order);
        }
        events.extend(fragments.iter().map(|(_, at, piece)| chunk(json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}))));
        events.push(finish("stop"));
        events.push(json!({"choices": [], "usage": completion(json!({}), "stop")["usage"]}).to_string());
        events.push("[DONE]".to_owned());
        let deltas = read(&events).unwrap();
        prop_assert_eq!(turn(&deltas), &whole);
    }
}
