//! Whole responses.

use haft_core::{
    ContentPart, Finish, Item, MediaData, Message, OutputFormat, ProviderCall, Reasoning, Role, TextPart, ToolCall,
    ToolCallOutput, TurnRequest, Usage,
};
use haft_wire::{ErrorCause, GeminiContent, ReadError, Wire};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MODEL, context, read, response, rich, send};
use crate::seeded;

fn fail(body: &Value) -> ReadError {
    GeminiContent::new().response(&body.to_string(), &context()).unwrap_err()
}

#[test]
fn a_rich_response_has_its_turn() {
    insta::assert_json_snapshot!("response", read(&rich()));
}

#[test]
fn every_reason_for_the_end_has_its_meaning() {
    let call = json!({"functionCall": {"name": "gone"}});
    for (parts, reason, finish) in [
        (json!([{"text": "hi"}]), "STOP", Finish::Stop),
        (json!([call]), "STOP", Finish::ToolCalls),
        (json!([call]), "MAX_TOKENS", Finish::Length),
        (json!([]), "SAFETY", Finish::ContentFilter),
        (json!([]), "UNEXPECTED_TOOL_CALL", Finish::Error),
        (json!([call]), "ECLIPSE", Finish::Other("ECLIPSE".to_owned())),
    ] {
        assert_eq!(read(&response(parts, reason)).finish, finish);
    }
    assert!(read(&json!({"candidates": [{"content": {"parts": []}}]})).is_cut_off());
}

#[test]
fn the_explanation_of_an_end_is_kept() {
    let mut body = response(json!([]), "UNEXPECTED_TOOL_CALL");
    body["candidates"][0]["finishMessage"] = json!("Unexpected tool call: print(");
    assert_eq!(read(&body).provider_data["google"]["finishMessage"], "Unexpected tool call: print(");
}

#[test]
fn a_response_that_is_no_turn_is_an_error_that_may_pass() {
    let mut malformed = response(json!([{"text": "hi"}]), "MALFORMED_FUNCTION_CALL");
    malformed["candidates"][0]["finishMessage"] = json!("Malformed function call: print(");
    let thought = response(json!([{"text": "hm", "thought": true}]), "STOP");
    for (body, text) in [
        (
            malformed,
            "the model wrote a call that can't be read (MALFORMED_FUNCTION_CALL): Malformed function call: print(",
        ),
        (response(json!([]), "STOP"), "the model ended its turn without an answer (STOP)"),
        (thought, "the model ended its turn without an answer (STOP)"),
    ] {
        let ReadError::Provider(report) = fail(&body) else { panic!("{body}") };
        assert_eq!((report.cause, report.message.as_str()), (ErrorCause::Unavailable, text));
    }
}

#[test]
fn usage_counts_thoughts_and_the_cache() {
    let usage = read(&response(json!([{"text": "hi"}]), "STOP")).usage;
    assert_eq!(usage, Usage::new(105, 50).total(155).cache_read(40).reasoning(30));
    for none in [json!(null), json!({}), json!("many"), json!({"promptTokenCount": -1})] {
        assert_eq!(read(&json!({"candidates": [{}], "usageMetadata": none})).usage, Usage::default());
    }
}

#[test]
fn absent_and_unknown_members_are_tolerated() {
    let turn = read(&json!({
        "candidates": [{
            "content": {"parts": [{}, null, {"thought": true}, {"text": ""}, {"text": null}, {"text": "hi"}], "new": 1},
            "safetyRatings": 5, "tokenCount": "x", "finishReason": "STOP",
        }],
        "new": {}, "createTime": "now",
    }));
    assert_eq!((turn.text(), turn.items.len()), ("hi".to_owned(), 1));
    assert_eq!((turn.response_id, turn.model), (None, None));
    for empty in [json!({"candidates": [{"content": null}]}), json!({"candidates": [{"content": {"parts": null}}]})] {
        assert_eq!(read(&empty).items.len(), 0);
    }
}

