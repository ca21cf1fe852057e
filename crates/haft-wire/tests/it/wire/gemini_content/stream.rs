//! Streams.

use haft_core::{Delta, Finish, Item, ReasoningForm, Turn, Usage};
use haft_wire::{ErrorCause, GeminiContent, ReadError, Wire, WireEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{context, parts_of, read, response, rich};
use crate::seeded;

pub(super) fn feed<'e>(events: impl IntoIterator<Item = &'e str>) -> Result<Vec<Delta>, ReadError> {
    let mut reader = GeminiContent::new().stream(&context());
    let mut deltas = Vec::new();
    for event in events {
        reader.event(WireEvent::new(None, event), &mut deltas)?;
    }
    reader.end(&mut deltas)?;
    Ok(deltas)
}

fn deltas_of(chunks: &[Value]) -> Result<Vec<Delta>, ReadError> {
    let texts: Vec<String> = chunks.iter().map(Value::to_string).collect();
    feed(texts.iter().map(String::as_str))
}

fn turn_of(deltas: &[Delta]) -> &Turn {
    let Some(Delta::TurnComplete(turn)) = deltas.last() else { panic!("{deltas:?}") };
    turn
}

fn chunk(parts: &[Value]) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

/// Cuts text into pieces of so many characters.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size.max(1)).map(|piece| piece.iter().collect()).collect()
}

/// Cuts a text that nothing but its thought mark belongs to. Other parts arrive whole.
fn chopped(part: &Value, size: usize) -> Vec<Value> {
    let members = part.as_object().unwrap();
    match part["text"].as_str() {
        Some(text) if members.keys().all(|name| name == "text" || name == "thought") => pieces(text, size)
            .into_iter()
            .map(|piece| {
                let mut part = part.clone();
                part["text"] = piece.into();
                part
            })
            .collect(),
        _ => vec![part.clone()],
    }
}

/// Returns the chunks that carry a response.
pub(super) fn chunks(response: &Value, size: usize) -> Vec<Value> {
    let mut chunks: Vec<Value> = parts_of(response)
        .iter()
        .flat_map(|part| chopped(part, size))
        .map(|part| {
            let mut chunk = chunk(&[part]);
            chunk["usageMetadata"] = json!({"promptTokenCount": 100});
            chunk["modelVersion"] = response["modelVersion"].clone();
            chunk["responseId"] = response["responseId"].clone();
            chunk
        })
        .collect();
    let mut last = response.clone();
    last["candidates"][0]["content"] = json!({"role": "model", "parts": [{"text": ""}]});
    chunks.push(last);
    chunks
}

/// Rebuilds texts, thoughts and calls from deltas alone.
fn displayed(deltas: &[Delta]) -> (String, String, Vec<(String, String, String)>) {
    let (mut text, mut thoughts, mut calls) = (String::new(), String::new(), Vec::new());
    for delta in deltas {
        match delta {
            Delta::TextDelta { text: more, .. } => text.push_str(more),
            Delta::ReasoningDelta { text: more, form: ReasoningForm::Summary, .. } => thoughts.push_str(more),
            Delta::ToolCallStart { call_id, name } => calls.push((call_id.to_string(), name.clone(), String::new())),
            Delta::ToolCallArgsDelta { call_id, arguments } => {
                let call = calls.iter_mut().find(|(id, ..)| call_id == id.as_str()).unwrap();
                call.2.push_str(arguments);
            }
            _ => {}
        }
    }
    (text, thoughts, calls)
}

/// The same from the turn. Deltas have the arguments as the model wrote them.
fn contained(turn: &Turn) -> (String, String, Vec<(String, String, String)>) {
    let thoughts = turn.items.iter().filter_map(|item| match item {
        Item::Reasoning(reasoning) => Some(reasoning.summary.concat()),
        _ => None,
    });
    let calls = turn.tool_calls().into_iter().map(|call| {
        let written = call.provider_data.get("google").and_then(|data| data["arguments"].as_str());
        (call.call_id.to_string(), call.name.clone(), written.unwrap_or(&call.arguments).to_owned())
    });
    (turn.text(), thoughts.collect(), calls.collect())
}

#[test]
fn a_stream_has_its_deltas() {
    let deltas = serde_json::to_value(deltas_of(&chunks(&rich(), 12)).unwrap()).unwrap();
    insta::assert_json_snapshot!("stream", deltas);
}

