//! The samples: the SDKs read the bodies, and their accumulators make the same bodies of the streams.

use haft_parts::{Judge, WireName};
use serde_json::Value;

/// Removes nulls and empty lists, which an SDK may add or leave out.
fn pruned(value: &Value) -> Value {
    let is_kept = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    match value {
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), pruned(value))).filter(|(_, value)| is_kept(value)).collect()
        }
        Value::Array(list) => list.iter().map(pruned).collect(),
        other => other.clone(),
    }
}

fn check(wire: WireName, reads: &[&str]) {
    let judge = Judge::start();
    let samples = judge.samples(wire);
    let names: Vec<_> = samples.iter().map(|sample| sample.name.as_str()).collect();
    for name in ["text", "call", "parallel_calls", "length"].iter().chain(reads) {
        assert!(names.contains(name), "{wire:?} has no sample {name}: {names:?}");
    }
    for sample in &samples {
        let is_unknown = sample.name.starts_with("unknown");
        if let Some(body) = &sample.body {
            let parsed = judge.parse(wire, body).unwrap_or_else(|error| panic!("{}: {error}", sample.name));
            // An event of the future carries no part of the body.
            let is_valid = !is_unknown || sample.name == "unknown_event";
            assert_eq!(parsed.faults.is_empty(), is_valid, "{}: {:?}", sample.name, parsed.faults);
        }
        let Some(sse) = &sample.sse else { continue };
        match (&sample.body, judge.accumulate(wire, sse)) {
            // Fields of the future and this one are not in what Gemini's SDK returns.
            (Some(_), Ok(_)) if sample.name == "malformed_call" || (is_unknown && wire == WireName::Gemini) => {}
            (Some(body), Ok(accumulated)) => assert_eq!(pruned(&accumulated), pruned(body), "{}", sample.name),
            (Some(_), Err(error)) => panic!("{}: {error}", sample.name),
            (None, accumulated) => assert!(accumulated.is_err(), "{}: {accumulated:?}", sample.name),
        }
    }
}

#[test]
fn openai_responses() {
    check(WireName::OpenAiResponses, &["reasoning", "refusal", "citations", "image", "client_tools", "mcp", "error"]);
}

#[test]
fn openai_chat() {
    check(WireName::OpenAiChat, &["refusal", "interleaved_calls", "content_filter"]);
}

#[test]
fn anthropic() {
    check(WireName::Anthropic, &["thinking", "web_search", "code_execution", "pause", "refusal", "error"]);
}

#[test]
fn gemini() {
    check(WireName::Gemini, &["thinking", "search", "code_execution", "image", "safety", "blocked_prompt"]);
}

#[test]
fn a_broken_stream_is_an_error_of_the_operation_and_the_judge_answers_on() {
    let judge = Judge::start();
    for wire in WireName::ALL {
        assert!(judge.accumulate(wire, "data: {\"half\r\n\r\n").is_err(), "{wire:?}");
        assert!(!judge.samples(wire).is_empty());
    }
}