#[test]
fn the_first_of_several_answers_is_the_turn() {
    let mut body = response(json!([{"text": "first"}]), "STOP");
    let other = json!({"index": 1, "content": {"parts": [{"text": "second"}]}, "finishReason": "MAX_TOKENS"});
    body["candidates"].as_array_mut().unwrap().push(other);
    let turn = read(&body);
    assert_eq!((turn.text().as_str(), &turn.finish), ("first", &Finish::Stop));
}

#[test]
fn calls_get_ids_that_follow_from_their_place() {
    let calls = json!([{"functionCall": {"name": "gone"}}, {"functionCall": {"name": "gone", "id": ""}}]);
    let ids = |items: usize| -> Vec<String> {
        let history = vec![Item::user("hi"); items];
        let context = send(&TurnRequest::new(MODEL, history)).unwrap().context;
        let body = response(calls.clone(), "STOP").to_string();
        let turn = GeminiContent::new().response(&body, &context).unwrap();
        turn.tool_calls().iter().map(|call| call.call_id.to_string()).collect()
    };
    assert_eq!(ids(1), ["call_1_1", "call_1_2"]);
    assert_eq!(ids(3), ["call_3_1", "call_3_2"]);
    assert_eq!(ids(3), ids(3));
}

#[test]
fn a_history_that_was_shortened_has_no_id_twice() {
    let calls = json!([{"functionCall": {"name": "gone"}}, {"functionCall": {"name": "gone"}}]).to_string();
    let body = format!(r#"{{"candidates":[{{"content":{{"parts":{calls}}},"finishReason":"STOP"}}]}}"#);
    let wire = GeminiContent::new();
    let mut history = vec![Item::user("hi"); 3];
    let mut ids = Vec::new();
    for _ in 0..3 {
        let context = send(&TurnRequest::new(MODEL, history.clone())).unwrap().context;
        let turn = wire.response(&body, &context).unwrap();
        let calls = turn.tool_calls();
        ids.extend(calls.iter().map(|call| call.call_id.clone()));
        history.extend(turn.items);
        history.extend(calls.iter().map(|call| ToolCallOutput::new(call.call_id.clone(), "done").into()));
        // All but the last calls and their outputs is forgotten.
        history = std::iter::once(Item::user("summary")).chain(history.split_off(history.len() - 4)).collect();
    }
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    for id in ["call_abc_1", "call_4294967295_1", "call_99999999999999999999_1", "call_3", "call_1_x", ""] {
        let history =
            vec![Item::user("hi"), ToolCall::new(id, "t", "{}").into(), ToolCallOutput::new(id, "done").into()];
        let context = send(&TurnRequest::new(MODEL, history)).unwrap().context;
        let id = wire.response(&body, &context).unwrap().tool_calls()[0].call_id.to_string();
        assert!(id.starts_with("call_") && id.ends_with("_1"), "{id}");
    }
}

#[test]
fn calls_with_the_same_id_are_told_apart() {
    let turn = read(&response(
        json!([
            {"functionCall": {"id": "x", "name": "gone", "args": {"a": 1}}},
            {"functionCall": {"id": "x", "name": "gone", "args": {"a": 2}}},
            {"functionCall": {"id": "call_1_2", "name": "gone", "args": {"a": 3}}},
            {"functionCall": {"name": "gone", "args": {"a": 4}}},
        ]),
        "STOP",
    ));
    let calls = turn.tool_calls();
    let ids: std::collections::HashSet<_> = calls.iter().map(|call| call.call_id.clone()).collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    let arguments: Vec<_> = calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, [r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":3}"#, r#"{"a":4}"#]);
    // The provider gets its own ids back.
    let mut history = vec![Item::user("go")];
    history.extend(turn.items);
    history.extend(calls.iter().map(|call| ToolCallOutput::new(call.call_id.clone(), "done").into()));
    let sent = super::contents(history);
    let ids: Vec<_> = (0..4).map(|at| &sent[1]["parts"][at]["functionCall"]["id"]).collect();
    assert_eq!(ids, [&json!("x"), &json!("x"), &json!("call_1_2"), &Value::Null]);
}

#[test]
fn arguments_are_decoded_and_kept_as_written() {
    let turn = read(&rich());
    let calls = turn.tool_calls();
    assert_eq!(calls[0].name, "acme/weather");
    assert_eq!(calls[0].arguments, r#"{"city":"Oslo","day-count":3}"#);
    assert_eq!(calls[0].provider_data["google"]["arguments"], r#"{"city":"Oslo","day_count":3}"#);
    assert_eq!((calls[1].name.as_str(), calls[1].arguments.as_str()), ("gone", "{}"));
    for (args, text) in [(json!(null), "{}"), (json!([1]), "[1]"), (json!("x"), "\"x\"")] {
        let turn = read(&response(json!([{"functionCall": {"name": "gone", "args": args}}]), "STOP"));
        assert_eq!(turn.tool_calls()[0].arguments, text);
    }
}

#[test]
fn a_call_without_a_name_is_an_error() {
    for call in [json!({}), json!({"name": ""}), json!({"name": null, "args": {}}), json!({"id": "a"})] {
        let error = fail(&response(json!([{"functionCall": call}]), "STOP"));
        assert!(error.to_string().contains("has no name"), "{error}");
    }
    let error = fail(&response(json!([{"functionCall": {"name": "gone", "willContinue": true}}]), "STOP"));
    assert!(error.to_string().contains("`gone` are incomplete"), "{error}");
}

#[test]
fn text_with_unknown_members_is_still_text() {
    let turn = read(&response(
        json!([{"text": "a"}, {"text": "b", "new": {"x": 1}}, {"text": "c"}, {"text": "t", "thought": true, "new": 2}]),
        "STOP",
    ));
    assert_eq!(turn.text(), "abc");
    let Some(Item::Message(message)) = turn.items.first() else { panic!("{:?}", turn.items) };
    assert_eq!(message.content.len(), 3, "the members belong to their part alone");
    let Some(Item::Reasoning(thought)) = turn.items.last() else { panic!("{:?}", turn.items) };
    assert_eq!(thought.provider_data["google"]["members"], json!({"new": 2}));
}

#[test]
fn media_are_parts_of_the_message() {
    let turn = read(&response(
        json!([
            {"text": "See: "},
            {"inlineData": {"mimeType": "image/png", "data": "aQ=="}},
            {"inlineData": {"mimeType": "audio/L16;rate=24000", "data": "aQ=="}},
            {"fileData": {"mimeType": "video/mp4", "fileUri": "https://a.example/v", "displayName": "v"}},
            {"inlineData": {"mimeType": "image/png", "data": "aQ=="}, "thought": true},
            {"inlineData": {"data": 5}},
        ]),
        "STOP",
    ));
    let [Item::Message(message)] = turn.items.as_slice() else { panic!("{:?}", turn.items) };
    let [_, ContentPart::Image(image), ContentPart::Audio(audio), ContentPart::File(file), thought, invalid] =
        message.content.as_slice()
    else {
        panic!("{message:?}")
    };
    assert_eq!(image.data, MediaData::Base64("aQ==".to_owned()));
    assert_eq!(audio.media_type.as_deref(), Some("audio/L16;rate=24000"));
    assert_eq!((&file.data, file.name.as_deref()), (&MediaData::Url("https://a.example/v".to_owned()), Some("v")));
    assert!(matches!((thought, invalid), (ContentPart::Unknown(_), ContentPart::Unknown(_))));
}

#[test]
fn a_blocked_prompt_is_an_error_of_the_filter() {
    let body = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "No."}});
    let ReadError::Provider(report) = fail(&body) else { panic!("another error") };
    assert_eq!(report.cause, ErrorCause::ContentFiltered);
    assert_eq!(report.message, "the prompt was blocked: PROHIBITED_CONTENT: No.");
    let mut answered = response(json!([{"text": "hi"}]), "STOP");
    for feedback in [json!({"blockReason": "OTHER"}), json!({"safetyRatings": []}), json!(7), json!(null)] {
        answered["promptFeedback"] = feedback;
        assert_eq!(read(&answered).text(), "hi");
    }
}

#[test]
fn a_response_without_an_answer_is_an_error() {
    for body in
        [json!({}), json!({"candidates": []}), json!({"candidates": null}), json!({"usageMetadata": {}}), json!([])]
    {
        assert!(fail(&body).to_string().contains("no candidates"), "{body}");
    }
    for body in [json!("text"), json!(5), json!({"candidates": {}}), json!({"candidates": [{"content": "hi"}]})] {
        assert!(fail(&body).to_string().contains("the response is invalid"), "{body}");
    }
    let ReadError::Provider(report) =
        fail(&json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "Busy"}}))
    else {
        panic!("another error")
    };
    assert_eq!((report.cause, report.message.as_str()), (ErrorCause::Unavailable, "Busy"));
}