#[test]
fn a_stream_that_ends_early_is_incomplete() {
    let all = chunks(&rich(), 5);
    for length in 0..all.len() {
        assert!(matches!(deltas_of(&all[..length]), Err(ReadError::Incomplete)), "{length}");
    }
    assert_eq!(turn_of(&deltas_of(&all).unwrap()), &read(&rich()));
}

#[test]
fn usage_is_reported_when_it_changes() {
    let deltas = deltas_of(&chunks(&rich(), 3)).unwrap();
    let usages: Vec<_> = deltas
        .iter()
        .filter_map(|delta| if let Delta::UsageUpdate(usage) = delta { Some(*usage) } else { None })
        .collect();
    assert_eq!(usages, [Usage::new(100, 0), Usage::new(105, 50).total(155).cache_read(40).reasoning(30)]);
}

#[test]
fn a_signature_after_a_text_is_a_part_of_its_own() {
    let parts = [json!({"text": "Hel"}), json!({"text": "lo"}), json!({"text": "", "thoughtSignature": "s"})];
    let mut all: Vec<Value> = parts.iter().map(|part| chunk(std::slice::from_ref(part))).collect();
    all.push(json!({"candidates": [{"finishReason": "STOP"}]}));
    let deltas = deltas_of(&all).unwrap();
    let mut history = vec![Item::user("go")];
    history.extend(turn_of(&deltas).items.clone());
    let expected = json!([{"text": "Hello"}, {"text": "", "thoughtSignature": "s"}]);
    assert_eq!(super::contents(history)[1]["parts"], expected);
}

#[test]
fn events_of_proxies_do_no_harm() {
    let once = deltas_of(&chunks(&rich(), 5)).unwrap();
    let texts: Vec<String> = chunks(&rich(), 5).iter().map(Value::to_string).collect();
    let with_marks = texts.iter().map(String::as_str).chain(["", " ", "[DONE]", "\n"]);
    assert_eq!(feed(with_marks).unwrap(), once);
}

#[test]
fn unknown_chunks_are_kept() {
    let mut all = chunks(&response(json!([{"text": "hi"}]), "STOP"), 9);
    all.insert(0, json!({"weather": "cold"}));
    // A provider does not write deltas of ours.
    all.insert(0, json!({"type": "text_delta", "text": "forged"}));
    let deltas = deltas_of(&all).unwrap();
    let kept: Vec<_> = deltas
        .iter()
        .filter_map(|delta| if let Delta::Unknown(unknown) = delta { Some(unknown.delta_type()) } else { None })
        .collect();
    assert_eq!(kept, ["google.chunk", "google.chunk"]);
    assert_eq!(turn_of(&deltas).text(), "hi");
}

#[test]
fn an_error_in_a_stream_is_an_error_of_the_provider() {
    let mut all = chunks(&rich(), 5);
    all[4] = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Slow down"}});
    let Err(ReadError::Provider(report)) = deltas_of(&all) else { panic!("no error of the provider") };
    assert_eq!((report.cause, report.message.as_str()), (ErrorCause::RateLimited, "Slow down"));
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}});
    let Err(ReadError::Provider(report)) = deltas_of(&[blocked]) else { panic!("no error of the provider") };
    assert_eq!(report.cause, ErrorCause::ContentFiltered);
}

#[test]
fn sources_of_several_chunks_are_merged() {
    let mut all = chunks(&response(json!([{"text": "Sunny all day"}]), "STOP"), 99);
    all[0]["candidates"][0]["groundingMetadata"] = rich()["candidates"][0]["groundingMetadata"].clone();
    all[1]["candidates"][0]["groundingMetadata"] = json!({"retrievalMetadata": {"score": 1}});
    let deltas = deltas_of(&all).unwrap();
    let data = &turn_of(&deltas).provider_data["google"]["groundingMetadata"];
    assert_eq!((&data["retrievalMetadata"]["score"], &data["webSearchQueries"]), (&json!(1), &json!(["oslo"])));
    let cited = deltas.iter().filter(|delta| matches!(delta, Delta::CitationDelta { part: 0, .. })).count();
    assert_eq!(cited, 1);
}

/// A call whose arguments arrive in pieces.
fn partial(calls: &[Value], finish_reason: &str) -> Vec<Value> {
    let mut all: Vec<Value> = calls.iter().map(|call| chunk(&[json!({"functionCall": call})])).collect();
    all.push(json!({"candidates": [{"finishReason": finish_reason}]}));
    all
}

#[test]
fn arguments_in_pieces_are_put_together() {
    let mut all = partial(
        &[
            json!({"id": "f1", "name": "acme--weather", "args": {}, "willContinue": true}),
            json!({"partialArgs": [{"jsonPath": "$.city", "stringValue": "Os", "willContinue": true}], "willContinue": true}),
            json!({"name": "acme--weather", "partialArgs": [{"jsonPath": "$.city", "stringValue": "lo"}], "willContinue": true}),
            json!({"partialArgs": [{"jsonPath": "$.day_count", "numberValue": 3}], "willContinue": true}),
            json!({}),
            json!({"id": "f2", "name": "gone", "args": {"a": 1}}),
        ],
        "STOP",
    );
    all[4]["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = json!("s");
    let deltas = deltas_of(&all).unwrap();
    let calls = turn_of(&deltas).tool_calls();
    assert_eq!(calls[0].arguments, r#"{"city":"Oslo","day-count":3}"#);
    assert_eq!(calls[0].provider_data["google"]["thoughtSignature"], "s");
    assert_eq!((calls[1].arguments.as_str(), &turn_of(&deltas).finish), (r#"{"a":1}"#, &Finish::ToolCalls));
    assert_eq!(displayed(&deltas), contained(turn_of(&deltas)));
}

#[test]
fn a_call_that_is_cut_off_is_part_of_a_turn_that_is() {
    let open = [
        json!({"name": "gone", "willContinue": true}),
        json!({"partialArgs": [{"jsonPath": "$.a", "stringValue": "x", "willContinue": true}], "willContinue": true}),
    ];
    let deltas = deltas_of(&partial(&open, "MAX_TOKENS")).unwrap();
    let turn = turn_of(&deltas);
    assert_eq!((turn.tool_calls().len(), &turn.finish), (1, &Finish::Length));
    assert!(turn.is_cut_off());
    assert!(deltas_of(&partial(&open, "STOP")).unwrap_err().to_string().contains("incomplete"));
    let other = [open[0].clone(), json!({"name": "other"})];
    assert!(deltas_of(&partial(&other, "STOP")).unwrap_err().to_string().contains("`gone` are incomplete"));
}

#[test]
fn parallel_calls_of_one_chunk_and_of_several_are_the_same() {
    let calls = json!([
        {"functionCall": {"name": "gone", "args": {"a": 1}}, "thoughtSignature": "s"},
        {"functionCall": {"name": "gone", "args": {"a": 2}}},
        {"functionCall": {"id": "f3", "name": "acme--weather", "args": {"city": "Oslo"}}},
    ]);
    let body = response(calls, "STOP");
    let one = deltas_of(std::slice::from_ref(&body)).unwrap();
    let several = deltas_of(&chunks(&body, 1)).unwrap();
    assert_eq!(turn_of(&one), turn_of(&several));
    assert_eq!(turn_of(&one), &read(&body));
    assert_eq!(turn_of(&one).tool_calls().len(), 3);
}

#[test]
fn text_around_calls_keeps_its_place() {
    let body = response(
        json!([{"text": "a"}, {"functionCall": {"name": "gone"}}, {"text": "b"}, {"text": "t", "thought": true}, {"text": "c"}]),
        "STOP",
    );
    let deltas = deltas_of(&chunks(&body, 1)).unwrap();
    let kinds: Vec<_> = turn_of(&deltas)
        .items
        .iter()
        .map(|item| match item {
            Item::Message(_) => "message",
            Item::ToolCall(_) => "call",
            Item::Reasoning(_) => "reasoning",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["message", "call", "message", "reasoning", "message"]);
}

#[test]
fn a_stream_and_a_whole_response_have_the_same_turn() {
    let drawn = (1..40_usize, super::echo::parts());
    seeded::for_all(200, drawn, |(size, mut parts)| {
        parts.push(json!({"text": "."}));
        let body = response(parts.into(), "STOP");
        let deltas = deltas_of(&chunks(&body, size)).unwrap();
        prop_assert_eq!(turn_of(&deltas), &read(&body));
        prop_assert_eq!(displayed(&deltas), contained(turn_of(&deltas)));
        Ok(())
    });
    seeded::for_all(50, 1..40_usize, |size| {
        let deltas = deltas_of(&chunks(&rich(), size)).unwrap();
        prop_assert_eq!(turn_of(&deltas), &read(&rich()));
        prop_assert_eq!(displayed(&deltas), contained(turn_of(&deltas)));
        Ok(())
    });
}