#[test]
fn sources_are_cited_where_they_support_the_text() {
    let turn = read(&rich());
    let cited: Vec<_> = turn
        .items
        .iter()
        .filter_map(|item| if let Item::Message(message) = item { Some(&message.content) } else { None })
        .flatten()
        .filter_map(|part| if let ContentPart::Text(text) = part { Some(text) } else { None })
        .filter(|text| !text.citations.is_empty())
        .collect();
    assert_eq!((cited.len(), cited[0].text.as_str()), (1, "Sunny all day"));
    assert_eq!(cited[0].citations[0].url.as_deref(), Some("https://a.example"));
    assert_eq!(turn.provider_data["google"]["groundingMetadata"]["webSearchQueries"], json!(["oslo"]));
}

#[test]
fn sources_of_another_form_are_kept() {
    let mut body = response(json!([{"text": "hi"}]), "STOP");
    for metadata in [
        json!({"googleMapsWidgetContextToken": "t"}),
        json!({"groundingChunks": "many"}),
        json!({"groundingSupports": [{"groundingChunkIndices": [99], "segment": {"startIndex": 9, "endIndex": 1}}]}),
    ] {
        body["candidates"][0]["groundingMetadata"] = metadata.clone();
        assert_eq!(read(&body).provider_data["google"]["groundingMetadata"], metadata);
    }
    for nothing in [json!({}), json!(null), json!(5)] {
        body["candidates"][0]["groundingMetadata"] = nothing;
        assert!(read(&body).provider_data.is_empty());
    }
}

#[test]
fn an_answer_in_a_format_is_converted_back() {
    let format = OutputFormat::new(
        "o",
        json!({
            "type": "object", "properties": {"a-b": {"type": "string"}}, "required": ["a-b"], "additionalProperties": false,
        }),
    );
    let sent = send(&TurnRequest::new(MODEL, vec![Item::user("hi")]).output_format(format)).unwrap();
    for parts in [
        json!([{"text": r#"{"a_b":"x"}"#}]),
        json!([{"text": r#"{"a_b""#}, {"text": r#":"x"}"#}]),
        json!([{"text": r#"{"a_b""#, "thoughtSignature": "s"}, {"text": r#":"x"}"#}]),
        json!([{"text": r#"{"a_b":"x"}"#}, {"text": "", "thoughtSignature": "s"}]),
    ] {
        let body = response(parts.clone(), "STOP").to_string();
        let turn = GeminiContent::new().response(&body, &sent.context).unwrap();
        assert_eq!(turn.text(), r#"{"a-b":"x"}"#, "{parts}");
    }
}

#[test]
fn a_result_of_code_that_failed_is_an_error_of_its_call() {
    for (outcome, is_error) in [("OUTCOME_OK", false), ("OUTCOME_FAILED", true), ("OUTCOME_DEADLINE_EXCEEDED", true)] {
        let parts = json!([{"executableCode": {"code": "1"}}, {"codeExecutionResult": {"outcome": outcome}}]);
        let turn = read(&response(parts.clone(), "STOP"));
        let [Item::ProviderCall(call)] = turn.items.as_slice() else { panic!("{:?}", turn.items) };
        assert_eq!((call.is_error, call.name.as_str(), &call.payload), (is_error, "code_execution", &parts));
    }
}

/// A piece of a turn.
#[derive(Clone, Debug)]
enum Said {
    Text(String, Option<String>),
    Thought(String, Option<String>),
    Image(String),
    Call { id: Option<String>, text: String },
    Code(String),
}

impl Said {
    /// Returns the parts of a response that carry the piece.
    fn parts(&self) -> Vec<Value> {
        let signed = |mut part: Value, signature: &Option<String>| {
            if let Some(signature) = signature {
                part["thoughtSignature"] = signature.as_str().into();
            }
            part
        };
        match self {
            Self::Text(text, signature) => vec![signed(json!({"text": text}), signature)],
            Self::Thought(text, signature) => vec![signed(json!({"text": text, "thought": true}), signature)],
            Self::Image(data) => vec![json!({"inlineData": {"mimeType": "image/png", "data": data}})],
            Self::Call { id, text } => {
                let mut call = json!({"name": "acme--weather", "args": {"city": text}});
                if let Some(id) = id {
                    call["id"] = id.as_str().into();
                }
                vec![json!({"functionCall": call})]
            }
            Self::Code(code) => vec![
                json!({"executableCode": {"language": "PYTHON", "code": code}}),
                json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": code}}),
            ],
        }
    }

    /// Reports whether text of the next piece is added to this one.
    fn joins(&self, next: &Self) -> bool {
        matches!(
            (self, next),
            (Self::Text(_, None), Self::Text(_, None)) | (Self::Thought(_, None), Self::Thought(_, None))
        )
    }
}

/// Builds the items of a turn, independently of the wire.
fn items(pieces: &[Said]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut assigned = 0;
    let mut next_id = || {
        assigned += 1;
        format!("call_1_{assigned}")
    };
    let content = |items: &mut Vec<Item>, part: ContentPart| match items.last_mut() {
        Some(Item::Message(message)) => message.content.push(part),
        _ => items.push(Message::new(Role::Assistant, vec![part]).into()),
    };
    for piece in pieces {
        match piece {
            Said::Text(text, signature) => {
                let mut part = TextPart::default();
                part.text.clone_from(text);
                if let Some(signature) = signature {
                    part.provider_data.insert("google".to_owned(), json!({"thoughtSignature": signature}));
                }
                content(&mut items, ContentPart::Text(part));
            }
            Said::Image(data) => {
                content(&mut items, ContentPart::image("image/png", MediaData::Base64(data.clone())));
            }
            Said::Thought(text, signature) => {
                let mut thought = Reasoning::default();
                thought.summary.push(text.clone());
                thought.provider = Some("google".to_owned());
                thought.signature.clone_from(signature);
                items.push(thought.into());
            }
            Said::Call { id, text } => {
                let call_id = id.clone().unwrap_or_else(&mut next_id);
                let mut call = ToolCall::new(call_id, "acme/weather", json!({"city": text}).to_string());
                if let Some(id) = id {
                    call.provider_data.insert("google".to_owned(), json!({"id": id}));
                }
                items.push(call.into());
            }
            Said::Code(_) => {
                let payload = Value::from(piece.parts());
                let call = ProviderCall::new("google", "code_execution", payload).call_id(next_id());
                items.push(call.output_at("/1/codeExecutionResult").input_at("/0/executableCode").into());
            }
        }
    }
    items
}

fn pieces() -> impl Strategy<Value = Vec<Said>> {
    let text = "[ -~é\\n]{1,10}";
    let sign = proptest::option::of("[a-z]{1,4}");
    let piece = prop_oneof![
        (text, sign.clone()).prop_map(|(text, sign)| Said::Text(text, sign)),
        (text, sign).prop_map(|(text, sign)| Said::Thought(text, sign)),
        "[a-z]{1,4}".prop_map(Said::Image),
        (any::<bool>(), text).prop_map(|(has_id, text)| Said::Call { id: has_id.then(String::new), text }),
        text.prop_map(Said::Code),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|mut pieces| {
        pieces.dedup_by(|later, earlier| earlier.joins(later));
        for (at, piece) in pieces.iter_mut().enumerate() {
            if let Said::Call { id: Some(id), .. } = piece {
                *id = format!("f{at}");
            }
        }
        pieces
    })
}

#[test]
fn any_turn_is_read_from_the_response_that_carries_it() {
    seeded::for_all(300, pieces(), |pieces| {
        let parts: Vec<Value> = pieces.iter().flat_map(Said::parts).collect();
        // A turn that was cut off may be empty.
        prop_assert_eq!(read(&response(parts.into(), "MAX_TOKENS")).items, items(&pieces));
        Ok(())
    });
}
